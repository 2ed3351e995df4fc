"""Lowering of a syntax tree to a plan. In: a syntax tree and its text. Out: a plan, or an error that quotes the unsupported part."""

from __future__ import annotations

import math
from dataclasses import replace

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.annotations import TextPlace
from throttlescope.transforms.promql.arguments import (
    absent_labels,
    bare,
    is_invariant,
    unpinned,
)
from throttlescope.transforms.promql.errors import unsupported
from throttlescope.transforms.promql.functions import FUNCTIONS, MATRIX, SCALAR
from throttlescope.transforms.promql.kinds import kind_of
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
    rebuilt,
    walk,
)
from throttlescope.transforms.promql.semantics import SUBQUERY_STEP_MS


def lower(text: str, expr: ast.Expr, subquery_step_ms: int = SUBQUERY_STEP_MS) -> Plan:
    """Plan a checked tree; ``subquery_step_ms`` is the default step of subqueries.

    Raises
    ------
    UnsupportedPromQLError
        A part of it is not supported; ``text`` is used to quote it.
    """
    return _with_last_places(_Lowering(text, subquery_step_ms).plan(expr))


class _Lowering:
    def __init__(self, text: str, subquery_step_ms: int) -> None:
        self.text, self.subquery_step_ms = text, subquery_step_ms
        # Whether Prometheus evaluates step-invariant parts once here: in an aggregation's parameter it does not.
        self.wraps = True
        self._noted = 0

    def plan(self, expr: ast.Expr) -> Plan:
        match expr:
            case ast.NumberLiteral(value=value):
                return ScalarNumber(value)
            case ast.Paren(expr=inner) | ast.Unary(op="+", expr=inner):
                return self.plan(inner)
            case ast.Unary(expr=inner):
                return (ScalarNegate if kind_of(inner) == SCALAR else Negate)(self.plan(inner))
            case ast.VectorSelector():
                return SelectInstant(_read(expr))
            case ast.Binary():
                return self._binary(expr)
            case ast.Aggregate():
                return self._aggregate(expr)
            case ast.Call():
                return self._call(expr)
            case ast.StringLiteral(value=value):
                return ConstantString(value)
            case ast.MatrixSelector() | ast.Subquery():
                return SelectRange(*self.window(expr))
        raise TypeError(expr)

    def window(self, expr: ast.MatrixSelector | ast.Subquery) -> tuple[SelectorRead | SubqueryPlan, int]:
        """What a window over a range looks at, and the window's length."""
        if isinstance(expr, ast.MatrixSelector):
            return _read(expr.vector), expr.range_ms
        step_ms = expr.step_ms or self.subquery_step_ms
        return SubqueryPlan(self.plan(expr.expr), step_ms, expr.offset_ms, expr.at), expr.range_ms

    def _binary(self, expr: ast.Binary) -> Plan:
        left, right = self.plan(expr.left), self.plan(expr.right)
        scalars = [kind_of(side) == SCALAR for side in (expr.left, expr.right)]
        if all(scalars):
            return ScalarBinary(expr.op, left, right)
        if any(scalars):
            vector, scalar = (right, left) if scalars[0] else (left, right)
            return BinaryWithScalar(expr.op, vector, scalar, scalars[0], expr.return_bool)
        matching = expr.matching or ast.Matching()
        if expr.op in ast.SET_OPERATORS:
            return SetOperation(expr.op, left, right, matching)
        return BinaryMatch(expr.op, left, right, matching, expr.return_bool)

    def _aggregate(self, expr: ast.Aggregate) -> Plan:
        labels = tuple(sorted(expr.labels))
        if expr.parameter is None:
            return Aggregation(expr.op, self.plan(expr.expr), labels, expr.without)
        # The parameter comes first, as in Prometheus: so annotations keep their order.
        wraps, self.wraps = self.wraps, False
        parameter = _aging(self.plan(unpinned(expr.parameter)))
        self.wraps = wraps
        vector = self.plan(expr.expr)
        if self._is_wrapped(expr.expr) and not isinstance(parameter, ConstantString | ScalarNumber):
            # Prometheus computes such an aggregation at the first step only, its parameter too.
            parameter = ScalarFirst(parameter)
        return Aggregation(
            expr.op, vector, labels, expr.without, parameter, self._places(bare(expr.parameter).span[0])
        )

    def _call(self, expr: ast.Call) -> Plan:
        name, arguments = expr.function, tuple(map(bare, expr.arguments))
        function = FUNCTIONS[name]
        if not function.supported:
            raise unsupported(
                self.text,
                expr.span,
                f"The function {name}",
                f"{name} is not supported: {function.why_unsupported}",
            )
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
                return Absent(self.plan(arguments[0]), absent_labels(arguments[0]))
            case "absent_over_time":
                seen = ApplyRangeFunction("any_over_time", *self.window(arguments[0]))
                return Absent(seen, absent_labels(arguments[0]))
            case "timestamp":
                return self._timestamp(arguments[0])
            case "histogram_quantile" | "histogram_fraction":
                *scalars, vector = map(self.plan, arguments)
                places = self._places(self._position(expr, 0), self._position(expr, len(arguments) - 1))
                return HistogramFunction(name, vector, tuple(scalars), self._is_wrapped(expr), places)
        match function.family:
            case "label":
                return ChangeLabels(name, self.plan(arguments[0]), _texts(arguments[1:]))
            case "order":
                return SortResult(name, self.plan(arguments[0]), _texts(arguments[1:]))
            case "range":
                return self._window(expr, arguments)
            case "date" if not arguments:
                return ApplyFunction(name, VectorOf(ScalarTime()))
        return ApplyFunction(name, self.plan(arguments[0]), tuple(map(self.plan, arguments[1:])))

    def _window(self, expr: ast.Call, arguments: tuple[ast.Expr, ...]) -> Plan:
        at = FUNCTIONS[expr.function].takes.index(MATRIX)
        read, range_ms = self.window(arguments[at])
        scalars = tuple(self.plan(one) for i, one in enumerate(arguments) if i != at)
        # Prometheus no longer has the position of a subquery when it writes the annotation.
        position = 0 if isinstance(arguments[0], ast.Subquery) else self._position(expr, 0)
        return ApplyRangeFunction(expr.function, read, range_ms, scalars, self._places(position))

    def _is_wrapped(self, expr: ast.Expr) -> bool:
        return self.wraps and is_invariant(expr)

    def _places(self, *positions: int) -> tuple[TextPlace, ...]:
        """Places of a node, numbered after its inputs, which are evaluated before it."""
        self._noted += 1
        return tuple(TextPlace(self._noted, position) for position in positions)

    def _position(self, call: ast.Call, index: int) -> int:
        """The position of an argument in annotations: inside its parentheses, unless the argument is wrapped as step-invariant with them."""
        argument = call.arguments[index]
        alone = self._is_wrapped(argument) and not is_invariant(call)
        return argument.span[0] if alone else bare(argument).span[0]

    def _timestamp(self, inner: ast.Expr) -> Plan:
        if not isinstance(inner, ast.VectorSelector):
            return StepTimestamp(self.plan(inner))
        read = _read(inner)
        if inner.at is None or not inner.offset_ms:
            return SampleTimestamp(read)
        # With both, Prometheus loads the samples at the offset, and selects among them the sample that `@` alone means
        # (engine.go, rangeEvalTimestampFunctionOverVectorSelector): the newest that either would find.
        return SampleTimestamp(replace(read, offset_ms=max(inner.offset_ms, 0)), abs(inner.offset_ms))


def _with_last_places(plan: Plan) -> Plan:
    """Give equal parts, which are computed once, the last of their places: the one that an annotation names."""
    last: dict[Plan, tuple[TextPlace, ...]] = {}
    for node in walk(plan):
        if places := getattr(node, "places", ()):
            last[node] = max(last.get(node, ()), places)

    def placed(node: Plan) -> Plan:
        node = rebuilt(node, placed)
        return replace(node, places=last[node]) if node in last else node

    return placed(plan)


def _aging(plan: Plan) -> Plan:
    """An aggregation's parameter, in which pinned samples age with the steps."""
    plan = rebuilt(plan, _aging)
    if isinstance(plan, SelectInstant) and plan.read.at is not None:
        return replace(plan, ages=True)
    return plan


def _texts(arguments: tuple[ast.Expr, ...]) -> tuple[str, ...]:
    return tuple(argument.value for argument in arguments)


def _read(selector: ast.VectorSelector) -> SelectorRead:
    return SelectorRead(selector.selector, selector.offset_ms, selector.at)
