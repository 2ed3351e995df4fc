"""The answer in words. In: a verdict, the runs up to it, the limits known. Out: what, since when, why, how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.backlog_units import in_other_units
from throttlescope.app.presentation.cause_runs import CauseRun, runs
from throttlescope.app.presentation.causes import CAUSES, SIDES, CauseLook, limiter_words
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.models.backlog_age import BacklogAge
from throttlescope.models.diagnosis.causes import THROTTLED, UNKNOWN
from throttlescope.models.diagnosis.known_bugs import bugs_behind
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.spacing import text_of
from throttlescope.models.messages.stored import verdict_in_language

if TYPE_CHECKING:
    import pandas as pd

_REASONS = 3
_BUGS = 3


@dataclass(frozen=True)
class VerdictAnswer:
    """What a person at 3 AM reads first; every field is a sentence or a short list of them.

    Attributes
    ----------
    backlog : str
        How much waits and how it moves.
    since : str
        Begin and length, "at least" where the time before is not known.
    sure : str
        Confidence as a share, in words.
    why : tuple of str
        The strongest evidence for it.
    against : tuple of str
        The strongest evidence against it.
    naive : str
        What the naive rule says, and whether it agrees.
    bugs : tuple of str
        Known bugs of the brokers' versions that may be behind it.
    """

    cause: CauseLook
    title: str
    backlog: str
    since: str
    sure: str
    why: tuple[str, ...]
    against: tuple[str, ...]
    first: str
    never: str
    naive: str
    naive_agrees: bool
    bugs: tuple[str, ...] = ()


def answer(
    verdict: dict,
    history: Sequence[dict],
    limits: Sequence[KnownLimit],
    versions: Sequence[str] = (),
    minute: Mapping[str, Any] | None = None,
    age: BacklogAge | None = None,
    subscription_type: str | None = None,
) -> VerdictAnswer:
    """The answer that one verdict gives.

    Parameters
    ----------
    verdict : dict
        The row of ``verdicts`` that is shown.
    history : sequence of dict
        Verdicts of the same subscription up to it, for "since"; evidence may be left out of them.
    limits : sequence of KnownLimit
        As of the verdict's time.
    versions : sequence of str
        Of the cluster's brokers, where they were read.
    minute : mapping, optional
        The window's last row of ``signals``: for the backlog in other units.
    age : BacklogAge, optional
        Of the oldest entry at the window's end.
    subscription_type : str, optional
        ``Shared`` and so on, where it was read: known bugs of other types are not named.
    """
    verdict = verdict_in_language(verdict)
    cause = CAUSES[verdict["cause"]]
    side = SIDES[verdict["naive_side"]]
    agrees = verdict["naive_side"] == verdict["side"]
    return VerdictAnswer(
        cause=cause,
        title=_title(cause, verdict["limiter"], limits, verdict["subscription"], verdict["topic"]),
        backlog=text_of([_backlog(verdict), *in_other_units(verdict["backlog_entries"], minute or {}, age)]),
        since=_since(runs([*history, verdict])[-1]),
        sure=_sure(verdict),
        why=_sentences(verdict, "for"),
        against=_sentences(verdict, "against"),
        first=cause.first,
        never=cause.never,
        naive=f"{side.mark} {side.label}",
        naive_agrees=agrees,
        bugs=_bugs(verdict, versions, subscription_type),
    )


def newest_type(minutes: pd.DataFrame) -> str | None:
    """The subscription's type as it was last read, from its rows of ``signals``."""
    known = minutes["subscription_type"].dropna()
    return None if known.empty else known.iloc[-1]


def _bugs(verdict: dict, versions: Sequence[str], subscription_type: str | None) -> tuple[str, ...]:
    """Bugs that the brokers have and that the verdict may hide."""
    symptoms = [row["symptom"] for row in verdict["evidence"] or () if row["weight"] == "for"]
    return tuple(
        bug.text for bug in bugs_behind(verdict["cause"], versions, symptoms, subscription_type)[:_BUGS]
    )


def _sure(verdict: dict) -> str:
    if cause_is_open(verdict["cause"], verdict["confidence"]):
        return sentence("answer.no_cause")
    return sentence("answer.confidence", share=fmt.percent(verdict["confidence"]))


def cause_is_open(cause: str, confidence: float) -> bool:
    """Whether a confidence is none: ``unknown`` names no cause that could be right."""
    return cause == UNKNOWN.name and confidence == 0


def _title(
    cause: CauseLook, limiter: str | None, limits: Sequence[KnownLimit], subscription: str, topic: str
) -> str:
    if not limiter:
        return sentence("answer.cause", cause=cause.answer)
    limit = next((limit for limit in limits if f"{limit.level}.{limit.unit}" == limiter), None)
    # A limit of the broker is shared by all that it serves.
    per = (
        sentence("label.per_segment")
        if is_scalable(topic) and limit is not None and limit.level != "broker"
        else ""
    )
    details = (
        ""
        if limit is None or limit.rate is None
        else sentence("label.limit_details", limit=limit.amount(), per=per, who=limit.who())
    )
    which = f"{limiter_words(limiter, subscription)}{details}"
    is_replicator = remote_cluster(subscription) is not None
    if limit is not None and limit.lifted_ms is not None:
        time = fmt.clock(limit.lifted_ms)
        if is_replicator:
            return sentence("answer.limited_replicator_until", time=time, limiter=which)
        return sentence("answer.limited_until", time=time, limiter=which)
    if cause.word == THROTTLED.name:
        if is_replicator:
            return sentence("answer.limited_replicator", limiter=which)
        return sentence("answer.limited", limiter=which)
    return sentence("answer.cause_and_limiter", cause=cause.answer, limiter=which)


def _backlog(verdict: dict) -> str:
    waiting, change = verdict["backlog_entries"], verdict["backlog_growth_entries"]
    if fmt.is_missing(waiting):
        return sentence("answer.backlog_unknown")
    entries = fmt.count(waiting, "entries")
    length = fmt.duration(verdict["window_end_ms"] - verdict["window_start_ms"])
    if fmt.is_missing(change):
        return sentence("answer.backlog", entries=entries)
    if change == 0:
        return sentence("answer.backlog_unchanged", entries=entries, length=length)
    return sentence("answer.backlog_changed", entries=entries, change=fmt.signed(change), length=length)


def _since(run: CauseRun) -> str:
    start, length = fmt.moment(run.start_ms), fmt.duration(run.end_ms - run.start_ms)
    if run.follows_gap:
        return sentence("answer.since_at_least", start=start, length=length)
    return sentence("answer.since", start=start, length=length)


def _sentences(verdict: dict, weight: str) -> tuple[str, ...]:
    texts = [row["text"] for row in verdict["evidence"] or () if row["weight"] == weight]
    return tuple(texts[:_REASONS])
