"""Was the truth seen? In, a scenario, what was scraped and when things were changed; out, an outcome with its truth rows.

The truth comes from the script; here only its confirmation is decided: a check that fails drops the scenario.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.lab.readback import Series
from throttlescope.models.throttling.scenario import Check, Drains, Grows, Scenario, StaysBelow, Ticks

#: A truth range begins this long after a change, because the broker renews its rates once a minute.
SETTLE_MS = 60_000


@dataclass(frozen=True)
class Span:
    """When a state really was: from the moment its interventions had been applied to the next one's first."""

    name: str
    start_ms: int
    end_ms: int


@dataclass
class Confirmation:
    """What the checks saw."""

    failures: list[str] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)
    drained_ms: dict[str, int] = field(default_factory=dict)


def confirm(scenario: Scenario, spans: list[Span], series: list[Series]) -> Confirmation:
    """Evaluate every check of a scenario on its recorded series."""
    by_name = {span.name: span for span in spans}
    result = Confirmation()
    for check in scenario.confirm:
        span = by_name[check.state]
        ok, seen = _evaluate(check, span, series)
        result.seen.append({**check.model_dump(), "seen": seen, "ok": ok})
        if not ok:
            wanted = {
                k: v for k, v in check.model_dump().items() if k not in ("check", "state", "subscription")
            }
            result.failures.append(f"{check.state}: {check.subscription} {check.check} {wanted}: seen {seen}")
        elif isinstance(check, Drains):
            drained_ms = span.start_ms + round(seen["drained_s"] * 1000)
            result.drained_ms[span.name] = max(result.drained_ms.get(span.name, 0), drained_ms)
    return result


def truth_rows(scenario: Scenario, spans: list[Span], drained_ms: dict[str, int]) -> list[dict[str, Any]]:
    """Build the rows of ``truth.json``: one per subscription partition and state that carries truth."""
    rows = []
    by_name = {span.name: span for span in spans}
    for state in scenario.timeline:
        span = by_name[state.name]
        # The end of a drain is a change too.
        start_ms = max(span.start_ms, drained_ms.get(state.name, 0)) + SETTLE_MS
        if start_ms >= span.end_ms:
            continue
        for truth in state.truth:
            topic = scenario.subscription(truth.subscription).topic
            for partition in scenario.partitions_of(topic):
                rows.append(
                    {
                        "cluster": scenario.name,
                        "namespace": scenario.namespace,
                        "topic": f"persistent://{scenario.namespace}/{topic}",
                        "partition": partition,
                        "subscription": truth.subscription,
                        "start_ms": start_ms,
                        "end_ms": span.end_ms,
                        "side": truth.side,
                        "cause": truth.cause,
                        "limiter": truth.limiter,
                        "family": scenario.family,
                        "recording": scenario.name,
                        "kept_aside": scenario.kept_aside,
                    }
                )
    return rows


def backlog(series: list[Series], subscription: str, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
    """Return the backlog of a subscription in entries, summed over its partitions, per scrape."""
    sums: dict[int, float] = defaultdict(float)
    for item in _of(series, "pulsar_subscription_back_log", subscription):
        for time_ms, value in zip(item.timestamps_ms, item.values, strict=True):
            if start_ms <= time_ms < end_ms:
                sums[time_ms] += value
    return sorted(sums.items())


def events(
    series: list[Series], subscription: str, reason: str, unit: str, start_ms: int, end_ms: int
) -> tuple[float, float]:
    """Return the events of a throttle counter in a range and the seconds between its first and last sample."""
    total, first_ms, last_ms = 0.0, None, None
    for item in _of(series, f"pulsar_subscription_dispatch_throttled_{unit}_events", subscription):
        if item.labels.get("reason") != reason:
            continue
        before = None
        for time_ms, value in zip(item.timestamps_ms, item.values, strict=True):
            if not start_ms <= time_ms < end_ms:
                continue
            if before is not None:
                # A counter that restarted begins at 0.
                total += value - before if value >= before else value
            before = value
            first_ms = time_ms if first_ms is None else min(first_ms, time_ms)
            last_ms = time_ms if last_ms is None else max(last_ms, time_ms)
    return total, ((last_ms or 0) - (first_ms or 0)) / 1000


def _of(series: list[Series], name: str, subscription: str) -> list[Series]:
    return [
        item
        for item in series
        if item.labels.get("__name__") == name
        and item.labels.get("subscription") == subscription
        and "consumer_name" not in item.labels
    ]


def _evaluate(check: Check, span: Span, series: list[Series]) -> tuple[bool, dict[str, Any]]:
    if isinstance(check, Ticks):
        count, over_s = events(
            series, check.subscription, check.reason, check.unit, span.start_ms, span.end_ms
        )
        return count >= check.at_least, {"events": count, "over_s": over_s}
    points = backlog(series, check.subscription, span.start_ms, span.end_ms)
    if len(points) < 2:
        return False, {"samples": len(points)}
    if isinstance(check, Grows):
        grown = points[-1][1] - points[0][1]
        return grown >= check.by_entries, {"grown_entries": grown, "last_entries": points[-1][1]}
    if isinstance(check, StaysBelow):
        settled = [value for time_ms, value in points if time_ms >= span.start_ms + SETTLE_MS]
        worst = max(settled, default=float("inf"))
        return worst < check.below_entries, {"worst_entries": worst}
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
