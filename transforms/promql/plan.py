"""The plan of a query: what is computed, without text and without storage. In: nothing. Out: one node class per PromQL construct.

Nodes are frozen, picklable and compare by meaning, so equal parts of several queries are evaluated once. Parentheses,
unary plus and the notation of numbers are not part of a plan; types are resolved: a ``Scalar...`` node gives one number per
step, the others an instant vector. Each docstring begins with the PromQL of the node.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.annotations import TextPlace
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.semantics import Labels, window_range


def _ends_ms(read: SelectorRead | SubqueryPlan, start_ms: int, end_ms: int) -> tuple[int, int]:
    if read.at is not None:
        # `start()` and `end()` are those of the whole query, also in a subquery or chunk: `settled` replaces them first.
        start_ms = end_ms = read.at.time
    return start_ms - read.offset_ms, end_ms - read.offset_ms


class Plan:
    """A node: gives one number, or one instant vector, per step."""


@dataclass(frozen=True)
class SelectorRead:
    """``name{matchers} offset d @ t``: a selector with the shift of its time, inside the nodes that read samples."""

    selector: Selector
    offset_ms: int = 0
    at: ast.At | None = None

    def ends_ms(self, start_ms: int, end_ms: int) -> tuple[int, int]:
        """First and last moment that steps from ``start_ms`` to ``end_ms`` look at."""
        return _ends_ms(self, start_ms, end_ms)


@dataclass(frozen=True)
class SelectInstant(Plan):
    """``selector``: the newest sample within the look-back.

    ``ages``: samples that ``@`` pins age with the steps and disappear when they are older than the look-back. Prometheus
    evaluates them so in an aggregation's parameter.
    """

    read: SelectorRead
    ages: bool = False


@dataclass(frozen=True)
class SampleTimestamp(Plan):
    """``timestamp(selector)``: the time of that sample in seconds; the look-back may be shorter than the query's."""

    read: SelectorRead
    shortened_ms: int = 0


@dataclass(frozen=True)
class SubqueryPlan:
    """``expr[range:step]`` without its range: the values of an expression at the multiples of ``step_ms``."""

    plan: Plan
    step_ms: int
    offset_ms: int = 0
    at: ast.At | None = None

    def ends_ms(self, start_ms: int, end_ms: int) -> tuple[int, int]:
        """First and last moment that steps from ``start_ms`` to ``end_ms`` look at."""
        return _ends_ms(self, start_ms, end_ms)

    def steps(self, first_ms: int, last_ms: int, range_ms: int) -> Steps | None:
        """The moments that windows (end - range, end], with ends from ``first_ms`` to ``last_ms``, can see."""
        # The smallest multiple behind the first window's open left edge.
        start_ms = ((first_ms - range_ms) // self.step_ms + 1) * self.step_ms
        # The end is no step, but a subquery inside looks as far as this.
        return Steps(start_ms, last_ms, self.step_ms) if start_ms <= last_ms else None


@dataclass(frozen=True)
class ApplyRangeFunction(Plan):
    """``rate(selector[5m])`` and other range functions, over the samples of a selector or the values of a subquery.

    ``scalars`` are its other arguments; ``places`` are the places of its annotations. The internal function
    ``any_over_time`` is 1 where there is a sample and keeps the name: ``absent_over_time`` is built on it.
    """

    function: str
    read: SelectorRead | SubqueryPlan
    range_ms: int
    scalars: tuple[Plan, ...] = ()
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class SelectRange(Plan):
    """``selector[5m]`` or ``expr[5m:1m]`` as a whole query: the samples of the window."""

    read: SelectorRead | SubqueryPlan
    range_ms: int


@dataclass(frozen=True)
class ConstantString(Plan):
    """``"text"``: a string."""

    value: str


@dataclass(frozen=True)
class ScalarNumber(Plan):
    """``1.5``: a number. Compared by its bits: 0 and -0 differ, and NaN is itself."""

    value: float = field(compare=False)
    bits: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # The sign of a NaN depends on the processor and has no meaning.
        object.__setattr__(self, "bits", b"NaN" if math.isnan(self.value) else struct.pack("<d", self.value))


@dataclass(frozen=True)
class ScalarTime(Plan):
    """``time()``."""


@dataclass(frozen=True)
class ScalarNegate(Plan):
    """``-scalar``."""

    scalar: Plan


@dataclass(frozen=True)
class ScalarBinary(Plan):
    """``scalar op scalar``."""

    op: str
    left: Plan
    right: Plan


@dataclass(frozen=True)
class ScalarOf(Plan):
    """``scalar(vector)``."""

    vector: Plan


@dataclass(frozen=True)
class VectorOf(Plan):
    """``vector(scalar)``."""

    scalar: Plan


@dataclass(frozen=True)
class Negate(Plan):
    """``-vector``."""

    vector: Plan


@dataclass(frozen=True)
class BinaryWithScalar(Plan):
    """``vector op scalar``, or with ``scalar_left`` ``scalar op vector``."""

    op: str
    vector: Plan
    scalar: Plan
    scalar_left: bool
    return_bool: bool


@dataclass(frozen=True)
class BinaryMatch(Plan):
    """``vector op on (...) vector``: arithmetic and comparisons between two vectors, matched by labels."""

    op: str
    left: Plan
    right: Plan
    matching: ast.Matching
    return_bool: bool


@dataclass(frozen=True)
class SetOperation(Plan):
    """``vector and|or|unless vector``."""

    op: str
    left: Plan
    right: Plan
    matching: ast.Matching


@dataclass(frozen=True)
class ScalarFirst(Plan):
    """The value of a scalar at the first step, repeated at every step; it is not computed at the others."""

    scalar: Plan


@dataclass(frozen=True)
class Aggregation(Plan):
    """``sum by (...) (vector)``, ``topk(parameter, vector)`` and other aggregations.

    ``parameter`` is a scalar, or the :class:`ConstantString` of ``count_values``; ``places`` is its place.
    """

    op: str
    vector: Plan
    labels: tuple[str, ...]
    without: bool
    parameter: Plan | None = None
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class ApplyFunction(Plan):
    """``abs(vector)``, ``clamp(vector, 0, 1)`` and other functions of each value; ``scalars`` are the further arguments."""

    function: str
    vector: Plan
    scalars: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class ChangeLabels(Plan):
    """``label_replace(vector, ...)`` and ``label_join(vector, ...)``; ``texts`` are the arguments after the vector."""

    function: str
    vector: Plan
    texts: tuple[str, ...]


@dataclass(frozen=True)
class SortResult(Plan):
    """``sort(vector)``, ``sort_by_label(vector, ...)`` and so on: the order of the rows of an instant query."""

    function: str
    vector: Plan
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class HistogramFunction(Plan):
    """``histogram_quantile(q, vector)`` and ``histogram_fraction(low, high, vector)`` of classic buckets.

    ``places`` are those of quantile and vector.

    ``once``: all that is read is pinned, and annotations are about the first step only.
    """

    function: str
    vector: Plan
    scalars: tuple[Plan, ...]
    once: bool = False
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class StepTimestamp(Plan):
    """``timestamp(expr)`` of anything but a selector: the step's own time."""

    vector: Plan


@dataclass(frozen=True)
class Absent(Plan):
    """``absent(vector)``; ``labels`` are those of its result."""

    vector: Plan
    labels: Labels


def gives_scalar(plan: Plan) -> bool:
    """Whether a plan gives one number per step rather than a vector."""
    return isinstance(plan, ScalarNumber | ScalarTime | ScalarNegate | ScalarBinary | ScalarOf | ScalarFirst)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans directly inside ``plan``, including the one of its subquery."""
    found: list[Plan] = []
    for item in fields(plan):
        value = getattr(plan, item.name)
        if isinstance(value, SubqueryPlan):
            found.append(value.plan)
        elif isinstance(value, Plan):
            found.append(value)
        elif isinstance(value, tuple):
            found += [inner for inner in value if isinstance(inner, Plan)]
    return tuple(found)


def rebuilt(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """``plan`` with each plan directly inside it changed."""
    changes = {}
    for item in fields(plan):
        value = getattr(plan, item.name)
        if isinstance(value, SubqueryPlan):
            changes[item.name] = replace(value, plan=change(value.plan))
        elif isinstance(value, Plan):
            changes[item.name] = change(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Plan):
            changes[item.name] = tuple(map(change, value))
    return replace(plan, **changes) if changes else plan


def walk(plan: Plan) -> Iterator[Plan]:
    """``plan`` and everything inside it, outermost first."""
    yield plan
    for inner in inputs(plan):
        yield from walk(inner)


def reads(plan: Plan) -> Iterator[SelectorRead]:
    """What a plan reads from the store."""
    for node in walk(plan):
        read = getattr(node, "read", None)
        if isinstance(read, SelectorRead):
            yield read


def settled(plan: Plan, start_ms: int, end_ms: int) -> Plan:
    """The plan of a query from ``start_ms`` to ``end_ms``: ``@ start()`` and ``@ end()`` become times."""
    bounds = {"start": start_ms, "end": end_ms}

    def settle(node: Plan) -> Plan:
        node = rebuilt(node, settle)
        read = getattr(node, "read", None)
        if read is not None and read.at is not None and read.at.time in bounds:
            node = replace(node, read=replace(read, at=ast.At(bounds[read.at.time])))
        return node

    return settle(plan)


def needed_samples(plans: Iterable[Plan], steps: Steps, lookback_ms: int) -> dict[Selector, tuple[int, int]]:
    """What has to be read for some steps: per selector one range [start, end).

    A selector is read once, over the widest of the ranges that the plans (:func:`settled`) look at.
    """
    needed: dict[Selector, tuple[int, int]] = {}

    def look(plan: Plan, steps: Steps) -> None:
        read = getattr(plan, "read", None)
        if isinstance(read, SubqueryPlan):
            inner = read.steps(*read.ends_ms(steps.start_ms, steps.end_ms), plan.range_ms)
            if inner is not None:
                look(read.plan, inner)
        elif isinstance(read, SelectorRead):
            length_ms = getattr(plan, "range_ms", lookback_ms)
            # Behind the last step only subqueries look as far as the end.
            first_ms, last_ms = read.ends_ms(steps.start_ms, steps.last_ms)
            low, high = window_range(first_ms, length_ms)[0], window_range(last_ms, length_ms)[1]
            before = needed.get(read.selector, (low, high))
            needed[read.selector] = (min(low, before[0]), max(high, before[1]))
        for inner_plan in inputs(plan):
            if not (isinstance(read, SubqueryPlan) and inner_plan is read.plan):
                look(inner_plan, steps)

    for plan in plans:
        look(plan, steps)
    return needed
