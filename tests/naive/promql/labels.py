"""Functions of labels and of order. In: label sets, words, vectors. Out: other label sets, vectors in order."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable

from tests.naive.promql.data import (
    NAME,
    Labels,
    NaiveError,
    Vector,
    in_order,
    inserted,
    value_of,
    with_label,
)
from throttlescope.ingest.core.selector import Matcher
from throttlescope.transforms.promql import ast

_RUN = re.compile(r"[0-9]+|[^0-9]+")
_PLACE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


def selected(selector: ast.VectorSelector, labels: dict[str, str]) -> bool:
    """Whether a series has what a selector asks for. A missing label is the empty string."""
    return all(_fits(matcher, labels.get(matcher.name, "")) for matcher in selector.selector.matchers)


def _fits(matcher: Matcher, value: str) -> bool:
    if matcher.op in ("=", "!="):
        return (value == matcher.value) == (matcher.op == "=")
    return (re.fullmatch(f"(?s:{matcher.value})", value) is not None) == (matcher.op == "=~")


def absent_labels(expr: ast.Expr) -> Labels:
    """The labels of what is absent: those that its selector wants by ``=`` and does not speak of once more after that.

    Prometheus' storage has by then put those matchers to the end that only take series away.
    """
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    if isinstance(expr, ast.MatrixSelector):
        expr = expr.vector
    if not isinstance(expr, ast.VectorSelector):
        return frozenset()
    matchers = sorted(expr.selector.matchers, key=lambda one: one.op.startswith("!") and _fits(one, ""))
    kept: dict[str, str] = {}
    wanted = {NAME}
    for matcher in matchers:
        kept.pop(matcher.name, None)
        if matcher.op == "=" and matcher.name not in wanted:
            wanted.add(matcher.name)
            kept[matcher.name] = matcher.value
    return frozenset((name, value) for name, value in kept.items() if value)


def replacing(to: str, template: str, source: str, pattern: str) -> Callable[[Labels], Labels]:
    """``label_replace``; patterns are of the part of the syntax that RE2 and Python have in common."""
    _refuse_empty(to)
    try:
        wanted = re.compile(f"(?s:{pattern})")
    except re.error as error:
        raise NaiveError("invalid regular expression") from error

    def change(labels: Labels) -> Labels:
        found = wanted.fullmatch(value_of(labels, source))
        if found is None:
            return labels
        return with_label(labels, to, _PLACE.sub(lambda place: _filled(place, found), template))

    return change


def _filled(place: re.Match, found: re.Match) -> str:
    """What stands for ``$1``, ``${name}`` or ``$$``; a group that is not there is empty."""
    if place[0] == "$$":
        return "$"
    name = place[1] or place[2]
    if name.isdigit() and (name == "0" or not name.startswith("0")):
        return (found[int(name)] or "") if int(name) <= found.re.groups else ""
    return found.groupdict().get(name) or ""


def joining(to: str, separator: str, *sources: str) -> Callable[[Labels], Labels]:
    """``label_join``."""
    for name in (to, *sources):
        _refuse_empty(name)
    return lambda labels: with_label(labels, to, separator.join(value_of(labels, name) for name in sources))


def _refuse_empty(name: str) -> None:
    if not name:
        raise NaiveError("invalid label name")


def by_value(vector: Vector, *, descending: bool) -> Vector:
    """In the order of values, NaN last; equal ones stay as they came."""
    numbers = [row for row in vector.items() if not math.isnan(row[1])]
    numbers.sort(key=lambda row: -row[1] if descending else row[1])
    return dict(numbers + [row for row in vector.items() if math.isnan(row[1])])


def by_labels(vector: Vector, names: tuple[str, ...], *, descending: bool) -> Vector:
    """In the natural order of some labels, then of all labels."""

    def goes_before(a: Labels, b: Labels) -> bool:
        for name in names:
            one, other = value_of(a, name), value_of(b, name)
            if one != other:
                return naturally_before(one, other) != descending
        return (in_order(a) < in_order(b)) != descending

    return {labels: vector[labels] for labels in inserted(vector, goes_before)}


def naturally_before(a: str, b: str) -> bool:
    """Natural order: the first run of digits or of other characters that differs decides, digits as a number.

    Where none differs, what has no more runs goes first, also if both have none left; nothing goes before or behind
    an empty text.
    """
    left, right = _RUN.findall(a), _RUN.findall(b)
    for one, other in zip(left, right, strict=False):
        numbers = [_number(one), _number(other)]
        if None not in numbers:
            if numbers[0] != numbers[1]:
                return numbers[0] < numbers[1]
        elif one != other:
            return one < other
    return 0 < len(left) <= len(right)


def _number(run: str) -> int | None:
    """A run of digits as a number, if 64 bits hold it."""
    return int(run) if run[0] in string.digits and int(run) < 2**63 else None
