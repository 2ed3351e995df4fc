"""What do the hours before the window say? In: a window with its history. Out: symptoms."""

from __future__ import annotations

from throttlescope.ingest.core.times import SECOND_MS, format_time
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import (
    Burst,
    ObservedCapacity,
    nobody_since_ms,
)
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import duration, number


def capacity_short(window: Window, capacity: ObservedCapacity | None) -> Symptom:
    """The consumers, when last seen at their capacity, did less than is published now."""
    name, query = "capacity_short", promql.flow(window.key, window.length_ms)
    published = window.rate("in_msg_delta")
    if capacity is None or not published:
        text = (
            "What the consumers can do was not seen in the last day."
            if capacity is None
            else "Nothing is published."
        )
        return Symptom(name, None, text, promql=query)
    ago_s = max(0, window.end_ms - capacity.seen_ms) / SECOND_MS
    when = (
        "in this window"
        if ago_s == 0
        else f"{duration(ago_s)} before its end, at {format_time(capacity.seen_ms)}"
    )
    text = (
        f"{number(capacity.consumers)} consumers did {number(capacity.msg_per_s)} msg/s at their capacity, seen {when}; "
        f"{number(published)} msg/s are published."
    )
    part = capacity.msg_per_s / published
    return Symptom(
        name, part < t.CAPACITY_SHORT_SHARE, text, part, t.CAPACITY_SHORT_SHARE, "capacity / publishing",
        capacity.seen_ms, query,
    )  # fmt: skip


def publishing_burst(window: Window, burst: Burst | None) -> Symptom:
    """Far more than usual is published, or was until a moment ago."""
    name = "publishing_burst"
    query = f"rate(pulsar_in_messages_total{promql.of_topic(window.key)}[{window.length_ms // 60_000}m])"
    if burst is None:
        return Symptom(name, False, "No burst of publishing is seen beside what is usual.", promql=query)
    over = burst.end_ms < window.end_ms
    text = (
        f"{number(burst.msg_per_s)} msg/s {'were' if over else 'are'} published from {format_time(burst.start_ms)}"
        f"{f' to {format_time(burst.end_ms)}' if over else ' on'}; {number(burst.usual.msg_per_s)} msg/s are usual "
        f"(median of {burst.usual.minutes} minutes)."
    )
    return Symptom(
        name, True, text, burst.msg_per_s, burst.usual.high_msg_per_s, "msg/s", burst.start_ms, query
    )


def abandoned(window: Window) -> Symptom:
    """For a day nobody has been connected."""
    name, query = "abandoned", promql.gauge(window.key, "pulsar_subscription_consumers_count")
    since_ms = nobody_since_ms(window)
    if since_ms is None:
        return Symptom(name, False, "A consumer was connected in the last day.", promql=query)
    # The mark-delete position moves when something is acknowledged: older than all that was scraped, it says more.
    away_s = max((window.end_ms - since_ms) / SECOND_MS, window.last("mark_delete_age_s") or 0.0)
    text = f"No consumer has been seen for {duration(away_s)}."
    return Symptom(name, away_s >= t.ABANDONED_S, text, away_s, t.ABANDONED_S, "s", since_ms, query)
