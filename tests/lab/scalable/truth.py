"""What was true of which segment: in, what was played and scraped; out, rows of truth, and the checks that they rest on."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.lab.checks import SETTLE_MS, Points, grew, stayed_below
from tests.lab.readback import Series
from tests.lab.scalable.model import SUBSCRIPTION, ScalableTopic, SegmentTruth
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.truth import (
    Range,
    StagedTruth,
    drained_ms,
    drains,
    find_staged_truth,
    metric,
    truth_row,
    within,
)

BACKLOG = "pulsar_subscription_back_log"


def find_truth(played: StagedPlayed, series: list[Series]) -> StagedTruth:
    """Check every segment and write the truth of those that behaved as the script says."""
    return find_staged_truth(played, partial(_judge, played, series), segment=None)


def segment_name(topic: ScalableTopic, hash_range: str, number: int) -> str:
    """A segment's name, as the broker labels its series."""
    return f"{topic.full_name.replace('topic://', 'segment://', 1)}/{hash_range}-{number}"


def backlog(series: list[Series], segment: str) -> Points:
    """Entries that the subscription has yet to acknowledge in a segment, per scrape."""
    return metric(series, BACKLOG, {"topic": segment, "subscription": SUBSCRIPTION})


def _judge(
    played: StagedPlayed,
    series: list[Series],
    found: StagedTruth,
    topic: ScalableTopic,
    ranges: dict[str, Range],
) -> None:
    scenario = played.scenario
    segments = sorted(played.about["segments"][topic.name].items())
    backlogs = {number: backlog(series, segment_name(topic, hashes, number)) for number, hashes in segments}
    sealed = [points for number, points in backlogs.items() if topic.role(number) == "sealed"]
    for number, points in backlogs.items():
        row = partial(truth_row, scenario, topic, subscription=SUBSCRIPTION, partition=number)
        checks: dict[str, Any] = {}
        truth = topic.truth.get(topic.role(number))
        if truth is not None:
            range_ms = _truth_range(truth, ranges["cause"], sealed, 1000 * scenario.scrape_interval_s)
            checks["cause"], true_ms = _cause(truth, points, range_ms)
            if checks["cause"]["ok"]:
                found.rows.append(row(true_ms, truth))
        if topic.role(number) != "sealed":
            start_ms, end_ms = ranges["relieved"]
            after = within(points, start_ms, end_ms)
            checks["relieved"] = drains(after, start_ms, topic.drains_within_s)
            gone_ms = drained_ms(after)
            if checks["relieved"]["ok"] and gone_ms is not None:
                found.rows.append(row((gone_ms + SETTLE_MS, end_ms), None))
        for state, check in checks.items():
            found.confirmed.append({"topic": topic.name, "segment": number, "state": state, **check})


def _truth_range(truth: SegmentTruth, range_ms: Range, sealed: list[Points], interval_ms: int) -> Range:
    """When a truth may hold: a segment waits at least until the first scrape in which no segment before it has a backlog."""
    start_ms, end_ms = range_ms
    if truth.cause != "segment_blocked":
        return range_ms
    waited_for = [at_ms for points in sealed for at_ms, value in points if value > 0 and at_ms < end_ms]
    return start_ms, min(end_ms, max(waited_for, default=start_ms - interval_ms) + interval_ms)


def _cause(truth: SegmentTruth, points: Points, range_ms: Range) -> tuple[dict[str, Any], Range]:
    """What a segment showed during the cause, and when the truth is true if that is right."""
    # No rate has to settle where no consumer is there.
    settle_s = 0 if truth.cause == "segment_blocked" else truth.settle_s
    start_ms, end_ms = range_ms[0] + round(1000 * settle_s), range_ms[1]
    during = within(points, *range_ms)
    if truth.grows_per_s is not None and not truth.drains:
        return grew(during, truth.grows_per_s), (start_ms, end_ms)
    if not truth.drains:
        # A new segment has a moment without consumers.
        return stayed_below(within(during, start_ms, end_ms), truth.below_entries), (start_ms, end_ms)
    first, last = (during[0][1], during[-1][1]) if during else (0.0, 0.0)
    seen = {"first_entries": first, "last_entries": last}
    check = {"check": "shrinks", "seen": seen, "ok": 0 <= last < first}
    return check, (start_ms, drained_ms(during) or end_ms)
