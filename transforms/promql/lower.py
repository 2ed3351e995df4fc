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
)
from throttlescope.transforms.promql.semantics import absent_labels

_AGGREGATIONS = ("sum", "avg", "count", "min", "max", "group")


def lower(text: str, expr: ast.Expr) -> Plan:
    """Plan a checked tree.

    Raises
    ------
    UnsupportedPromQLError
        A part of it is PromQL that is not carried; ``text`` serves to quote it.
    """
    return _Lowering(text).plan(expr)


class _Lowering:
    def __init__(self, text: str) -> None:
        self.text = text

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
            case ast.StringLiteral():
                raise unsupported(self.text, expr.span, "A string as the result")
            case ast.MatrixSelector():
                raise unsupported(
                    self.text,
                    expr.span,
                    "A range as the result",
                    "take a function of it, such as rate(x[5m])",
                )
        raise unsupported(self.text, expr.span, "A subquery")

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
        if isinstance(inner, ast.MatrixSelector):
            return Window(name, _read(inner.vector), inner.range_ms)
        return Map(name, self.plan(inner), tuple(self.plan(argument) for argument in arguments[1:]))


def _read(selector: ast.VectorSelector) -> Read:
    return Read(selector.selector, selector.offset_ms, selector.at)


def _bare(expr: ast.Expr) -> ast.Expr:
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    return expr
