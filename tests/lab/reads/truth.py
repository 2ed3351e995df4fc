"""What was true of which subscription: in, what was played and scraped; out, rows of truth, and the checks that they rest on.

The truth comes from the script. A subscription whose backlog did not behave as its cause makes it has no truth in this recording, and one that the
budget holds has none either if it did not drain once the budget was lifted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.lab.checks import DRAINED_ENTRIES, SETTLE_MS, Points, grew, stayed_below
from tests.lab.readback import Series
from tests.lab.reads.model import SUBSCRIPTION, ReadsScenario, ReadsTopic
from tests.lab.reads.play import ReadsPlayed

BACKLOG = "pulsar_subscription_back_log"
#: A backlog that the budget held falls to this share of what it was, at least, while storage stays as slow as it was.
_LEFT_SHARE = 0.9
Span = tuple[int, int]


@dataclass
class ReadsFound:
    """Rows of truth; by subscription and state, what was seen; and when each state was."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)


def find_truth(played: ReadsPlayed, series: list[Series]) -> ReadsFound:
    """Check every subscription and write the truth of those that behaved as the script says."""
    found = ReadsFound()
    for topic in played.scenario.topics:
        spans, errors = _spans(played, topic)
        found.states += [
            {"topic": topic.name, "name": name, "start_ms": start_ms, "end_ms": end_ms}
            for name, (start_ms, end_ms) in spans.items()
        ]
        if errors:
            row = {"topic": topic.name, "state": "cause", "check": "applied", "seen": errors, "ok": False}
            found.confirmed.append(row)
            continue
        _check(found, played.scenario, topic, backlog(series, topic), spans)
    found.rows = [row for row in found.rows if row["start_ms"] < row["end_ms"]]
    return found


def backlog(series: list[Series], topic: ReadsTopic) -> Points:
    """Entries that the subscription has yet to acknowledge, per scrape."""
    wanted = {"__name__": BACKLOG, "topic": topic.full_name, "subscription": SUBSCRIPTION}
    return sorted(
        (at_ms, value)
        for one in series
        if all(one.labels.get(label) == value for label, value in wanted.items())
        for at_ms, value in zip(one.timestamps_ms, one.values, strict=True)
    )


def _spans(played: ReadsPlayed, topic: ReadsTopic) -> tuple[dict[str, Span], list[str]]:
    """When each state was, for a topic: from when its steps were applied until the next one's begin."""
    mine = [row for row in played.changes if row["topic"] in (None, topic.name)]
    errors = [row["error"] for row in mine if row["error"]]
    begins, applied = (
        {state: [row[name] for row in mine if row["state"] == state] for state in ("cause", "relieved")}
        for name in ("begin_ms", "applied_ms")
    )
    return {
        "well": (played.start_ms, min(begins["cause"])),
        "cause": (max(applied["cause"]), min(begins["relieved"])),
        "relieved": (max(applied["relieved"]), played.end_ms),
    }, errors


def _check(
    found: ReadsFound, scenario: ReadsScenario, topic: ReadsTopic, points: Points, spans: dict[str, Span]
) -> None:
    truth = topic.truth
    start_ms, end_ms = spans["cause"][0] + round(1000 * truth.settle_s), spans["cause"][1]
    during, after = (
        [point for point in points if start <= point[0] < spans[state][1]]
        for state, start in (("cause", start_ms), ("relieved", spans["relieved"][0]))
    )
    if topic.grows_per_s is None:
        cause = stayed_below(during, topic.below_entries)
    else:
        cause = grew(during, topic.grows_per_s)
    relieved = _shrinks(after) if truth.cause == "read_limit" else _drains(after, spans["relieved"][0])
    for state, check in (("cause", cause), ("relieved", relieved)):
        found.confirmed.append({"topic": topic.name, "state": state, **check})
    if cause["ok"] and relieved["ok"]:
        row = _row(scenario, topic, start_ms, end_ms)
        found.rows.append(
            {
                **row,
                "side": truth.side,
                "cause": truth.cause,
                "limiter": truth.limiter,
                **_of(scenario, topic),
            }
        )
    gone_ms = _drained_ms(after)
    if relieved["ok"] and gone_ms is not None:
        row = _row(scenario, topic, gone_ms + SETTLE_MS, spans["relieved"][1])
        found.rows.append(
            {**row, "side": "neither", "cause": "healthy", "limiter": None, **_of(scenario, topic)}
        )


def _shrinks(points: Points) -> dict[str, Any]:
    most, last = max((value for _, value in points), default=0.0), points[-1][1] if points else None
    seen = {"most_entries": most, "last_entries": last}
    return {
        "check": "shrinks",
        "to_share": _LEFT_SHARE,
        "seen": seen,
        "ok": last is not None and last < _LEFT_SHARE * most,
    }


def _drains(points: Points, start_ms: int) -> dict[str, Any]:
    gone_ms = _drained_ms(points)
    took_s = None if gone_ms is None else round((gone_ms - start_ms) / 1000, 1)
    seen = {"drained_s": took_s, "last_entries": points[-1][1] if points else None}
    return {"check": "drains", "below_entries": DRAINED_ENTRIES, "seen": seen, "ok": took_s is not None}


def _drained_ms(points: Points) -> int | None:
    """The first scrape from which on the backlog is small; None where it never is."""
    large = [at_ms for at_ms, value in points if value >= DRAINED_ENTRIES]
    later = [at_ms for at_ms, _ in points if not large or at_ms > large[-1]]
    return later[0] if later else None


def _row(scenario: ReadsScenario, topic: ReadsTopic, start_ms: int, end_ms: int) -> dict[str, Any]:
    return {
        "cluster": scenario.name,
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "partition": -1,
        "subscription": SUBSCRIPTION,
        "start_ms": start_ms,
        "end_ms": end_ms,
    }


def _of(scenario: ReadsScenario, topic: ReadsTopic) -> dict[str, Any]:
    return {"family": topic.family, "recording": scenario.name, "kept_aside": scenario.kept_aside}
