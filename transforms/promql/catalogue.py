"""Catalogue of a lake's series. In: its tables ``series`` and ``limits``. Out: label names, label values and label sets of those that match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.selector import NAME_LABEL, Matcher, Selector
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.limit_series import LimitSeries
from throttlescope.transforms.promql.limit_snapshots import read_limit_series
from throttlescope.transforms.promql.partition_matchers import PartitionedTopics
from throttlescope.transforms.promql.series_index import with_limits

_COLUMNS = ["metric_name", "labels", "first_ms", "last_ms"]


class Catalogue:
    """The series of one version of a lake.

    Parameters
    ----------
    series : pyarrow.Table
        Columns ``metric_name``, ``labels`` (all but the name), ``first_ms`` and ``last_ms`` of the table ``series``.
    limits : LimitSeries, optional
        Limits as series.

    Notes
    -----
    Where a method takes ``selectors``, a series counts that fits one of them; none means all. Where it takes a range,
    a series counts that has its first sample not behind the end and its last one not before the start, both included.
    """

    def __init__(self, series: pa.Table, limits: LimitSeries | None = None) -> None:
        series = series.select(_COLUMNS)
        if any(column.null_count for column in series.columns):
            raise ThrottlescopeError(
                "The catalogue of the lake is damaged",
                got="rows of the table series without a name, labels or times",
                fix="read the sources into a new lake with throttlescope ingest",
            )
        # A limit speaks for days to come: how new the lake is, its samples say.
        self._samples = series.num_rows
        series = with_limits(series, limits)
        self._series = series.combine_chunks()
        self._first_ms, self._last_ms = (series.column(name).to_numpy() for name in ("first_ms", "last_ms"))
        self._values: dict[str, pa.DictionaryArray] = {}
        self._topics = PartitionedTopics(series.column("labels"))

    @classmethod
    def of(cls, lake: Lake) -> Catalogue:
        """Read the catalogue of a lake; one without series gives an empty one."""
        return cls(lake.read("series", columns=_COLUMNS), read_limit_series(lake))

    @property
    def newest_ms(self) -> int | None:
        """Time of the newest sample; None without series."""
        return int(self._last_ms[: self._samples].max()) if self._samples else None

    @property
    def metric_names(self) -> list[str]:
        """Names of all metrics, sorted."""
        return self.label_values(NAME_LABEL)

    def label_names(
        self, selectors: Sequence[Selector] = (), start_ms: int | None = None, end_ms: int | None = None
    ) -> list[str]:
        """Names of labels, sorted, ``__name__`` among them."""
        found = self._series.column("labels").filter(pa.array(self._matching(selectors, start_ms, end_ms)))
        if not len(found):
            return []
        keys = pa.concat_arrays([chunk.keys for chunk in found.chunks])
        return sorted([NAME_LABEL, *pc.unique(keys).to_pylist()])

    def label_values(
        self,
        name: str,
        selectors: Sequence[Selector] = (),
        start_ms: int | None = None,
        end_ms: int | None = None,
    ) -> list[str]:
        """Values of one label, sorted."""
        codes = self._label(name).indices.filter(pa.array(self._matching(selectors, start_ms, end_ms)))
        values = self._label(name).dictionary.take(pc.unique(codes.drop_null()))
        return sorted(values.to_pylist())

    def series(
        self, selectors: Sequence[Selector] = (), start_ms: int | None = None, end_ms: int | None = None
    ) -> list[dict[str, str]]:
        """Label sets, sorted, each with its names sorted."""
        rows = self._series.filter(pa.array(self._matching(selectors, start_ms, end_ms)))
        names, labels = (rows.column(column).to_pylist() for column in ("metric_name", "labels"))
        found = [sorted([(NAME_LABEL, name), *pairs]) for name, pairs in zip(names, labels, strict=True)]
        return [dict(pairs) for pairs in sorted(found)]

    def warnings(self, selectors: Iterable[Selector]) -> list[str]:
        """Warnings about selectors that may not select what was meant: a partition inside ``topic``."""
        return self._topics.warnings(selectors)

    def _matching(
        self, selectors: Iterable[Selector], start_ms: int | None, end_ms: int | None
    ) -> np.ndarray:
        chosen = np.ones(len(self._first_ms), np.bool_)
        if selectors:
            chosen = np.any([self._fits(selector) for selector in selectors], axis=0)
        if start_ms is not None:
            chosen &= self._last_ms >= start_ms
        if end_ms is not None:
            chosen &= self._first_ms <= end_ms
        return chosen

    def _fits(self, selector: Selector) -> np.ndarray:
        fits = np.ones(len(self._first_ms), np.bool_)
        for matcher in selector.matchers:
            fits &= self._satisfies(matcher)
        return fits

    def _satisfies(self, matcher: Matcher) -> np.ndarray:
        """Each distinct value is judged once; the last verdict is that on a missing label."""
        label = self._label(matcher.name)
        verdicts = matcher.matches_each(label.dictionary.to_pylist())
        codes = label.indices.fill_null(len(verdicts)).to_numpy(zero_copy_only=False)
        return np.array([*verdicts, matcher.matches(None)], np.bool_)[codes]

    def _label(self, name: str) -> pa.DictionaryArray:
        """The values of one label, null where a series lacks it."""
        if name not in self._values:
            if name == NAME_LABEL:
                column = self._series.column("metric_name")
            else:
                column = pc.map_lookup(self._series.column("labels"), name, "first")
            encoded = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
            self._values[name] = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
        return self._values[name]
