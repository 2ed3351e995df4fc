"""What drains one subscription's backlog. In: a selector and a moment. Out: the facts of ``throttlescope recommend`` as plain values, in bounded time."""

from __future__ import annotations

import difflib
from typing import Any

from throttlescope.app.incident.advice import advice_within
from throttlescope.app.presentation.advice import document
from throttlescope.app.server.rest import problems
from throttlescope.app.server.rest.filters import FilterError, RecommendationFilters
from throttlescope.app.server.rest.problems import ProblemError
from throttlescope.app.services.promql.concurrency import ConcurrencyLimit
from throttlescope.app.services.whatif.replay import HISTORY, Question
from throttlescope.app.web.client_disconnect import disconnect_check
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.core.subscription_name import SubscriptionName, subscription_text
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

#: A replay that takes longer is a job for the command line.
_LONGEST_S = 45.0


def recommendations(
    reader: LakeReader, wanted: RecommendationFilters, turns: ConcurrencyLimit, *, most_s: float
) -> dict[str, Any]:
    """The fields of a :class:`~throttlescope.app.server.rest.items.RecommendationsPage`, without its freshness.

    Raises
    ------
    ProblemError
        There is no such subscription, its minutes cannot be replayed, or that takes too long.
    FilterError
        Several clusters have it.
    """
    cluster, until_ms = _found(reader, wanted)
    at_ms = until_ms if wanted.at_ms is None else wanted.at_ms
    question = Question(
        wanted.selector, cluster, (), format_time(at_ms), None, HISTORY, f"{wanted.target_s}s", None
    )
    with turns.slot(min(most_s, _LONGEST_S) / 2) as left_s:
        outcome = advice_within(
            reader.lake_path,
            question,
            at_ms,
            most_s=min(most_s, _LONGEST_S) / 2 + left_s,
            cancelled=disconnect_check(),
        )
    if outcome.timed_out:
        raise ProblemError(problems.TOO_SLOW, str(outcome.why_not))
    if outcome.found is None:
        raise ProblemError(problems.NOT_COMPUTED, str(outcome.why_not))
    return _fields(document(outcome.found))


def _found(reader: LakeReader, wanted: RecommendationFilters) -> tuple[str, int]:
    """The cluster of a subscription, and the end of its newest verdict."""
    name = SubscriptionName.of(wanted.selector)

    def read(cursor, _):
        where, values = "topic = ? AND subscription = ?", [name.topic, name.subscription]
        for column, value in (("partition", name.partition), ("cluster", wanted.cluster)):
            if value is not None:
                where, values = f"{where} AND {column} = ?", [*values, value]
        found = cursor.execute(
            f"SELECT cluster, max(window_end_ms) FROM latest WHERE {where} GROUP BY cluster ORDER BY cluster",  # noqa: S608
            values,
        ).fetchall()
        if found:
            return found, []
        keys = cursor.execute("SELECT DISTINCT topic, partition, subscription FROM latest").fetchall()
        return [], [subscription_text(*key) for key in keys]

    found, others = reader.read(read)
    if not found:
        near = difflib.get_close_matches(wanted.selector, others, n=3, cutoff=0.4)
        text = sentence("rest.detail.no_subscription", selector=wanted.selector[:200])
        if near:
            text = f"{text} {sentence('rest.detail.nearest', names=', '.join(near))}"
        raise ProblemError(problems.NOT_FOUND, text, "selector")
    if len(found) > 1:
        raise FilterError(
            "cluster",
            "Several clusters have this subscription",
            got=", ".join(cluster for cluster, _ in found),
            expected="one",
            fix="add cluster=NAME",
        )
    return found[0]


def _fields(known: dict[str, Any]) -> dict[str, Any]:
    return {
        "items": [
            {
                **one,
                "text": one["words"],
                "change": one["change"] or None,
                "next_limiting_factor": one["next_brake"],
                "apply_command": one["do"],
                "roll_back_command": one["undo"],
                "checks": one["verify"],
            }
            for one in known["recommendations"]
        ],
        "next_cursor": None,
        "cluster": known["cluster"],
        "selector": known["subscription"],
        "at_ms": known["at_ms"],
        "target_s": known["target_s"],
        "backlog_entries": known["backlog_entries"],
        "primary_lever": known["primary"],
        "replay_error_share": known["replay_error_share"],
        "counterfactuals": [
            {
                **one,
                "left_low_entries": one["entries"]["low"],
                "left_high_entries": one["entries"]["high"],
                "limited_by": one["held_by"],
            }
            for one in known["counterfactuals"]
        ],
        "not_helping": known["not_helping"],
        "notes": known["notes"],
    }
