"""The timeline of an incident. In: an incident. Out: events, oldest first: causes, policy changes, unloads, losses, consumers connecting and disconnecting."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from throttlescope.app.incident.admin_answers import PolicyChange
from throttlescope.app.incident.load import Incident
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import Name, TextBlock, text
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.presentation.causes import CAUSES, limiter_words
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes.marks import marks
from throttlescope.models.episodes.steady import joined
from throttlescope.models.messages.catalogue import Message, message, render, sentence

#: The most changes of the number of consumers that are listed.
MOST_CONSUMER_CHANGES = 20
#: A value of a policy that is longer is cut; ``policies.jsonl`` has it whole.
_MOST_LETTERS = 200

#: Requests to the admin API that have a sentence of their own.
_SCOPES = frozenset(
    (
        "broker_configuration_runtime",
        "broker_dynamic_configuration",
        "broker_version",
        "namespace",
        "topic_owner",
        "partition_count",
    )
)


def since_words(method: str) -> str:
    """How the start of a backlog was found."""
    return sentence(f"incident.since.how.{method}")


@dataclass(frozen=True)
class Event:
    """An event at a time, or from then to ``end_ms``; ``kind`` is one word for it."""

    start_ms: int
    end_ms: int | None
    kind: str
    words: TextBlock


def events(incident: Incident) -> list[Event]:
    """All events that touch the range, oldest first."""
    found = [
        *_episode(incident),
        *_causes(incident),
        *_marks(incident),
        *map(_policy, incident.answers.changes),
        *_losses(incident.minutes),
        *_consumers(incident.minutes),
        Event(incident.at_ms, None, "report", text(sentence("incident.event.report"))),
    ]
    inside = [
        one
        for one in found
        if one.start_ms <= incident.end_ms and (one.end_ms or one.start_ms) >= incident.start_ms
    ]
    # Events that begin at the same time keep the order above.
    return sorted(inside, key=lambda one: one.start_ms)


def _episode(incident: Incident) -> Iterable[Event]:
    row = incident.episode
    if row is None:
        return
    how = since_words(row["since_method"])
    yield Event(row["since_ms"], None, "backlog", text(sentence("incident.event.begins", how=how)))
    peak = sentence("incident.event.peak", entries=fmt.exact(row["peak_entries"]))
    yield Event(row["peak_ms"], None, "backlog", text(peak))
    if row["end_ms"] is not None:
        yield Event(row["end_ms"], None, "backlog", text(sentence("incident.event.drained")))


def _causes(incident: Incident) -> Iterable[Event]:
    if incident.episode is not None and incident.episode["causes"]:
        for one in joined(incident.episode["causes"]):
            sure = f" (mean confidence {fmt.percent(one['confidence'])})" if one["confidence"] else ""
            yield Event(
                one["start_ms"],
                one["end_ms"],
                "cause",
                _cause(one["cause"], limiter_words(one["limiter"], incident.key.subscription), sure),
            )
        return
    for run in runs(incident.verdicts):
        sure = f" (confidence {fmt.percent(run.confidence_max)})" if run.confidence_max else ""
        yield Event(
            run.start_ms,
            run.end_ms,
            "cause",
            _cause(run.cause, limiter_words(run.limiter, incident.key.subscription), sure),
        )


def _cause(cause: str, limiter: str, sure: str) -> TextBlock:
    of_limiter = f": {limiter}" if limiter else ""
    return text(f"{CAUSES[cause].label}{of_limiter}{sure}.")


def _marks(incident: Incident) -> Iterable[Event]:
    """As marked by episodes, and for the two hours before: a change there may be the trigger."""
    seen = incident.minutes[incident.minutes["backlog_ready_entries"].notna()]
    rows = seen.astype(object).where(seen.notna(), None).to_dict("records")
    for mark in marks([_whole(row) for row in rows], incident.start_ms, incident.end_ms):
        kind = mark["kind"]
        words = sentence(f"incident.event.mark.{kind}", what=mark["text"])
        yield Event(mark["start_ms"], mark["end_ms"], kind.replace("_", " "), text(words))


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    # A column of whole numbers with gaps comes as floats; print 50 per 1 s, not 50.0 per 1.0 s.
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in row.items()
    }


def _policy(change: PolicyChange) -> Event:
    scope = change.scope if change.scope in _SCOPES else "other"
    parts = [
        message(f"incident.policy.of.{scope}", named=Name(change.key), scope=change.scope.replace("_", " "))
    ]
    for name, before, after in change.fields:
        old, new = Name(_value(before)), Name(_value(after))
        if name:
            parts.append(message("incident.policy.field", field=Name(name), before=old, after=new))
        else:
            parts.append(message("incident.policy.whole", before=old, after=new))
    if change.left_out:
        parts.append(message("incident.policy.more_fields", count=change.left_out))
    head, first, *more = map(_with_names, parts)
    when = sentence("incident.policy.when", start=fmt.clock(change.before_ms), end=fmt.clock(change.at_ms))
    listed = [part for one in more for part in ("; ", one)]
    return Event(change.at_ms, None, "policy", text(head, " ", first, *listed, ". ", when))


def _with_names(found: Message) -> TextBlock:
    """A sentence in which names stay names."""
    values = list(found.values.items())
    marks = {name: f"\0{i}\0" if isinstance(value, Name) else value for i, (name, value) in enumerate(values)}
    # Text and the number of a name by turns.
    parts = render(Message(found.key, marks)).split("\0")
    return text(*(values[int(part)][1] if i % 2 else part for i, part in enumerate(parts)))


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    shown = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return shown if len(shown) <= _MOST_LETTERS else shown[: _MOST_LETTERS - 1] + "…"


def _losses(minutes: pd.DataFrame) -> Iterable[Event]:
    """Runs of minutes in which messages were lost without being consumed."""
    for start_ms, end_ms, expired in _stretches(minutes, minutes["expired_msg_delta"].astype(float)):
        words = sentence("incident.event.expired", messages=fmt.exact(round(expired)))
        yield Event(start_ms, end_ms, "loss", text(words))
    for start_ms, end_ms, _ in _stretches(minutes, minutes["quota_evictions_5m"].astype(float)):
        yield Event(start_ms, end_ms, "loss", text(sentence("incident.event.evicted")))


def _stretches(minutes: pd.DataFrame, values: pd.Series) -> list[tuple[int, int, float]]:
    """Start, end and sum of each run of minutes with a value above zero."""
    found: list[tuple[int, int, float]] = []
    for minute, value in zip(minutes["minute_ms"], values, strict=True):
        if not value > 0:
            continue
        start_ms = int(minute)
        if found and found[-1][1] == start_ms:
            found[-1] = (found[-1][0], start_ms + MINUTE_MS, found[-1][2] + value)
        else:
            found.append((start_ms, start_ms + MINUTE_MS, float(value)))
    return found


def _consumers(minutes: pd.DataFrame) -> Iterable[Event]:
    counted = minutes[minutes["consumers"].notna()]
    counts = counted["consumers"].astype(float)
    changed = counts.ne(counts.shift()) & counts.shift().notna()
    changes = list(zip(counted["minute_ms"][changed], counts.shift()[changed], counts[changed], strict=True))
    for i, (minute, before, after) in enumerate(changes):
        at_ms = int(minute) + MINUTE_MS
        if i == MOST_CONSUMER_CHANGES:
            words = sentence("incident.event.more_consumers", changes=len(changes) - i)
            yield Event(at_ms, None, "consumers", text(words))
            return
        words = sentence("incident.event.consumers", before=fmt.exact(before), after=fmt.exact(after))
        yield Event(at_ms, None, "consumers", text(words))
