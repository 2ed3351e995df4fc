"""A subscription's backlog by the minute. In: its rows of ``signals``. Out: arrays of the minutes in which it was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.system_names import is_reader
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as diagnosis

#: Columns of ``signals`` that say what a limit is.
LIMIT_COLUMNS = tuple(
    f"limit_{level}_{what}" for level in LEVELS for what in ("msg", "bytes", "period_s", "set_by")
)
#: Columns of ``signals`` that are read.
COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "minute_ms", "backlog_ready_entries", "unacked_msg", "messages_per_entry", "in_msg_rate_5m",
    "write_entry_rate", "read_batch_entries", "backlog_age_s", "subscription_backlog_age_s", "delayed_entries",
    "out_msg_delta", "mark_delete_age_s", "last_ack_age_s", "broker", "broker_changed", "counter_resets",
    "limits_changed", *LIMIT_COLUMNS,
)  # fmt: skip


@dataclass(frozen=True)
class EpisodeMinutes:
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
    is_old : numpy.ndarray of bool
        However few entries wait, they have waited for long; see :mod:`throttlescope.models.diagnosis.symptoms.backlog_old`.
    age_s : numpy.ndarray of float64
        Age of the topic partition's oldest entry; NaN: unknown.
    rows : pyarrow.Table
        The same minutes with all columns.
    """

    start_ms: np.ndarray
    ready: np.ndarray
    waiting: np.ndarray
    floor: np.ndarray
    is_old: np.ndarray
    age_s: np.ndarray
    rows: pa.Table

    @classmethod
    def of_rows(cls, rows: pa.Table) -> EpisodeMinutes:
        """Minutes of one subscription partition, from rows sorted by time; a minute that comes twice counts once."""
        rows = rows.filter(pa.array(~np.isnan(_numbers(rows, "backlog_ready_entries"))))
        starts = rows.column("minute_ms").to_numpy()
        rows = rows.filter(pa.array(np.append(starts[:-1] != starts[1:], np.ones(min(1, len(starts)), bool))))
        ready = _numbers(rows, "backlog_ready_entries")
        per_entry = _numbers(rows, "messages_per_entry")
        per_entry = np.where(per_entry > 0, per_entry, np.nan)
        # Without the number of messages per entry, the entries of the unacked messages are not known.
        unacked_entries = np.nan_to_num(_numbers(rows, "unacked_msg") / per_entry)
        published = _numbers(rows, "in_msg_rate_5m") / per_entry
        published = np.where(np.isnan(published), _numbers(rows, "write_entry_rate"), published)
        batch = _numbers(rows, "read_batch_entries")
        batch = np.where(batch > 0, batch, diagnosis.READ_BATCH_ENTRIES)
        in_messages = np.maximum(np.minimum(batch, diagnosis.LEAST_ENTRIES), batch / per_entry)
        batch = np.where(per_entry > 1, in_messages, batch)
        waiting = np.maximum(0.0, ready - unacked_entries)
        seconds = diagnosis.HELD_S * np.nan_to_num(published)
        return cls(
            start_ms=rows.column("minute_ms").to_numpy(),
            ready=ready,
            waiting=waiting,
            floor=np.maximum(batch, seconds),
            is_old=_is_old(rows, waiting, seconds),
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
        """Whether more waits at a minute's end than the floor, or what waits is old."""
        return (self.waiting > self.floor) | self.is_old

    def slice(self, low: int, high: int) -> EpisodeMinutes:
        """Minutes ``low`` to ``high``, the last excluded."""
        arrays = (
            array[low:high]
            for array in (self.start_ms, self.ready, self.waiting, self.floor, self.is_old, self.age_s)
        )
        return EpisodeMinutes(*arrays, self.rows.slice(low, max(0, high - low)))


def _is_old(rows: pa.Table, waiting: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Whether what waits at a minute's end has waited for long: as the diagnosis says it of a window, but for its history."""
    if not len(waiting) or is_reader(rows.column("subscription")[0].as_py()):
        return np.zeros(len(waiting), bool)
    own_age_s, out = _numbers(rows, "subscription_backlog_age_s"), _numbers(rows, "out_msg_delta")
    # NaN compares as False: an age that is not known neither says nor denies it.
    moved = (_numbers(rows, "mark_delete_age_s") < diagnosis.OLD_S) | (
        _numbers(rows, "last_ack_age_s") < diagnosis.OLD_S
    )
    stands_still = (_numbers(rows, "backlog_age_s") >= diagnosis.OLD_S) & (out == 0) & ~moved
    is_old = np.where(np.isnan(own_age_s), stands_still, (own_age_s >= diagnosis.OLD_S) & (waiting > seconds))
    return is_old & (waiting > diagnosis.LEAST_ENTRIES) & ~(_numbers(rows, "delayed_entries") > 0)


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """A column as float64: NaN where it is NULL, NaN or infinite."""
    values = rows.column(name).cast(pa.float64()).to_numpy()
    return np.where(np.isfinite(values), values, np.nan)
