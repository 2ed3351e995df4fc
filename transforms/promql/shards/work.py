"""The work of a query. In: a plan, the steps, a version of the lake. Out: pieces, each one shard and a span of time.

The driver prunes files by metric, matcher and time. A piece names the files that it reads; each file of a span is read once
for all selectors. Spans are UTC days, shorter where a shard holds so much that a piece would not fit its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.parquet import read_parquet
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC, STEP_MS, LimitSeries
from throttlescope.transforms.promql.limit_snapshots import read_limit_series
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.partition_matchers import PartitionedTopics
from throttlescope.transforms.promql.plan import (
    Aggregation,
    ApplyRangeFunction,
    HistogramFunction,
    Plan,
    ScalarFirst,
    ScalarNumber,
    SelectInstant,
    needed_samples,
    walk,
)
from throttlescope.transforms.promql.series_index import SeriesIndex, with_limits
from throttlescope.transforms.promql.shards.cut import Cut, find_cuts

#: Samples, and cells of a step matrix, that one piece holds at most, unless an hour of one shard is more: 16 bytes a
#: sample and 9 a cell, each a few times over, stay below 500 MB.
PIECE_SAMPLES = 6_000_000

#: Aggregations that need the largest parameter of all steps, for an annotation or because it requests no element.
_JUDGED_OVER_ALL_STEPS = ("quantile", "limit_ratio", "topk", "bottomk", "limitk")

_INDEXED = ["series_id", "metric_name", "labels"]


class LakeView:
    """One version of a lake's samples and series, and what was found out about it.

    Parameters
    ----------
    lake : Lake
    """

    def __init__(self, lake: Lake) -> None:
        self.versions = versions(lake)
        self._limits: LimitSeries | None = None
        self.files: dict[tuple[str, int], list[DataFile]] = {}
        self.all_files = lake.files("samples", version=self.versions[0])
        for file in sorted(self.all_files, key=lambda file: file.minimum["block_start_ms"]):
            self.files.setdefault((file.partition["metric_name"], file.minimum["shard"]), []).append(file)
        self.series_files: dict[int, list[DataFile]] = {}
        for file in lake.files("series", version=self.versions[1]):
            self.series_files.setdefault(int(file.partition["shard"]), []).append(file)
        self._lake = lake
        self._indices: dict[int, SeriesIndex] | None = None
        self._topics: PartitionedTopics | None = None
        self._per_hour: dict[str, float] = {}

    @property
    def limits(self) -> LimitSeries:
        """Dispatch limits as series."""
        if self._limits is None:
            self._limits = read_limit_series(self._lake, self.versions[2])
        return self._limits

    def source(self, start_ms: int, end_ms: int) -> LakeSampleSource:
        """All series over [start, end), without shards."""
        rows = self._lake.read("series", columns=_INDEXED, version=self.versions[1])
        files = list(_within(self.all_files, start_ms, end_ms))
        return LakeSampleSource(files, with_limits(rows, self.limits), limits=self.limits)

    @property
    def indices(self) -> dict[int, SeriesIndex]:
        """The catalogue of each shard."""
        if self._indices is None:
            rows = self._lake.read("series", columns=[*_INDEXED, "shard"], version=self.versions[1])
            rows = with_limits(rows, self.limits)
            self._topics = PartitionedTopics(rows.column("labels"))
            shards = rows.column("shard").to_numpy()
            self._indices = {
                int(shard): SeriesIndex(rows.filter(shards == shard)) for shard in np.unique(shards)
            }
        return self._indices

    @property
    def topics(self) -> PartitionedTopics:
        """The partitions of the topics."""
        if self._topics is None:
            _ = self.indices
        return self._topics

    def samples_per_hour(self, metric: str) -> float:
        """Samples of one series of a metric in an hour, as one of its files has them."""
        if metric not in self._per_hour:
            # Of the fullest one: series may have begun or ended within others.
            files = [file for (name, _), some in self.files.items() if name == metric for file in some]
            if not files and metric == LIMIT_METRIC:
                return BLOCK_MS / STEP_MS
            file = max(files, key=lambda file: file.size_bytes / max(file.rows, 1))
            self._per_hour[metric] = _samples_of(file.path) / max(file.rows, 1)
        return self._per_hour[metric]


def versions(lake: Lake) -> tuple[int | None, int | None, int | None]:
    """Versions of ``samples``, ``series`` and ``limits`` to read: series are committed first, so they are looked at last."""
    return lake.version("samples"), lake.version("series"), lake.version("limits")


def _samples_of(path: str) -> int:
    times = read_parquet(path, ["timestamps_ms"]).column("timestamps_ms")
    return pc.sum(pc.list_value_length(times)).as_py() or 0


@dataclass(frozen=True)
class Piece:
    """What one shard computes for one span of steps. Picklable.

    Attributes
    ----------
    span, shard : int
        The number of the span; the shard.
    plan : Plan
        The whole query's; what of it is computed here follows from it.
    steps : Steps
        The span's.
    files : tuple of DataFile
    series_files : tuple of DataFile
        Files of ``series`` with the shard's labels.
    only_span : bool
        Whether the query has no other span.
    limits : LimitSeries or None
        Limits that match, of this shard and time.
    lookback_ms : int
    samples : int
        Estimate of what is read.
    """

    span: int
    shard: int
    plan: Plan
    steps: Steps
    files: tuple[DataFile, ...] = field(repr=False)
    series_files: tuple[DataFile, ...] = field(repr=False)
    lookback_ms: int
    samples: int
    only_span: bool
    limits: LimitSeries | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Work:
    """All of a query's work.

    Attributes
    ----------
    text : str
    plan : Plan
        Settled.
    lookback_ms : int
    spans : tuple of Steps
    pieces : tuple of Piece
        By span, then by shard.
    cuts : tuple of Cut
        Of the first span.
    files_of_lake, files_of_metrics, files_in_time, files_read : int
        How many files there are, and how many are left after each pruning. ``files_read`` counts a file once for each
        span that needs it.
    series : int
        Series that match.
    samples : int
        Estimate of the samples read.
    """

    text: str
    plan: Plan
    lookback_ms: int
    spans: tuple[Steps, ...]
    pieces: tuple[Piece, ...]
    cuts: tuple[Cut, ...]
    files_of_lake: int
    files_of_metrics: int
    files_in_time: int
    files_read: int
    series: int
    samples: int


def plan_work(text: str, plan: Plan, steps: Steps, view: LakeView, lookback_ms: int) -> Work:
    """Prune and share out.

    Parameters
    ----------
    plan : Plan
        Settled.
    """
    whole = needed(plan, steps, lookback_ms)
    metrics_of: dict[int, dict[str, list[str]]] = {}
    series = 0
    for selector in whole:
        for shard, index in view.indices.items():
            for entry in index.matching(selector):
                metrics_of.setdefault(shard, {}).setdefault(entry.metric_name, []).append(entry.series_id)
    counts = {
        (metric, shard): len(set(ids)) for shard, found in metrics_of.items() for metric, ids in found.items()
    }
    series = sum(counts.values())
    limits = {
        shard: view.limits.of_ids(sorted(ids))
        for shard, found in metrics_of.items()
        if (ids := view.limits.row_of.keys() & set(found.get(LIMIT_METRIC, ())))
    }
    share = {
        (metric, shard): count / len(view.indices[shard].of_metric(metric))
        for (metric, shard), count in counts.items()
    }
    one = any(map(_looks_at_all_steps, walk(plan)))
    spans = [steps] if one else _spans(steps, _span_ms(steps, counts, view))
    pieces, read = [], 0
    for number, span in enumerate(spans):
        bounds = needed(plan, span, lookback_ms)
        if not bounds:
            continue
        low, high = min(low for low, _ in bounds.values()), max(high for _, high in bounds.values())
        for shard in sorted(metrics_of):
            files = [
                file
                for metric in sorted(metrics_of[shard])
                for file in _within(view.files.get((metric, shard), ()), low, high)
            ]
            here = limits[shard].within(low, high) if shard in limits else None
            if not files and not here:
                continue
            read += len(files)
            samples = sum(
                file.rows * view.samples_per_hour(metric) * share[metric, shard]
                for file in files
                for metric in [file.partition["metric_name"]]
            ) + (here.count(low, high) if here else 0)
            pieces.append(
                Piece(
                    number,
                    shard,
                    plan,
                    span,
                    tuple(files),
                    tuple(view.series_files.get(shard, ())),
                    lookback_ms,
                    int(samples),
                    len(spans) == 1,
                    here or None,
                )
            )
    metrics = {metric for found in metrics_of.values() for metric in found}
    of_metrics = [file for (metric, _), files in view.files.items() if metric in metrics for file in files]
    in_time: Sequence[DataFile] = ()
    if whole:
        low, high = min(low for low, _ in whole.values()), max(high for _, high in whole.values())
        in_time = list(_within(of_metrics, low, high))
    return Work(
        text,
        plan,
        lookback_ms,
        tuple(spans),
        tuple(pieces),
        tuple(find_cuts(plan, spans[0])),
        len(view.all_files),
        len(of_metrics),
        len(in_time),
        read,
        series,
        sum(piece.samples for piece in pieces),
    )


def needed(plan: Plan, steps: Steps, lookback_ms: int) -> dict:
    """What the shards read for some steps: per selector one range [start, end)."""
    found: dict = {}
    for cut in find_cuts(plan, steps):
        for selector, (low, high) in needed_samples([cut.plan], cut.steps, lookback_ms).items():
            before = found.get(selector, (low, high))
            found[selector] = (min(low, before[0]), max(high, before[1]))
    return found


def _looks_at_all_steps(node: Plan) -> bool:
    """Whether a node takes something from the query's first step, or judges what is largest over all steps."""
    if isinstance(node, ScalarFirst) or (isinstance(node, SelectInstant) and node.ages):
        return True
    parameters = []
    if isinstance(node, Aggregation) and node.op in _JUDGED_OVER_ALL_STEPS:
        parameters = [node.parameter]
    elif isinstance(node, HistogramFunction) or (
        isinstance(node, ApplyRangeFunction) and node.function == "quantile_over_time"
    ):
        parameters = node.scalars
    return not all(isinstance(parameter, ScalarNumber) for parameter in parameters)


def _within(files: Iterable[DataFile], low: int, high: int) -> Iterable[DataFile]:
    return (
        file
        for file in files
        if file.minimum["block_start_ms"] < high and file.maximum["block_start_ms"] + BLOCK_MS > low
    )


def _span_ms(steps: Steps, counts: dict[tuple[str, int], int], view: LakeView) -> int:
    """How long a span may be: a day, or the half of it, and so on, until the largest shard fits a piece."""
    per_shard: dict[int, float] = {}
    series_of: dict[int, int] = {}
    for (metric, shard), count in counts.items():
        if (metric, shard) in view.files or metric == LIMIT_METRIC:
            per_shard[shard] = per_shard.get(shard, 0) + count * view.samples_per_hour(metric)
            series_of[shard] = series_of.get(shard, 0) + count
    per_hour, rows = max(per_shard.values(), default=0), max(series_of.values(), default=0)
    span_ms = DAY_MS
    while span_ms > BLOCK_MS and (
        per_hour * span_ms / BLOCK_MS > PIECE_SAMPLES or rows * span_ms / steps.step_ms > PIECE_SAMPLES
    ):
        span_ms //= 2
    return span_ms


def _spans(steps: Steps, span_ms: int) -> list[Steps]:
    """The steps in spans that begin at the multiples of ``span_ms``; a short rest belongs to the span before it.

    A span ends where the next one begins, so that subqueries have their steps in between too.
    """
    found = []
    start_ms, last_ms = steps.start_ms, steps.last_ms
    while start_ms <= last_ms:
        edge_ms = (start_ms // span_ms + 1) * span_ms
        if last_ms - edge_ms < span_ms // 16:
            edge_ms = last_ms + 1
        count = -(-(edge_ms - start_ms) // steps.step_ms)
        next_ms = start_ms + count * steps.step_ms
        found.append(Steps(start_ms, next_ms - 1 if next_ms <= last_ms else steps.end_ms, steps.step_ms))
        start_ms = next_ms
    return found
