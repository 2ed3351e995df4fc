"""The plan of a query: what is computed, without text and without storage. In: nothing. Out: one node per operator.

Nodes are frozen, picklable and compare by meaning, so equal parts of several queries are evaluated once. Parentheses,
unary plus and the spelling of numbers are gone; kinds of value are settled (a ``Scalar...`` node gives one number per
step, the others an instant vector).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields

from throttlescope.ingest.selector import Selector
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.semantics import Labels, window_range


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
        if self.at is not None:
            pinned = {"start": start_ms, "end": end_ms}.get(self.at.time, self.at.time)
            start_ms = end_ms = pinned
        return start_ms - self.offset_ms, end_ms - self.offset_ms


@dataclass(frozen=True)
class Instant(Plan):
    """The newest sample within the look-back."""

    read: Read


@dataclass(frozen=True)
class SampleTime(Plan):
    """The time of that sample in seconds: ``timestamp(selector)``."""

    read: Read


@dataclass(frozen=True)
class Window(Plan):
    """A range function over the samples themselves."""

    function: str
    read: Read
    range_ms: int


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
class Aggregation(Plan):
    op: str
    vector: Plan
    labels: tuple[str, ...]
    without: bool


@dataclass(frozen=True)
class Map(Plan):
    """A function of each value; ``scalars`` are its further arguments."""

    function: str
    vector: Plan
    scalars: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class StepTime(Plan):
    """``timestamp`` of anything but a selector: the step's own time."""

    vector: Plan


@dataclass(frozen=True)
class Absent(Plan):
    vector: Plan
    labels: Labels


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans directly inside ``plan``."""
    found: list[Plan] = []
    for item in fields(plan):
        value = getattr(plan, item.name)
        if isinstance(value, Plan):
            found.append(value)
        elif isinstance(value, tuple):
            found += [inner for inner in value if isinstance(inner, Plan)]
    return tuple(found)


def walk(plan: Plan) -> Iterator[Plan]:
    """``plan`` and everything inside it, outermost first."""
    yield plan
    for inner in inputs(plan):
        yield from walk(inner)


def needed_samples(
    plans: Iterable[Plan], start_ms: int, end_ms: int, lookback_ms: int
) -> dict[Selector, tuple[int, int]]:
    """What has to be read for steps from ``start_ms`` to ``end_ms`` (included): per selector one range [start, end).

    A selector is read once, over the widest of the ranges that the plans look at.
    """
    needed: dict[Selector, tuple[int, int]] = {}
    for plan in plans:
        for node in walk(plan):
            if not isinstance(node, Instant | SampleTime | Window):
                continue
            length_ms = node.range_ms if isinstance(node, Window) else lookback_ms
            first_ms, last_ms = node.read.ends_ms(start_ms, end_ms)
            low, high = window_range(first_ms, length_ms)[0], window_range(last_ms, length_ms)[1]
            before = needed.get(node.read.selector, (low, high))
            needed[node.read.selector] = (min(low, before[0]), max(high, before[1]))
    return needed
