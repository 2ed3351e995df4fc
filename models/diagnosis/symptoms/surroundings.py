"""What else happened? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.diagnosis.wording import number


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
