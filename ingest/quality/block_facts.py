"""Facts of a block for the samples gate. In: blocks with their arrays. Out: one row of counts per block.

Runs inside Spark's tasks on Arrow arrays; no sample becomes a row of its own.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.times import BLOCK_MS

#: A distance of more than this many usual intervals is a hole; scrapes come late, but not by half an interval.
HOLE_INTERVALS = 1.5

#: A block with fewer samples does not know its own interval; the series' other blocks do.
SAMPLES_FOR_INTERVAL = 3

#: A broker's clock and the scraping server's may differ by as much as a minute is coarse: the unit of signals.
AHEAD_MS = 60_000

_KEY = ("cluster", "metric_name", "series_id", "block_start_ms")

FACTS = pa.schema(
    [
        ("cluster", pa.string()),
        ("metric_name", pa.string()),
        ("series_id", pa.string()),
        ("block_start_ms", pa.int64()),
        ("samples", pa.int64()),
        ("first_ms", pa.int64()),  # time of the first and last sample; NULL: markers only
        ("last_ms", pa.int64()),
        ("first_stale_ms", pa.int64()),  # time of the first and last staleness marker; NULL: none
        ("last_stale_ms", pa.int64()),
        ("interval_ms", pa.int64()),  # median distance of samples; NULL: fewer than SAMPLES_FOR_INTERVAL
        ("missing_scrapes", pa.int64()),  # scrapes that are missing in holes without a marker
        ("absent_scrapes", pa.int64()),  # the same for holes in which a marker says: not exposed
        ("repeated_timestamps", pa.int64()),  # samples at the time of the one before
        ("falling_timestamps", pa.int64()),  # samples or markers before the one before
        ("surplus_values", pa.int64()),  # difference between the numbers of values and of timestamps
        ("outside_block", pa.int64()),  # samples or markers outside [block_start_ms, block_start_ms + 1 h)
        ("negative_values", pa.int64()),
        ("not_finite_values", pa.int64()),
        ("zero_values", pa.int64()),
        ("falls", pa.int64()),  # values below the one before
        ("shallow_falls", pa.int64()),  # those to more than half of it
        ("ahead_of_clock", pa.int64()),  # values that lie more than AHEAD_MS after their own time, as times
    ]
)


def block_facts(blocks: pa.Table) -> pa.RecordBatch:
    """Count what is wrong in each block.

    Parameters
    ----------
    blocks : pyarrow.Table
        Rows of ``samples``, any number, any order.

    Returns
    -------
    pyarrow.RecordBatch
        One row per row of ``blocks`` with the columns of :data:`FACTS`.
    """
    blocks = blocks.combine_chunks()
    rows = blocks.num_rows
    start_ms = blocks["block_start_ms"].to_numpy()
    times = _Lists(blocks["timestamps_ms"])
    stale = _Lists(blocks["stale_ms"])
    values = _Lists(blocks["values"])

    step_ms, step_row, step_start_ms = times.steps()
    interval_ms = _lower_medians(step_ms, step_row, rows)
    # A row without an interval of its own gets 0 here, so none of its distances counts as a hole.
    usual_ms = np.where(times.length >= SAMPLES_FOR_INTERVAL, interval_ms, 0)
    hole = (usual_ms[step_row] > 0) & (step_ms > HOLE_INTERVALS * usual_ms[step_row])
    hole_row, hole_start_ms, hole_ms = step_row[hole], step_start_ms[hole], step_ms[hole]
    missing = np.rint(hole_ms / usual_ms[hole_row]).astype(np.int64) - 1
    marked = stale.any_between(hole_row, hole_start_ms, hole_start_ms + hole_ms)

    stale_step_ms, stale_step_row, _ = stale.steps()
    with np.errstate(invalid="ignore"):  # the difference of two infinities is none
        change, change_row, before = values.steps()
        fell = change < 0
        shallow = fell & (before + change > before / 2)
    columns = {
        "samples": times.length,
        "first_ms": times.first(),
        "last_ms": times.last(),
        "first_stale_ms": stale.first(),
        "last_stale_ms": stale.last(),
        "interval_ms": pa.array(usual_ms, mask=usual_ms <= 0),
        "missing_scrapes": _sum_by_row(hole_row[~marked], missing[~marked], rows),
        "absent_scrapes": _sum_by_row(hole_row[marked], missing[marked], rows),
        "repeated_timestamps": _count_by_row(step_row[step_ms == 0], rows),
        "falling_timestamps": _count_by_row(step_row[step_ms < 0], rows)
        + _count_by_row(stale_step_row[stale_step_ms <= 0], rows),
        "surplus_values": np.abs(values.length - times.length),
        "outside_block": times.count_outside(start_ms) + stale.count_outside(start_ms),
        "negative_values": _count_by_row(values.row[values.flat < 0], rows),
        "not_finite_values": _count_by_row(values.row[~np.isfinite(values.flat)], rows),
        "zero_values": _count_by_row(values.row[values.flat == 0], rows),
        "falls": _count_by_row(change_row[fell], rows),
        "shallow_falls": _count_by_row(change_row[shallow], rows),
        "ahead_of_clock": _ahead(times, values, rows),
    }
    arrays = [
        pa.concat_arrays(blocks[name].chunks) if rows else pa.array([], FACTS.field(name).type)
        for name in _KEY
    ]
    arrays += [pa.array(columns[name], FACTS.field(name).type) for name in FACTS.names[len(_KEY) :]]
    return pa.RecordBatch.from_arrays(arrays, schema=FACTS)


class _Lists:
    """A list column as one flat array and the row that each element belongs to."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.flat = pc.list_flatten(column).to_numpy()
        self.length = pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
        self.row = np.repeat(np.arange(len(self.length)), self.length)
        self.end = np.cumsum(self.length)

    def steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distances of neighbours inside a row, with their row and the element that they begin at."""
        inside = self.row[1:] == self.row[:-1]
        return np.diff(self.flat)[inside], self.row[1:][inside], self.flat[:-1][inside]

    def first(self) -> pa.Array:
        return self._at(self.end - self.length)

    def last(self) -> pa.Array:
        return self._at(self.end - 1)

    def _at(self, position: np.ndarray) -> pa.Array:
        empty = self.length == 0
        if not len(self.flat):
            return pa.nulls(len(self.length), pa.int64())
        return pa.array(self.flat[np.where(empty, 0, position)], mask=empty)

    def count_outside(self, start_ms: np.ndarray) -> np.ndarray:
        since_start_ms = self.flat - start_ms[self.row]
        outside = (since_start_ms < 0) | (since_start_ms >= BLOCK_MS)
        return _count_by_row(self.row[outside], len(self.length))

    def any_between(self, row: np.ndarray, after_ms: np.ndarray, before_ms: np.ndarray) -> np.ndarray:
        """Whether a row has an element between two times, both excluded."""
        if not len(self.flat) or not len(row):
            return np.zeros(len(row), bool)
        # Row and time in one sorted array: a lookup for all holes at once. Times may be out of order only where
        # another check fails, and then the run stops.
        origin_ms = min(self.flat.min(), after_ms.min())
        width_ms = max(self.flat.max(), before_ms.max()) - origin_ms + 1
        keys = np.sort(self.row * width_ms + (self.flat - origin_ms))
        low = np.searchsorted(keys, row * width_ms + (after_ms - origin_ms), side="right")
        high = np.searchsorted(keys, row * width_ms + (before_ms - origin_ms), side="left")
        return high > low


def _ahead(times: _Lists, values: _Lists, rows: int) -> np.ndarray:
    """Values that are times after their own scrape; 0 where a row has not as many values as times."""
    fits = values.length == times.length
    in_values = fits[values.row]
    flat, row, at_ms = values.flat[in_values], values.row[in_values], times.flat[fits[times.row]]
    return _count_by_row(row[flat > at_ms + AHEAD_MS], rows)


def _count_by_row(row: np.ndarray, rows: int) -> np.ndarray:
    return np.bincount(row, minlength=rows).astype(np.int64)


def _sum_by_row(row: np.ndarray, amount: np.ndarray, rows: int) -> np.ndarray:
    sums = np.zeros(rows, np.int64)
    np.add.at(sums, row, amount)
    return sums


def _lower_medians(value: np.ndarray, row: np.ndarray, rows: int) -> np.ndarray:
    """Median of each row's values, of two middle ones the lower; 0 where a row has none."""
    count = np.bincount(row, minlength=rows)
    medians = np.zeros(rows, np.int64)
    if len(value):
        ordered = value[np.lexsort((value, row))]
        start = np.cumsum(count) - count
        some = count > 0
        medians[some] = ordered[(start + (count - 1) // 2)[some]]
    return medians
