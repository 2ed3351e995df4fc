"""The stages of a run, from samples in the lake to verdicts and results. In: clusters and ranges. Out: tables of the lake, and the hours computed.

Of every stage only the hours are computed whose input differs from what they were computed from (:mod:`throttlescope.app.pipeline.incremental`);
a gate judges what is computed before any reader of the table sees it, and nothing behind a gate that stops is computed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.pipeline.incremental.computed_hours import Hours, hours_of, write
from throttlescope.app.pipeline.incremental.fingerprints import TIME_COLUMNS, Inputs
from throttlescope.app.pipeline.incremental.groups import joined, together
from throttlescope.app.pipeline.incremental.lake_view import RecomputeView
from throttlescope.app.pipeline.incremental.plan import later_stage_to_compute, signals_to_compute
from throttlescope.app.pipeline.results import (
    Group,
    Results,
    forget_answers,
    make_anomalies,
    make_counterfactuals,
    make_episodes,
    make_forecasts,
)
from throttlescope.ingest.core.retry import jitter, retry, until_stable
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import read_files
from throttlescope.ingest.lake.after_commit import LakeAfterCommit
from throttlescope.ingest.lake.duck import from_files
from throttlescope.ingest.quality import (
    GateResult,
    check_ingested,
    check_policies,
    check_samples,
    check_signals,
    check_verdicts,
)
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.config import Settings
    from throttlescope.app.pipeline.events import Progress
    from throttlescope.app.pipeline.spark_session import SparkIfNeeded
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.lake.staged import StagedCommit
    from throttlescope.ingest.spark.task_executor import TaskExecutor

T = TypeVar("T")

#: Overlapping backfills meet once or twice at the same hours, then one of them is ahead.
COMMIT_ATTEMPTS = 6


def _results_steps() -> tuple[str, str, str]:
    """Steps that are announced together, and again where they are done again."""
    return (
        sentence("pipeline.step.episodes"),
        sentence("pipeline.step.levers"),
        sentence("pipeline.step.anomalies"),
    )


class Stages:
    """The stages of a run, one method each, to be called in this order.

    Parameters
    ----------
    spark : SparkIfNeeded
        Runs what is too large for this process.
    groups : list of Group
        Requested clusters and ranges.
    again : bool
        Recompute every requested hour, even if its input has not changed.

    Attributes
    ----------
    warnings : int
        Findings of gates that did not hold and did not stop.
    computed, looked_at : Counter
        Hours by stage.
    """

    def __init__(
        self,
        spark: SparkIfNeeded,
        lake: Lake,
        settings: Settings,
        groups: Sequence[Group],
        run_id: str,
        progress: Progress,
        *,
        again: bool = False,
    ) -> None:
        self.spark, self.lake, self.settings, self.run_id = spark, lake, settings, run_id
        self.groups, self.progress, self.again = list(groups), progress, again
        self.warnings = 0
        self.computed: Counter[str] = Counter()
        self.looked_at: Counter[str] = Counter()

    # -- samples ---------------------------------------------------------------------------

    def check_samples(self, *, all_hours: bool) -> None:
        """The gate over all requested hours, or over the hours whose signals will be computed."""
        groups = self.groups if all_hours else together(self._plan(self._signals)[1])
        with self.progress.step("Checking the samples"):
            for group in groups:
                session = self._session(group)
                self._gate(check_ingested(session, self.lake, *group, self.run_id))
                self._gate(check_samples(session, self.lake, *group, self.run_id))
            self._note_warnings()

    def resolve_limits(self) -> None:
        from throttlescope.transforms.limits import resolve_limits

        with self.progress.step("Resolving the limits"):
            for clusters, start_ms, end_ms in self.groups:
                resolve_limits(self.lake, clusters, start_ms, end_ms, run_id=self.run_id)
                session = self._session((clusters, start_ms, end_ms))
                self._gate(check_policies(session, self.lake, clusters, start_ms, end_ms, self.run_id))

    # -- signals ---------------------------------------------------------------------------

    def build_signals(self) -> int:
        """Stage the signals, validate and commit them; rows of ``signals`` in the requested ranges."""
        from throttlescope.transforms.signals import stage_signals

        warned = self.warnings

        def build() -> tuple[int, list[Hours]]:
            self.warnings = warned  # A repeated attempt reports the same findings.
            began_ms, plans = self._plan(self._signals)
            for group in together(plans):
                staged = stage_signals(self._executor(group), self.lake, *group, self.run_id)
                self._validate(staged, check_signals, group)
                self.lake.commit_staged(staged)
            return began_ms, plans

        with self.progress.step("Building the signals"):
            began_ms, plans = self._until_committed(build)
            self._count(plans)
            groups = together(plans)
            found = sum(self._rows("signals", "minute_ms", *group) for group in self.groups)
            self.progress.note(f"{count(found)} subscription minutes{self._saved('signals')}")
        with self.progress.step("Checking the signals"):
            for group in groups:
                self._compare_counts(*group)
                self._look_for_repeats(*group)
            self._note_warnings()
        self._write_down(plans, began_ms)
        return found

    # -- what follows ----------------------------------------------------------------------

    def build_verdicts(self) -> dict[str, int]:
        """Stage the verdicts, validate and commit them; verdicts in the requested ranges, by cause."""
        from throttlescope.models.diagnosis.apply import stage_verdicts
        from throttlescope.models.diagnosis.latest import build_latest

        window_ms, every_ms = self.settings.window, self.settings.every
        causes: Counter[str] = Counter()

        warned = self.warnings

        def judge() -> tuple[int, list[Hours]]:
            self.warnings = warned
            began_ms, plans = self._plan(self._following("verdicts"))
            for group in together(plans):
                clusters, start_ms, end_ms = group
                # From the first window that begins in these hours on: earlier ones that reach into them have their own in the plan.
                first_ms = min(start_ms + window_ms - every_ms, end_ms - 1)
                staged = stage_verdicts(
                    self._executor(group), self.lake, clusters, first_ms, end_ms, self.run_id, window_ms=window_ms, every_ms=every_ms
                )  # fmt: skip
                self._validate(staged, check_verdicts, group)
                self.lake.commit_staged(staged)
            return began_ms, plans

        with self.progress.step("Diagnosing"):
            began_ms, plans = self._until_committed(judge)
            self._count(plans)
            for group in self.groups:
                causes.update(self._causes(*group))
            build_latest(self.lake, self._clusters(), self.run_id)
            self._write_down(plans, began_ms)
            self.progress.note(f"{count(causes.total())} verdicts{self._saved('verdicts')}")
        return dict(causes.most_common())

    def build_forecasts(self, results: Results) -> None:
        def forecast() -> tuple[int, list[Hours]]:
            began_ms, plans = self._plan(self._following("forecasts"))
            todo = together(plans)
            make_forecasts(
                self.spark, self.lake, self.groups, todo, self.run_id, results, self.progress.note,
                every_ms=self.settings.forecast_every,
            )  # fmt: skip
            return began_ms, plans

        with self.progress.step("Forecasting"):
            began_ms, plans = self._until_committed(forecast)
            self._count(plans)
            self._write_down(plans, began_ms)

    def build_results(self, results: Results) -> None:
        """Episodes, counterfactuals and anomalies, from the first hour that differs on."""

        def again() -> None:
            self.progress.expect_more(len(_results_steps()))

        began_ms, plans = until_stable(
            lambda: self._results(results),
            lambda: self.lake.version("computed"),
            attempts=COMMIT_ATTEMPTS - 1,
            before_repeat=again,
        )
        self._count(plans)
        self._write_down(plans, began_ms)

    def _results(self, results: Results) -> tuple[int, list[Hours]]:
        began_ms, plans = self._plan(self._following("results"))
        todo = joined([self._onwards(plan) for plan in plans if plan.to_compute])
        with self.progress.step(_results_steps()[0]):
            make_episodes(self.spark, self.lake, self.groups, todo, self.run_id, results, self.progress.note)
        with self.progress.step(_results_steps()[1]):
            for plan in plans:
                forget_answers(self.lake, plan.cluster, plan.changed, self.run_id)
            replayed = joined([*self.groups, *todo])
            make_counterfactuals(self.spark, self.lake, replayed, self.run_id, results, self.progress.note)
        with self.progress.step(_results_steps()[2]):
            make_anomalies(
                self.spark,
                self.lake,
                self.groups,
                todo,
                self.run_id,
                self.settings,
                results,
                self.progress.note,
            )
        return began_ms, plans

    def _until_committed(self, stage: Callable[[], T]) -> T:
        """Do a stage; where another run wrote the same hours first, plan and do it again: mostly less is left to compute."""
        return retry(
            stage,
            attempts=COMMIT_ATTEMPTS,
            wait_s=jitter(0.1, 2.0, growing=True),
            before_retry=lambda: self.progress.note(sentence("pipeline.commit_conflict")),
        )

    def _minutes(self, group: Group) -> int:
        """Minutes of subscription partitions that are computed of a group."""
        from throttlescope.transforms.signals import minutes_expected

        return minutes_expected(self.lake, *group)

    def _session(self, group: Group) -> SparkSession | None:
        """The session for the gates of a group; None: this process counts."""
        return self.spark.session_for(self._minutes(group), note=self.progress.note)

    def _executor(self, group: Group) -> TaskExecutor:
        return self.spark.executor_for(self._minutes(group), note=self.progress.note)

    # -- planning --------------------------------------------------------------------------

    def _signals(self, view: RecomputeView, cluster: str, start_ms: int, end_ms: int) -> Hours:
        return signals_to_compute(view, self.settings, cluster, start_ms, end_ms, again=self.again)

    def _following(self, stage: str) -> Callable[[RecomputeView, str, int, int], Hours]:
        return lambda view, cluster, start_ms, end_ms: later_stage_to_compute(
            view, self.settings, cluster, stage, start_ms, end_ms, again=self.again
        )

    def _plan(self, plan: Callable[[RecomputeView, str, int, int], Hours]) -> tuple[int, list[Hours]]:
        """When the lake was read, and the hours of every requested cluster."""
        began_ms = time.time_ns() // 1_000_000
        view = self._view()
        return began_ms, [
            plan(view, cluster, *span) for (clusters, *span) in self.groups for cluster in clusters
        ]

    def _view(self) -> RecomputeView:
        return RecomputeView(self.lake, self._clusters(), min(start_ms for _, start_ms, _ in self.groups))

    def _count(self, plans: Iterable[Hours]) -> None:
        for hours in plans:
            self.computed[hours.stage] += len(hours.to_compute)
            self.looked_at[hours.stage] += len(hours.looked_at)

    def _write_down(self, plans: Iterable[Hours], began_ms: int) -> None:
        view, written = self._view(), []
        for hours in plans:
            done = sorted({*hours.to_compute, *hours.touched})
            if not done:
                continue
            outputs = dict.fromkeys(done)
            if hours.stage in TIME_COLUMNS:
                lake_now = Inputs(view, hours.cluster, done[0], done[-1] + BLOCK_MS, self.settings)
                outputs = lake_now.outputs(hours.stage, done)
            written.append((hours, outputs))
        write(self.lake, written, began_ms, self.run_id)

    def _onwards(self, hours: Hours) -> Group:
        """From the first hour that differs to the end: what was open then may have gone on, and weeks are compared."""
        files = self.lake.files("signals", partition={"cluster": [hours.cluster]})
        newest_ms = max((file.maximum["minute_ms"] + 1 for file in files), default=0)
        requested_ms = max(end_ms for clusters, _, end_ms in self.groups if hours.cluster in clusters)
        return (hours.cluster,), hours.to_compute[0], max(hours.to_compute[0] + 1, requested_ms, newest_ms)

    def _saved(self, stage: str) -> str:
        """How many hours had to be computed, in words; nothing where it is all of them."""
        computed, looked_at = self.computed[stage], self.looked_at[stage]
        requested = sum(
            len(hours_of(start_ms, end_ms)) * len(clusters) for clusters, start_ms, end_ms in self.groups
        )
        return (
            ""
            if computed == requested
            else f", {count(computed)} of {count(max(requested, looked_at))} hours computed"
        )

    # -- gates and counts ------------------------------------------------------------------

    def keep(self, rows: pa.Table) -> None:
        """Write rows of ``quality``; what does not hold is a warning."""
        if rows.num_rows:
            self.lake.upsert("quality", rows, run_id=self.run_id)
            self.warnings += rows.column("success").to_pylist().count(False)

    def _gate(self, result: GateResult) -> None:
        self.lake.upsert("quality", result.rows, run_id=self.run_id)
        self.warnings += len(result.failures("warning"))
        if result.stopped:
            raise result.error()

    def _validate(self, staged: StagedCommit, check: Callable[..., GateResult], group: Group) -> None:
        """The gate over a group's new rows, before the commit: readers use signals and verdicts as soon as they are committed."""
        self._gate(check(self._session(group), LakeAfterCommit(self.lake, staged), *group, self.run_id))

    def _note_warnings(self) -> None:
        self.progress.note(f"{self.warnings} warning{'' if self.warnings == 1 else 's'}")

    def _compare_counts(self, clusters: Sequence[str], start_ms: int, end_ms: int) -> None:
        """Hold the admin API's throttle counts against the series of the same counters."""
        from throttlescope.transforms.throttle_counts import check_throttle_counts

        now_ms = time.time_ns() // 1_000_000
        self.keep(
            check_throttle_counts(self.lake, clusters, start_ms, end_ms, run_id=self.run_id, now_ms=now_ms)
        )

    def _look_for_repeats(self, clusters: Sequence[str], start_ms: int, end_ms: int) -> None:
        """Say which brokers are scraped twice."""
        from throttlescope.transforms.scraped_once import check_scraped_once

        now_ms = time.time_ns() // 1_000_000
        self.keep(
            check_scraped_once(self.lake, clusters, start_ms, end_ms, run_id=self.run_id, now_ms=now_ms)
        )

    def _clusters(self) -> tuple[str, ...]:
        return tuple(sorted({cluster for clusters, _, _ in self.groups for cluster in clusters}))

    def _rows(self, table: str, time_column: str, clusters: Sequence[str], start_ms: int, end_ms: int) -> int:
        """Rows of a range; only files that reach out of it are read."""
        between = {time_column: (start_ms, end_ms - 1)}
        inside = (pc.field(time_column) >= start_ms) & (pc.field(time_column) < end_ms)
        total = 0
        for file in self.lake.files(table, partition={"cluster": clusters}, between=between):
            whole = start_ms <= file.minimum[time_column] and file.maximum[time_column] < end_ms
            total += (
                file.rows
                if whole
                else read_files(table, [file], columns=[time_column], where=inside).num_rows
            )
        return total

    def _causes(self, clusters: Sequence[str], start_ms: int, end_ms: int) -> Counter[str]:
        between = {"window_start_ms": (start_ms - self.settings.window, end_ms - 1)}
        files = self.lake.files("verdicts", partition={"cluster": clusters}, between=between)
        if not files:
            return Counter()
        # Counted where they lie: a month of a fleet is more than this process holds.
        with self.lake.counting("verdicts", files) as connection:
            counted = connection.execute(
                f"SELECT cause, count(*) FROM {from_files(files)} "  # noqa: S608
                f"WHERE window_start_ms < {end_ms} AND window_end_ms > {start_ms} GROUP BY cause ORDER BY cause"
            ).fetchall()
        return Counter(dict(counted))
