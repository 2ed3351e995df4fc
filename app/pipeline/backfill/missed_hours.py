"""Hours that were read and that no run has come to. In: a lake and a range. Out: such hours around it, and their diagnosis.

A read that fails in the middle leaves hours behind it whose samples are there, and the next one begins where it ended; a diagnosis that
fails leaves its hours. What is left is seen in the lake alone: samples, no signals, and no line in ``computed``. So it does not matter
which run failed or how often it was tried: the next run finds them, until they are computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.pipeline.backfill.chunks import chunks_of
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.incremental.computed_hours import hours_of, ranges_of
from throttlescope.app.pipeline.incremental.lake_view import LATE_MS, RecomputeView
from throttlescope.app.pipeline.results import RunResult
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.minutes import metrics_read

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest

#: So many at a time: what a schedule has to do by the hour stays bounded, also where somebody has read a month without a diagnosis.
MOST_HOURS = 24


@dataclass(frozen=True)
class Missed:
    """Whole hours [start, end) of some clusters."""

    clusters: tuple[str, ...]
    start_ms: int
    end_ms: int

    @property
    def hours(self) -> int:
        return (self.end_ms - self.start_ms) // BLOCK_MS


@dataclass
class CaughtUp:
    """What was diagnosed outside a range.

    Attributes
    ----------
    hours_left : int
        Hours that the next run is left with.
    """

    results: list[RunResult] = field(default_factory=list)
    hours_left: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As it is printed in JSON."""
        return {"results": [result.as_dict() for result in self.results], "hours_left": self.hours_left}


def missed_hours(
    lake: Lake, start_ms: int, end_ms: int, clusters: Iterable[str] = (), *, now_ms: int | None = None
) -> list[Missed]:
    """Hours that have samples and were never computed, oldest first: of the 31 days before a range, and of what came since; not its own.

    Hours that a gate has stopped are none: the gate has reported them, and they stay stopped until they are mended and run again. The
    newest run that judged an hour counts, because the hour behind a stopped one is read again by the next, and passes.

    Parameters
    ----------
    clusters : iterable of str
        The requested ones; none: all.
    now_ms : int, optional
        Hours that are not over by then are left alone; the clock's by default.
    """
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    from_ms, requested = block_start(start_ms) - LATE_MS, set(hours_of(start_ms, end_ms))
    there = _with_samples(lake, from_ms, block_start(now_ms), set(clusters))
    view, is_stopped = RecomputeView(lake, there, start_ms), _stopped(lake, from_ms)
    found: dict[tuple[int, int], list[str]] = {}
    for cluster, hours in sorted(there.items()):
        known = {hour_ms for stage, hour_ms in view.computed(cluster) if stage == "signals"}
        # An earlier release, and `run --follow`, write no line of it.
        known |= {block_start(file.minimum["minute_ms"]) for file in view.files("signals", cluster)}
        left = [hour_ms for hour_ms in hours - known - requested if not is_stopped(cluster, hour_ms)]
        for span in ranges_of(left):
            found.setdefault(span, []).append(cluster)
    return [
        Missed(tuple(names), chunk.start_ms, chunk.end_ms)
        for span, names in sorted(found.items())
        for chunk in chunks_of(*span)
    ]


def diagnose_missed(request: RunRequest, *, progress: Progress = SILENT) -> CaughtUp:
    """Diagnose hours around a request's range that no run has come to. The range itself is to be done before: nothing may hold it up.

    Raises
    ------
    GateError
        A gate stopped some of them; the others are done. These hours are left out from now on.
    """
    found, stopped, hours = CaughtUp(), None, 0
    lake = Lake(request.settings.lake.absolute())
    for one in missed_hours(lake, request.start_ms, request.end_ms, request.clusters):
        if hours >= MOST_HOURS:
            found.hours_left += one.hours
            continue
        hours += one.hours
        part = request.diagnosis(clusters=one.clusters, start_ms=one.start_ms, end_ms=one.end_ms, again=False)
        try:
            found.results.append(run_pipeline(part, progress=progress))
        except GateError as error:
            stopped = stopped or error
    if stopped is not None:
        raise stopped
    return found


def _with_samples(lake: Lake, from_ms: int, end_ms: int, clusters: set[str]) -> dict[str, set[int]]:
    """Hours that hold a block of what signals are made of, by cluster."""
    found: dict[str, set[int]] = {}
    files = lake.files(
        "samples",
        partition={"metric_name": metrics_read()},
        between={"block_start_ms": (from_ms, end_ms - 1)},
    )
    for file in files:
        cluster = str(file.minimum["cluster"])
        if not clusters or cluster in clusters:
            found.setdefault(cluster, set()).add(int(file.minimum["block_start_ms"]))
    return found


def _stopped(lake: Lake, from_ms: int) -> Callable[[str, int], bool]:
    """A function that returns whether the newest run that judged an hour was stopped by a gate."""
    names = ["cluster", "start_ms", "end_ms", "started_ms", "status"]
    # One that failed has judged nothing.
    judged = (pc.field("end_ms") > from_ms) & pc.field("status").isin(["done", "gated"])
    rows = lake.read("ingest_runs", columns=names, where=judged).to_pylist()
    rows.sort(key=lambda row: row["started_ms"], reverse=True)

    def is_stopped(cluster: str, hour_ms: int) -> bool:
        for row in rows:
            if row["cluster"] in (None, cluster) and block_start(row["start_ms"]) <= hour_ms < row["end_ms"]:
                return row["status"] == "gated"
        return False

    return is_stopped
