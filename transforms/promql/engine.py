"""Queries of a lake. In: a lake, a text, the times. Out: an :class:`QueryAnswer`, computed here or on Spark, or the plan of it.

Both places do the same pieces of work with the same evaluator and give the same bytes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.blocks import BlockCache
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.explain import explain_work
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.plan import Plan, needed_samples, reads, settled
from throttlescope.transforms.promql.query import (
    DEFAULTS,
    Options,
    QueryAnswer,
    checked_steps,
    kind_of_plan,
    plan_of_range,
)
from throttlescope.transforms.promql.shards.cut import is_cut_whole
from throttlescope.transforms.promql.shards.local import run_here
from throttlescope.transforms.promql.shards.work import LakeView, Work, plan_work, versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Place = Literal["auto", "local", "spark"]

#: Samples up to which a query runs in this process where it may choose: a second's work of one core or two.
LOCAL_SAMPLES = 30_000_000
#: Bytes of samples that a process keeps for further queries.
CACHE_BYTES = 1_500_000_000
#: How long a version of the lake is believed to be the newest.
_BELIEVED_S = 1.0


class Engine:
    """Evaluates PromQL over a lake. Threads may share it.

    Parameters
    ----------
    lake : Lake
    session : callable, optional
        Makes (or returns) the Spark session; called only when a query runs there. Without it queries run here.
    cache_bytes : int
        What it may keep of the files it read.
    on_look : callable, optional
        Called at every cache look-up with ``found``: whether it was a hit.
    """

    def __init__(
        self,
        lake: Lake,
        session: Callable[[], SparkSession] | None = None,
        *,
        cache_bytes: int = CACHE_BYTES,
        on_look: Callable[..., None] | None = None,
    ) -> None:
        self.lake, self.session = lake, session
        self._cache = BlockCache(cache_bytes, on_look)
        self._view: LakeView | None = None
        self._view_s = 0.0
        self._lock = threading.Lock()

    def instant(
        self, text: str, time_ms: int, options: Options = DEFAULTS, *, place: Place = "auto"
    ) -> QueryAnswer:
        """Evaluate at one moment. Raises as :func:`query.instant_query`."""
        plan = plan_query(text, options.subquery_step_ms)
        return self._answer(text, plan, Steps.at(time_ms), options, place, kind_of_plan(plan))

    def range(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        *,
        place: Place = "auto",
    ) -> QueryAnswer:
        """Evaluate at every step of a range. Raises as :func:`query.range_query`."""
        steps = checked_steps(start_ms, end_ms, step_ms, options)
        return self._answer(text, plan_of_range(text, options), steps, options, place, "matrix")

    def explain(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        *,
        place: Place = "auto",
    ) -> str:
        """The plan, what is pruned, the shard labels and the stages, as text; nothing is evaluated."""
        plan = plan_query(text, options.subquery_step_ms)
        steps = Steps(start_ms, end_ms, step_ms)
        work, _ = self._work(text, plan, steps, options)
        return explain_work(work, self._place(work, place))

    def _answer(
        self, text: str, plan: Plan, steps: Steps, options: Options, place: Place, kind: str
    ) -> QueryAnswer:
        annotations, budget = Annotations(text), Budget.of(options)
        work, view = self._work(text, plan, steps, options)
        for warning in view.topics.warnings(read.selector for read in reads(work.plan)):
            annotations.warn(warning)
        chosen = self._place(work, place)
        if not is_cut_whole(work.plan):
            # Such as predict_linear(x[5m], scalar(y)): rare, and computed here over all shards at once.
            chosen = "local"
            ranges = needed_samples([work.plan], steps, options.lookback_ms).values()
            source = view.source(min(low for low, _ in ranges), max(high for _, high in ranges))
            value = evaluate(
                work.plan,
                source,
                steps,
                lookback_ms=options.lookback_ms,
                annotations=annotations,
                budget=budget,
            )
        elif chosen == "spark":
            # Imported late: most queries need no Spark.
            from throttlescope.transforms.promql.shards.spark import run_on_spark

            value = run_on_spark(work, self.session(), annotations, budget)
        else:
            value = run_here(work, view, self._cache, annotations, budget)
        stats = {"place": chosen, "samples": budget.loaded, "series": work.series, "files": work.files_read}
        return QueryAnswer(kind, steps, value, annotations.records, stats)

    def _work(self, text: str, plan: Plan, steps: Steps, options: Options) -> tuple[Work, LakeView]:
        view = self.view()
        plan = settled(plan, steps.start_ms, steps.end_ms)
        return plan_work(text, plan, steps, view, options.lookback_ms), view

    def view(self) -> LakeView:
        """The lake's newest version, as of a second ago at most."""
        with self._lock:
            now_s = time.monotonic()
            if self._view is None or now_s - self._view_s > _BELIEVED_S:
                if self._view is None or versions(self.lake) != self._view.versions:
                    self._view = LakeView(self.lake)
                self._view_s = now_s
            return self._view

    def _place(self, work: Work, place: Place) -> str:
        if place == "spark" and self.session is None:
            raise InputError("There is no Spark session to run this query in", fix="leave the engine to auto")
        if place != "auto":
            return place
        return "spark" if self.session is not None and work.samples > LOCAL_SAMPLES else "local"
