"""What do the hours before the window say? In: a window with its history. Out: symptoms."""

from __future__ import annotations

from throttlescope.ingest.core.times import SECOND_MS, format_time
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import (
    Burst,
    ObservedCapacity,
    unconnected_since_ms,
)
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

CAPACITY_SHORT = SymptomKind(
    "capacity_short",
    ("not_seen", "nothing_published", "seen_now", "seen_before"),
    "capacity / publishing",
)
PUBLISHING_BURST = SymptomKind("publishing_burst", ("none", "lasting", "over"), "msg/s")
ABANDONED = SymptomKind("abandoned", ("connected", "away"), "s")


def capacity_short(window: Window, capacity: ObservedCapacity | None) -> Symptom:
    """The consumers, when last seen at their capacity, did less than is published now."""
    query = promql.flow(window.key, window.length_ms)
    published = window.rate("in_msg_delta")
    if capacity is None:
        return CAPACITY_SHORT.unknown("not_seen", query)
    if not published:
        return CAPACITY_SHORT.unknown("nothing_published", query)
    ago_s = max(0, window.end_ms - capacity.seen_ms) / SECOND_MS
    if ago_s == 0:
        finding = CAPACITY_SHORT.says(
            "seen_now", consumers=capacity.consumers, capacity=capacity.msg_per_s, published=published
        )
    else:
        finding = CAPACITY_SHORT.says(
            "seen_before", consumers=capacity.consumers, capacity=capacity.msg_per_s, published=published,
            ago_s=ago_s, at=format_time(capacity.seen_ms),
        )  # fmt: skip
    part = capacity.msg_per_s / published
    return CAPACITY_SHORT.answer(
        part < t.CAPACITY_SHORT_SHARE, finding, part, t.CAPACITY_SHORT_SHARE, capacity.seen_ms, query
    )


def publishing_burst(window: Window, burst: Burst | None) -> Symptom:
    """Far more than usual is published, or was until a moment ago."""
    query = f"rate(pulsar_in_messages_total{promql.of_topic(window.key)}[{window.length_ms // 60_000}m])"
    if burst is None:
        return PUBLISHING_BURST.answer(False, PUBLISHING_BURST.says("none"), promql=query)
    usual = burst.usual
    if burst.end_ms < window.end_ms:
        finding = PUBLISHING_BURST.says(
            "over", rate=burst.msg_per_s, start=format_time(burst.start_ms), end=format_time(burst.end_ms),
            usual=usual.msg_per_s, minutes=usual.minutes,
        )  # fmt: skip
    else:
        finding = PUBLISHING_BURST.says(
            "lasting", rate=burst.msg_per_s, start=format_time(burst.start_ms), usual=usual.msg_per_s,
            minutes=usual.minutes,
        )  # fmt: skip
    return PUBLISHING_BURST.answer(
        True, finding, burst.msg_per_s, usual.high_msg_per_s, burst.start_ms, query
    )


def abandoned(window: Window) -> Symptom:
    """No consumer has been connected for a day."""
    query = promql.gauge(window.key, "pulsar_subscription_consumers_count")
    since_ms = unconnected_since_ms(window)
    if since_ms is None:
        return ABANDONED.answer(False, ABANDONED.says("connected"), promql=query)
    # The mark-delete position moves when something is acknowledged: older than all that was scraped, it says more.
    away_s = max((window.end_ms - since_ms) / SECOND_MS, window.last("mark_delete_age_s") or 0.0)
    finding = ABANDONED.says("away", away_s=away_s)
    return ABANDONED.answer(away_s >= t.ABANDONED_S, finding, away_s, t.ABANDONED_S, since_ms, query)
