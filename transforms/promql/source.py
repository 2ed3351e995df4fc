"""Where samples come from. In: a selector and a range. Out: the series that fit, with their samples and markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.selector import NAME_LABEL, Selector

_NO_TIMES = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Series:
    """One series.

    Attributes
    ----------
    labels : mapping
        With ``__name__``.
    timestamps_ms, stale_ms : ndarray of int64, rising
        Times of samples and of staleness markers.
    values : ndarray of float64
    """

    labels: Mapping[str, str]
    timestamps_ms: np.ndarray
    values: np.ndarray
    stale_ms: np.ndarray = field(default_factory=lambda: _NO_TIMES)


class SampleSource(Protocol):
    """Anything that can be asked for series."""

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        """Series that fit, with what they have in [start, end), sorted by labels; none without a sample or marker."""


class MemorySource:
    """Series that are already here."""

    def __init__(self, series: Iterable[Series]) -> None:
        self._series = sorted(series, key=_order)

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        found = (_cut(series, start_ms, end_ms) for series in self._series if selector.matches(series.labels))
        return [series for series in found if series is not None]


class LakeSource:
    """Series in data files of the lake: what one task of a query reads.

    Parameters
    ----------
    sample_files : sequence of DataFile
        Files of ``samples`` that may hold what is asked for: some shards, some hours.
    series : pyarrow.Table
        Their rows of ``series``: ``series_id``, ``metric_name`` and ``labels``.

    Notes
    -----
    The files of a metric are read once, when first asked for, and kept as long as this object.
    """

    def __init__(self, sample_files: Sequence[DataFile], series: pa.Table) -> None:
        self._files: dict[str, list[str]] = {}
        for file in sample_files:
            self._files.setdefault(file.partition["metric_name"], []).append(file.path)
        self._labels = {
            series_id: {NAME_LABEL: name, **dict(labels)}
            for series_id, name, labels in zip(
                *(series.column(column).to_pylist() for column in ("series_id", "metric_name", "labels")),
                strict=True,
            )
        }
        self._read: dict[str, list[Series]] = {}

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        name = selector.metric_name
        metrics = [name] if name is not None else sorted(self._files)
        found = [
            _cut(series, start_ms, end_ms)
            for metric in metrics
            for series in self._metric(metric)
            if selector.matches(series.labels)
        ]
        return sorted((series for series in found if series is not None), key=_order)

    def _metric(self, metric: str) -> list[Series]:
        if metric not in self._read:
            self._read[metric] = self._load(self._files.get(metric, ()))
        return self._read[metric]

    def _load(self, paths: Sequence[str]) -> list[Series]:
        if not paths:
            return []
        columns = ["series_id", "block_start_ms", "timestamps_ms", "values", "stale_ms"]
        # One file after the other: many are small, and a dataset's threads cost more than they give in a task.
        table = pa.concat_tables(pq.ParquetFile(path).read(columns, use_threads=False) for path in paths)
        table = table.sort_by([("series_id", "ascending"), ("block_start_ms", "ascending")]).combine_chunks()
        if table.num_rows == 0:
            return []
        ids = table.column("series_id").combine_chunks()
        # Rows of a series are neighbours and in time order: its samples are one slice of the flat arrays.
        new = np.flatnonzero(np.r_[True, pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)])
        rows = np.r_[new, len(ids)]
        times, time_offsets = _flat(table, "timestamps_ms")
        values, _ = _flat(table, "values")
        stale, stale_offsets = _flat(table, "stale_ms")
        series = []
        for first, after in pairwise(rows):
            samples = slice(time_offsets[first], time_offsets[after])
            markers = slice(stale_offsets[first], stale_offsets[after])
            labels = self._labels.get(ids[int(first)].as_py())
            if labels is not None:
                series.append(Series(labels, times[samples], values[samples], stale[markers]))
        return series


def _flat(table: pa.Table, name: str) -> tuple[np.ndarray, np.ndarray]:
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    offsets = column.offsets.to_numpy()
    return column.values.to_numpy(zero_copy_only=False), offsets


def _cut(series: Series, start_ms: int, end_ms: int) -> Series | None:
    first, after = np.searchsorted(series.timestamps_ms, (start_ms, end_ms))
    first_marker, after_marker = np.searchsorted(series.stale_ms, (start_ms, end_ms))
    if first == after and first_marker == after_marker:
        return None
    return Series(
        series.labels,
        series.timestamps_ms[first:after],
        series.values[first:after],
        series.stale_ms[first_marker:after_marker],
    )


def _order(series: Series) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(series.labels.items()))
