"""What else happened? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.diagnosis.wording import number, share


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
