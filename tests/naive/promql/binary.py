"""Operators with a vector on a side, at one moment. In: vectors and numbers. Out: a vector, or a number of two numbers."""

from __future__ import annotations

from tests.naive.promql.data import SCHEMA, Labels, NaiveError, Vector, nameless_labels, unique, with_label
from tests.naive.promql.numbers import operate
from throttlescope.transforms.promql import ast

_PLAIN = ast.Matching()


def binary(expr: ast.Binary, left: float | Vector, right: float | Vector) -> float | Vector:
    """The value of an operator."""
    if isinstance(left, dict) and isinstance(right, dict):
        if expr.op in ast.SET_OPERATORS:
            return _set_operation(expr.op, left, right, expr.matching or _PLAIN)
        return _matched(expr, left, right, expr.matching or _PLAIN)
    if isinstance(left, dict) or isinstance(right, dict):
        return _with_number(expr, left, right)
    return float(operate(expr.op, left, right))


def _with_number(expr: ast.Binary, left: float | Vector, right: float | Vector) -> Vector:
    pairs = []
    for labels, value in (left if isinstance(left, dict) else right).items():
        a, b = (value, right) if isinstance(left, dict) else (left, value)
        result = operate(expr.op, a, b)
        if expr.op not in ast.COMPARISONS or expr.return_bool:
            pairs.append((nameless_labels(labels), float(result)))
        elif result:
            pairs.append((labels, value))
    return unique(pairs)


def _key(labels: Labels, matching: ast.Matching) -> Labels:
    if matching.on:
        return frozenset(pair for pair in labels if pair[0] in matching.labels)
    return frozenset(pair for pair in labels if pair[0] not in matching.labels and pair[0] != "__name__")


def _set_operation(op: str, left: Vector, right: Vector, matching: ast.Matching) -> Vector:
    left_keys = {_key(labels, matching) for labels in left}
    right_keys = {_key(labels, matching) for labels in right}
    if op == "and":
        return {labels: v for labels, v in left.items() if _key(labels, matching) in right_keys}
    if op == "unless":
        return {labels: v for labels, v in left.items() if _key(labels, matching) not in right_keys}
    more = [(labels, v) for labels, v in right.items() if _key(labels, matching) not in left_keys]
    return unique([*left.items(), *more])


def _matched(expr: ast.Binary, left: Vector, right: Vector, matching: ast.Matching) -> Vector:
    if not left or not right:
        return {}
    swapped = matching.group == "right"
    many, one = (right, left) if swapped else (left, right)
    partners: dict[Labels, Labels] = {}
    for labels in one:
        key = _key(labels, matching)
        if key in partners:
            raise NaiveError("several series on the one side")
        partners[key] = labels
    filters = expr.op in ast.COMPARISONS and not expr.return_bool
    met, pairs = set(), []
    for labels, value in many.items():
        key = _key(labels, matching)
        if key not in partners:
            continue
        one_value = one[partners[key]]
        a, b = (one_value, value) if swapped else (value, one_value)
        result = operate(expr.op, a, b)
        if filters and not result:
            continue
        if matching.group is None and key in met:
            raise NaiveError("many to one")
        met.add(key)
        pairs.append((_result_labels(expr, labels, partners[key], matching), float(a if filters else result)))
    return unique(pairs)


def _result_labels(expr: ast.Binary, labels: Labels, one: Labels, matching: ast.Matching) -> Labels:
    """The labels of the many side, or of the left one: what arithmetic does to the name, then matching, then bool."""
    if expr.op in ast.ARITHMETIC:
        labels = nameless_labels(labels)
    if matching.group is None:
        labels = frozenset(pair for pair in labels if (pair[0] in matching.labels) == matching.on)
    for name in matching.include:
        labels = with_label(labels, name, dict(one).get(name, ""))
    return frozenset(pair for pair in labels if pair[0] not in SCHEMA) if expr.return_bool else labels
