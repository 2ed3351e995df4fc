"""A run, from sources to verdicts and what follows from them. In: a `Request`. Out: tables of the lake, a manifest row, and a `RunResult`.

Every step writes whole versions and finds what an earlier, stopped run has done, so a run that is
repeated changes nothing and a run that was killed is mended by repeating it. A gate that stops a
run leaves its findings in ``quality`` and nothing behind it is computed.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.pipeline_results import (
    Results,
    make_anomalies,
    make_counterfactuals,
    make_episodes,
    make_forecasts,
)
from throttlescope.app.pipeline_sources import Ingested, Source, open_sources
from throttlescope.app.render import count
from throttlescope.app.render_progress import Progress
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.errors import GateError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.manifest import RunManifest
from throttlescope.ingest.quality import GateResult, check_samples, check_signals, preload
from throttlescope.ingest.times import BLOCK_MS, date_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.config import Settings


@dataclass(frozen=True)
class Request:
    """What is to be done.

    Attributes
    ----------
    command : str
        ``ingest``, ``run`` or ``demo``: what the manifest calls it. ``ingest`` stops after the limits.
    start_ms, end_ms : int, optional
        Range; None, only with recordings, means all that they hold.
    recordings : tuple of str
        Folders or names of installed recordings; none means the clusters of the settings.
    override_cluster : bool
        The configured cluster's name replaces the label ``cluster`` instead of filling it.
    debug : bool
        Leave the JVM's output on the terminal.
    """

    command: str
    settings: Settings
    start_ms: int | None
    end_ms: int | None
    recordings: tuple[str, ...] = ()
    override_cluster: bool = False
    debug: bool = False


@dataclass
class RunResult:
    """What a run did; every number is a count of this run.

    Attributes
    ----------
    status : str
        ``done``: any other end is an error.
    warnings : int
        Findings of the gates that did not hold and did not stop the run.
    verdicts : dict, optional
        Verdicts in the range by cause; None after ``ingest``.
    results : Results, optional
        Episodes, incidents, forecasts and anomalies in the range; None after ``ingest``.
    """

    run_id: str
    command: str
    lake: str
    status: str
    start_ms: int
    end_ms: int
    clusters: tuple[str, ...]
    sources: list[Ingested] = field(default_factory=list)
    warnings: int = 0
    signals: int | None = None
    verdicts: dict[str, int] | None = None
    results: Results | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as they are printed in JSON."""
        return asdict(self)


def run_pipeline(request: Request, *, quiet: bool = False) -> RunResult:
    """Do what a request asks for.

    Raises
    ------
    InputError
        There is no source, or what is asked for is not there.
    SourceError
        A source cannot be reached or refuses.
    GateError
        A quality gate stopped the run; its findings are in ``quality``.
    """
    # Sources are asked first: a wrong address is told before a JVM is started.
    sources = open_sources(request)
    return _Run(request, sources, quiet).execute()


class _Run:
    def __init__(self, request: Request, sources: Sequence[Source], quiet: bool) -> None:
        self.request, self.sources = request, sources
        self.lake = Lake(request.settings.lake.absolute())
        self.only_ingest = request.command == "ingest"
        self.progress = Progress(1 + len(sources) + (2 if self.only_ingest else 9), quiet=quiet)
        self.manifest = RunManifest(
            request.command,
            ", ".join(source.name for source in sources),
            min(source.start_ms for source in sources),
            max(source.end_ms for source in sources),
            details={"settings": _settings(request)},
        )
        self.ingested: list[Ingested] = []
        self.warnings = 0

    def execute(self) -> RunResult:
        with self._recorded():
            with self.progress.step("Starting Spark"):
                preload()
                session = _session(self.request.debug)
            for source in self.sources:
                with self.progress.step(f"Reading {source.name}"):
                    self._ingest(session, source)
            with self.progress.step("Checking the samples"):
                for group in self._groups():
                    self._gate(check_samples(session, self.lake, *group, self.manifest.run_id))
            with self.progress.step("Resolving the limits"):
                self._limits()
            signals = verdicts = results = None
            if not self.only_ingest:
                signals = self._signals(session)
                with self.progress.step("Checking the signals"):
                    for group in self._groups():
                        self._gate(check_signals(session, self.lake, *group, self.manifest.run_id))
                        self._compare_counts(*group)
                verdicts = self._verdicts(session)
                results = self._results(session)
                self.manifest.details["results"] = {
                    "signals": signals,
                    "verdicts": verdicts,
                    **asdict(results),
                }
        return RunResult(
            run_id=self.manifest.run_id,
            command=self.request.command,
            lake=self.lake.root,
            status="done",
            start_ms=self.manifest.start_ms,
            end_ms=self.manifest.end_ms,
            clusters=self._clusters(),
            sources=self.ingested,
            warnings=self.warnings,
            signals=signals,
            verdicts=verdicts,
            results=results,
        )

    # -- steps -----------------------------------------------------------------------------

    def _ingest(self, session: SparkSession, source: Source) -> None:
        done = source.ingest(session, self.lake, self.manifest.run_id, self.progress.note)
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
        written = (
            "" if done.samples_written == done.samples else f", {count(done.samples_written)} of them new"
        )
        self.progress.note(f"{count(done.samples)} samples of {count(done.series)} series{written}")

    def _find(self, findings: Sequence[dict[str, Any]]) -> None:
        """Write rows of ``quality`` that the door found."""
        now_ms = _now_ms()
        common = {"run_id": self.manifest.run_id, "observed_ms": now_ms, "date": date_of(now_ms)}
        schema = TABLES["quality"].loose_schema
        self._keep(pa.Table.from_pylist([row | common for row in findings], schema=schema))

    def _compare_counts(self, clusters: Sequence[str], start_ms: int, end_ms: int) -> None:
        """Hold the admin API's throttle counts against the series of the same counters."""
        from throttlescope.transforms.throttle_counts import check_throttle_counts

        run_id = self.manifest.run_id
        self._keep(
            check_throttle_counts(self.lake, clusters, start_ms, end_ms, run_id=run_id, now_ms=_now_ms())
        )

    def _keep(self, rows: pa.Table) -> None:
        """Write rows of ``quality``; what does not hold is a warning."""
        if rows.num_rows:
            self.lake.upsert("quality", rows, run_id=self.manifest.run_id)
            self.warnings += rows.column("success").to_pylist().count(False)

    def _gate(self, result: GateResult) -> None:
        self.lake.upsert("quality", result.rows, run_id=self.manifest.run_id)
        self.warnings += len(result.failures("warning"))
        if result.stopped:
            raise result.error()
        self.progress.note(f"{self.warnings} warning{'' if self.warnings == 1 else 's'}")

    def _limits(self) -> None:
        from throttlescope.transforms.limits import resolve_limits

        for clusters, start_ms, end_ms in self._groups():
            resolve_limits(self.lake, clusters, start_ms, end_ms, run_id=self.manifest.run_id)

    def _signals(self, session: SparkSession) -> int:
        from throttlescope.transforms.signals import build_signals

        with self.progress.step("Building the signals"):
            for group in self._groups():
                build_signals(session, self.lake, *group, self.manifest.run_id)
            found = sum(self._rows("signals", "minute_ms", *group) for group in self._groups())
            self.progress.note(f"{count(found)} subscription minutes")
        return found

    def _verdicts(self, session: SparkSession) -> dict[str, int]:
        from throttlescope.models.diagnosis.apply import build_verdicts

        settings = self.request.settings
        causes: Counter[str] = Counter()
        with self.progress.step("Diagnosing"):
            for group in self._groups():
                build_verdicts(
                    session,
                    self.lake,
                    *group,
                    self.manifest.run_id,
                    window_ms=settings.window,
                    every_ms=settings.every,
                )
                causes.update(self._causes(*group))
            self.progress.note(f"{count(causes.total())} verdicts")
        return dict(causes.most_common())

    def _results(self, session: SparkSession) -> Results:
        results, groups, run_id = Results(), self._groups(), self.manifest.run_id
        with self.progress.step("Finding episodes"):
            make_episodes(session, self.lake, groups, run_id, results, self.progress.note)
        with self.progress.step("Lifting their causes"):
            make_counterfactuals(session, self.lake, groups, run_id, results, self.progress.note)
        with self.progress.step("Forecasting"):
            make_forecasts(session, self.lake, groups, run_id, results, self.progress.note)
        with self.progress.step("Comparing with the weeks before"):
            settings = self.request.settings
            make_anomalies(session, self.lake, groups, run_id, settings, results, self.progress.note)
        return results

    # -- what was touched ------------------------------------------------------------------

    def _clusters(self) -> tuple[str, ...]:
        return tuple(sorted({cluster for done in self.ingested for cluster in done.clusters}))

    def _groups(self) -> list[tuple[tuple[str, ...], int, int]]:
        """Clusters whose hours overlap or touch are computed together; recordings of other days apart."""
        groups: list[tuple[set[str], int, int]] = []
        spans = (span for done in self.ingested for span in done.spans)
        for span in sorted(spans, key=lambda span: span.start_ms):
            if groups and span.start_ms <= groups[-1][2] + BLOCK_MS:
                clusters, start_ms, end_ms = groups[-1]
                groups[-1] = (clusters | set(span.clusters), start_ms, max(end_ms, span.end_ms))
            else:
                groups.append((set(span.clusters), span.start_ms, span.end_ms))
        return [(tuple(sorted(clusters)), start_ms, end_ms) for clusters, start_ms, end_ms in groups]

    def _rows(self, table: str, time_column: str, clusters: Sequence[str], start_ms: int, end_ms: int) -> int:
        inside = (pc.field(time_column) >= start_ms) & (pc.field(time_column) < end_ms)
        return self.lake.read(
            table, columns=[time_column], where=inside, partition={"cluster": clusters}
        ).num_rows

    def _causes(self, clusters: Sequence[str], start_ms: int, end_ms: int) -> Counter[str]:
        inside = (pc.field("window_start_ms") < end_ms) & (pc.field("window_end_ms") > start_ms)
        found = self.lake.read("verdicts", columns=["cause"], where=inside, partition={"cluster": clusters})
        return Counter(found.column("cause").to_pylist())

    # -- the manifest ----------------------------------------------------------------------

    @contextlib.contextmanager
    def _recorded(self) -> Iterator[None]:
        """Write the manifest's row however the run ends, but never make a lake only to say that it failed."""
        try:
            yield
        except BaseException as error:
            status = "gated" if isinstance(error, GateError) else "failed"
            self.manifest.details["error"] = str(error) or type(error).__name__
            if status == "gated" or self.lake.version("ingest_runs") is not None:
                self._write(status)
            raise
        self._write("done")

    def _write(self, status: str) -> None:
        self.lake.upsert("ingest_runs", self.manifest.row(status), run_id=self.manifest.run_id)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _session(debug: bool) -> SparkSession:
    from throttlescope.ingest.session import spark_session

    return spark_session(debug=debug)


def _settings(request: Request) -> dict[str, Any]:
    settings = request.settings
    return {
        "window_ms": settings.window,
        "every_ms": settings.every,
        "max_concurrent_reads": settings.ingest.max_concurrent_reads,
        "admin_calls_per_s": settings.ingest.admin_calls_per_s,
    }
