"""Following begun from a request. In: a `RunRequest` and a rhythm. Out: nothing; it goes on until SIGTERM or SIGINT."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.follow.cycle_log import CycleLines
from throttlescope.app.pipeline.follow.follower import Follower
from throttlescope.app.pipeline.follow.loop import follow, until_stopped
from throttlescope.app.pipeline.sources.open import open_sources
from throttlescope.app.pipeline.sources.prometheus import ClusterSource
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, SECOND_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.manifest import RunManifest
from throttlescope.ingest.pull.wanted_metrics import has_pulsar_metrics

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest

#: What a lake lacks of so many hours is read when following begins again.
RESUMED_MS = 6 * BLOCK_MS


def begin(
    request: RunRequest,
    every_ms: int,
    *,
    quiet: bool,
    as_json: bool,
    judged: Callable[[Sequence[str]], None] = lambda clusters: None,
) -> None:
    """Follow all sources of a request.

    Parameters
    ----------
    request : RunRequest
        ``start_ms`` None: from where the lake ends, at least from the hour before this one.
    every_ms : int
        Distance of two cycles.
    judged : callable
        Called with clusters whose episodes were written. It must not wait.

    Raises
    ------
    InputError
        There is no source, the rhythm is none, or the selectors name no series.
    SourceError
        A source does not answer at the beginning.
    """
    if not SECOND_MS <= every_ms <= 10 * MINUTE_MS:
        raise InputError(
            "--follow is too short or too long", got=f"{every_ms} ms", expected="1s to 10m, such as 60s"
        )
    sources = open_sources(request)
    lake = Lake(request.settings.lake.absolute())
    lines, stop = CycleLines(as_json=as_json, quiet=quiet), threading.Event()
    manifests: dict[str, RunManifest] = {}
    followers = []
    now_ms = time.time_ns() // 1_000_000
    for source in sources:
        if not isinstance(source, ClusterSource):
            raise InputError(
                "A recording has an end and cannot be followed", got=source.name, fix="leave --follow out"
            )
        first_ms = request.start_ms
        if first_ms is None:
            first_ms = first_hour_ms(source, resumed_ms(lake, now_ms), now_ms)
        manifest = RunManifest(
            request.command, source.name, first_ms, now_ms, details={"follow_ms": every_ms}
        )
        follower = Follower(
            lake, source, first_ms, manifest.run_id, window_ms=request.settings.window,
            every_ms=request.settings.every, forecast_every_ms=request.settings.forecast_every,
            say=lines.say, stopping=stop.is_set,
        )  # fmt: skip
        manifests[manifest.run_id] = manifest
        followers.append(follower)

    def kept(follower: Follower) -> None:
        _write(lake, manifests[follower.run_id], follower)

    with until_stopped(stop):
        follow(followers, every_ms, lines, stop, kept, judged)


def resumed_ms(lake: Lake, now_ms: int) -> int:
    """Where following goes on: the hour in which the lake's newest minute lies, at least the hour before this one.

    Clusters that ended longer ago than :data:`RESUMED_MS` are other runs'.
    """
    newest: dict[str, int] = {}
    for file in lake.files("signals"):
        cluster = file.partition["cluster"]
        newest[cluster] = max(file.maximum["minute_ms"], newest.get(cluster, 0))
    recent = [at_ms for at_ms in newest.values() if now_ms - RESUMED_MS <= at_ms]
    return min([block_start(now_ms) - BLOCK_MS, *(block_start(at_ms) for at_ms in recent)])


def first_hour_ms(source: ClusterSource, resumed_at_ms: int, now_ms: int) -> int:
    """Where following begins: where the lake ends, or this hour where the source is younger and has nothing before it."""
    this_hour_ms = block_start(now_ms)
    api = source.prometheus.api
    if resumed_at_ms < this_hour_ms and not has_pulsar_metrics(api, resumed_at_ms, this_hour_ms, Meter()):
        return this_hour_ms
    return resumed_at_ms


def _write(lake: Lake, manifest: RunManifest, follower: Follower) -> None:
    """Write the run's row; it is the same row from the beginning to the end."""
    if lake.version("signals") is None:
        return
    manifest.end_ms = follower.read_ms
    clusters = follower.clusters
    manifest.cluster = clusters[0] if len(clusters) == 1 else None
    meter = follower.tail.meter
    manifest.source_requests, manifest.source_bytes = meter.requests, meter.bytes
    manifest.admin_requests = follower.limits.requests if follower.limits else 0
    manifest.series = sum(len(follower.recent.of_metric(name)) for name in follower.recent.metrics)
    manifest.samples = follower.tail.samples
    manifest.samples_written = follower.totals["samples_written"]
    manifest.rows_quarantined = follower.totals["rows_quarantined"]
    manifest.details |= {"cycles": follower.totals["cycles"], "verdicts": follower.totals["verdicts"]}
    lake.upsert("ingest_runs", manifest.row("done"), run_id=manifest.run_id)
