"""Sample source of rules. In: samples of the lake, and the results of rules so far. Out: a sample source for the next rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql.semantics import Labels, labels_of
from throttlescope.transforms.promql.source import Samples, SampleSource, Series, join
from throttlescope.transforms.rules.order import Scheduled
from throttlescope.transforms.rules.outputs import may_read, may_write
from throttlescope.transforms.rules.result_series import RuleSeries, first_wins


class RuleSource(SampleSource):
    """Samples from elsewhere up to the span, and rules' results in it.

    Parameters
    ----------
    samples : SampleSource
        Everything else, with rules' results of earlier spans. What it has of a rule within the span is an earlier
        run's, and is not seen.
    rules : sequence of Scheduled
        All rules.
    written : mapping
        What rules have written in this span, by number.
    start_ms : int
        Start of the span.
    """

    def __init__(
        self,
        samples: SampleSource,
        rules: Sequence[Scheduled],
        written: Mapping[int, RuleSeries],
        start_ms: int,
    ) -> None:
        self._samples, self._written, self._start_ms = samples, written, start_ms
        self._rules = sorted(rules, key=lambda rule: rule.number)
        self._readable: dict[Selector, list[Scheduled]] = {}

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        return self._select(selector, start_ms, end_ms, {})

    def samples(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        if not self._read_by(selector):
            return self._samples.samples(selector, start_ms, end_ms)
        return join(self.select(selector, start_ms, end_ms))

    def at(self, moment_ms: int, viewer: Scheduled) -> SampleSource:
        """What one rule sees at one moment: nothing that is newer, or that was not written yet."""
        ends = {
            rule.number: moment_ms - rule.offset_ms + (rule.number < viewer.number) for rule in self._rules
        }
        return _Moment(self, moment_ms + 1, ends)

    def _select(
        self, selector: Selector, start_ms: int, end_ms: int, ends: Mapping[int, int]
    ) -> list[Series]:
        rules = self._read_by(selector)
        found: dict[Labels, list[Series]] = {}
        for series in self._samples.select(selector, start_ms, end_ms):
            owners = [rule for rule in rules if may_write(rule.rule, series.labels)]
            if owners:
                end = min(
                    min(self._start_ms - rule.offset_ms, ends.get(rule.number, end_ms)) for rule in owners
                )
                series = _before(series, min(end_ms, end))
            found[labels_of(series.labels.items())] = [series]
        written: dict[Labels, list[Series]] = {}
        for rule in rules:
            results = self._written.get(rule.number)
            if results is not None:
                end = min(end_ms, ends.get(rule.number, end_ms))
                for labels, series in results.select(selector, start_ms, end):
                    written.setdefault(labels, []).append(series)
        for labels, pieces in written.items():
            found.setdefault(labels, []).append(first_wins(pieces))
        together = (first_wins(found[labels]) for labels in sorted(found))
        return [series for series in together if len(series.timestamps_ms) or len(series.stale_ms)]

    def _read_by(self, selector: Selector) -> list[Scheduled]:
        """Rules whose series a selector may find."""
        rules = self._readable.get(selector)
        if rules is None:
            rules = self._readable[selector] = [rule for rule in self._rules if may_read(selector, rule.rule)]
        return rules


class _Moment(SampleSource):
    def __init__(self, source: RuleSource, end_ms: int, ends: Mapping[int, int]) -> None:
        self._source, self._end_ms, self._ends = source, end_ms, ends

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        return self._source._select(selector, start_ms, min(end_ms, self._end_ms), self._ends)


def _before(series: Series, end_ms: int) -> Series:
    after, stale_after = (
        int(np.searchsorted(times, end_ms)) for times in (series.timestamps_ms, series.stale_ms)
    )
    return Series(
        series.labels, series.timestamps_ms[:after], series.values[:after], series.stale_ms[:stale_after]
    )
