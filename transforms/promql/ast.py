"""The tree of a PromQL text. In: nothing. Out: one frozen dataclass per form of expression, each with its place.

A node's ``span`` is the range of characters that it was read from. It takes no part in comparisons: two nodes are
equal when they mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from throttlescope.ingest.core.selector import Selector

Span = tuple[int, int]

ARITHMETIC = ("+", "-", "*", "/", "%", "^", "atan2")
COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
SET_OPERATORS = ("and", "or", "unless")

#: Aggregations of Prometheus 3.5, and whether they take a parameter before the vector.
AGGREGATIONS = {
    "sum": False,
    "avg": False,
    "count": False,
    "min": False,
    "max": False,
    "group": False,
    "stddev": False,
    "stdvar": False,
    "topk": True,
    "bottomk": True,
    "count_values": True,
    "quantile": True,
    "limitk": True,
    "limit_ratio": True,
}


@dataclass(frozen=True, kw_only=True)
class Node:
    """What all nodes have: the characters they were read from."""

    span: Span = field(default=(0, 0), compare=False)


@dataclass(frozen=True)
class NumberLiteral(Node):
    """A number; a duration such as ``5m`` is its seconds."""

    value: float


@dataclass(frozen=True)
class StringLiteral(Node):
    value: str


@dataclass(frozen=True)
class At:
    """``@`` pins the time of reading: epoch milliseconds, or the query's ``start`` or ``end``."""

    time: int | Literal["start", "end"]


@dataclass(frozen=True)
class VectorSelector(Node):
    """An instant selector; ``offset_ms`` looks into the past where positive."""

    selector: Selector
    offset_ms: int = 0
    at: At | None = None


@dataclass(frozen=True)
class MatrixSelector(Node):
    """A range selector; offset and ``@`` are those of the selector inside."""

    vector: VectorSelector
    range_ms: int


@dataclass(frozen=True)
class Subquery(Node):
    """``expr[range:step]``; without a step (None) the server's evaluation interval."""

    expr: Expr
    range_ms: int
    step_ms: int | None
    offset_ms: int = 0
    at: At | None = None


@dataclass(frozen=True)
class Paren(Node):
    expr: Expr


@dataclass(frozen=True)
class Unary(Node):
    """``op`` is + or -."""

    op: str
    expr: Expr


@dataclass(frozen=True)
class Matching:
    """How two vectors meet.

    Attributes
    ----------
    on : bool
        True: ``labels`` alone must agree. False (``ignoring``): all labels but those and the name.
    group : "left", "right" or None
        The side that may have many series per key.
    include : tuple of str
        Labels that the many side takes over from the one side.
    """

    on: bool = False
    labels: tuple[str, ...] = ()
    group: Literal["left", "right"] | None = None
    include: tuple[str, ...] = ()


@dataclass(frozen=True)
class Binary(Node):
    op: str
    left: Expr
    right: Expr
    return_bool: bool = False
    matching: Matching | None = None


@dataclass(frozen=True)
class Aggregate(Node):
    """``without`` False and no labels: one group for all."""

    op: str
    expr: Expr
    parameter: Expr | None = None
    labels: tuple[str, ...] = ()
    without: bool = False


@dataclass(frozen=True)
class Call(Node):
    function: str
    arguments: tuple[Expr, ...]


Expr = (
    NumberLiteral
    | StringLiteral
    | VectorSelector
    | MatrixSelector
    | Subquery
    | Paren
    | Unary
    | Binary
    | Aggregate
    | Call
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside ``expr``, from left to right."""
    match expr:
        case MatrixSelector(vector=inner) | Subquery(expr=inner) | Paren(expr=inner) | Unary(expr=inner):
            return (inner,)
        case Binary(left=left, right=right):
            return (left, right)
        case Aggregate(expr=inner, parameter=parameter):
            return (inner,) if parameter is None else (parameter, inner)
        case Call(arguments=arguments):
            return arguments
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """``expr`` and everything inside it, outermost first."""
    yield expr
    for child in children(expr):
        yield from walk(child)
