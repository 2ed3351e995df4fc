"""Samples of a lake. In: data files of ``samples``, rows of ``series``, limits as series. Out: the samples of a selector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.selector import NAME_LABEL, Selector
from throttlescope.ingest.lake import DataFile
from throttlescope.transforms.promql.blocks import Arrays, Block, BlockCache, load
from throttlescope.transforms.promql.limit_series import LimitSeries
from throttlescope.transforms.promql.operators.names import nameless
from throttlescope.transforms.promql.series_index import Entry, SeriesIndex
from throttlescope.transforms.promql.source import Samples, SampleSource, Series, bounds_of


class LakeSampleSource(SampleSource):
    """Series in data files of the lake: what one task of a query reads.

    Parameters
    ----------
    sample_files : sequence of DataFile
        Files of ``samples`` that may contain the requested samples: some shards, some hours.
    series : SeriesIndex or pyarrow.Table
        Their rows of ``series``: ``series_id``, ``metric_name`` and ``labels``.
    cache : BlockCache, optional
        Caches what was read for other queries. Without it the files of a metric are read once, at first use,
        and kept as long as this object.
    limits : LimitSeries, optional
        Limits as series; ``series`` has their rows as well.
    """

    def __init__(
        self,
        sample_files: Sequence[DataFile],
        series: SeriesIndex | pa.Table,
        cache: BlockCache | None = None,
        limits: LimitSeries | None = None,
    ) -> None:
        self._files: dict[str, list[DataFile]] = {}
        for file in sorted(sample_files, key=lambda file: file.relative_path):
            self._files.setdefault(file.partition["metric_name"], []).append(file)
        self._index = series if isinstance(series, SeriesIndex) else SeriesIndex(series)
        self._cache, self._limits = cache, limits
        self._blocks: dict[str, Block] = {}

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        samples = self._found(selector, start_ms, end_ms, loosely=False)
        found = []
        for row, labels in enumerate(samples.labels):
            here = slice(samples.bounds[row], samples.bounds[row + 1])
            stale = slice(samples.stale_bounds[row], samples.stale_bounds[row + 1])
            found.append(
                Series(dict(labels), samples.times_ms[here], samples.values[here], samples.stale_ms[stale])
            )
        return found

    def samples(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        """As in :class:`SampleSource`, but series may have samples outside the range; operators ignore them."""
        return self._found(selector, start_ms, end_ms, loosely=True)

    def has_distinct(self, selector: Selector) -> bool:
        """Whether the series that fit, at whatever time, differ by more than what functions drop."""
        labels, distinct = nameless(tuple(entry.labels for entry in self._index.matching(selector)))
        return distinct or len(set(labels)) == len(labels)

    def _found(self, selector: Selector, start_ms: int, end_ms: int, *, loosely: bool) -> Samples:
        by_metric: dict[str, list[Entry]] = {}
        limits: list[Entry] = []
        for entry in self._index.matching(selector):
            if self._limits is not None and entry.series_id in self._limits.row_of:
                limits.append(entry)
            elif entry.metric_name in self._files:
                by_metric.setdefault(entry.metric_name, []).append(entry)
        found = [
            self._metric(metric, entries, start_ms, end_ms, loosely) for metric, entries in by_metric.items()
        ]
        if limits:
            found.append(
                _samples(limits, *self._limits.cut([one.series_id for one in limits], start_ms, end_ms))
            )
            # A metric of the same name may have been scraped as well: limits are then among its series.
            return _in_order(_together(found)) if len(found) > 1 else found[0]
        return _together(found)

    def _metric(
        self, metric: str, entries: list[Entry], start_ms: int, end_ms: int, loosely: bool
    ) -> Samples:
        block = self._block(metric)
        ids = [entry.series_id for entry in entries]
        return _samples(entries, *block.cut(ids, start_ms, end_ms, loosely=loosely))

    def _block(self, metric: str) -> Block:
        def order() -> list[str]:
            return [entry.series_id for entry in self._index.of_metric(metric)]

        if self._cache is not None:
            return self._cache.get(self._files[metric], order)
        if metric not in self._blocks:
            self._blocks[metric] = load(self._files[metric], order())
        return self._blocks[metric]


def _samples(entries: Sequence[Entry], arrays: Arrays, here: np.ndarray) -> Samples:
    return Samples(tuple(entry.labels for entry, there in zip(entries, here, strict=True) if there), *arrays)


def _in_order(found: Samples) -> Samples:
    """The same with its series in the order of metrics and labels."""

    def key(row: int) -> tuple:
        labels = found.labels[row]
        return dict(labels)[NAME_LABEL], labels

    rows = np.array(sorted(range(len(found.labels)), key=key), np.int64)

    def taken(column: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.diff(bounds)[rows]
        moved = bounds_of(lengths)
        at = np.repeat(bounds[:-1][rows] - moved[:-1], lengths) + np.arange(moved[-1])
        return column[at], moved

    times_ms, bounds = taken(found.times_ms, found.bounds)
    values, _ = taken(found.values, found.bounds)
    return Samples(
        tuple(found.labels[row] for row in rows),
        times_ms,
        values,
        bounds,
        *taken(found.stale_ms, found.stale_bounds),
    )


def _together(found: list[Samples]) -> Samples:
    """Samples of several metrics as one; the labels decide the order, and a metric's name is the first of them."""
    if len(found) == 1:
        return found[0]

    def joined(name: str) -> np.ndarray:
        parts = [getattr(one, name) for one in found]
        return np.concatenate(parts) if parts else np.empty(0, np.float64 if name == "values" else np.int64)

    def joined_bounds(name: str) -> np.ndarray:
        ends, total = [np.zeros(1, np.int64)], 0
        for one in found:
            ends.append(getattr(one, name)[1:] + total)
            total = int(ends[-1][-1]) if len(ends[-1]) else total
        return np.concatenate(ends)

    return Samples(
        tuple(labels for one in found for labels in one.labels),
        joined("times_ms"),
        joined("values"),
        joined_bounds("bounds"),
        joined("stale_ms"),
        joined_bounds("stale_bounds"),
    )
