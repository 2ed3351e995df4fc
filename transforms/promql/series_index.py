"""Index of series. In: rows of ``series``. Out: those that a selector matches, in the order of their labels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.selector import NAME_LABEL, Matcher, Selector
from throttlescope.transforms.promql.limit_series import LimitSeries
from throttlescope.transforms.promql.semantics import Labels


class Entry(NamedTuple):
    """One series: its id, its metric, its labels (``__name__`` among them)."""

    series_id: str
    metric_name: str
    labels: Labels


def with_limits(series: pa.Table, limits: LimitSeries | None) -> pa.Table:
    """Rows of ``series`` with those of the limits behind them, under the same columns."""
    if not limits:
        return series
    return pa.concat_tables([series, limits.rows.select(series.column_names).cast(series.schema)])


class SeriesIndex:
    """The catalogue's rows, by metric.

    Parameters
    ----------
    series : pyarrow.Table
        ``series_id``, ``metric_name`` and ``labels``.
    """

    def __init__(self, series: pa.Table) -> None:
        self._series = series.combine_chunks()
        names = self._series.column("metric_name").combine_chunks().dictionary_encode()
        if isinstance(names, pa.ChunkedArray):
            names = pa.concat_arrays(names.chunks) if names.num_chunks else pa.array([], names.type)
        codes = names.indices.to_numpy(zero_copy_only=False)
        self._rows = {
            name: np.flatnonzero(codes == code) for code, name in enumerate(names.dictionary.to_pylist())
        }
        self._entries: dict[str, list[Entry]] = {}

    @property
    def metrics(self) -> list[str]:
        """Names of all metrics, in order."""
        return sorted(self._rows)

    def of_metric(self, metric: str) -> list[Entry]:
        """All series of a metric, in the order of their labels."""
        if metric not in self._rows:
            return []
        # Built at first use: a query names few of many metrics. Two threads at the same time build the same.
        if metric not in self._entries:
            self._entries[metric] = self._made(metric)
        return self._entries[metric]

    def _made(self, metric: str) -> list[Entry]:
        rows = self._series.take(self._rows[metric])
        name = (NAME_LABEL, metric)
        ids, labels = (rows.column(column).to_pylist() for column in ("series_id", "labels"))
        entries = [
            # An upper-case label name sorts before __name__.
            Entry(series_id, metric, tuple(sorted((*pairs, name))))
            for series_id, pairs in zip(ids, labels, strict=True)
        ]
        entries.sort(key=lambda entry: entry.labels)
        return entries

    def matching(self, selector: Selector) -> list[Entry]:
        """Series that fit, metric after metric, each metric's in the order of their labels."""
        found: list[Entry] = []
        named = [matcher for matcher in selector.matchers if matcher.name == NAME_LABEL]
        others = [matcher for matcher in selector.matchers if matcher.name != NAME_LABEL]
        for metric in self._candidates(selector):
            if all(matcher.matches(metric) for matcher in named):
                found += _fitting(self.of_metric(metric), others)
        return found

    def _candidates(self, selector: Selector) -> Iterable[str]:
        name = selector.metric_name
        if name is None:
            return self.metrics
        return [name] if name in self._rows else []


def _fitting(entries: list[Entry], matchers: list[Matcher]) -> list[Entry]:
    for matcher in matchers:
        values = [dict(entry.labels).get(matcher.name, "") for entry in entries]
        entries = list(compress(entries, matcher.matches_each(values)))
    return entries
