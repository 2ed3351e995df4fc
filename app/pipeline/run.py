"""A run, from sources to verdicts and what follows from them. In: a `RunRequest`. Out: tables of the lake, a manifest row, and a `RunResult`.

Every step writes whole versions and finds what an earlier, stopped run has done, so a run that is
repeated changes nothing and a run that was killed is mended by repeating it. A gate that stops a
run leaves its findings in ``quality`` and nothing behind it is computed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from throttlescope.app.log import about, record
from throttlescope.app.pipeline.backfill.finished_chunks import question
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.request import RunRequest
from throttlescope.app.pipeline.results import Results, RunResult
from throttlescope.app.pipeline.sources.lake import LakeSource, mark_idle
from throttlescope.app.pipeline.sources.open import open_sources
from throttlescope.app.pipeline.sources.source import Ingested, Source, groups_of, minutes_of
from throttlescope.app.pipeline.spark_session import SparkIfNeeded
from throttlescope.app.pipeline.stages import Stages
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import GateError, SourceError
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.write_errors import FullDiskError
from throttlescope.ingest.pull.manifest import RunManifest
from throttlescope.ingest.quality import preload
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count
from throttlescope.transforms.signals import minutes_expected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: What a log line says of a run that ended; its row of ``ingest_runs`` says more.
_LOGGED = (
    "started_ms", "finished_ms", "start_ms", "end_ms", "source_requests", "admin_requests", "source_bytes", "series",
    "samples", "samples_written", "rows_quarantined",
)  # fmt: skip


def run_pipeline(
    request: RunRequest, *, progress: Progress = SILENT, session: SparkSession | None = None
) -> RunResult:
    """Do what a request says.

    Parameters
    ----------
    session : SparkSession, optional
        One that was started before: the run uses it, and leaves it running. Without one, Spark is started for a run that is too large
        for this process, or where the settings name a master.

    Raises
    ------
    InputError
        There is no source, or what is requested is not there.
    SourceError
        A source cannot be reached or refuses.
    GateError
        A quality gate stopped the run; its findings are in ``quality``.
    """
    # Sources are opened first: a wrong address is reported before a JVM is started, and they know how much there is to read.
    sources = open_sources(request)
    return _Run(request, sources, progress, session).execute()


class _Run:
    def __init__(
        self,
        request: RunRequest,
        sources: Sequence[Source],
        progress: Progress,
        session: SparkSession | None = None,
    ) -> None:
        self.request, self.sources = request, sources
        self.spark = SparkIfNeeded(request.settings, debug=request.debug, session=session)
        self.lake = Lake(request.settings.lake.absolute())
        # Likewise the lake: an object store that refuses, and a table that this version cannot write, before anything is read or written.
        for table in TABLES:
            self.lake.version(table)
        self.only_ingest = request.command == "ingest"
        self.progress = progress
        progress.expect(len(sources) + (2 if self.only_ingest else 9))
        self.manifest = RunManifest(
            request.command,
            ", ".join(source.name for source in sources),
            min(source.start_ms for source in sources),
            max(source.end_ms for source in sources),
            details={"settings": _settings(request), "question": question(request)},
        )
        self.ingested: list[Ingested] = []
        self.warnings = 0

    def execute(self) -> RunResult:
        """Do it all; the manifest is written however it ends."""
        result = RunResult(
            run_id=self.manifest.run_id,
            command=self.request.command,
            lake=self.lake.root,
            status="done",
            start_ms=self.manifest.start_ms,
            end_ms=self.manifest.end_ms,
            clusters=(),
            sources=self.ingested,
        )
        with about(run_id=self.manifest.run_id), self._recorded():
            if self._nothing_to_read():
                return self._idle(result)
            preload()
            executor = self._executor(minutes_of(self.sources))
            for source in self.sources:
                with self.progress.step(f"Reading {source.name}"):
                    self._ingest(executor, source)
            groups = groups_of(self.ingested)
            if not groups:
                return self._idle(result)
            # What came may be more than what was expected, and the gates count it all.
            self._executor(sum(minutes_expected(self.lake, *group) for group in groups))
            stages = Stages(
                self.spark, self.lake, self.request.settings, groups, self.manifest.run_id, self.progress,
                again=self.request.again,
            )  # fmt: skip
            try:
                self._compute(stages, result)
            finally:
                self.warnings += stages.warnings
        result.clusters, result.warnings = self._clusters(), self.warnings
        return result

    # -- steps -----------------------------------------------------------------------------

    def _compute(self, stages: Stages, result: RunResult) -> None:
        stages.check_samples(all_hours=self.only_ingest)
        stages.resolve_limits()
        if self.only_ingest:
            return
        result.results = Results()
        result.signals = stages.build_signals()
        result.verdicts = stages.build_verdicts()
        if not self.request.part_of_many:
            stages.build_results(result.results)
        stages.build_forecasts(result.results)
        result.hours_computed = dict(stages.computed)
        self.manifest.details["results"] = {
            "signals": result.signals,
            "verdicts": result.verdicts,
            **asdict(result.results),
        }
        self.manifest.details["hours_computed"] = result.hours_computed

    def _executor(self, minutes: int | None) -> TaskExecutor:
        """Where work on so many minutes of subscription partitions runs; Spark is started where that is not this process."""
        if not self.spark.starts_for(minutes):
            return self.spark.executor_for(minutes)
        self.progress.expect_more(1)
        with self.progress.step("Starting Spark"):
            return self.spark.executor_for(minutes)

    def _nothing_to_read(self) -> bool:
        """Whether the lake, as a source, holds nothing of the range: known before a JVM is started."""
        return isinstance(self.sources[0], LakeSource) and not self.sources[0].clusters

    def _idle(self, result: RunResult) -> RunResult:
        """Say that there is nothing to do."""
        self.manifest.details["idle"] = sentence("pipeline.no_samples")
        mark_idle(self.lake, self.request, self.manifest.start_ms, self.manifest.end_ms, self.manifest.run_id)
        result.idle, result.clusters, result.warnings = True, self._clusters(), self.warnings
        return result

    def _ingest(self, executor: TaskExecutor, source: Source) -> None:
        done = source.ingest(executor, self.lake, self.manifest.run_id, self.progress.note)
        self.ingested.append(done)
        for name in (
            "source_requests",
            "admin_requests",
            "source_bytes",
            "series",
            "samples",
            "samples_written",
        ):
            setattr(self.manifest, name, getattr(self.manifest, name) + getattr(done, name))
        self.manifest.rows_quarantined += done.rows_quarantined
        self._find(done.findings)
        self.manifest.details.setdefault("sources", []).append({"source": done.source, **done.details})
        clusters = self._clusters()
        self.manifest.cluster = clusters[0] if len(clusters) == 1 else None
        if done.samples:
            self.progress.note(_samples_note(done))

    def _find(self, findings: Sequence[dict[str, Any]]) -> None:
        """Write rows of ``quality`` that ingest validation found; what does not hold is a warning."""
        if not findings:
            return
        now_ms = _now_ms()
        common = {"run_id": self.manifest.run_id, "observed_ms": now_ms, "date": date_of(now_ms)}
        rows = pa.Table.from_pylist([row | common for row in findings], schema=TABLES["quality"].loose_schema)
        self.lake.upsert("quality", rows, run_id=self.manifest.run_id)
        self.warnings += rows.column("success").to_pylist().count(False)

    def _clusters(self) -> tuple[str, ...]:
        return tuple(sorted({cluster for done in self.ingested for cluster in done.clusters}))

    # -- the manifest ----------------------------------------------------------------------

    @contextlib.contextmanager
    def _recorded(self) -> Iterator[None]:
        """Write the manifest's row however the run ends, but never make a lake only to say that it failed."""
        try:
            yield
        except BaseException as error:
            status = "gated" if isinstance(error, GateError) else "failed"
            self.manifest.details["error"] = str(error) or type(error).__name__
            # Where the lake is away or full that is what ended the run, and not that it could not be noted.
            with contextlib.suppress(SourceError, FullDiskError):
                if status == "gated" or self.lake.version("ingest_runs") is not None:
                    self._write(status)
            raise
        self._write("done")

    def _write(self, status: str) -> None:
        row = self.manifest.row(status)
        self.lake.upsert("ingest_runs", row, run_id=self.manifest.run_id)
        record("run", **({"status": status} | {name: row.column(name)[0].as_py() for name in _LOGGED}))


def _samples_note(done: Ingested) -> str:
    """What a source brought, in words."""
    other = done.details.get("beside")
    kind = "all_new" if done.samples_written == done.samples else "some_new"
    return sentence(
        f"pipeline.samples.{'shared_' if other else ''}{kind}",
        samples=count(done.samples),
        series=count(done.series),
        new=count(done.samples_written),
        other=other,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _settings(request: RunRequest) -> dict[str, Any]:
    settings = request.settings
    return {
        "window_ms": settings.window,
        "every_ms": settings.every,
        "max_concurrent_reads": settings.ingest.max_concurrent_reads,
        "admin_calls_per_s": settings.ingest.admin_calls_per_s,
    }
