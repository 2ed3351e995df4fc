"""Writing of rules' results into the lake. In: results of a span. Out: blocks of ``samples`` and rows of ``series``, committed.

A block of the lake is replaced as a whole. What it holds of other series, and of the rules' own outside the span, is
kept; the same results twice are the same files, and the second commit changes nothing.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import BLOCK_MS, block_start, dates_of
from throttlescope.ingest.lake import DataFile, Lake, NewFile, write_data_file
from throttlescope.ingest.lake.blocks import BlockBuffer, BlockKey, join_rows, sample_rows
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.pull.commit import commit_series
from throttlescope.ingest.pull.item import block_key, series_rows
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.rules.outputs import may_write
from throttlescope.transforms.rules.result_series import RuleSeries, first_wins
from throttlescope.transforms.rules.rule_file import Rule

_SERIES_AT_ONCE = 2_000
_COLUMNS = ["series_id", "timestamps_ms", "values", "stale_ms"]
_SCHEMA = pa.schema([TABLES["samples"].loose_schema.field(name) for name in _COLUMNS])


@dataclass(frozen=True)
class RulePart:
    """What one rule wrote of a metric.

    Attributes
    ----------
    start_ms, end_ms : int
        The span in which the rule's series are replaced.
    """

    rule: Rule
    written: RuleSeries
    start_ms: int
    end_ms: int


class ResultWriter:
    """Collects the results of a span and commits them."""

    def __init__(self, lake: Lake, run_id: str) -> None:
        self.lake, self.run_id = lake, run_id
        self._version = lake.version("samples")
        self._add: list[NewFile] = []
        self._remove: list[DataFile] = []
        self._series: list[pa.Table] = []

    def write(self, metric: str, parts: Sequence[RulePart]) -> None:
        """Write the blocks of one metric; ``parts`` are all that its rules wrote, in the rules' order."""
        with tempfile.TemporaryDirectory(prefix="throttlescope-rules-") as scratch:
            buffer = BlockBuffer(None, Path(scratch))
            found = _series_of(metric, parts)
            while some := list(islice(found, _SERIES_AT_ONCE)):
                buffer.add(batch_of(some))
            series = list(buffer.series())
            if series:
                self._series.append(series_rows(series))
            existing = self._existing(metric, parts)
            kept = dict(self._kept(metric, existing, parts))
            for key, rows in buffer.blocks():
                before = kept.pop(key, None)
                self._put(metric, key, rows if before is None else _joined([before, rows]))
            for key, rows in kept.items():
                self._put(metric, key, _joined([rows]))
        self._remove += [file for files in existing.values() for file in files]

    def commit(self) -> None:
        """Commit the catalogue, then the blocks: one transaction each.

        Raises
        ------
        ConflictError
            Another run wrote the same blocks meanwhile.
        """
        if self._series:
            commit_series(self.lake, ds.dataset(pa.concat_tables(self._series)), self.run_id)
        self.lake.commit("samples", self._add, self._remove, run_id=self.run_id, read_version=self._version)

    def _put(self, metric: str, key: BlockKey, rows: pa.Table) -> None:
        if rows.num_rows:
            self._add.append(write_data_file(self.lake.root, "samples", sample_rows(metric, key, rows)))

    def _existing(self, metric: str, parts: Sequence[RulePart]) -> dict[BlockKey, list[DataFile]]:
        start_ms = block_start(min(part.start_ms for part in parts))
        end_ms = max(part.end_ms for part in parts)
        found: dict[BlockKey, list[DataFile]] = {}
        if self._version is None or start_ms >= end_ms:
            return found
        for file in self.lake.files(
            "samples",
            partition={"metric_name": [metric], "date": dates_of(start_ms, end_ms)},
            between={"block_start_ms": (start_ms, end_ms - 1)},
            version=self._version,
        ):
            found.setdefault(block_key(file), []).append(file)
        return found

    def _kept(
        self, metric: str, existing: dict[BlockKey, list[DataFile]], parts: Sequence[RulePart]
    ) -> Iterator[tuple[BlockKey, pa.Table]]:
        """What stays of blocks that are there."""
        if not existing:
            return
        rows = self.lake.read(
            "series", columns=["series_id", "labels"], where=pc.field("metric_name") == metric
        )
        labels_of = {
            series_id: {NAME_LABEL: metric, **dict(labels)}
            for series_id, labels in zip(
                rows["series_id"].to_pylist(), rows["labels"].to_pylist(), strict=True
            )
        }
        owned = [
            (part, {one for one, labels in labels_of.items() if may_write(part.rule, labels)})
            for part in parts
        ]
        for key, files in existing.items():
            whole = [
                ids for part, ids in owned if part.start_ms <= key[1] and key[1] + BLOCK_MS <= part.end_ms
            ]
            if len(set().union(*whole)) == len(labels_of):
                # Nothing of it stays, and nothing has to be read.
                continue
            table = read_files("samples", files, columns=_COLUMNS).cast(_SCHEMA)
            for part, ids in owned:
                mine = np.array([one in ids for one in table["series_id"].to_pylist()], bool)
                table = _without(table, mine, part.start_ms, part.end_ms)
            yield key, table


def _series_of(metric: str, parts: Sequence[RulePart]) -> Iterator[DecodedSeries]:
    """Series of a metric; of what several rules wrote, the first one's."""
    writers: dict[Labels, list[RuleSeries]] = {}
    for part in parts:
        for labels in part.written.series:
            if dict(labels)[NAME_LABEL] == metric:
                writers.setdefault(labels, []).append(part.written)
    for labels, found in writers.items():
        series = first_wins([_whole(one, labels) for one in found])
        yield DecodedSeries(labels, series.timestamps_ms, series.values, series.stale_ms)


def _joined(pieces: list[pa.Table]) -> pa.Table:
    """One block's rows from several tables, made as a buffer makes them: the same rows are the same bytes."""
    pieces = [rows.select(_COLUMNS) for rows in pieces if rows.num_rows]
    return join_rows(pieces, Counter()) if pieces else _SCHEMA.empty_table()


def _whole(written: RuleSeries, labels: Labels) -> Series:
    series = written.series[labels]
    return Series(
        dict(labels),
        np.array(series.times_ms, np.int64),
        np.array(series.values, np.float64),
        np.array(series.stale_ms, np.int64),
    )


def _without(table: pa.Table, mine: np.ndarray, start_ms: int, end_ms: int) -> pa.Table:
    """Rows without what some of them have in [start, end); rows with nothing left go."""
    if not mine.any():
        return table
    times, samples_kept, samples = _list_kept(table, "timestamps_ms", mine, start_ms, end_ms)
    values = table["values"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    stale, stale_kept, markers = _list_kept(table, "stale_ms", mine, start_ms, end_ms)
    cut = pa.table(
        {
            "series_id": table["series_id"],
            "timestamps_ms": _lists(times[samples_kept], samples),
            "values": _lists(values[samples_kept], samples),
            "stale_ms": _lists(stale[stale_kept], markers),
        }
    )
    return cut.filter(pa.array((samples > 0) | (markers > 0)))


def _list_kept(
    table: pa.Table, name: str, mine: np.ndarray, start_ms: int, end_ms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All times of a list column, which of them stay, and how many do in each row."""
    column = table[name].combine_chunks()
    times = column.flatten().to_numpy(zero_copy_only=False)
    row = np.repeat(np.arange(table.num_rows), pc.list_value_length(column).to_numpy(zero_copy_only=False))
    kept = ~(mine[row] & (times >= start_ms) & (times < end_ms))
    return times, kept, np.bincount(row[kept], minlength=table.num_rows)


def _lists(flat: np.ndarray, lengths: np.ndarray) -> pa.ListArray:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat))
