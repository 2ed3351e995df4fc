"""From tree to plan. In: a tree and the text it was read from. Out: a plan, or a refusal that quotes the part concerned."""

from __future__ import annotations

import math

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.errors import unsupported
from throttlescope.transforms.promql.functions import FUNCTIONS, SCALAR
from throttlescope.transforms.promql.kinds import kind_of
from throttlescope.transforms.promql.plan import (
    Absent,
    Aggregation,
    Instant,
    Map,
    Match,
    Negate,
    Plan,
    Range,
    Read,
    SampleTime,
    ScalarBinary,
    ScalarNegate,
    ScalarNumber,
    ScalarOf,
    ScalarTime,
    SetOperation,
    StepTime,
    Subquery,
    Text,
    VectorOf,
    Window,
    WithScalar,
)
from throttlescope.transforms.promql.semantics import SUBQUERY_STEP_MS, absent_labels

_AGGREGATIONS = ("sum", "avg", "count", "min", "max", "group")


def lower(text: str, expr: ast.Expr, subquery_step_ms: int = SUBQUERY_STEP_MS) -> Plan:
    """Plan a checked tree; ``subquery_step_ms`` is the step of a subquery that names none.

    Raises
    ------
    UnsupportedPromQLError
        A part of it is PromQL that is not carried; ``text`` serves to quote it.
    """
    return _Lowering(text, subquery_step_ms).plan(expr)


class _Lowering:
    def __init__(self, text: str, subquery_step_ms: int) -> None:
        self.text, self.subquery_step_ms = text, subquery_step_ms

    def plan(self, expr: ast.Expr) -> Plan:
        match expr:
            case ast.NumberLiteral(value=value):
                return ScalarNumber(value)
            case ast.Paren(expr=inner) | ast.Unary(op="+", expr=inner):
                return self.plan(inner)
            case ast.Unary(expr=inner):
                return (ScalarNegate if kind_of(inner) == SCALAR else Negate)(self.plan(inner))
            case ast.VectorSelector():
                return Instant(_read(expr))
            case ast.Binary():
                return self._binary(expr)
            case ast.Aggregate():
                return self._aggregate(expr)
            case ast.Call():
                return self._call(expr)
            case ast.StringLiteral(value=value):
                return Text(value)
            case ast.MatrixSelector() | ast.Subquery():
                return Range(*self.window(expr))
        raise TypeError(expr)

    def window(self, expr: ast.MatrixSelector | ast.Subquery) -> tuple[Read | Subquery, int]:
        """What a window over a range looks at, and the window's length."""
        if isinstance(expr, ast.MatrixSelector):
            return _read(expr.vector), expr.range_ms
        step_ms = expr.step_ms or self.subquery_step_ms
        return Subquery(self.plan(expr.expr), step_ms, expr.offset_ms, expr.at), expr.range_ms

    def _binary(self, expr: ast.Binary) -> Plan:
        left, right = self.plan(expr.left), self.plan(expr.right)
        scalars = [kind_of(side) == SCALAR for side in (expr.left, expr.right)]
        if all(scalars):
            return ScalarBinary(expr.op, left, right)
        if any(scalars):
            vector, scalar = (right, left) if scalars[0] else (left, right)
            return WithScalar(expr.op, vector, scalar, scalars[0], expr.return_bool)
        matching = expr.matching or ast.Matching()
        if expr.op in ast.SET_OPERATORS:
            return SetOperation(expr.op, left, right, matching)
        return Match(expr.op, left, right, matching, expr.return_bool)

    def _aggregate(self, expr: ast.Aggregate) -> Plan:
        if expr.op not in _AGGREGATIONS:
            raise unsupported(
                self.text, expr.span, f"The aggregation {expr.op}", f"carried are {', '.join(_AGGREGATIONS)}"
            )
        return Aggregation(expr.op, self.plan(expr.expr), tuple(sorted(expr.labels)), expr.without)

    def _call(self, expr: ast.Call) -> Plan:
        name, arguments = expr.function, expr.arguments
        if not FUNCTIONS[name].carried:
            raise unsupported(self.text, expr.span, f"The function {name}")
        match name:
            case "time":
                return ScalarTime()
            case "pi":
                return ScalarNumber(math.pi)
            case "scalar":
                return ScalarOf(self.plan(arguments[0]))
            case "vector":
                return VectorOf(self.plan(arguments[0]))
            case "absent":
                inner = _bare(arguments[0])
                labels = absent_labels(inner.selector) if isinstance(inner, ast.VectorSelector) else ()
                return Absent(self.plan(inner), labels)
            case "timestamp":
                inner = _bare(arguments[0])
                if isinstance(inner, ast.VectorSelector):
                    if inner.at and inner.offset_ms:
                        # Prometheus forgets the offset there when it looks for the sample, not when it loads the data
                        # (engine.go, rangeEvalTimestampFunctionOverVectorSelector; seen on a 3.5.3 server).
                        raise unsupported(
                            self.text, expr.span, "timestamp of a selector with both @ and offset"
                        )
                    return SampleTime(_read(inner))
                return StepTime(self.plan(inner))
        inner = _bare(arguments[0])
        if isinstance(inner, ast.MatrixSelector | ast.Subquery):
            return Window(name, *self.window(inner))
        return Map(name, self.plan(inner), tuple(self.plan(argument) for argument in arguments[1:]))


def _read(selector: ast.VectorSelector) -> Read:
    return Read(selector.selector, selector.offset_ms, selector.at)


def _bare(expr: ast.Expr) -> ast.Expr:
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    return expr
