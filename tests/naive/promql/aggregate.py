"""Aggregations at one moment. In: a vector and what it is aggregated by. Out: a vector.

Series are taken in the order of their labels, which decides among equal ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from tests.naive.promql import sums
from tests.naive.promql.data import NAME, Labels, NaiveError, Vector, in_order, with_label
from tests.naive.promql.labels import by_value
from tests.naive.promql.xxhash64 import xxhash64
from throttlescope.transforms.promql import ast

#: Those that keep some series of each group as they are.
CHOOSING = ("topk", "bottomk", "limitk", "limit_ratio")
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "sum": sums.sum_of_series,
    "avg": sums.mean,
    "count": len,
    "group": lambda values: 1.0,
    "min": sums.smallest,
    "max": sums.largest,
    "stdvar": sums.variance_of_series,
    "stddev": lambda values: sums.root(sums.variance_of_series(values)),
}


def aggregated(
    expr: ast.Aggregate, vector: Vector, parameter: float | str | None, *, backwards: bool
) -> Vector:
    """The vector of an aggregation; ``parameter`` is its value at this moment."""
    if expr.op == "count_values":
        return _counted(expr, vector, parameter)
    out: Vector = {}
    for key, members in _groups(expr, vector, backwards=backwards).items():
        if expr.op in CHOOSING:
            out |= _chosen(expr.op, members, parameter)
        elif expr.op == "quantile":
            out[key] = sums.quantile(parameter, list(members.values()))
        else:
            out[key] = float(_FUNCTIONS[expr.op](list(members.values())))
    return out


def _groups(expr: ast.Aggregate, vector: Vector, *, backwards: bool) -> dict[Labels, Vector]:
    groups: dict[Labels, Vector] = {}
    for labels in sorted(vector, key=in_order, reverse=backwards):
        groups.setdefault(_group(labels, expr.labels, without=expr.without), {})[labels] = vector[labels]
    return groups


def _group(labels: Labels, names: tuple[str, ...], *, without: bool) -> Labels:
    if without:
        return frozenset(pair for pair in labels if pair[0] not in names and pair[0] != NAME)
    return frozenset(pair for pair in labels if pair[0] in names)


def _chosen(op: str, members: Vector, parameter: float) -> Vector:
    if op == "limit_ratio":
        return {labels: value for labels, value in members.items() if _is_within(labels, parameter)}
    if math.isnan(parameter) or not -(2.0**63) <= parameter < 2.0**63:
        raise NaiveError("the parameter does not fit into 64 bits")
    count = max(math.trunc(parameter), 0)
    if op != "limitk":
        members = by_value(members, descending=op == "topk")
    return dict(list(members.items())[:count])


def _is_within(labels: Labels, ratio: float) -> bool:
    """Whether the place of a label set among all hashes is below the ratio, or above what is left of a negative one."""
    if math.isnan(ratio):
        raise NaiveError("the ratio is NaN")
    ratio = min(max(ratio, -1.0), 1.0)
    data = b"".join(_sized(word) for pair in in_order(labels) for word in pair)
    place = xxhash64(data) / float(2**64 - 1)
    return place < ratio if ratio >= 0 else place >= 1.0 + ratio


def _sized(word: str) -> bytes:
    """As Prometheus holds a word of a label: its length in bytes before it, a long one in three bytes behind 255."""
    data = word.encode()
    size = bytes([len(data)]) if len(data) < 255 else b"\xff" + len(data).to_bytes(3, "little")
    return size + data


def _counted(expr: ast.Aggregate, vector: Vector, name: str) -> Vector:
    if not name:
        raise NaiveError("invalid label name")
    names = expr.labels if expr.without else (*expr.labels, name)
    out: Vector = {}
    for labels, value in vector.items():
        key = _group(with_label(labels, name, in_words(value)), names, without=expr.without)
        out[key] = out.get(key, 0.0) + 1.0
    return out


def in_words(value: float) -> str:
    """The shortest decimal that reads back as the value, without an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
