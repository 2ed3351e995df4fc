"""Rows of ``signals`` as arrays. In: rows of many subscription partitions, some at a time. Out: counts per minute, NaN unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey

_EVENTS = tuple(f"throttled_{unit}_events_{level}_delta" for unit in UNITS for level in LEVELS)
#: Columns of ``signals`` that are read, next to the key.
COLUMNS = (
    "minute_ms", "coverage_share", "in_msg_delta", "out_msg_delta", "delta_span_ms", "in_span_ms", "events_span_ms",
    "backlog_ready_entries",
    "backlog_entries", *_EVENTS, "counter_resets", "broker_changed", "broker",
)  # fmt: skip


@dataclass(frozen=True)
class MinuteRows:
    """Some rows as arrays of the same length, in any order.

    Attributes
    ----------
    minute : ndarray of int32
        Minutes since the epoch.
    present : ndarray of bool
        The backlog was scraped in the minute.
    marked : ndarray of bool
        A counter restarted, or another instance serves the topic.
    broker : ndarray of int32
        Number of the instance at the minute's end.
    counts : dict of str to ndarray of float64
        Messages, entries or events per minute, by signal; NaN unknown.
    """

    minute: np.ndarray
    present: np.ndarray
    marked: np.ndarray
    broker: np.ndarray
    counts: dict[str, np.ndarray]

    @classmethod
    def of(cls, rows: pa.Table, broker: np.ndarray | None = None) -> MinuteRows:
        """Rows of ``signals`` with :data:`COLUMNS`; without numbers of brokers none is known."""
        numbers = {name: _numbers(rows, name) for name in COLUMNS if name not in ("minute_ms", "broker")}
        in_per_minute, out_per_minute, events_per_minute = (
            MINUTE_MS / np.where(numbers[name] > 0, numbers[name], np.nan)
            for name in ("in_span_ms", "delta_span_ms", "events_span_ms")
        )
        ready, whole = numbers["backlog_ready_entries"], numbers["backlog_entries"]
        events = np.stack([numbers[name] for name in _EVENTS])
        counted = np.where(np.isnan(events).all(axis=0), np.nan, np.nansum(events, axis=0))
        counts = {
            "in_msg_rate": numbers["in_msg_delta"] * in_per_minute,
            "out_msg_rate": numbers["out_msg_delta"] * out_per_minute,
            "backlog_ready_entries": np.where(np.isnan(ready), whole, ready),
            "throttled_events": counted * events_per_minute,
        }
        present = numbers["coverage_share"] > 0
        return cls(
            (_numbers(rows, "minute_ms").astype(np.int64) // MINUTE_MS).astype(np.int32),
            present,
            (numbers["counter_resets"] > 0) | (numbers["broker_changed"] > 0),
            np.zeros(rows.num_rows, np.int32) if broker is None else broker,
            # What is carried over from an earlier scrape is no measurement of this minute.
            {
                name: np.where(present & np.isfinite(values), values, np.nan)
                for name, values in counts.items()
            },
        )

    @classmethod
    def of_nothing(cls) -> MinuteRows:
        """No rows."""
        return cls.of(TABLES["signals"].loose_schema.empty_table())

    @classmethod
    def together(cls, parts: list[MinuteRows]) -> MinuteRows:
        """All rows of some, at least one."""
        first = parts[0]
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("minute", "present", "marked", "broker")),
            {name: np.concatenate([part.counts[name] for part in parts]) for name in first.counts},
        )  # fmt: skip

    def take(self, at: np.ndarray) -> MinuteRows:
        """The rows at some places."""
        return MinuteRows(
            self.minute[at], self.present[at], self.marked[at], self.broker[at], {name: one[at] for name, one in self.counts.items()}
        )  # fmt: skip


class MinutesTable:
    """Minutes of many subscription partitions. What is added becomes arrays, some 50 bytes a minute where rows take some hundred."""

    def __init__(self) -> None:
        self._keys: dict[SubscriptionKey, int] = {}
        self._brokers: dict[str | None, int] = {None: 0}
        self._owners: list[np.ndarray] = []
        self._parts: list[MinuteRows] = []

    @classmethod
    def of(cls, rows: pa.Table) -> MinutesTable:
        """Rows of ``signals`` with the key and :data:`COLUMNS`, in any order."""
        made = cls()
        made.add(rows)
        return made

    def add(self, rows: pa.Table) -> None:
        """Rows of ``signals``, in any order; no minute of a subscription partition is added twice."""
        if not rows.num_rows:
            return
        rows = rows.combine_chunks()
        broker = rows.column("broker").combine_chunks().dictionary_encode()
        numbers = [
            self._brokers.setdefault(name, len(self._brokers)) for name in broker.dictionary.to_pylist()
        ]
        # -1, the last one: there is no name.
        at = broker.indices.fill_null(-1).to_numpy()
        self._owners.append(self._owners_of(rows))
        self._parts.append(MinuteRows.of(rows, np.array([*numbers, 0], np.int32)[at]))

    def __iter__(self) -> Iterator[tuple[SubscriptionKey, MinuteRows]]:
        """Subscription partitions in the order of the key."""
        if not self._parts:
            return
        rows, owners = MinuteRows.together(self._parts), np.concatenate(self._owners)
        # One copy is enough.
        self._parts, self._owners = [rows], [owners]
        order = np.argsort(owners, kind="stable")
        ends = np.cumsum(np.bincount(owners, minlength=len(self._keys)))
        for key, owner in sorted(self._keys.items()):
            yield key, rows.take(order[ends[owner - 1] if owner else 0 : ends[owner]])

    def on(self, rows: MinuteRows, first_ms: int, end_ms: int) -> AnomalyMinutes:
        """The rows of one subscription partition on the minutes of a range."""
        return AnomalyMinutes(rows, first_ms, end_ms, tuple(self._brokers))

    def _owners_of(self, rows: pa.Table) -> np.ndarray:
        """The number of each row's subscription partition."""
        codes = [
            rows.column(name).combine_chunks().dictionary_encode().indices.to_numpy() for name in SUBSCRIPTION_KEY_NAMES
        ]  # fmt: skip
        changes = np.any([np.diff(code) != 0 for code in codes], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
        keys = rows.select(list(SUBSCRIPTION_KEY_NAMES)).take(pa.array(starts)).to_pylist()
        owners = [self._keys.setdefault(SubscriptionKey(**key), len(self._keys)) for key in keys]
        return np.repeat(np.array(owners, np.int32), np.diff([*starts, rows.num_rows]))


class AnomalyMinutes:
    """Rows of one subscription partition on the minutes of [first_ms, end_ms); rows outside it are left out.

    Each part is placed when it is read for the first time: of a subscription that is only learned from, ``present`` is enough.
    """

    def __init__(
        self, rows: MinuteRows, first_ms: int, end_ms: int, brokers: Sequence[str | None] = (None,)
    ) -> None:
        self._rows, self._brokers, self._length = rows, brokers, (end_ms - first_ms) // MINUTE_MS
        at = rows.minute.astype(np.int64) - first_ms // MINUTE_MS
        self._inside = (at >= 0) & (at < self._length)
        self._at = at[self._inside]

    @cached_property
    def present(self) -> np.ndarray:
        """The backlog was scraped in the minute; bool."""
        return self._placed(self._rows.present, False)

    @cached_property
    def counts(self) -> dict[str, np.ndarray]:
        """Messages, entries or events per minute, by signal; float64, NaN unknown."""
        return {name: self._placed(values, np.nan) for name, values in self._rows.counts.items()}

    @cached_property
    def marks(self) -> np.ndarray:
        """A counter restarted, or another instance serves the topic; bool."""
        return self._placed(self._rows.marked, False)

    def broker(self, minute: int) -> str | None:
        """Instance at the end of a minute of the range, None unknown."""
        return self._brokers[self._broker_numbers[minute]]

    @cached_property
    def _broker_numbers(self) -> np.ndarray:
        return self._placed(self._rows.broker, 0)

    def _placed(self, values: np.ndarray, unknown: float | bool) -> np.ndarray:
        out = np.full(self._length, unknown, dtype=values.dtype)
        out[self._at] = values[self._inside]
        return out


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """A column as float64 with NaN for NULL."""
    return rows.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
