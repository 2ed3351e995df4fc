"""The timeline of an incident. In: an incident. Out: events, oldest first: causes, policy changes, unloads, losses, consumers connecting and disconnecting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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

#: The most changes of the number of consumers that are listed.
MOST_CONSUMER_CHANGES = 20
#: A value of a policy that is longer is cut; ``policies.jsonl`` has it whole.
_MOST_LETTERS = 200

SINCE_WORDS = {
    "change_point": "found as a change of its growth",
    "first_minute": "the first minute with more than a normal backlog; no noticeable change before it",
    "start_of_data": "it grew already in the first minute that is known, so it may have begun earlier",
}
_MARK_WORDS = {
    "gap": "Nothing was measured: {}.",
    "limit_changed": "A limit changed: {}.",
    "counter_reset": "The topic was unloaded, its broker restarted or it got a new dispatcher: {}.",
    "moved": "The topic moved to another broker: {}.",
}
_SCOPE_WORDS = {
    "broker_configuration_runtime": "the configuration that runs on broker",
    "broker_dynamic_configuration": "the dynamic configuration seen by broker",
    "broker_version": "the version of broker",
    "namespace": "the policies of namespace",
    "topic_owner": "the owner of topic",
    "partition_count": "the number of partitions of topic",
}


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
        Event(incident.at_ms, None, "told", text("Time of this report.")),
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
    yield Event(
        row["since_ms"], None, "backlog",
        text(f"The backlog starts to grow ({SINCE_WORDS[row['since_method']]})."),
    )  # fmt: skip
    peak = fmt.exact(row["peak_entries"])
    yield Event(
        row["peak_ms"], None, "backlog", text(f"The backlog reaches its maximum: {peak} entries ready.")
    )
    if row["end_ms"] is not None:
        yield Event(
            row["end_ms"],
            None,
            "backlog",
            text("The backlog is drained: normal from here on."),
        )


def _causes(incident: Incident) -> Iterable[Event]:
    if incident.episode is not None and incident.episode["causes"]:
        for held in joined(incident.episode["causes"]):
            sure = f" (mean confidence {fmt.percent(held['confidence'])})" if held["confidence"] else ""
            yield Event(held["start_ms"], held["end_ms"], "cause", _cause(held, sure))
        return
    for run in runs(incident.verdicts):
        sure = f" (confidence {fmt.percent(run.confidence_max)})" if run.confidence_max else ""
        yield Event(
            run.start_ms, run.end_ms, "cause", _cause({"cause": run.cause, "limiter": run.limiter}, sure)
        )


def _cause(held: Mapping[str, Any], sure: str) -> TextBlock:
    limiter = f": {limiter_words(held['limiter'])}" if held["limiter"] else ""
    return text(f"{CAUSES[held['cause']].label}{limiter}{sure}.")


def _marks(incident: Incident) -> Iterable[Event]:
    """As marked by episodes, and for the two hours before: a change there may be the trigger."""
    seen = incident.minutes[incident.minutes["backlog_ready_entries"].notna()]
    rows = seen.astype(object).where(seen.notna(), None).to_dict("records")
    for mark in marks([_whole(row) for row in rows], incident.start_ms, incident.end_ms):
        words = _MARK_WORDS[mark["kind"]].format(mark["text"])
        yield Event(mark["start_ms"], mark["end_ms"], mark["kind"].replace("_", " "), text(words))


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    # A column of whole numbers with gaps comes as floats; print 50 per 1 s, not 50.0 per 1.0 s.
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in row.items()
    }


def _policy(change: PolicyChange) -> Event:
    scope = _SCOPE_WORDS.get(change.scope) or f"the policy {change.scope.replace('_', ' ')} of"
    parts: list = [f"An answer of the admin API changed, {scope} ", Name(change.key), ":"]
    for i, (name, before, after) in enumerate(change.fields):
        parts += ["; " if i else " ", *([Name(name), " "] if name else [])]
        parts += ["before ", Name(_value(before)), ", after ", Name(_value(after))]
    if change.left_out:
        parts.append(f"; {change.left_out} more fields differ, see policies.jsonl")
    parts.append(f". It was changed between {fmt.clock(change.before_ms)} and {fmt.clock(change.at_ms)}.")
    return Event(change.at_ms, None, "policy", text(*parts))


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    shown = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return shown if len(shown) <= _MOST_LETTERS else shown[: _MOST_LETTERS - 1] + "…"


def _losses(minutes: pd.DataFrame) -> Iterable[Event]:
    """Runs of minutes in which messages were lost without being consumed."""
    for start_ms, end_ms, expired in _stretches(minutes, minutes["expired_msg_delta"].astype(float)):
        yield Event(
            start_ms, end_ms, "loss", text(f"{fmt.exact(round(expired))} messages expired by message TTL.")
        )
    for start_ms, end_ms, _ in _stretches(minutes, minutes["quota_evictions_5m"].astype(float)):
        yield Event(start_ms, end_ms, "loss", text("The backlog quota of the topic evicted messages."))


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
            more = len(changes) - i
            yield Event(at_ms, None, "consumers", text(f"{more} more changes of consumers: see signals.csv."))
            return
        words = f"Connected consumers: {fmt.exact(before)} before, {fmt.exact(after)} from here on."
        yield Event(at_ms, None, "consumers", text(words))
