"""Which series there are. In: rows of ``series``. Out: those that a selector names, in the order of their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pyarrow as pa

from throttlescope.ingest.selector import NAME_LABEL, Matcher, Selector
from throttlescope.transforms.promql.semantics import Labels


class Entry(NamedTuple):
    """One series: its id, its metric, its labels (``__name__`` among them) and its shard (-1: not asked for)."""

    series_id: str
    metric_name: str
    labels: Labels
    shard: int


class SeriesIndex:
    """The catalogue's rows, by metric.

    Parameters
    ----------
    series : pyarrow.Table
        ``series_id``, ``metric_name``, ``labels`` and, where shards matter, ``shard``.
    """

    def __init__(self, series: pa.Table) -> None:
        shards = (
            series.column("shard").to_pylist() if "shard" in series.column_names else [-1] * series.num_rows
        )
        self._metrics: dict[str, list[Entry]] = {}
        for series_id, name, labels, shard in zip(
            *(series.column(column).to_pylist() for column in ("series_id", "metric_name", "labels")),
            shards,
            strict=True,
        ):
            # An upper-case label name stands before __name__.
            pairs = tuple(sorted((*labels, (NAME_LABEL, name))))
            self._metrics.setdefault(name, []).append(Entry(series_id, name, pairs, shard))
        for entries in self._metrics.values():
            entries.sort(key=lambda entry: entry.labels)

    @property
    def metrics(self) -> list[str]:
        """Names of all metrics, in order."""
        return sorted(self._metrics)

    def of_metric(self, metric: str) -> list[Entry]:
        """All series of a metric, in the order of their labels."""
        return self._metrics.get(metric, [])

    def matching(self, selector: Selector) -> list[Entry]:
        """Series that fit, metric after metric, each metric's in the order of their labels."""
        found: list[Entry] = []
        named = [matcher for matcher in selector.matchers if matcher.name == NAME_LABEL]
        tests = [
            (matcher.name, _judged(matcher)) for matcher in selector.matchers if matcher.name != NAME_LABEL
        ]
        for metric in self._candidates(selector):
            if all(matcher.matches(metric) for matcher in named):
                found += _fitting(self._metrics[metric], tests)
        return found

    def _candidates(self, selector: Selector) -> Iterable[str]:
        name = selector.metric_name
        if name is None:
            return self.metrics
        return [name] if name in self._metrics else []


def _fitting(entries: list[Entry], tests: list[tuple[str, Callable[[str], bool]]]) -> list[Entry]:
    if not tests:
        return entries
    found = []
    for entry in entries:
        labels = dict(entry.labels)
        if all(test(labels.get(name, "")) for name, test in tests):
            found.append(entry)
    return found


def _judged(matcher: Matcher) -> Callable[[str], bool]:
    """The matcher, asked once per value."""
    known: dict[str, bool] = {}

    def test(value: str) -> bool:
        if value not in known:
            known[value] = matcher.matches(value)
        return known[value]

    return test
