"""What a check sees: in, a check, its state's span and what was scraped; out, whether it holds, and the figures.

Every check reads the scraped series alone, so that a recording can be checked again from its own samples.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.lab.readback import Series
from throttlescope.models.throttling.scenario import (
    Check,
    Drains,
    Grows,
    Loses,
    Peaks,
    Scenario,
    Shows,
    StaysBelow,
    Ticks,
)

#: A truth range begins this long after a change, because the broker renews its rates once a minute.
SETTLE_MS = 60_000
#: Where each topic has a cause of its own: a backlog below this is drained, and of the growth that the rates give this share has to be seen.
DRAINED_ENTRIES = 200
_SEEN_SHARE = 2 / 3
#: A backlog over time: milliseconds and entries.
Points = list[tuple[int, float]]
_EXPIRED = "pulsar_subscription_total_msg_expired"
_EVICTED = "pulsar_storage_backlog_quota_exceeded_evictions_total"

Points = list[tuple[int, float]]


@dataclass(frozen=True)
class Span:
    """When a state really was: from the moment its interventions had been applied to the next one's first."""

    name: str
    start_ms: int
    end_ms: int


def evaluate(
    check: Check, scenario: Scenario, span: Span, series: list[Series]
) -> tuple[bool, dict[str, Any]]:
    """Say whether a check holds, and what was seen."""
    if isinstance(check, Ticks):
        count, over_s = events(
            series, check.subscription, check.reason, check.unit, span.start_ms, span.end_ms, check.partition
        )
        return count >= check.at_least, {"events": count, "over_s": over_s}
    if isinstance(check, Shows):
        return _shows(check, span, series)
    points = backlog(series, check.subscription, span.start_ms, span.end_ms, check.partition)
    if len(points) < 2:
        return False, {"samples": len(points)}
    if isinstance(check, Loses):
        return _loses(check, scenario, span, series, points)
    return _ON_BACKLOG[type(check)](check, span, points)


def backlog(
    series: list[Series], subscription: str, start_ms: int, end_ms: int, partition: int | None = None
) -> Points:
    """Return the backlog of a subscription in entries per scrape, of one partition or summed over all."""
    return _summed(series, "pulsar_subscription_back_log", subscription, start_ms, end_ms, partition)


def events(
    series: list[Series],
    subscription: str,
    reason: str,
    unit: str,
    start_ms: int,
    end_ms: int,
    partition: int | None = None,
) -> tuple[float, float]:
    """Return the events of a throttle counter in a range and the seconds between its first and last sample."""
    total, first_ms, last_ms = 0.0, None, None
    for item in _of(series, f"pulsar_subscription_dispatch_throttled_{unit}_events", subscription, partition):
        if item.labels.get("reason") != reason:
            continue
        points = _within(item, start_ms, end_ms)
        total += sum(rise for _, rise in _rises(points))
        for time_ms, _ in points:
            first_ms = time_ms if first_ms is None else min(first_ms, time_ms)
            last_ms = time_ms if last_ms is None else max(last_ms, time_ms)
    return total, ((last_ms or 0) - (first_ms or 0)) / 1000


def _grows(check: Grows, _: Span, points: Points) -> tuple[bool, dict[str, Any]]:
    grown = points[-1][1] - points[0][1]
    return grown >= check.by_entries, {"grown_entries": grown, "last_entries": points[-1][1]}


def _stays_below(check: StaysBelow, span: Span, points: Points) -> tuple[bool, dict[str, Any]]:
    worst = max(
        (value for time_ms, value in points if time_ms >= span.start_ms + SETTLE_MS), default=float("inf")
    )
    return worst < check.below_entries, {"worst_entries": worst}


def _drains(check: Drains, span: Span, points: Points) -> tuple[bool, dict[str, Any]]:
    above = [time_ms for time_ms, value in points if value >= check.below_entries]
    if not above:
        drained_ms = points[0][0]
    else:
        after = [time_ms for time_ms, _ in points if time_ms > above[-1]]
        if not after:
            return False, {"drained_s": None, "last_entries": points[-1][1]}
        drained_ms = after[0]
    drained_s = round((drained_ms - span.start_ms) / 1000, 1)
    return drained_s <= check.within_s, {"drained_s": drained_s, "last_entries": points[-1][1]}


def _peaks(check: Peaks, _: Span, points: Points) -> tuple[bool, dict[str, Any]]:
    count, up = 0, False
    for _time_ms, value in points:
        if not up and value >= check.above_entries:
            up = True
        elif up and value < check.below_entries:
            count, up = count + 1, False
    highest = max(value for _, value in points)
    return count >= check.at_least, {"peaks": count, "highest_entries": highest}


def _loses(
    check: Loses, scenario: Scenario, span: Span, series: list[Series], points: Points
) -> tuple[bool, dict[str, Any]]:
    if check.by == "expiry":
        counts = _summed(series, _EXPIRED, check.subscription, span.start_ms, span.end_ms, check.partition)
        rises = [(time_ms, rise) for time_ms, rise in _rises(counts) if rise > 0]
        lost = sum(rise for _, rise in rises)
    else:
        counts = _evictions(scenario, check, span, series)
        rises = [(time_ms, rise) for time_ms, rise in _rises(counts) if rise > 0]
        times = {time_ms for time_ms, _ in rises}
        # An eviction is counted per check; what it took is the fall of the backlog between the scrapes around it.
        falls = [
            before - after for (_, before), (at_ms, after) in itertools.pairwise(points) if at_ms in times
        ]
        lost = sum(max(0.0, fall) for fall in falls)
    first_ms = rises[0][0] if rises else None
    return lost >= check.at_least_entries, {
        "lost_entries": lost,
        "losses": len(rises),
        "first_loss_s": None if first_ms is None else round((first_ms - span.start_ms) / 1000, 1),
        "first_loss_ms": first_ms,
    }


def _evictions(scenario: Scenario, check: Loses, span: Span, series: list[Series]) -> Points:
    topics = {
        f"persistent://{scenario.namespace}/{name}"
        for name in scenario.subscription(check.subscription).reads
    }
    found: dict[int, float] = defaultdict(float)
    for item in series:
        if item.labels.get("__name__") == _EVICTED and _topic_of(item)[0] in topics:
            for time_ms, value in _within(item, span.start_ms, span.end_ms):
                found[time_ms] += value
    return sorted(found.items())


def _shows(check: Shows, span: Span, series: list[Series]) -> tuple[bool, dict[str, Any]]:
    start_ms = span.start_ms + SETTLE_MS
    points = _summed(series, check.metric, check.subscription, start_ms, span.end_ms, check.partition)
    if not points:
        return False, {"samples": 0}
    share = sum(1 for _, value in points if value >= check.at_least) / len(points)
    values = sorted(value for _, value in points)
    return share >= check.share, {"share": round(share, 4), "median": values[len(values) // 2]}


_ON_BACKLOG: dict[type, Callable[[Any, Span, Points], tuple[bool, dict[str, Any]]]] = {
    Grows: _grows,
    StaysBelow: _stays_below,
    Drains: _drains,
    Peaks: _peaks,
}


def _summed(
    series: list[Series], name: str, subscription: str, start_ms: int, end_ms: int, partition: int | None
) -> Points:
    sums: dict[int, float] = defaultdict(float)
    for item in _of(series, name, subscription, partition):
        for time_ms, value in _within(item, start_ms, end_ms):
            sums[time_ms] += value
    return sorted(sums.items())


def _of(series: list[Series], name: str, subscription: str, partition: int | None) -> list[Series]:
    return [
        item
        for item in series
        if item.labels.get("__name__") == name
        and item.labels.get("subscription") == subscription
        and "consumer_name" not in item.labels
        and (partition is None or _topic_of(item)[1] == partition)
    ]


def _topic_of(series: Series) -> tuple[str, int]:
    """Topic and partition; without split labels the partition is the end of the topic's name."""
    topic, partition = series.labels.get("topic", ""), series.labels.get("partition")
    if partition is None:
        name, mark, number = topic.rpartition("-partition-")
        return (name, int(number)) if mark else (topic, -1)
    return topic, int(partition)


def _within(item: Series, start_ms: int, end_ms: int) -> Points:
    return [
        (time_ms, value)
        for time_ms, value in zip(item.timestamps_ms, item.values, strict=True)
        if start_ms <= time_ms < end_ms
    ]


def _rises(points: Points) -> list[tuple[int, float]]:
    """How much a counter rose by each scrape; one that restarted begins at 0."""
    return [
        (time_ms, after - before if after >= before else after)
        for (_, before), (time_ms, after) in itertools.pairwise(points)
    ]


def grew(points: Points, per_s: float) -> dict[str, Any]:
    """Whether a backlog grew by most of what the rates give."""
    if len(points) < 2:
        return {"check": "grows", "seen": {"samples": len(points)}, "ok": False}
    over_s = (points[-1][0] - points[0][0]) / 1000
    grown = points[-1][1] - points[0][1]
    seen = {"grown_entries": grown, "over_s": round(over_s, 1), "last_entries": points[-1][1]}
    wanted = round(_SEEN_SHARE * per_s * over_s)
    return {"check": "grows", "by_entries": wanted, "seen": seen, "ok": grown >= wanted}


def stayed_below(points: Points, below_entries: int) -> dict[str, Any]:
    """Whether a backlog was always small."""
    most = max((value for _, value in points), default=None)
    ok = most is not None and most < below_entries
    return {"check": "stays_below", "below_entries": below_entries, "seen": {"most_entries": most}, "ok": ok}
