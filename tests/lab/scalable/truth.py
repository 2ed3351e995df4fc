"""What was true of which segment: in, what was played and scraped; out, rows of truth, and the checks that they rest on.

The truth comes from the script. A segment whose backlog did not behave as its cause makes it has no truth in this recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.lab.checks import DRAINED_ENTRIES, SETTLE_MS, Points, grew, stayed_below
from tests.lab.readback import Series
from tests.lab.scalable.model import SUBSCRIPTION, ScalableScenario, ScalableTopic, SegmentTruth
from tests.lab.scalable.play import ScalablePlayed

BACKLOG = "pulsar_subscription_back_log"
Span = tuple[int, int]


@dataclass
class ScalableFound:
    """Rows of truth; by segment and state, what was seen; and when each state was."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)


def find_truth(played: ScalablePlayed, series: list[Series]) -> ScalableFound:
    """Check every segment and write the truth of those that behaved as the script says."""
    found = ScalableFound()
    for topic in played.scenario.topics:
        spans, errors = _spans(played, topic)
        found.states += [
            {"topic": topic.name, "name": name, "start_ms": start_ms, "end_ms": end_ms}
            for name, (start_ms, end_ms) in spans.items()
        ]
        if errors:
            row = {
                "topic": topic.name,
                "segment": None,
                "state": "cause",
                "check": "applied",
                "seen": errors,
                "ok": False,
            }
            found.confirmed.append(row)
            continue
        segments = sorted(played.segments[topic.name].items())
        backlogs = {
            number: backlog(series, segment_name(topic, hashes, number)) for number, hashes in segments
        }
        interval_ms = 1000 * played.scenario.scrape_interval_s
        sealed = [points for number, points in backlogs.items() if topic.role(number) == "sealed"]
        for number, points in backlogs.items():
            truth = topic.truth.get(topic.role(number))
            if truth is not None:
                _cause(
                    found,
                    played.scenario,
                    topic,
                    number,
                    truth,
                    points,
                    _truth_span(truth, spans["cause"], sealed, interval_ms),
                )
            if topic.role(number) != "sealed":
                _relieved(found, played.scenario, topic, number, points, spans["relieved"])
    found.rows = [row for row in found.rows if row["start_ms"] < row["end_ms"]]
    return found


def segment_name(topic: ScalableTopic, hash_range: str, number: int) -> str:
    """A segment's name, as the broker labels its series."""
    return f"{topic.full_name.replace('topic://', 'segment://', 1)}/{hash_range}-{number}"


def backlog(series: list[Series], segment: str) -> Points:
    """Entries that the subscription has yet to acknowledge in a segment, per scrape."""
    wanted = {"__name__": BACKLOG, "topic": segment, "subscription": SUBSCRIPTION}
    return sorted(
        (at_ms, value)
        for one in series
        if all(one.labels.get(label) == value for label, value in wanted.items())
        for at_ms, value in zip(one.timestamps_ms, one.values, strict=True)
    )


def _spans(played: ScalablePlayed, topic: ScalableTopic) -> tuple[dict[str, Span], list[str]]:
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


def _truth_span(truth: SegmentTruth, span: Span, sealed: list[Points], interval_ms: int) -> Span:
    """When a truth may hold: a segment waits at least until the first scrape in which no segment before it has a backlog."""
    if truth.cause != "segment_blocked":
        return span
    waited_for = [at_ms for points in sealed for at_ms, value in points if value > 0 and at_ms < span[1]]
    return span[0], min(span[1], max(waited_for, default=span[0] - interval_ms) + interval_ms)


def _cause(
    found: ScalableFound,
    scenario: ScalableScenario,
    topic: ScalableTopic,
    number: int,
    truth: SegmentTruth,
    points: Points,
    span: Span,
) -> None:
    """What a segment showed during the cause."""
    # No rate has to settle where no consumer is there.
    settle_s = 0 if truth.cause == "segment_blocked" else truth.settle_s
    start_ms, end_ms = span[0] + round(1000 * settle_s), span[1]
    during = [point for point in points if span[0] <= point[0] < span[1]]
    check: dict[str, Any] = {"topic": topic.name, "segment": number, "state": "cause"}
    if truth.drains:
        gone_ms = _drained_ms(during)
        end_ms = gone_ms or end_ms
        first = during[0][1] if during else 0.0
        last = during[-1][1] if during else 0.0
        check |= {
            "check": "shrinks",
            "seen": {"first_entries": first, "last_entries": last},
            "ok": 0 <= last < first,
        }
    elif truth.grows_per_s is not None:
        check |= grew(during, truth.grows_per_s)
    else:
        # A new segment has a moment without consumers.
        check |= stayed_below([point for point in during if point[0] >= start_ms], truth.below_entries)
    found.confirmed.append(check)
    if check["ok"]:
        row = _row(scenario, topic, number, start_ms, end_ms)
        found.rows.append(
            {
                **row,
                "side": truth.side,
                "cause": truth.cause,
                "limiter": truth.limiter,
                **_of(scenario, topic),
            }
        )


def _relieved(
    found: ScalableFound,
    scenario: ScalableScenario,
    topic: ScalableTopic,
    number: int,
    points: Points,
    span: Span,
) -> None:
    """A segment that has drained is healthy."""
    after = [point for point in points if span[0] <= point[0] < span[1]]
    gone_ms = _drained_ms(after)
    took_s = None if gone_ms is None else round((gone_ms - span[0]) / 1000, 1)
    ok = took_s is not None and took_s <= topic.drains_within_s
    seen = {"drained_s": took_s, "last_entries": after[-1][1] if after else None}
    check = {
        "topic": topic.name,
        "segment": number,
        "state": "relieved",
        "check": "drains",
        "below_entries": DRAINED_ENTRIES,
    }
    found.confirmed.append({**check, "within_s": topic.drains_within_s, "seen": seen, "ok": ok})
    if ok and gone_ms is not None:
        row = _row(scenario, topic, number, gone_ms + SETTLE_MS, span[1])
        found.rows.append(
            {**row, "side": "neither", "cause": "healthy", "limiter": None, **_of(scenario, topic)}
        )


def _drained_ms(points: Points) -> int | None:
    """The first scrape from which on the backlog is small; None where it never is."""
    large = [at_ms for at_ms, value in points if value >= DRAINED_ENTRIES]
    later = [at_ms for at_ms, _ in points if not large or at_ms > large[-1]]
    return later[0] if later else None


def _row(
    scenario: ScalableScenario, topic: ScalableTopic, number: int, start_ms: int, end_ms: int
) -> dict[str, Any]:
    return {
        "cluster": scenario.name,
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "partition": number,
        "subscription": SUBSCRIPTION,
        "start_ms": start_ms,
        "end_ms": end_ms,
    }


def _of(scenario: ScalableScenario, topic: ScalableTopic) -> dict[str, Any]:
    return {"family": topic.family, "recording": scenario.name, "kept_aside": scenario.kept_aside}
