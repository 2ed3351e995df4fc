"""Samples that rules read. In: scheduled rules and a range of evaluations. Out: the lake's samples for them, and their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.selector import NAME_LABEL, Selector
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.plan import needed_samples, settled
from throttlescope.transforms.promql.series_index import with_limits
from throttlescope.transforms.promql.shards.work import LakeView
from throttlescope.transforms.promql.source import SampleSource
from throttlescope.transforms.rules.order import Scheduled
from throttlescope.transforms.rules.span_evaluation import moments


def source_of(
    lake: Lake,
    view: LakeView,
    rules: Sequence[Scheduled],
    start_ms: int,
    end_ms: int,
    lookback_ms: int,
    also: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> SampleSource:
    """What the lake has for the evaluations in [start, end), and of other metrics in ranges of their own."""
    needed = ranges_of(view, rules, start_ms, end_ms, lookback_ms, also)
    files = list(_files(view, needed))
    metrics = sorted({file.partition["metric_name"] for file in files})
    series = lake.read(
        "series",
        columns=["series_id", "metric_name", "labels"],
        where=pc.field("metric_name").isin(pa.array(metrics, pa.string())),
        version=view.versions[1],
    )
    limits = view.limits.within(*needed[LIMIT_METRIC]) if LIMIT_METRIC in needed else None
    return LakeSampleSource(files, with_limits(series, limits), limits=limits)


def ranges_of(
    view: LakeView,
    rules: Sequence[Scheduled],
    start_ms: int,
    end_ms: int,
    lookback_ms: int,
    also: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> dict[str, tuple[int, int]]:
    """What is read of each metric."""
    needed = dict(also)
    for selector, (low, high) in _needed(rules, start_ms, end_ms, lookback_ms):
        for metric in _metrics(view, selector):
            before = needed.get(metric, (low, high))
            needed[metric] = (min(low, before[0]), max(high, before[1]))
    return needed


def _files(view: LakeView, needed: Mapping[str, tuple[int, int]]) -> Iterator[DataFile]:
    for (metric, _), files in view.files.items():
        if metric in needed:
            low, high = needed[metric]
            for file in files:
                if file.minimum["block_start_ms"] < high and file.maximum["block_start_ms"] + BLOCK_MS > low:
                    yield file


def _needed(
    rules: Sequence[Scheduled], start_ms: int, end_ms: int, lookback_ms: int
) -> Iterator[tuple[Selector, tuple[int, int]]]:
    """What rules read for their evaluations in [start, end)."""
    for rule in rules:
        times_ms = moments(rule.interval_ms, start_ms, end_ms) - rule.offset_ms
        # Of the first and the last: ``@ end()`` moves with the evaluation.
        for time_ms in {int(times_ms[0]), int(times_ms[-1])} if len(times_ms) else ():
            plan = settled(rule.plan, time_ms, time_ms)
            yield from needed_samples([plan], Steps.at(time_ms), lookback_ms).items()


def _metrics(view: LakeView, selector: Selector) -> Iterable[str]:
    names = {metric for metric, _ in view.files} | ({LIMIT_METRIC} if view.limits else set())
    if selector.metric_name is not None:
        return names & {selector.metric_name}
    named = [matcher for matcher in selector.matchers if matcher.name == NAME_LABEL]
    return {name for name in names if all(matcher.matches(name) for matcher in named)}


def samples_of(
    view: LakeView, rules: Sequence[Scheduled], start_ms: int, end_ms: int, lookback_ms: int
) -> int:
    """About how many samples the evaluations in [start, end) read: whole files of an hour."""
    needed = ranges_of(view, rules, start_ms, end_ms, lookback_ms)
    samples = sum(
        file.rows * view.samples_per_hour(file.partition["metric_name"]) for file in _files(view, needed)
    )
    if LIMIT_METRIC in needed:
        samples += view.limits.count(*needed[LIMIT_METRIC])
    return int(samples)
