"""A subscription's backlog by the minute. In: its rows of ``signals``. Out: arrays of the minutes in which it was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.words import LEVELS
from throttlescope.ingest.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as diagnosis

#: Columns of ``signals`` that say what a limit is.
LIMIT_COLUMNS = tuple(
    f"limit_{level}_{what}" for level in LEVELS for what in ("msg", "bytes", "period_s", "set_by")
)
#: Columns of ``signals`` that are read.
COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "minute_ms", "backlog_ready_entries", "unacked_msg", "messages_per_entry", "in_msg_rate_5m",
    "write_entry_rate", "read_batch_entries", "backlog_age_s", "broker", "broker_changed", "counter_resets",
    "limits_changed", *LIMIT_COLUMNS,
)  # fmt: skip


@dataclass(frozen=True)
class Minutes:
    """Minutes of one subscription partition in which the backlog was seen, oldest first.

    Attributes
    ----------
    start_ms : numpy.ndarray of int64
        Starts of the minutes.
    ready : numpy.ndarray of float64
        Ready backlog at each minute's end, entries.
    waiting : numpy.ndarray of float64
        What of it no consumer holds yet.
    floor : numpy.ndarray of float64
        Up to so many waiting entries are no backlog.
    age_s : numpy.ndarray of float64
        Age of the topic partition's oldest entry; NaN: unknown.
    rows : pyarrow.Table
        The same minutes with all columns.
    """

    start_ms: np.ndarray
    ready: np.ndarray
    waiting: np.ndarray
    floor: np.ndarray
    age_s: np.ndarray
    rows: pa.Table

    @classmethod
    def of_rows(cls, rows: pa.Table) -> Minutes:
        """Minutes of one subscription partition, from rows sorted by time; a minute that comes twice counts once."""
        rows = rows.filter(pa.array(~np.isnan(_numbers(rows, "backlog_ready_entries"))))
        starts = rows.column("minute_ms").to_numpy()
        rows = rows.filter(pa.array(np.append(starts[:-1] != starts[1:], np.ones(min(1, len(starts)), bool))))
        ready = _numbers(rows, "backlog_ready_entries")
        per_entry = _numbers(rows, "messages_per_entry")
        per_entry = np.where(per_entry > 0, per_entry, np.nan)
        # Where messages per entry are not known, nobody can say how many entries the unacked messages are.
        held = np.nan_to_num(_numbers(rows, "unacked_msg") / per_entry)
        published = _numbers(rows, "in_msg_rate_5m") / per_entry
        published = np.where(np.isnan(published), _numbers(rows, "write_entry_rate"), published)
        batch = _numbers(rows, "read_batch_entries")
        batch = np.where(batch > 0, batch, diagnosis.READ_BATCH_ENTRIES)
        return cls(
            start_ms=rows.column("minute_ms").to_numpy(),
            ready=ready,
            waiting=np.maximum(0.0, ready - held),
            floor=np.maximum(batch, diagnosis.HELD_S * np.nan_to_num(published)),
            age_s=_numbers(rows, "backlog_age_s"),
            rows=rows,
        )

    def __len__(self) -> int:
        return len(self.start_ms)

    @property
    def end_ms(self) -> np.ndarray:
        return self.start_ms + MINUTE_MS

    @property
    def over(self) -> np.ndarray:
        """Whether more waits at a minute's end than the floor."""
        return self.waiting > self.floor

    def slice(self, low: int, high: int) -> Minutes:
        """Minutes ``low`` to ``high``, the last excluded."""
        arrays = (
            array[low:high] for array in (self.start_ms, self.ready, self.waiting, self.floor, self.age_s)
        )
        return Minutes(*arrays, self.rows.slice(low, max(0, high - low)))


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """A column as float64: NaN where it is NULL, NaN or infinite."""
    values = rows.column(name).cast(pa.float64()).to_numpy()
    return np.where(np.isfinite(values), values, np.nan)
