"""Syntactic properties of arguments. In: syntax trees. Out: labels, trees, yes or no.

Prometheus wraps what is the same at every step before it evaluates (``preprocessExprHelper`` in engine.go of 3.5). What it
wraps shows in the positions that annotations name and in what an aggregation's parameter is.
"""

from __future__ import annotations

from dataclasses import replace

from throttlescope.ingest.core.selector import EQUAL, NAME_LABEL, NOT_EQUAL, NOT_REGEX, Matcher
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.semantics import Labels, labels_of

#: Functions that give something else at another step although their arguments are the same.
_OF_THE_STEP = frozenset(
    (
        "days_in_month", "day_of_month", "day_of_week", "day_of_year", "hour", "minute", "month", "year",
        "predict_linear", "time", "timestamp",
    )
)  # fmt: skip


def bare(expr: ast.Expr) -> ast.Expr:
    """What brackets hold."""
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    return expr


def is_invariant(expr: ast.Expr) -> bool:
    """Whether an expression is the same at every step: all that it reads is pinned by ``@``."""
    match expr:
        case ast.NumberLiteral() | ast.StringLiteral():
            return True
        case ast.VectorSelector(at=at) | ast.Subquery(at=at):
            return at is not None
        case ast.MatrixSelector(vector=inner) | ast.Paren(expr=inner) | ast.Unary(expr=inner):
            return is_invariant(inner)
        case ast.Aggregate(expr=inner):
            return is_invariant(inner)
        case ast.Binary(left=left, right=right):
            return is_invariant(left) and is_invariant(right)
        case ast.Call(function=name, arguments=arguments):
            return name not in _OF_THE_STEP and all(map(is_invariant, arguments))
    raise TypeError(expr)


def unpinned(expr: ast.Expr) -> ast.Expr:
    """An aggregation's parameter as Prometheus evaluates it: it overlooks ``@ start()`` and ``@ end()`` there."""
    match expr:
        case ast.VectorSelector(at=at) if at is not None and isinstance(at.time, str):
            return replace(expr, at=None)
        case ast.MatrixSelector(vector=vector):
            return replace(expr, vector=unpinned(vector))
        case ast.Subquery(expr=inner, at=at):
            kept = None if at is not None and isinstance(at.time, str) else at
            return replace(expr, expr=unpinned(inner), at=kept)
        case ast.Paren(expr=inner) | ast.Unary(expr=inner):
            return replace(expr, expr=unpinned(inner))
        case ast.Aggregate(expr=inner, parameter=parameter):
            parameter = None if parameter is None else unpinned(parameter)
            return replace(expr, expr=unpinned(inner), parameter=parameter)
        case ast.Binary(left=left, right=right):
            return replace(expr, left=unpinned(left), right=unpinned(right))
        case ast.Call(arguments=arguments):
            return replace(expr, arguments=tuple(map(unpinned, arguments)))
    return expr


def absent_labels(expr: ast.Expr) -> Labels:
    """Labels of ``absent`` and ``absent_over_time`` of a selector: those that equality names.

    The first equality of a label counts, and any matcher of the label behind it takes it out again
    (``createLabelsForAbsentFunction`` in functions.go of 3.5). By then the store has put matchers that only take series away
    behind the others (``PostingsForMatchers`` in tsdb/querier.go).
    """
    if isinstance(expr, ast.MatrixSelector):
        expr = expr.vector
    if not isinstance(expr, ast.VectorSelector):
        return ()
    matchers = [matcher for matcher in expr.selector.matchers if matcher.name != NAME_LABEL]
    demanded = {matcher.name for matcher in matchers if not matcher.matches("")}
    found: dict[str, str] = {}
    named: set[str] = set()
    for matcher in sorted(matchers, key=lambda one: _takes_away(one, demanded)):
        if matcher.op == EQUAL and matcher.name not in named:
            found[matcher.name] = matcher.value
            named.add(matcher.name)
        else:
            found.pop(matcher.name, None)
    return labels_of(found.items())


def _takes_away(matcher: Matcher, demanded: set[str]) -> bool:
    if matcher.name not in demanded:
        return True
    return matcher.op in (NOT_EQUAL, NOT_REGEX) and matcher.matches("")
