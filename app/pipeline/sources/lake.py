"""The lake itself as the source of a run. In: a request. Out: which clusters have samples in its range; nothing is read again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.sources.source import ClusterSpan, Ingested, Note
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import block_start, dates_of
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.spark.task_executor import TaskExecutor


def open_lake(request: RunRequest) -> list[LakeSource]:
    """Look which clusters have samples in the range; one that is named, or all.

    Raises
    ------
    InputError
        There is no lake, or it never had samples of the cluster that is named.
    """
    root = request.settings.lake.absolute()
    lake = Lake(root)
    if lake.version("samples") is None:
        raise InputError(
            "There are no samples to diagnose",
            got=f"no table samples in {root}",
            fix="bring some with throttlescope ingest, or name another folder with --lake",
        )
    clusters = clusters_with_samples(lake, request.start_ms, request.end_ms)
    if request.clusters:
        _check_known(lake, request.clusters)
        clusters &= set(request.clusters)
    return [LakeSource(request.start_ms, request.end_ms, tuple(sorted(clusters)))]


def clusters_with_samples(lake: Lake, start_ms: int, end_ms: int) -> set[str]:
    """Clusters of which the UTC hours that [start_ms, end_ms) touches hold a block."""
    files = lake.files(
        "samples",
        partition={"date": dates_of(start_ms, end_ms)},
        between={"block_start_ms": (block_start(start_ms), end_ms - 1)},
    )
    return {str(file.minimum["cluster"]) for file in files}


def _check_known(lake: Lake, clusters: Iterable[str]) -> None:
    known = {str(file.minimum["cluster"]) for file in lake.files("samples")}
    if unknown := set(clusters) - known:
        raise InputError(
            "The lake holds no samples of this cluster",
            got=", ".join(sorted(unknown)),
            expected="one of " + ", ".join(sorted(known)),
        )


def mark_idle(lake: Lake, request: RunRequest, start_ms: int, end_ms: int, run_id: str) -> None:
    """Write down that the whole hours of a range were looked at and were empty, for the clusters that the lake knows.

    Samples that come later for them are then known to be late.
    """
    from throttlescope.app.pipeline.incremental.computed_hours import known_clusters, write
    from throttlescope.app.pipeline.incremental.lake_view import RecomputeView
    from throttlescope.app.pipeline.incremental.plan import later_stage_to_compute, signals_to_compute

    began_ms, settings = time.time_ns() // 1_000_000, request.settings
    clusters = request.clusters or known_clusters(lake)
    view, written = RecomputeView(lake, clusters, start_ms), []
    for cluster in clusters:
        plans = [signals_to_compute(view, settings, cluster, start_ms, end_ms)]
        plans += [
            later_stage_to_compute(view, settings, cluster, stage, start_ms, end_ms)
            for stage in ("verdicts", "forecasts", "results")
        ]
        for hours in plans:
            nothing = None if hours.stage == "results" else ""
            written.append((hours.only(start_ms, end_ms), dict.fromkeys(hours.looked_at, nothing)))
    write(lake, written, began_ms, run_id)


@dataclass
class LakeSource:
    """What an earlier ingest brought."""

    start_ms: int
    end_ms: int
    clusters: tuple[str, ...]
    name: str = field(default="lake", init=False)

    def minutes(self) -> int:
        """None is read; how many there are to compute is seen in the lake."""
        return 0

    def ingest(self, executor: TaskExecutor, lake: Lake, run_id: str, note: Note) -> Ingested:
        """Nothing is brought; what is there is what the run computes from."""
        spans = (ClusterSpan(self.clusters, self.start_ms, self.end_ms),) if self.clusters else ()
        note(", ".join(self.clusters) or sentence("pipeline.no_samples"))
        return Ingested(self.name, self.clusters, spans)
