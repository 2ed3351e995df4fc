"""Evaluation in this process. In: plans, a sample source, the steps. Out: a step matrix (or scalar per step) for each.

The same function serves a small query here and a task of a large one on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.lower import lower
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, StepScalar, empty, in_order, merged
from throttlescope.transforms.promql.open_checks import ForcedAt, OpenChecks
from throttlescope.transforms.promql.operators import aggregate, binary, elements, functions, select, windows
from throttlescope.transforms.promql.operators.names import nameless
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.plan import (
    Absent,
    Aggregation,
    ApplyFunction,
    ApplyRangeFunction,
    BinaryMatch,
    BinaryWithScalar,
    ChangeLabels,
    ConstantString,
    HistogramFunction,
    Negate,
    Plan,
    SampleTimestamp,
    ScalarBinary,
    ScalarFirst,
    ScalarNegate,
    ScalarNumber,
    ScalarOf,
    ScalarTime,
    SelectInstant,
    SelectorRead,
    SelectRange,
    SetOperation,
    SortResult,
    StepTimestamp,
    SubqueryPlan,
    VectorOf,
    needed_samples,
    settled,
)
from throttlescope.transforms.promql.rules import apply_rules
from throttlescope.transforms.promql.semantics import LOOKBACK_MS, SUBQUERY_STEP_MS, Labels
from throttlescope.transforms.promql.source import Samples, SampleSource, Series, join

#: What a plan gives.
Value = StepMatrix | StepScalar | str | list[Series]


def plan_query(text: str, subquery_step_ms: int = SUBQUERY_STEP_MS) -> Plan:
    """Text, tree, plan, rewrite rules; ``subquery_step_ms`` is the default step of subqueries.

    Raises
    ------
    PromQLSyntaxError, PromQLTypeError
        The text is not valid PromQL.
    UnsupportedPromQLError
        A part of it is not supported; the error quotes that part.
    """
    return apply_rules(lower(text, parse(text), subquery_step_ms))


def evaluate(
    plan: Plan,
    source: SampleSource,
    steps: Steps,
    *,
    lookback_ms: int = LOOKBACK_MS,
    annotations: Annotations | None = None,
    budget: Budget | None = None,
) -> Value:
    """One plan at every step. See :func:`evaluate_all`."""
    return evaluate_all(
        [plan], source, steps, lookback_ms=lookback_ms, annotations=annotations, budget=budget
    )[0]


def evaluate_all(
    plans: Sequence[Plan],
    source: SampleSource,
    steps: Steps,
    *,
    lookback_ms: int = LOOKBACK_MS,
    annotations: Annotations | None = None,
    budget: Budget | None = None,
) -> list[Value]:
    """Several plans at every step; each selector is read once, and equal parts are computed once.

    Parameters
    ----------
    plans : sequence of Plan
    source : SampleSource
    steps : Steps
        ``start()`` and ``end()`` in a query are its bounds, also where the end is no step.
    lookback_ms : int
        How long a sample is current.
    annotations : Annotations, optional
        Collects warnings and infos.
    budget : Budget, optional
        What the evaluation may take.

    Returns
    -------
    list
        One per plan: a matrix (rows in the order of their series' labels, unless grouping says otherwise); for a
        scalar one float64 per step; for a string itself; for a range the series with their samples.

    Raises
    ------
    QueryError
        Some step has no answer, such as two partners where one is allowed. As in Prometheus the whole query fails.
    """
    budget = budget or Budget()
    plans = [settled(plan, steps.start_ms, steps.end_ms) for plan in plans]
    needed = needed_samples(plans, steps, lookback_ms)
    evaluation = PlanEvaluation(
        read_samples(needed, source, budget), lookback_ms, annotations or Annotations(), budget
    )
    return [evaluation.value(plan, steps) for plan in plans]


def read_samples(
    needed: Mapping[Selector, tuple[int, int]], source: SampleSource, budget: Budget
) -> dict[Selector, Samples]:
    """Read what is needed: per selector one range [start, end)."""
    samples = {}
    for selector, bounds in needed.items():
        samples[selector] = source.samples(selector, *bounds)
        budget.load(len(samples[selector].values))
    return samples


class PlanEvaluation:
    """Plans over samples that are here. A plan is computed once per grid of steps.

    Parameters
    ----------
    samples : mapping
        Series of each selector, over the ranges that :func:`needed_samples` names.
    lookback_ms : int
    annotations : Annotations
    budget : Budget
    given : mapping, optional
        Values of plans that were computed elsewhere.
    checks : OpenChecks, optional
        Given where these are not all series, or not all steps, of the query: takes what is left open.
    """

    def __init__(
        self,
        samples: Mapping[Selector, Samples],
        lookback_ms: int,
        annotations: Annotations,
        budget: Budget,
        given: Mapping[tuple[Plan, Steps], Value] | None = None,
        checks: OpenChecks | None = None,
    ) -> None:
        self.samples = samples
        self.checks = checks
        self.lookback_ms = lookback_ms
        self.annotations = annotations
        self.budget = budget
        self._values: dict[tuple[Plan, Steps], Value] = dict(given or {})

    def given(self, values: Mapping[tuple[Plan, Steps], Value]) -> PlanEvaluation:
        """This evaluation where some plans' values are known already."""
        return PlanEvaluation(
            self.samples, self.lookback_ms, self.annotations, self.budget, values, self.checks
        )

    def value(self, plan: Plan, steps: Steps) -> Value:
        """The value of a plan at every step."""
        key = (plan, steps)
        if key not in self._values:
            # Before any array is made: a subquery of a century would not fit.
            read = getattr(plan, "read", None)
            rows = len(self.samples[read.selector].labels) if isinstance(read, SelectorRead) else 1
            cells = max(rows, 1) * steps.count
            self.budget.hold(cells)
            self.budget.check_time(cells)
            value = _At(self, steps).compute(plan)
            if isinstance(value, StepMatrix):
                self.budget.hold(value.values.size)
            self.budget.check_time()
            self._values[key] = value
        return self._values[key]


class _At:
    """An evaluation at one grid of steps."""

    def __init__(self, evaluation: PlanEvaluation, steps: Steps) -> None:
        self.evaluation, self.steps = evaluation, steps
        self.lookback_ms, self.annotations = evaluation.lookback_ms, evaluation.annotations

    @cached_property
    def steps_ms(self) -> np.ndarray:
        return self.steps.times_ms

    def value(self, plan: Plan) -> Value:
        return self.evaluation.value(plan, self.steps)

    def compute(self, plan: Plan) -> Value:
        match plan:
            case (
                SelectInstant(read=SelectorRead() as read)
                | SampleTimestamp(read=read)
                | ApplyRangeFunction(read=SelectorRead() as read)
            ) if not (self._read(read).labels):
                # A subquery can have many millions of steps; nothing at all of them is looked at for nothing. The other
                # arguments may fail all the same.
                self._scalars(getattr(plan, "scalars", ()))
                return empty(self.steps.count)
            case SelectInstant(read=read, ages=ages):
                age_ms = self.steps_ms - self.steps_ms[0] if ages else None
                return select.instant(self._read(read), self._ends(read), self.lookback_ms, age_ms)
            case SampleTimestamp(read=read, shortened_ms=shortened_ms):
                lookback_ms = self.lookback_ms - shortened_ms
                return select.sample_time(self._read(read), self._ends(read), lookback_ms)
            case ApplyRangeFunction(function=function, read=read, range_ms=range_ms, scalars=scalars):
                found = windows.window(
                    function,
                    self._seen(read, range_ms),
                    self._ends(read),
                    range_ms,
                    self._scalars(scalars),
                    self.steps_ms,
                    self.annotations,
                    self.evaluation.budget,
                    *plan.places,
                )
                if windows.keeps_name(function):
                    return found
                labels, distinct = nameless(found.labels)
                known = isinstance(read, SelectorRead) and self._stay_distinct(read.selector)
                return self._renamed(plan, found, labels, distinct=distinct, known=known)
            case SelectRange(read=read, range_ms=range_ms):
                return select.window_samples(self._seen(read, range_ms), int(self._ends(read)[0]), range_ms)
            case ConstantString(value=value):
                return value
            case ScalarNumber(value=value):
                return np.full(len(self.steps_ms), value)
            case ScalarTime():
                return self.steps_ms / 1000.0
            case ScalarNegate(scalar=scalar):
                return elements.negate(self.value(scalar))
            case ScalarFirst(scalar=scalar):
                first = self.evaluation.value(scalar, Steps.at(self.steps.start_ms))
                return np.full(len(self.steps_ms), first[0])
            case ScalarBinary(op=op, left=left, right=right):
                return elements.calculate(op, self.value(left), self.value(right))
            case ScalarOf(vector=vector):
                return functions.scalar_of(self.value(vector))
            case VectorOf(scalar=scalar):
                return functions.vector_of(self.value(scalar))
            case Negate(vector=vector):
                found = functions.negated(self.value(vector))
                labels, distinct = nameless(found.labels)
                return self._renamed(plan, found, labels, distinct=distinct)
            case BinaryWithScalar(op=op, vector=vector, scalar=scalar):
                return binary.with_scalar(
                    op,
                    self.value(vector),
                    self.value(scalar),
                    scalar_left=plan.scalar_left,
                    return_bool=plan.return_bool,
                )
            case BinaryMatch(op=op, left=left, right=right, matching=matching, return_bool=return_bool):
                checks = self.evaluation.checks
                return binary.match(
                    op,
                    self.value(left),
                    self.value(right),
                    matching,
                    return_bool=return_bool,
                    leave_open=partial(checks.leave_open, plan, self.steps)
                    if checks and checks.some_series
                    else None,
                )
            case SetOperation(op=op, left=left, right=right, matching=matching):
                return binary.set_operation(op, self.value(left), self.value(right), matching)
            case Aggregation():
                return self._aggregated(plan)
            case ApplyFunction(function=function, vector=vector, scalars=scalars):
                return functions.apply(function, self.value(vector), self._scalars(scalars))
            case ChangeLabels(function=function, vector=vector, texts=texts):
                found = self.value(vector)
                return self._renamed(plan, found, functions.relabelled(function, found.labels, texts))
            case SortResult(function=function, vector=vector, labels=labels):
                return functions.ordered(function, self.value(vector), labels)
            case HistogramFunction(function=function, vector=vector, scalars=scalars):
                return functions.of_buckets(
                    function,
                    self.value(vector),
                    self._scalars(scalars),
                    self.annotations,
                    *plan.places,
                    once=plan.once,
                    leave_open=partial(self._leave_forced, plan)
                    if self.evaluation.checks and self.evaluation.checks.some_steps
                    else None,
                )
            case StepTimestamp(vector=vector):
                return functions.step_time(self.value(vector), self.steps_ms)
            case Absent(vector=vector, labels=labels):
                return functions.absent(self.value(vector), labels)
        raise TypeError(f"no operator for {type(plan).__name__}")

    def _renamed(
        self,
        plan: Plan,
        matrix: StepMatrix,
        labels: tuple[Labels, ...],
        *,
        distinct: bool = False,
        known: bool = False,
    ) -> StepMatrix:
        """The rows under new labels, which have to differ at all steps of the query.

        ``distinct``: these rows' are known to; ``known``: so are those of all steps.
        """
        found, checks = matrix.with_labels(labels), self.evaluation.checks
        if not distinct:
            found = merged(found, may_meet=False)
        if checks and checks.some_steps and not known:
            checks.leave_open(plan, self.steps, dict(zip(labels, matrix.labels, strict=True)))
        return found

    def _leave_forced(self, plan: HistogramFunction, found: functions.Forced) -> None:
        at_ms = {labels: (int(self.steps_ms[first]), *rest) for labels, (first, *rest) in found.items()}
        self.evaluation.checks.leave_open(
            plan, self.steps, ForcedAt(plan.places[-1] if plan.places else None, at_ms)
        )

    def _stay_distinct(self, selector: Selector) -> bool:
        checks = self.evaluation.checks
        return checks is not None and selector in checks.distinct

    def _aggregated(self, plan: Aggregation) -> StepMatrix:
        op, labels, without = plan.op, plan.labels, plan.without
        if plan.parameter is None:
            return aggregate.aggregate(op, self.value(plan.vector), labels, without)
        parameter, vector = self.value(plan.parameter), self.value(plan.vector)
        if op == "count_values":
            return aggregate.count_values(parameter, vector, labels, without, self.evaluation.budget)
        operator = aggregate.quantile if op == "quantile" else partial(aggregate.chosen, op)
        if op != "quantile":
            vector = in_order(vector)
        return operator(vector, parameter, labels, without, self.annotations, *plan.places)

    def _scalars(self, scalars: tuple[Plan, ...]) -> list[StepScalar]:
        return [self.value(scalar) for scalar in scalars]

    def _read(self, read: SelectorRead) -> Samples:
        return self.evaluation.samples[read.selector]

    def _seen(self, read: SelectorRead | SubqueryPlan, range_ms: int) -> Samples:
        """What windows look at: samples, or a subquery's values as samples of their steps."""
        if isinstance(read, SelectorRead):
            return self._read(read)
        inner = read.steps(*read.ends_ms(self.steps.start_ms, self.steps.end_ms), range_ms)
        if inner is None:
            return join([])
        value = self.evaluation.value(read.plan, inner)
        if isinstance(value, np.ndarray):
            value = functions.vector_of(value)
        if not value.labels:
            return join([])
        return select.as_samples(value, inner.times_ms)

    def _ends(self, read: SelectorRead | SubqueryPlan) -> np.ndarray:
        if read.at is None:
            return self.steps_ms - read.offset_ms
        return np.full(len(self.steps_ms), read.at.time - read.offset_ms, np.int64)
