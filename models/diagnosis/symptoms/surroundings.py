"""What else happened? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import most_from_storage
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import number, share


def cold_reads(window: Window) -> Symptom:
    """Most reads miss the broker's cache."""
    name, query = (
        "cold_reads",
        f"pulsar_storage_read_cache_misses_rate{promql.of_topic(window.key)}",
    )
    misses, out = window.mean("read_cache_miss_entry_rate"), window.rate("out_msg_delta")
    per_entry = window.last("messages_per_entry")
    if misses is None or not out or not per_entry:
        return Symptom(name, None, "Cache misses were not measured.", promql=query)
    part = misses / (out / per_entry)
    text = f"{number(misses)} entries/s are read from storage instead of the broker's cache."
    return Symptom(
        name, part >= t.CACHE_MISS_SHARE, text, part, t.CACHE_MISS_SHARE, "misses / entries dispatched",
        window.end_ms, query,
    )  # fmt: skip


def storage_faster(window: Window) -> Symptom:
    """Storage can deliver more than is dispatched: it did so before, or one read would have to take implausibly long.

    Every backlog that has grown is read from storage, so misses of the cache alone say nothing about how fast storage is.
    """
    name = "storage_faster"
    query = f"pulsar_storage_read_cache_misses_rate{promql.of_topic(window.key)}"
    out, per_entry = window.rate("out_msg_delta"), window.last("messages_per_entry")
    if not out or not per_entry or per_entry <= 0:
        return Symptom(name, None, "What is read from storage was not measured.", promql=query)
    given = out / per_entry
    before = most_from_storage(window)
    if before is not None and before[0] >= t.COLD_MORE * given:
        text = (
            f"Storage delivered {number(before[0])} entries/s to this subscription before; now {number(given)} "
            "entries/s are dispatched."
        )
        threshold = t.COLD_MORE * given
        return Symptom(name, True, text, before[0], threshold, "entries/s", before[1], query)
    entries_read = _entries_of_a_read(window)
    read_s = entries_read / given
    text = (
        f"{number(given)} entries/s are dispatched: if storage set this pace, one read of {number(entries_read)} entries "
        f"would take {number(read_s)} s."
    )
    return Symptom(name, read_s >= t.COLD_READ_S, text, read_s, t.COLD_READ_S, "s", window.end_ms, query)


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
    name = "replication_markers"
    replicated, published = window.last("stats_replicated"), window.rate("in_msg_delta")
    growth = window.growth("backlog_ready_entries")
    if not replicated:
        text = "The subscription is not replicated, or the admin API was not asked."
        return Symptom(name, None if replicated is None else False, text)
    if published is None or growth is None:
        return Symptom(name, None, "Whether anything is published was not measured.")
    return Symptom(
        name,
        published == 0 and growth > 0,
        f"The subscription is replicated; {number(published)} msg/s are published while its backlog grows by "
        f"{number(growth)} entries. Snapshot markers of replicated subscriptions are entries of the backlog.",
        growth, 0.0, "entries", window.end_ms,
    )  # fmt: skip


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
        return Symptom("counters_restarted", False, "The topic stayed where it was.")
    text = (
        f"The topic moved to {window.last('broker') or 'another broker'} in this window; its counters began anew."
        if moved
        else "The topic's counters restarted in this window: it was unloaded or its broker restarted."
    )
    return Symptom("counters_restarted", True, text, float(restarts), 0.0, "restarts", at_ms)


def filtering(window: Window) -> Symptom:
    """Most of what is read is rejected or put off by entry filters."""
    metric = "pulsar_subscription_filter_rejected_msg_count"
    name, query = "filtering", f"rate({promql.gauge(window.key, metric)}[{window.length_ms // 60_000}m])"
    processed = window.mean("filter_processed_entry_rate_5m")
    if processed is None:
        return Symptom(name, None, "Entry filters were not measured.", promql=query)
    rejected = window.mean("filter_rejected_entry_rate_5m") or 0.0
    postponed = window.mean("filter_rescheduled_entry_rate_5m") or 0.0
    part = (rejected + postponed) / processed if processed > 0 else 0.0
    text = (
        f"Entry filters reject {number(rejected)} and put off {number(postponed)} of {number(processed)} entries/s."
        if processed
        else "No entry filter is at work."
    )
    return Symptom(
        name,
        part >= t.FILTERED_SHARE,
        text,
        part,
        t.FILTERED_SHARE,
        "refused / processed",
        window.end_ms,
        query,
    )


def reads_wait(window: Window) -> Symptom:
    """The broker's memory for reads in flight is used up, so reads wait."""
    name, query = "reads_wait", "pulsar_ml_reads_available_inflight_bytes"
    pairs = [
        (held, free)
        for held, free in zip(
            window.column("reads_inflight_bytes"),
            window.column("reads_available_inflight_bytes"),
            strict=True,
        )
        # A broker without such a limit shows two zeros.
        if held is not None and free is not None and held + free > 0
    ]
    if not pairs:
        return Symptom(name, None, "The broker shows no limit of reads in flight.", promql=query)
    used_up = [free / (held + free) for held, free in pairs]
    part = sum(1 for free in used_up if free <= t.READ_BUDGET_LEFT_SHARE) / len(used_up)
    text = f"{share(used_up[-1])} of the broker's memory for reads in flight is free."
    return Symptom(
        name, part >= t.MAJORITY_SHARE, text, used_up[-1], t.READ_BUDGET_LEFT_SHARE,
        "available / (available + in flight)", window.end_ms, query,
    )  # fmt: skip
