"""What else happened? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import most_from_storage
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

COLD_READS = SymptomKind("cold_reads", ("not_measured", "misses"), "misses / entries dispatched")
STORAGE_FASTER = SymptomKind("storage_faster", ("not_measured", "faster_before", "length_of_read"), "s")
REPLICATION_MARKERS = SymptomKind(
    "replication_markers", ("not_read", "not_replicated", "not_measured", "replicated"), "entries"
)
COUNTERS_RESTARTED = SymptomKind(
    "counters_restarted", ("stayed", "moved", "moved_elsewhere", "restarted"), "restarts"
)
FILTERING = SymptomKind("filtering", ("not_measured", "none", "filtered"), "refused / processed")
READS_WAIT = SymptomKind("reads_wait", ("no_limit", "free"), "available / (available + in flight)")


def cold_reads(window: Window) -> Symptom:
    """Most reads miss the broker's cache."""
    query = f"pulsar_storage_read_cache_misses_rate{promql.of_topic(window.key)}"
    misses, out = window.mean("read_cache_miss_entry_rate"), window.rate("out_msg_delta")
    per_entry = window.last("messages_per_entry")
    if misses is None or not out or not per_entry:
        return COLD_READS.unknown("not_measured", query)
    part = misses / (out / per_entry)
    finding = COLD_READS.says("misses", misses=misses)
    return COLD_READS.answer(
        part >= t.CACHE_MISS_SHARE, finding, part, t.CACHE_MISS_SHARE, window.end_ms, query
    )


def storage_faster(window: Window) -> Symptom:
    """Storage can deliver more than is dispatched: it did so before, or one read would have to take implausibly long.

    Every backlog that has grown is read from storage, so misses of the cache alone say nothing about how fast storage is.
    """
    query = f"pulsar_storage_read_cache_misses_rate{promql.of_topic(window.key)}"
    out, per_entry = window.rate("out_msg_delta"), window.last("messages_per_entry")
    if not out or not per_entry or per_entry <= 0:
        return STORAGE_FASTER.unknown("not_measured", query)
    given = out / per_entry
    before = most_from_storage(window)
    if before is not None and before[0] >= t.COLD_MORE * given:
        finding = STORAGE_FASTER.says("faster_before", before=before[0], now=given)
        threshold = t.COLD_MORE * given
        return STORAGE_FASTER.answer(True, finding, before[0], threshold, before[1], query, unit="entries/s")
    entries_read = _entries_of_a_read(window)
    read_s = entries_read / given
    finding = STORAGE_FASTER.says("length_of_read", now=given, entries=entries_read, read_s=read_s)
    return STORAGE_FASTER.answer(
        read_s >= t.COLD_READ_S, finding, read_s, t.COLD_READ_S, window.end_ms, query
    )


def _entries_of_a_read(window: Window) -> float:
    """Entries that one read brings at most: a batch, or what fits into the read size."""
    batch = window.last("read_batch_entries") or t.READ_BATCH_ENTRIES
    out_msg, out_bytes = window.rate("out_msg_delta"), window.rate("out_bytes_delta")
    per_entry = window.last("messages_per_entry")
    if not out_msg or not out_bytes or not per_entry:
        return float(batch)
    entry_bytes = out_bytes / out_msg * per_entry
    return max(1.0, min(batch, (window.last("read_size_bytes") or t.READ_SIZE_BYTES) / entry_bytes))


def replication_markers(window: Window) -> Symptom:
    """A replicated subscription's backlog grows although nothing is published: snapshot markers are entries of it."""
    replicated, published = window.last("stats_replicated"), window.rate("in_msg_delta")
    growth = window.growth("backlog_ready_entries")
    if replicated is None:
        return REPLICATION_MARKERS.unknown("not_read")
    if not replicated:
        return REPLICATION_MARKERS.answer(False, REPLICATION_MARKERS.says("not_replicated"))
    if published is None or growth is None:
        return REPLICATION_MARKERS.unknown("not_measured")
    finding = REPLICATION_MARKERS.says("replicated", published=published, growth=growth)
    return REPLICATION_MARKERS.answer(published == 0 and growth > 0, finding, growth, 0.0, window.end_ms)


def counters_restarted(window: Window) -> Symptom:
    """The topic was unloaded, moved, or its broker restarted."""
    restarts = window.total("counter_resets") or 0
    moved = window.any("broker_changed")
    at_ms = next(
        (
            minute_ms
            for minute_ms, resets, changed in zip(
                *(window.column(name) for name in ("minute_ms", "counter_resets", "broker_changed")),
                strict=True,
            )
            if resets or changed
        ),
        None,
    )
    if not restarts and not moved:
        return COUNTERS_RESTARTED.answer(False, COUNTERS_RESTARTED.says("stayed"))
    broker = window.last("broker")
    if not moved:
        finding = COUNTERS_RESTARTED.says("restarted")
    elif broker:
        finding = COUNTERS_RESTARTED.says("moved", broker=broker)
    else:
        finding = COUNTERS_RESTARTED.says("moved_elsewhere")
    return COUNTERS_RESTARTED.answer(True, finding, float(restarts), 0.0, at_ms)


def filtering(window: Window) -> Symptom:
    """Most of what is read is rejected or put off by entry filters."""
    metric = "pulsar_subscription_filter_rejected_msg_count"
    query = f"rate({promql.gauge(window.key, metric)}[{window.length_ms // 60_000}m])"
    processed = window.mean("filter_processed_entry_rate_5m")
    if processed is None:
        return FILTERING.unknown("not_measured", query)
    rejected = window.mean("filter_rejected_entry_rate_5m") or 0.0
    postponed = window.mean("filter_rescheduled_entry_rate_5m") or 0.0
    part = (rejected + postponed) / processed if processed > 0 else 0.0
    finding = (
        FILTERING.says("filtered", rejected=rejected, postponed=postponed, processed=processed)
        if processed
        else FILTERING.says("none")
    )
    return FILTERING.answer(part >= t.FILTERED_SHARE, finding, part, t.FILTERED_SHARE, window.end_ms, query)


def reads_wait(window: Window) -> Symptom:
    """The broker's memory for reads in flight is used up, so reads wait."""
    query = "pulsar_ml_reads_available_inflight_bytes"
    pairs = [
        (in_flight, free)
        for in_flight, free in zip(
            window.column("reads_inflight_bytes"),
            window.column("reads_available_inflight_bytes"),
            strict=True,
        )
        # A broker without such a limit shows two zeros, or -1 twice.
        if in_flight is not None and free is not None and in_flight + free > 0
    ]
    if not pairs:
        return READS_WAIT.unknown("no_limit", query)
    free_shares = [free / (in_flight + free) for in_flight, free in pairs]
    part = sum(1 for free in free_shares if free <= t.READ_BUDGET_LEFT_SHARE) / len(free_shares)
    return READS_WAIT.answer(
        part >= t.MAJORITY_SHARE, READS_WAIT.says("free", free=free_shares[-1]), free_shares[-1],
        t.READ_BUDGET_LEFT_SHARE, window.end_ms, query,
    )  # fmt: skip
