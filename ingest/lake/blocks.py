"""Blocks. In: batches of decoded samples of one metric. Out: one file per cluster, UTC hour and shard.

A series is normalised and judged here, cut at the hours, put in order, repaired where that is safe, merged with what the
lake already holds, and written. Memory is bounded: beyond a budget of samples the pieces go to scratch files and meet
again, shard by shard, at the end. The file of a block depends on its samples alone, not on the way they came.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.compilation import compiled
from throttlescope.ingest.core.labels import (
    SHARDS,
    LabelError,
    LabelMapping,
    Labels,
    SeriesKey,
    computed_key,
    normalise,
)
from throttlescope.ingest.core.series import SampleBatch
from throttlescope.ingest.core.times import BLOCK_MS, date_of

#: Samples in memory before they go to scratch: 16 bytes each here, and as much again while they are put in order.
SAMPLES_IN_MEMORY = 4_000_000

#: Samples of refused series that are kept with them, in all: enough for some hours of a few dozen, half a megabyte of text.
REFUSED_SAMPLES = 20_000

_REFUSED, _PASSED_OVER = -1, -2

BlockKey = tuple[str, int, int]
"""cluster, block_start_ms, shard"""


@dataclass
class Refused:
    """A series that ingest validation refused, as the ``quarantine`` table takes it.

    Attributes
    ----------
    kept : list of (times, values, markers), optional
        All of its samples, so that it can be readmitted when its labels are repaired; None: they were too many.
    """

    reason: str
    detail: str
    labels: Labels
    samples: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = field(default_factory=list)

    def count(self, times: np.ndarray) -> None:
        """Note samples that are refused with it."""
        if len(times):
            self.samples += len(times)
            low, high = int(times.min()), int(times.max())
            self.first_ms = low if self.first_ms is None else min(low, self.first_ms)
            self.last_ms = high if self.last_ms is None else max(high, self.last_ms)

    def row(self) -> dict:
        """What of it is stored, as JSON; bytes that are no text are shown as escapes."""
        text = json.dumps(
            {
                "labels": dict(self.labels),
                "detail": self.detail,
                "samples": self.samples,
                "first_ms": self.first_ms,
                "last_ms": self.last_ms,
            }
            | ({} if self.kept is None else {"held": self._kept_as_json()}),
            sort_keys=True,
        )
        return {"table": "samples", "reason": self.reason, "row": text, "rows": max(self.samples, 1)}

    def _kept_as_json(self) -> dict[str, list]:
        times, values, stale = ([value for part in self.kept for value in part[i].tolist()] for i in range(3))
        return {
            "timestamps_ms": times,
            "values": [_json_number(value) for value in values],
            "stale_ms": stale,
        }


@dataclass
class BlockBuffer:
    """Collects batches of one metric.

    Attributes
    ----------
    mapping : LabelMapping or None
        How labels become ours; None takes them as they are (:func:`labels.computed_key`).
    scratch : Path
        Folder for pieces beyond the budget; made when needed, emptied by :meth:`blocks`.
    """

    mapping: LabelMapping | None
    scratch: Path
    budget: int = SAMPLES_IN_MEMORY
    samples: int = 0
    refused: dict[Labels, Refused] = field(default_factory=dict)
    repairs: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._number_of: dict[Labels, int] = {}
        self._number_of_id: dict[str, int] = {}
        self._keys: list[SeriesKey] = []
        self._first_ms, self._last_ms = np.empty(0, np.int64), np.empty(0, np.int64)
        self._earlier: set[Labels] = set()
        self._parts: list[_BlockPart] = []
        self._in_memory = 0
        self._refused_kept = 0
        self._pieces = 0
        self._spilled: dict[BlockKey, list[Path]] = {}

    def add(self, batch: SampleBatch) -> None:
        """Take a batch. Series that cannot be placed are refused whole, with the reason."""
        numbers = np.array([self._number(labels) for labels in batch.labels], np.int64)
        self._note_ranges(batch.timestamps_ms, batch.offsets, numbers)
        self._note_ranges(batch.stale_ms, batch.stale_offsets, numbers)
        for i in np.flatnonzero(numbers == _REFUSED).tolist():
            self._refuse(self.refused[batch.labels[i]], batch, i)
        self.samples += batch.samples
        self._parts.append(_cut(batch, numbers))
        self._in_memory += batch.samples
        if self._in_memory >= self.budget:
            self._spill()

    def _refuse(self, refused: Refused, batch: SampleBatch, i: int) -> None:
        """Note the samples of a refused series, and keep them as long as there is room."""
        own = slice(batch.offsets[i], batch.offsets[i + 1])
        stale = slice(batch.stale_offsets[i], batch.stale_offsets[i + 1])
        refused.count(batch.timestamps_ms[own])
        more = (own.stop - own.start) + (stale.stop - stale.start)
        if refused.kept is None or not more:
            return
        if self._refused_kept + more > REFUSED_SAMPLES:
            # All of a series or nothing: half of it would be taken for all.
            self._refused_kept -= sum(len(part[0]) + len(part[2]) for part in refused.kept)
            refused.kept = None
            return
        self._refused_kept += more
        # Copies: a slice would keep the whole batch.
        refused.kept.append(
            (batch.timestamps_ms[own].copy(), batch.values[own].copy(), batch.stale_ms[stale].copy())
        )

    def next_selector(self) -> None:
        """What comes now answers another selector: series that an earlier one has given are passed over."""
        self._earlier = set(self._number_of)

    def series(self) -> Iterator[tuple[SeriesKey, int, int]]:
        """Every series that was placed, with the times of its first and last sample or marker."""
        for key, first, last in zip(
            self._keys, self._first_ms.tolist(), self._last_ms.tolist(), strict=False
        ):
            if first <= last:
                yield key, first, last

    def blocks(self) -> Iterator[tuple[BlockKey, pa.Table]]:
        """The blocks, each whole: columns ``series_id``, ``timestamps_ms``, ``values``, ``stale_ms``, sorted by series."""
        ordered = dict(self._ordered())
        for key in sorted(ordered.keys() | self._spilled.keys()):
            pieces = [_read_piece(path) for path in self._spilled.get(key, [])]
            if key in ordered:
                pieces.append(ordered.pop(key))
            yield key, pieces[0] if len(pieces) == 1 else join_rows(pieces, self.repairs)
            for path in self._spilled.pop(key, []):
                path.unlink()

    # -- taking in -------------------------------------------------------------------------

    def _number(self, labels: Labels) -> int:
        """The number of a series in this buffer; below 0 for one that is refused or passed over."""
        if labels in self._earlier:
            return _PASSED_OVER
        number = self._number_of.get(labels)
        if number is None:
            try:
                key = computed_key(labels) if self.mapping is None else normalise(labels, self.mapping)
            except LabelError as fault:
                self.refused[labels] = Refused(fault.reason, fault.detail, labels)
                number = _REFUSED
            else:
                # Two shapes of the same series become one.
                number = self._number_of_id.setdefault(key.series_id, len(self._keys))
                if number == len(self._keys):
                    self._keys.append(key)
            self._number_of[labels] = number
        return number

    def _note_ranges(self, times: np.ndarray, offsets: np.ndarray, numbers: np.ndarray) -> None:
        if len(self._first_ms) < len(self._keys):
            more = max(2 * len(self._first_ms), len(self._keys)) - len(self._first_ms)
            self._first_ms = np.append(self._first_ms, np.full(more, np.iinfo(np.int64).max))
            self._last_ms = np.append(self._last_ms, np.full(more, np.iinfo(np.int64).min))
        some = np.flatnonzero(np.diff(offsets) > 0)
        if len(some):
            lows = np.minimum.reduceat(times, offsets[some])
            highs = np.maximum.reduceat(times, offsets[some])
            placed = numbers[some] >= 0
            np.minimum.at(self._first_ms, numbers[some][placed], lows[placed])
            np.maximum.at(self._last_ms, numbers[some][placed], highs[placed])

    # -- putting in order ------------------------------------------------------------------

    def _ordered(self) -> Iterator[tuple[BlockKey, pa.Table]]:
        """What is in memory, block by block; the memory is released."""
        parts, self._parts, self._in_memory = self._parts, [], 0
        if not parts or not self._keys:
            return
        joined = _concatenated(parts)
        del parts
        rank, ids = self._ranks()
        clusters = sorted({key.cluster for key in self._keys})
        cluster_of = np.array([clusters.index(key.cluster) for key in self._keys], np.int64)
        shard_of = np.array([key.shard for key in self._keys], np.int64)
        yield from _tables(joined, rank, ids, cluster_of, shard_of, clusters, self.repairs)

    def _ranks(self) -> tuple[np.ndarray, pa.Array]:
        """Place of each series in the order of the ids, and the ids in that order."""
        ids = np.array([key.series_id for key in self._keys])
        order = np.argsort(ids)
        rank = np.empty(len(ids), np.int64)
        rank[order] = np.arange(len(ids))
        return rank, pa.array(ids[order], pa.string())

    def _spill(self) -> None:
        self.scratch.mkdir(parents=True, exist_ok=True)
        for key, table in self._ordered():
            pieces = self._spilled.setdefault(key, [])
            self._pieces += 1
            path = self.scratch / f"{self._pieces}.arrow"
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            pieces.append(path)


def _json_number(value: float) -> float | str:
    """A value for JSON: what is not a finite number as the text that Prometheus uses."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def join_rows(pieces: list[pa.Table], repairs: Counter) -> pa.Table:
    """Rows of one block from several tables: sorted by series, rows of the same series made one."""
    table = pa.concat_tables(pieces).combine_chunks()
    ids, rank = np.unique(np.asarray(table["series_id"].combine_chunks()), return_inverse=True)
    times, values, stale = (table[name].combine_chunks() for name in ("timestamps_ms", "values", "stale_ms"))
    part = _BlockPart(
        np.asarray(times.values),
        np.asarray(values.values),
        np.asarray(stale.values),
        _list_rows(rank, times),
        _list_rows(rank, stale),
    )
    zeros = np.zeros(len(ids), np.int64)
    numbers = np.arange(len(ids))
    ((_, joined),) = _tables(part, numbers, pa.array(ids.tolist(), pa.string()), zeros, zeros, [""], repairs)
    return joined


def _list_rows(number: np.ndarray, lists: pa.ListArray) -> np.ndarray:
    """The lists that hold something, as rows of a :class:`_BlockPart` that knows no hours."""
    offsets = np.asarray(lists.offsets, np.int64)
    rows = np.column_stack([number, np.zeros_like(number), offsets[:-1], offsets[1:]]).astype(np.int64)
    return rows[np.diff(offsets) > 0]


@dataclass
class _BlockPart:
    """Samples in flat arrays, and the slices of them that are rows: series number, block, start, end."""

    times: np.ndarray
    values: np.ndarray
    stale: np.ndarray
    rows: np.ndarray
    stale_rows: np.ndarray


def _cut(batch: SampleBatch, numbers: np.ndarray) -> _BlockPart:
    """Cut every series at the hours; those with a number below 0 are left out."""
    return _BlockPart(
        batch.timestamps_ms,
        batch.values,
        batch.stale_ms,
        _hours(batch.timestamps_ms, batch.offsets, numbers, BLOCK_MS),
        _hours(batch.stale_ms, batch.stale_offsets, numbers, BLOCK_MS),
    )


def _concatenated(parts: list[_BlockPart]) -> _BlockPart:
    shift = np.cumsum([0] + [len(part.times) for part in parts])
    stale_shift = np.cumsum([0] + [len(part.stale) for part in parts])
    for part, by, stale_by in zip(parts, shift, stale_shift, strict=False):
        part.rows[:, 2:] += by
        part.stale_rows[:, 2:] += stale_by
    return _BlockPart(
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.stale for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.stale_rows for part in parts]),
    )


def _tables(
    part: _BlockPart,
    rank: np.ndarray,
    ids: pa.Array,
    cluster_of: np.ndarray,
    shard_of: np.ndarray,
    clusters: list[str],
    repairs: Counter,
) -> Iterator[tuple[BlockKey, pa.Table]]:
    """Gather rows into blocks.

    A row's place is (cluster, block, shard, series); rows of the same place become one, and a row of markers alone is
    a row, too.
    """
    rows, stale_rows = part.rows, part.stale_rows
    both = np.concatenate([rows, stale_rows])
    if not len(both):
        return
    number, hour = both[:, 0], both[:, 1] // BLOCK_MS
    first_hour = int(hour.min())
    # One whole number says the place: sorting it is sorting by cluster, hour, shard, series.
    sizes = (len(clusters), int(hour.max()) - first_hour + 1, SHARDS, len(ids))
    code = np.ravel_multi_index(
        (cluster_of[number], hour - first_hour, shard_of[number], rank[number]), sizes
    )
    codes, place = np.unique(code, return_inverse=True)
    cluster, hour, shard, series = np.unravel_index(codes, sizes)
    times, values, offsets = _gathered(part.times, part.values, rows, place[: len(rows)], len(codes), repairs)
    nothing = np.empty(0, np.float64)
    stale, _, stale_offsets = _gathered(
        part.stale, nothing, stale_rows, place[len(rows) :], len(codes), repairs
    )
    block = codes // len(ids)
    starts = np.flatnonzero(np.concatenate([[True], block[1:] != block[:-1]])).tolist()
    for low, high in zip(starts, [*starts[1:], len(codes)], strict=True):
        key = (clusters[cluster[low]], (int(hour[low]) + first_hour) * BLOCK_MS, int(shard[low]))
        table = pa.table(
            {
                "series_id": ids.take(pa.array(series[low:high])),
                "timestamps_ms": _lists(times, offsets, low, high),
                "values": _lists(values, offsets, low, high),
                "stale_ms": _lists(stale, stale_offsets, low, high),
            }
        )
        yield key, table


def _gathered(
    times: np.ndarray, values: np.ndarray, rows: np.ndarray, place: np.ndarray, places: int, repairs: Counter
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples in the order of their places, strictly rising inside each place; and the offsets of the places."""
    # Stable: rows of one place stay in the order they came in, so that the first of equal times is the first that came.
    order = np.argsort(place, kind="stable")
    lengths = np.bincount(place, weights=rows[:, 3] - rows[:, 2], minlength=places).astype(np.int64)
    offsets = np.zeros(places + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    out_times = np.empty(offsets[-1], np.int64)
    with_values = len(values) == len(times)
    out_values = np.empty(offsets[-1] if with_values else 0, np.float64)
    _gather(times, values, np.ascontiguousarray(rows[order][:, 2:]), out_times, out_values, with_values)
    bad = _falling(out_times, offsets)
    if len(bad):
        return _mended(out_times, out_values, offsets, bad, repairs)
    return out_times, out_values, offsets


def _mended(
    times: np.ndarray, values: np.ndarray, offsets: np.ndarray, bad: np.ndarray, repairs: Counter
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort what does not rise and keep the first of equal times."""
    keep = np.ones(len(times), bool)
    for place in bad.tolist():
        low, high = offsets[place], offsets[place + 1]
        if (np.diff(times[low:high]) < 0).any():
            # Markers that are inferred come last, which is no fault of the source.
            repairs["unsorted_series_blocks"] += len(values) > 0
            order = np.argsort(times[low:high], kind="stable")
            times[low:high] = times[low:high][order]
            if len(values):
                values[low:high] = values[low:high][order]
        again = np.flatnonzero(np.diff(times[low:high]) == 0) + 1
        if len(again):
            if len(values):
                repairs["duplicate_timestamps"] += len(again)
                same = values[low + again - 1].view(np.int64) == values[low + again].view(np.int64)
                repairs["duplicate_timestamps_with_other_values"] += int((~same).sum())
            keep[low + again] = False
    lengths = np.add.reduceat(np.append(keep, False).astype(np.int64), offsets[:-1])
    lengths[np.diff(offsets) == 0] = 0
    new_offsets = np.zeros_like(offsets)
    np.cumsum(lengths, out=new_offsets[1:])
    return times[keep], values[keep] if len(values) else values, new_offsets


def _lists(flat: np.ndarray, offsets: np.ndarray, low: int, high: int) -> pa.ListArray:
    own = offsets[low : high + 1]
    return pa.ListArray.from_arrays(
        pa.array((own - own[0]).astype(np.int32)), pa.array(flat[own[0] : own[-1]])
    )


def _read_piece(path: Path) -> pa.Table:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


@compiled()
def _hours(times, offsets, numbers, block_ms):
    """Rows (series number, block, start, end): every run of one series inside one hour."""
    count = 0
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            block = np.int64(0)
            for j in range(offsets[i], offsets[i + 1]):
                own = times[j] - times[j] % block_ms
                if j == offsets[i] or own != block:
                    count += 1
                block = own
    rows = np.empty((count, 4), np.int64)
    count = 0
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            block = np.int64(0)
            for j in range(offsets[i], offsets[i + 1]):
                own = times[j] - times[j] % block_ms
                if j == offsets[i] or own != block:
                    rows[count, 0] = numbers[i]
                    rows[count, 1] = own
                    rows[count, 2] = j
                    count += 1
                rows[count - 1, 3] = j + 1
                block = own
    return rows


@compiled()
def _gather(times, values, slices, out_times, out_values, with_values):
    at = 0
    for i in range(len(slices)):
        for j in range(slices[i, 0], slices[i, 1]):
            out_times[at] = times[j]
            if with_values:
                out_values[at] = values[j]
            at += 1


@compiled()
def _falling(times, offsets):
    """Places whose times do not rise strictly."""
    bad = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(offsets) - 1):
        for j in range(offsets[i] + 1, offsets[i + 1]):
            if times[j] <= times[j - 1]:
                bad[i] = True
                break
    return np.flatnonzero(bad)


#: What ingest calls of compiled functions; :func:`load_kernels` loads them.
KERNELS = (_hours, _gather, _falling)


def load_kernels() -> None:
    """Load compiled code into this process, from its cache where it was compiled before."""
    nothing, offsets = np.empty(0, np.int64), np.zeros(1, np.int64)
    _hours(nothing, offsets, nothing, BLOCK_MS)
    _gather(nothing, np.empty(0), np.empty((0, 2), np.int64), nothing, np.empty(0), True)
    _falling(nothing, offsets)


def sample_rows(metric_name: str, key: BlockKey, rows: pa.Table) -> pa.Table:
    """The rows of a block with all columns of the ``samples`` contract."""
    cluster, block_start_ms, shard = key
    count = rows.num_rows
    columns = {
        "metric_name": pa.repeat(metric_name, count),
        "date": pa.repeat(date_of(block_start_ms), count),
        "cluster": pa.repeat(cluster, count),
        "shard": pa.repeat(pa.scalar(shard, pa.int32()), count),
        "block_start_ms": pa.repeat(block_start_ms, count),
    }
    schema = TABLES["samples"].loose_schema
    return pa.Table.from_arrays(
        [columns[name] if name in columns else rows[name] for name in schema.names], schema=schema
    )
