"""Rows of ``signals`` as arrays. In: one subscription partition's rows and a calendar. Out: counts per minute, NaN unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.anomaly.calendar import Calendar
from throttlescope.models.anomaly.spread import HOUR_MINUTES

_EVENTS = tuple(f"throttled_{unit}_events_{level}_delta" for unit in UNITS for level in LEVELS)
#: Columns of ``signals`` that are read.
COLUMNS = (
    "minute_ms", "coverage_share", "in_msg_delta", "out_msg_delta", "delta_span_ms", "in_span_ms", "events_span_ms",
    "backlog_ready_entries",
    "backlog_entries", *_EVENTS, "counter_resets", "broker_changed", "broker",
)  # fmt: skip


@dataclass(frozen=True)
class AnomalyMinutes:
    """One subscription partition on a calendar's minutes.

    Attributes
    ----------
    counts : dict of str to ndarray of float64, shape (minutes,)
        By signal: messages, entries or events per minute.
    present : ndarray of bool
        The backlog was scraped in the minute.
    marks : ndarray of bool
        A counter restarted, or another instance serves the topic.
    broker : ndarray of object
        Instance at the minute's end, None unknown.
    """

    counts: dict[str, np.ndarray]
    present: np.ndarray
    marks: np.ndarray
    broker: np.ndarray


def minutes_of(rows: pa.Table, calendar: Calendar) -> AnomalyMinutes:
    """Place rows of one subscription partition, in any order; rows outside the calendar are left out."""
    length = calendar.hours * HOUR_MINUTES
    at = (_numbers(rows, "minute_ms").astype(np.int64) - calendar.first_ms) // MINUTE_MS
    inside = (at >= 0) & (at < length)
    at = at[inside]

    def placed(values: np.ndarray) -> np.ndarray:
        out = np.full(length, np.nan)
        out[at] = values[inside]
        return out

    present = np.nan_to_num(placed(_numbers(rows, "coverage_share"))) > 0
    spans = (_numbers(rows, name) for name in ("in_span_ms", "delta_span_ms", "events_span_ms"))
    in_per_minute, out_per_minute, events_per_minute = (
        MINUTE_MS / np.where(span > 0, span, np.nan) for span in spans
    )
    ready, whole = (placed(_numbers(rows, name)) for name in ("backlog_ready_entries", "backlog_entries"))
    events = np.stack([_numbers(rows, name) for name in _EVENTS])
    counted = np.where(np.isnan(events).all(axis=0), np.nan, np.nansum(events, axis=0))
    counts = {
        "in_msg_rate": placed(_numbers(rows, "in_msg_delta") * in_per_minute),
        "out_msg_rate": placed(_numbers(rows, "out_msg_delta") * out_per_minute),
        "backlog_ready_entries": np.where(np.isnan(ready), whole, ready),
        "throttled_events": placed(counted * events_per_minute),
    }
    # What is carried over from an earlier scrape is no measurement of this minute.
    known = {name: np.where(present & np.isfinite(values), values, np.nan) for name, values in counts.items()}
    marks = placed(_numbers(rows, "counter_resets")) > 0
    marks |= placed(_numbers(rows, "broker_changed")) > 0
    broker = np.full(length, None, dtype=object)
    broker[at] = np.array(rows.column("broker").to_pylist(), dtype=object)[inside]
    return AnomalyMinutes(known, present, marks, broker)


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """A column as float64 with NaN for NULL."""
    return rows.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
