"""Rows of ``signals`` as arrays. In: one subscription partition's rows and a range. Out: counts per minute, NaN unknown."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS

_EVENTS = tuple(f"throttled_{unit}_events_{level}_delta" for unit in UNITS for level in LEVELS)
#: Columns of ``signals`` that are read.
COLUMNS = (
    "minute_ms", "coverage_share", "in_msg_delta", "out_msg_delta", "delta_span_ms", "in_span_ms", "events_span_ms",
    "backlog_ready_entries",
    "backlog_entries", *_EVENTS, "counter_resets", "broker_changed", "broker",
)  # fmt: skip


class AnomalyMinutes:
    """Rows of one subscription partition, in any order, on the minutes of [first_ms, end_ms); rows outside it are left out.

    Each part is placed when it is read for the first time: of a subscription that is only learned from, ``present`` is enough.
    """

    def __init__(self, rows: pa.Table, first_ms: int, end_ms: int) -> None:
        self._rows, self._length = rows, (end_ms - first_ms) // MINUTE_MS
        at = (_numbers(rows, "minute_ms").astype(np.int64) - first_ms) // MINUTE_MS
        self._inside = (at >= 0) & (at < self._length)
        self._at = at[self._inside]

    @cached_property
    def present(self) -> np.ndarray:
        """The backlog was scraped in the minute; bool."""
        return np.nan_to_num(self._placed(self._numbers("coverage_share"))) > 0

    @cached_property
    def counts(self) -> dict[str, np.ndarray]:
        """Messages, entries or events per minute, by signal; float64, NaN unknown."""
        spans = (self._numbers(name) for name in ("in_span_ms", "delta_span_ms", "events_span_ms"))
        in_per_minute, out_per_minute, events_per_minute = (
            MINUTE_MS / np.where(span > 0, span, np.nan) for span in spans
        )
        ready, whole = (
            self._placed(self._numbers(name)) for name in ("backlog_ready_entries", "backlog_entries")
        )
        events = np.stack([self._numbers(name) for name in _EVENTS])
        counted = np.where(np.isnan(events).all(axis=0), np.nan, np.nansum(events, axis=0))
        counts = {
            "in_msg_rate": self._placed(self._numbers("in_msg_delta") * in_per_minute),
            "out_msg_rate": self._placed(self._numbers("out_msg_delta") * out_per_minute),
            "backlog_ready_entries": np.where(np.isnan(ready), whole, ready),
            "throttled_events": self._placed(counted * events_per_minute),
        }
        # What is carried over from an earlier scrape is no measurement of this minute.
        return {
            name: np.where(self.present & np.isfinite(values), values, np.nan)
            for name, values in counts.items()
        }

    @cached_property
    def marks(self) -> np.ndarray:
        """A counter restarted, or another instance serves the topic; bool."""
        return (self._placed(self._numbers("counter_resets")) > 0) | (
            self._placed(self._numbers("broker_changed")) > 0
        )

    @cached_property
    def broker(self) -> np.ndarray:
        """Instance at the minute's end, None unknown; object."""
        broker = np.full(self._length, None, dtype=object)
        broker[self._at] = np.array(self._rows.column("broker").to_pylist(), dtype=object)[self._inside]
        return broker

    def _numbers(self, name: str) -> np.ndarray:
        return _numbers(self._rows, name)

    def _placed(self, values: np.ndarray) -> np.ndarray:
        out = np.full(self._length, np.nan)
        out[self._at] = values[self._inside]
        return out


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """A column as float64 with NaN for NULL."""
    return rows.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
