"""Kinds of value. In: a tree. Out: nothing, or the first place where a scalar, vector, range or string is out of place."""

from __future__ import annotations

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.errors import type_error
from throttlescope.transforms.promql.functions import FUNCTIONS, KIND_WORDS, MATRIX, SCALAR, STRING, VECTOR


def kind_of(expr: ast.Expr) -> str:
    """``scalar``, ``vector``, ``matrix`` or ``string``; of a tree that has been checked."""
    match expr:
        case ast.NumberLiteral():
            return SCALAR
        case ast.StringLiteral():
            return STRING
        case ast.VectorSelector() | ast.Aggregate():
            return VECTOR
        case ast.MatrixSelector() | ast.Subquery():
            return MATRIX
        case ast.Paren(expr=inner) | ast.Unary(expr=inner):
            return kind_of(inner)
        case ast.Binary(left=left, right=right):
            return SCALAR if kind_of(left) == kind_of(right) == SCALAR else VECTOR
        case ast.Call(function=name):
            return FUNCTIONS[name].gives
    raise TypeError(expr)


def check_kinds(text: str, expr: ast.Expr) -> None:
    """Refuse a tree in which a kind of value is out of place.

    Raises
    ------
    PromQLTypeError
        Quoting the expression, with the kind that was expected.
    """
    for node in ast.walk(expr):
        match node:
            case ast.Binary():
                _check_binary(text, node)
            case ast.Unary(op=op, expr=inner):
                _expect(text, inner, (SCALAR, VECTOR), f"unary {op}")
            case ast.Aggregate():
                _check_aggregate(text, node)
            case ast.Subquery(expr=inner):
                _expect(text, inner, (VECTOR,), "a subquery")
            case ast.Call():
                _check_call(text, node)


def _check_binary(text: str, node: ast.Binary) -> None:
    kinds = (kind_of(node.left), kind_of(node.right))
    for side in (node.left, node.right):
        _expect(text, side, (SCALAR, VECTOR), f"the operator {node.op}")
    if node.op in ast.SET_OPERATORS and kinds != (VECTOR, VECTOR):
        scalar = node.left if kinds[0] == SCALAR else node.right
        _refuse(text, scalar, f"the set operator {node.op}", (VECTOR,))
    if kinds == (SCALAR, SCALAR) and node.op in ast.COMPARISONS and not node.return_bool:
        raise type_error(
            text,
            node.span,
            "A comparison of two scalars needs bool",
            fix=f"write {node.op} bool between them",
        )
    # Without a label they have no effect, and Prometheus accepts them.
    if node.matching is not None and node.matching.labels and kinds != (VECTOR, VECTOR):
        raise type_error(
            text,
            node.span,
            "on and ignoring match two vectors, and one side is a scalar",
            fix="drop the on(...) or ignoring(...)",
        )


def _check_aggregate(text: str, node: ast.Aggregate) -> None:
    _expect(text, node.expr, (VECTOR,), node.op)
    if node.parameter is not None:
        _expect(
            text,
            node.parameter,
            (STRING if node.op == "count_values" else SCALAR,),
            f"the parameter of {node.op}",
        )


def _check_call(text: str, node: ast.Call) -> None:
    function = FUNCTIONS[node.function]
    most, count = len(function.takes), len(node.arguments)
    fewest = most - function.optional
    if count < fewest or (count > most and not function.repeats):
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        if function.repeats:
            wanted = f"at least {fewest}"
        raise type_error(
            text,
            node.span,
            f"{node.function} has {count} argument{'s' if count != 1 else ''}",
            expected=f"{wanted} ({', '.join(KIND_WORDS[kind] for kind in function.takes)})",
        )
    for i, argument in enumerate(node.arguments):
        _expect(text, argument, (function.takes[min(i, most - 1)],), node.function)


def _expect(text: str, expr: ast.Expr, wanted: tuple[str, ...], by: str) -> None:
    if kind_of(expr) not in wanted:
        _refuse(text, expr, by, wanted)


def _refuse(text: str, expr: ast.Expr, by: str, wanted: tuple[str, ...]) -> None:
    kind = kind_of(expr)
    fix = None
    if kind == VECTOR and wanted == (MATRIX,) and isinstance(expr, ast.VectorSelector):
        fix = "add a range, such as [5m], behind the selector"
    elif kind == MATRIX and VECTOR in wanted:
        fix = "take a function of the range first, such as rate(x[5m])"
    elif kind == SCALAR and wanted == (VECTOR,):
        fix = "vector(...) makes a vector of a scalar"
    raise type_error(
        text,
        expr.span,
        f"{by} got the wrong kind of value",
        got=f"{KIND_WORDS[kind]} `{text[expr.span[0] : expr.span[1]]}`",
        expected=" or ".join(KIND_WORDS[kind] for kind in wanted),
        fix=fix,
    )
