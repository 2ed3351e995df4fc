"""Evaluation in this process. In: plans, a sample source, the steps. Out: a step matrix (or scalar per step) for each.

The same function serves a small query here and a task of a large one on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from throttlescope.ingest.selector import Selector
from throttlescope.transforms.promql.lower import lower
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, StepScalar
from throttlescope.transforms.promql.operators import aggregate, binary, elements, functions, select
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.plan import (
    Absent,
    Aggregation,
    Instant,
    Map,
    Match,
    Negate,
    Plan,
    Read,
    SampleTime,
    ScalarBinary,
    ScalarNegate,
    ScalarNumber,
    ScalarOf,
    ScalarTime,
    SetOperation,
    StepTime,
    VectorOf,
    Window,
    WithScalar,
    needed_samples,
)
from throttlescope.transforms.promql.rules import apply_rules
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.source import SampleSource, Series


def plan_query(text: str) -> Plan:
    """Text, tree, plan, rewrite rules.

    Raises
    ------
    PromQLSyntaxError, PromQLTypeError
        The text is no PromQL.
    UnsupportedPromQLError
        It is, and a part of it is not carried; the part is quoted.
    """
    return apply_rules(lower(text, parse(text)))


def evaluate(
    plan: Plan, source: SampleSource, steps: Steps, *, lookback_ms: int = LOOKBACK_MS
) -> StepMatrix | StepScalar:
    """One plan at every step. See :func:`evaluate_all`."""
    return evaluate_all([plan], source, steps, lookback_ms=lookback_ms)[0]


def evaluate_all(
    plans: Sequence[Plan], source: SampleSource, steps: Steps, *, lookback_ms: int = LOOKBACK_MS
) -> list[StepMatrix | StepScalar]:
    """Several plans at every step; each selector is read once, and equal parts are computed once.

    Parameters
    ----------
    plans : sequence of Plan
    source : SampleSource
    steps : Steps
        ``start()`` and ``end()`` in a query are its bounds, also where the end is no step.
    lookback_ms : int
        How long a sample is current.

    Returns
    -------
    list of StepMatrix or ndarray
        One per plan: a matrix (rows in the order of their series' labels, unless grouping says otherwise), or for a
        scalar one float64 per step.

    Raises
    ------
    QueryError
        Some step has no answer, such as two partners where one is allowed. As in Prometheus the whole query fails.
    """
    needed = needed_samples(plans, steps.start_ms, steps.end_ms, lookback_ms)
    samples = {selector: source.select(selector, *bounds) for selector, bounds in needed.items()}
    evaluation = _Evaluation(samples, steps, lookback_ms)
    return [evaluation.value(plan) for plan in plans]


class _Evaluation:
    def __init__(self, samples: Mapping[Selector, list[Series]], steps: Steps, lookback_ms: int) -> None:
        self.samples = samples
        self.steps = steps
        self.steps_ms = steps.times_ms
        self.lookback_ms = lookback_ms
        self._joined: dict[Selector, select.Samples] = {}
        self._values: dict[Plan, StepMatrix | StepScalar] = {}

    def value(self, plan: Plan) -> StepMatrix | StepScalar:
        if plan not in self._values:
            self._values[plan] = self._compute(plan)
        return self._values[plan]

    def _compute(self, plan: Plan) -> StepMatrix | StepScalar:
        match plan:
            case Instant(read=read):
                return select.instant(self._read(read), self._ends(read), self.lookback_ms)
            case SampleTime(read=read):
                return select.sample_time(self._read(read), self._ends(read), self.lookback_ms)
            case Window(function=function, read=read, range_ms=range_ms):
                return select.window(function, self._read(read), self._ends(read), range_ms)
            case ScalarNumber(value=value):
                return np.full(len(self.steps_ms), value)
            case ScalarTime():
                return self.steps_ms / 1000.0
            case ScalarNegate(scalar=scalar):
                return elements.negate(self.value(scalar))
            case ScalarBinary(op=op, left=left, right=right):
                return elements.calculate(op, self.value(left), self.value(right))
            case ScalarOf(vector=vector):
                return functions.scalar_of(self.value(vector))
            case VectorOf(scalar=scalar):
                return functions.vector_of(self.value(scalar))
            case Negate(vector=vector):
                return functions.negated(self.value(vector))
            case WithScalar(op=op, vector=vector, scalar=scalar):
                return binary.with_scalar(
                    op,
                    self.value(vector),
                    self.value(scalar),
                    scalar_left=plan.scalar_left,
                    return_bool=plan.return_bool,
                )
            case Match(op=op, left=left, right=right, matching=matching, return_bool=return_bool):
                return binary.match(
                    op, self.value(left), self.value(right), matching, return_bool=return_bool
                )
            case SetOperation(op=op, left=left, right=right, matching=matching):
                return binary.set_operation(op, self.value(left), self.value(right), matching)
            case Aggregation(op=op, vector=vector, labels=labels, without=without):
                return aggregate.aggregate(op, self.value(vector), labels, without)
            case Map(function=function, vector=vector, scalars=scalars):
                return functions.apply(function, self.value(vector), [self.value(s) for s in scalars])
            case StepTime(vector=vector):
                return functions.step_time(self.value(vector), self.steps_ms)
            case Absent(vector=vector, labels=labels):
                return functions.absent(self.value(vector), labels)
        raise TypeError(f"no operator for {type(plan).__name__}")

    def _read(self, read: Read) -> select.Samples:
        if read.selector not in self._joined:
            self._joined[read.selector] = select.join(self.samples[read.selector])
        return self._joined[read.selector]

    def _ends(self, read: Read) -> np.ndarray:
        if read.at is None:
            return self.steps_ms - read.offset_ms
        pinned, _ = read.ends_ms(self.steps.start_ms, self.steps.end_ms)
        return np.full(len(self.steps_ms), pinned, np.int64)
