"""The plan of a query: what is computed, without text and without storage. In: nothing. Out: one node per operator.

Nodes are frozen, picklable and compare by meaning, so equal parts of several queries are evaluated once. Parentheses,
unary plus and the spelling of numbers are gone; kinds of value are settled (a ``Scalar...`` node gives one number per
step, the others an instant vector).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.notes import TextPlace
from throttlescope.transforms.promql.semantics import Labels, window_range


def _ends_ms(read: Read | SubqueryPlan, start_ms: int, end_ms: int) -> tuple[int, int]:
    if read.at is not None:
        # `start()` and `end()` are the whole query's, whatever subquery or chunk asks: they are settled beforehand.
        start_ms = end_ms = read.at.time
    return start_ms - read.offset_ms, end_ms - read.offset_ms


class Plan:
    """A node: something that gives one number, or one instant vector, per step."""


@dataclass(frozen=True)
class Read:
    """What a reading node reads: its selector, seen through offset and ``@``."""

    selector: Selector
    offset_ms: int = 0
    at: ast.At | None = None

    def ends_ms(self, start_ms: int, end_ms: int) -> tuple[int, int]:
        """First and last moment that steps from ``start_ms`` to ``end_ms`` look at."""
        return _ends_ms(self, start_ms, end_ms)


@dataclass(frozen=True)
class Instant(Plan):
    """The newest sample within the look-back.

    ``ages``: what ``@`` pins grows older with the steps, and is gone when the look-back no longer reaches it. So Prometheus
    evaluates it where it stands in an aggregation's parameter.
    """

    read: Read
    ages: bool = False


@dataclass(frozen=True)
class SampleTime(Plan):
    """The time of that sample in seconds: ``timestamp(selector)``; the look-back may be shorter than the query's."""

    read: Read
    shortened_ms: int = 0


@dataclass(frozen=True)
class SubqueryPlan:
    """What a window sees where it looks at another expression: its values at the multiples of ``step_ms``."""

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
class RangeWindow(Plan):
    """A range function over the samples of a selector, or over the values of a subquery.

    ``scalars`` are its other arguments; ``places`` is where the text names what a note is about. The function
    ``any_over_time`` is 1 where there is a sample and keeps the name: what ``absent_over_time`` asks.
    """

    function: str
    read: Read | SubqueryPlan
    range_ms: int
    scalars: tuple[Plan, ...] = ()
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class RangeSamples(Plan):
    """The samples of a window themselves: what an instant query of ``x[5m]`` or ``x[5m:1m]`` gives."""

    read: Read | SubqueryPlan
    range_ms: int


@dataclass(frozen=True)
class Text(Plan):
    """A string: what an instant query of ``"text"`` gives."""

    value: str


@dataclass(frozen=True)
class ScalarNumber(Plan):
    """A number. Compared by its bits: 0 and -0 differ, and NaN is itself."""

    value: float = field(compare=False)
    bits: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # The sign of a NaN is the processor's and means nothing.
        object.__setattr__(self, "bits", b"NaN" if math.isnan(self.value) else struct.pack("<d", self.value))


@dataclass(frozen=True)
class ScalarTime(Plan):
    """``time()``."""


@dataclass(frozen=True)
class ScalarNegate(Plan):
    scalar: Plan


@dataclass(frozen=True)
class ScalarBinary(Plan):
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
    vector: Plan


@dataclass(frozen=True)
class WithScalar(Plan):
    """An operator between a vector and a scalar; ``scalar_left`` says on which side the scalar stands."""

    op: str
    vector: Plan
    scalar: Plan
    scalar_left: bool
    return_bool: bool


@dataclass(frozen=True)
class Match(Plan):
    """An operator between two vectors whose series meet by label."""

    op: str
    left: Plan
    right: Plan
    matching: ast.Matching
    return_bool: bool


@dataclass(frozen=True)
class SetOperation(Plan):
    op: str
    left: Plan
    right: Plan
    matching: ast.Matching


@dataclass(frozen=True)
class ScalarFirst(Plan):
    """The value that a scalar has at the first step, at every step; at the others it is not even computed."""

    scalar: Plan


@dataclass(frozen=True)
class Aggregation(Plan):
    """``parameter`` is a scalar, or the :class:`Text` of ``count_values``; ``places`` is where it stands."""

    op: str
    vector: Plan
    labels: tuple[str, ...]
    without: bool
    parameter: Plan | None = None
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Map(Plan):
    """A function of each value; ``scalars`` are its further arguments."""

    function: str
    vector: Plan
    scalars: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class Relabel(Plan):
    """``label_replace`` and ``label_join``; ``texts`` are the arguments behind the vector."""

    function: str
    vector: Plan
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Order(Plan):
    """``sort`` and its kin: the order of the rows of an instant query."""

    function: str
    vector: Plan
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Buckets(Plan):
    """``histogram_quantile`` and ``histogram_fraction`` of classic buckets; ``places`` those of quantile and vector.

    ``once``: all that is read is pinned, and notes tell of the first step only.
    """

    function: str
    vector: Plan
    scalars: tuple[Plan, ...]
    once: bool = False
    places: tuple[TextPlace, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class StepTime(Plan):
    """``timestamp`` of anything but a selector: the step's own time."""

    vector: Plan


@dataclass(frozen=True)
class Absent(Plan):
    vector: Plan
    labels: Labels


def gives_scalar(plan: Plan) -> bool:
    """Whether a plan gives one number per step rather than a vector."""
    return isinstance(plan, ScalarNumber | ScalarTime | ScalarNegate | ScalarBinary | ScalarOf | ScalarFirst)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans directly inside ``plan``, that of its subquery included."""
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


def reads(plan: Plan) -> Iterator[Read]:
    """What a plan reads from the store."""
    for node in walk(plan):
        read = getattr(node, "read", None)
        if isinstance(read, Read):
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
        elif isinstance(read, Read):
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
