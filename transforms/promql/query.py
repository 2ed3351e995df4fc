"""A query, from text to answer. In: a text, a sample source, the times. Out: an :class:`QueryAnswer`.

This is the whole way in one process over one source; :mod:`engine` decides where a query of a lake runs and uses the
same evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.annotations import Annotation, Annotations
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import PromQLTypeError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, StepScalar
from throttlescope.transforms.promql.plan import ConstantString, Plan, SelectRange, gives_scalar
from throttlescope.transforms.promql.semantics import LOOKBACK_MS, SUBQUERY_STEP_MS, shown
from throttlescope.transforms.promql.source import SampleSource, Series


@dataclass(frozen=True)
class Options:
    """What a server's flags and a request's parameters set.

    Attributes
    ----------
    lookback_ms : int
        How long a sample is current (``query.lookback-delta``, ``lookback_delta``).
    subquery_step_ms : int
        Step of a subquery that names none (``evaluation_interval``).
    max_samples : int
        Samples that a query may hold at once (``query.max-samples``).
    max_points : int
        The largest number of points per series of a range query.
    timeout_s : float
        ``query.timeout``.
    is_cancelled : callable, optional
        Called from time to time: whether the client has cancelled the query.
    """

    lookback_ms: int = LOOKBACK_MS
    subquery_step_ms: int = SUBQUERY_STEP_MS
    max_samples: int = 50_000_000
    max_points: int = 11_000
    timeout_s: float = 120.0
    is_cancelled: Callable[[], bool] | None = None


#: A server's default flags.
DEFAULTS = Options()


@dataclass(frozen=True, eq=False)
class QueryAnswer:
    """What a query gave.

    Attributes
    ----------
    kind : "scalar", "string", "vector" or "matrix"
        As Prometheus' ``resultType``; a range query gives a matrix always.
    steps : Steps
    value : StepMatrix, ndarray, str or list of Series
        A scalar is one float64 per step, a string itself, the samples of a range selector (instant queries only) are
        series; all else is a step matrix.
    annotations : tuple of Annotation
        Its warnings and infos.
    stats : dict
        Where the query ran and what it read.
    """

    kind: str
    steps: Steps
    value: StepMatrix | StepScalar | str | list[Series]
    annotations: tuple[Annotation, ...] = ()
    stats: dict = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings as Prometheus writes them."""
        return tuple(one.text for one in self.annotations if one.kind == "warning")

    @property
    def infos(self) -> tuple[str, ...]:
        """The infos as Prometheus writes them."""
        return tuple(one.text for one in self.annotations if one.kind == "info")

    @property
    def text(self) -> str:
        """The value of a string, in characters that can be written anywhere."""
        return shown(self.value)


def instant_query(text: str, source: SampleSource, time_ms: int, options: Options = DEFAULTS) -> QueryAnswer:
    """Evaluate a text at one moment.

    Raises
    ------
    PromQLSyntaxError, PromQLTypeError, UnsupportedPromQLError
        The text is not valid or not supported; nothing was read.
    QueryError
        The query has no answer for the data, or exceeds a limit.
    """
    plan = plan_query(text, options.subquery_step_ms)
    return _answer(text, plan, source, Steps.at(time_ms), options, kind_of_plan(plan))


def range_query(
    text: str, source: SampleSource, start_ms: int, end_ms: int, step_ms: int, options: Options = DEFAULTS
) -> QueryAnswer:
    """Evaluate a text at every step of a range; raises as :func:`instant_query` does, and for a range without sense."""
    steps = checked_steps(start_ms, end_ms, step_ms, options)
    return _answer(text, plan_of_range(text, options), source, steps, options, "matrix")


def plan_of_range(text: str, options: Options) -> Plan:
    """Plan a text for a range query; strings and range vectors are type errors."""
    plan = plan_query(text, options.subquery_step_ms)
    if isinstance(plan, ConstantString | SelectRange):
        kind = "string" if isinstance(plan, ConstantString) else "range vector"
        raise PromQLTypeError(
            f'invalid expression type "{kind}" for range query, must be Scalar or instant Vector',
            fix="use an instant query, or apply a function such as rate()"
            if kind == "range vector"
            else None,
        )
    return plan


def checked_steps(start_ms: int, end_ms: int, step_ms: int, options: Options) -> Steps:
    """The steps of a range query.

    Raises
    ------
    InputError
        The range runs backwards, or has too many points.
    """
    steps = Steps(start_ms, end_ms, step_ms)
    if (end_ms - start_ms) // step_ms > options.max_points:
        raise InputError(
            f"exceeded maximum resolution of {options.max_points:,} points per timeseries. "
            "Try decreasing the query resolution (?step=XX)",
            got=f"{(end_ms - start_ms) // step_ms + 1:,} points",
        )
    return steps


def kind_of_plan(plan: Plan) -> str:
    """``resultType`` of an instant query."""
    if isinstance(plan, ConstantString):
        return "string"
    if isinstance(plan, SelectRange):
        return "matrix"
    return "scalar" if gives_scalar(plan) else "vector"


def _answer(
    text: str, plan: Plan, source: SampleSource, steps: Steps, options: Options, kind: str
) -> QueryAnswer:
    annotations, budget = Annotations(text), Budget.of(options)
    value = evaluate(
        plan, source, steps, lookback_ms=options.lookback_ms, annotations=annotations, budget=budget
    )
    return QueryAnswer(kind, steps, value, annotations.records)
