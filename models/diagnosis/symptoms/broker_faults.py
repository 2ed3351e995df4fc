"""Does the broker dispatch as it should? In: a window. Out: symptoms of bugs that look like slow consumers.

They follow reports about brokers (``models/diagnosis/known_bugs.py``), not recordings: none of these bugs was provoked. So each asks for
what a broker without the bug cannot show.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.clock import clock_off_s
from throttlescope.models.diagnosis.consumer_queues import tracks_unacked
from throttlescope.models.diagnosis.history import HISTORY_MS, ObservedCapacity
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

UNACKED_NEGATIVE = SymptomKind("unacked_negative", ("not_measured", "least"), "msg")
PERMITS_LOST = SymptomKind(
    "permits_lost", ("not_measured", "requests_stopped", "all_below_zero", "not_all"), "msg"
)
DISPATCH_BELOW_BEFORE = SymptomKind(
    "dispatch_below_before", ("not_measured", "few_reconnects", "rates"), "now / before"
)
DISPATCH_CONTENTION = SymptomKind(
    "dispatch_contention", ("not_measured", "not_hot", "rates"), "dispatched / published"
)

KINDS = (UNACKED_NEGATIVE, PERMITS_LOST, DISPATCH_BELOW_BEFORE, DISPATCH_CONTENTION)


def broker_fault_symptoms(window: Window, capacity: ObservedCapacity | None) -> tuple[Symptom, ...]:
    """All of this module."""
    return (
        unacked_negative(window),
        permits_lost(window),
        dispatch_below_before(window, capacity),
        dispatch_contention(window),
    )


def unacked_negative(window: Window) -> Symptom:
    """The broker counts fewer than no unacknowledged messages: it subtracted some twice."""
    query = promql.gauge(window.key, "pulsar_subscription_unacked_messages")
    least = window.lowest("unacked_msg")
    if least is None:
        return UNACKED_NEGATIVE.unknown("not_measured", query)
    finding = UNACKED_NEGATIVE.says("least", unacked=least.value)
    return UNACKED_NEGATIVE.answer(least.value < 0, finding, least.value, 0.0, least.at_ms, query)


def permits_lost(window: Window) -> Symptom:
    """In every minute all consumers owe more permits than they hold messages, although they request more.

    A client requests what it has processed, so permits and unacknowledged messages of a consumer add up to 0 or more whatever the size
    of its queue and of batches. Only Shared and Key_Shared count unacknowledged messages.
    """
    query = promql.permits(window.key)
    minutes = [
        (permits, permits * consumers + unacked)
        for permits, consumers, unacked in zip(
            *(window.column(name) for name in ("permits_max", "consumers", "unacked_msg")), strict=True
        )
        if None not in (permits, consumers, unacked) and consumers > 0
    ]
    flow_age_s = None if clock_off_s(window) is not None else window.last("last_flow_age_s")
    if not tracks_unacked(window) or flow_age_s is None or len(minutes) < t.DRIFT_MINUTES:
        return PERMITS_LOST.unknown("not_measured", query)
    if flow_age_s >= window.length_s:
        return PERMITS_LOST.answer(False, PERMITS_LOST.says("requests_stopped", age_s=flow_age_s))
    most = max(permits for permits, _ in minutes)
    holds = most < 0 and all(held < 0 for _, held in minutes)
    finding = PERMITS_LOST.says("not_all", permits=most)
    if holds:
        finding = PERMITS_LOST.says("all_below_zero", permits=most, unacked=window.mean("unacked_msg"))
    return PERMITS_LOST.answer(holds, finding, most, 0.0, window.end_ms, query)


def dispatch_below_before(window: Window, capacity: ObservedCapacity | None) -> Symptom:
    """Consumers reconnected several times since their capacity was seen, and with permits at all of them much less is dispatched."""
    query = promql.use(window.key, "subscription", "msg", None, window.length_ms)
    out, permits = window.rate("out_msg_delta"), window.lowest("permits_min")
    if capacity is None or capacity.msg_per_s <= 0 or out is None or permits is None or permits.value <= 0:
        return DISPATCH_BELOW_BEFORE.unknown("not_measured", query)
    seen = window.before(HISTORY_MS, also_within=True)
    consumers = seen.array("consumers")[seen.array("minute_ms") >= capacity.seen_ms]
    consumers = consumers[~np.isnan(consumers)]
    changes = int(np.count_nonzero(np.diff(consumers)))
    if changes < t.RECONNECTS:
        return DISPATCH_BELOW_BEFORE.answer(
            False, DISPATCH_BELOW_BEFORE.says("few_reconnects", changes=changes)
        )
    share = out / capacity.msg_per_s
    finding = DISPATCH_BELOW_BEFORE.says("rates", before=capacity.msg_per_s, now=out, changes=changes)
    holds = t.DRIFT_LOW_SHARE <= share <= t.DRIFT_HIGH_SHARE
    return DISPATCH_BELOW_BEFORE.answer(holds, finding, share, t.DRIFT_HIGH_SHARE, window.end_ms, query)


def dispatch_contention(window: Window) -> Symptom:
    """A topic partition with very much publishing, of which little is dispatched, all of it from the cache."""
    query = f"pulsar_storage_write_rate{promql.of_topic(window.key)}"
    written, misses = window.mean("write_entry_rate"), window.mean("read_cache_miss_entry_rate")
    out, per_entry = window.rate("out_msg_delta"), window.last("messages_per_entry")
    permits = window.lowest("permits_min")
    if None in (written, misses, out, per_entry, permits) or per_entry <= 0:
        return DISPATCH_CONTENTION.unknown("not_measured", query)
    if written < t.HOT_ENTRIES_PER_S:
        return DISPATCH_CONTENTION.answer(False, DISPATCH_CONTENTION.says("not_hot", written=written))
    dispatched = out / per_entry
    share = dispatched / written
    from_cache = misses <= t.CACHE_MISS_SHARE * dispatched
    finding = DISPATCH_CONTENTION.says("rates", written=written, dispatched=dispatched, misses=misses)
    return DISPATCH_CONTENTION.answer(
        share <= t.CONTENTION_SHARE and from_cache and permits.value > 0,
        finding, share, t.CONTENTION_SHARE, window.end_ms, query,
    )  # fmt: skip
