"""PromQL the slow way: one moment at a time, one sample after the other, in plain Python.

In: a tree, series as lists, one evaluation time. Out: a float, or a dict of label sets to values. It shares the tree
with the evaluator under test and nothing else; it was written from the rules in prose, so that a rule that was
misread has to be misread twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

from throttlescope.transforms.promql import ast

LOOKBACK_MS = 300_000
NAME = "__name__"


class NaiveError(Exception):
    """The query has no answer at this moment."""


@dataclass
class NaiveSeries:
    """``samples`` are (ms, value) pairs, ``stale_ms`` the times of staleness markers."""

    labels: dict[str, str]
    samples: list[tuple[int, float]]
    stale_ms: list[int] = field(default_factory=list)


@dataclass
class Moment:
    """One evaluation: its time, the query's first and last time, and the data."""

    at_ms: int
    start_ms: int
    end_ms: int
    series: list[NaiveSeries]


Vector = dict[frozenset, float]


def evaluate_range(expr: ast.Expr, series: list[NaiveSeries], start_ms: int, end_ms: int, step_ms: int):
    """Each step on its own: a list of floats for a scalar, else a dict of label sets to dicts of step to value."""
    series = sorted(series, key=lambda one: sorted(one.labels.items()))
    steps_ms = list(range(start_ms, end_ms + 1, step_ms))
    moments = [Moment(step, start_ms, end_ms, series) for step in steps_ms]
    for node in ast.walk(expr):
        refuse_lost_names(node, moments)
    answers = [instant(expr, moment) for moment in moments]
    if isinstance(answers[0], float):
        return answers
    matrix: dict[frozenset, dict[int, float]] = {}
    for step, vector in zip(steps_ms, answers, strict=True):
        for labels, value in vector.items():
            matrix.setdefault(labels, {})[step] = value
    return matrix


def refuse_lost_names(node: ast.Expr, moments: list[Moment]) -> None:
    """Range functions and unary minus fail when two of their series differ by name alone, at whatever steps they are."""

    def over_steps(expr: ast.Expr, some: list[NaiveSeries]) -> set[frozenset]:
        answers = [instant(expr, replace(moment, series=some)) for moment in moments]
        return {labels for answer in answers if not isinstance(answer, float) for labels in answer}

    if isinstance(node, ast.Unary) and node.op == "-":
        found = list(over_steps(node.expr, moments[0].series))
    elif isinstance(node, ast.Call) and any(
        isinstance(inner, ast.MatrixSelector) for inner in ast.walk(node)
    ):
        # A call whose own argument is a range; further out the answer is one set per label set anyway.
        found = (
            [labels for one in moments[0].series for labels in over_steps(node, [one])]
            if is_range_call(node)
            else []
        )
    else:
        return
    if node_keeps_names(node):
        return
    nameless_labels = [frozenset(pair for pair in labels if pair[0] != NAME) for labels in found]
    if len(set(nameless_labels)) < len(nameless_labels):
        raise NaiveError("same labels")


def is_range_call(node: ast.Call) -> bool:
    inner = node.arguments[0]
    while isinstance(inner, ast.Paren):
        inner = inner.expr
    return isinstance(inner, ast.MatrixSelector)


def node_keeps_names(node: ast.Expr) -> bool:
    return isinstance(node, ast.Call) and node.function == "last_over_time"


def instant(expr: ast.Expr, now: Moment) -> float | Vector:
    """The value of an expression at one moment."""
    match expr:
        case ast.NumberLiteral(value=value):
            return float(value)
        case ast.Paren(expr=inner):
            return instant(inner, now)
        case ast.Unary(op=op, expr=inner):
            value = instant(inner, now)
            if op == "+":
                return value
            if isinstance(value, float):
                return -value
            return nameless({labels: -v for labels, v in value.items()})
        case ast.VectorSelector():
            return {labels: value for labels, _, value in newest(expr, now)}
        case ast.Binary():
            return binary(expr, now)
        case ast.Aggregate():
            return aggregated(expr, instant(expr.expr, now))
        case ast.Call():
            return call(expr, now)
    raise NaiveError(f"no twin for {expr}")


# -- selectors ------------------------------------------------------------------------------


def seen_at(selector: ast.VectorSelector, now: Moment) -> int:
    at = now.at_ms
    if selector.at is not None:
        at = {"start": now.start_ms, "end": now.end_ms}.get(selector.at.time, selector.at.time)
    return at - selector.offset_ms


def newest(selector: ast.VectorSelector, now: Moment):
    """(labels, sample time, value) of each series that is current."""
    at = seen_at(selector, now)
    for one in now.series:
        if not selector.selector.matches(one.labels):
            continue
        events = [(t, "sample", v) for t, v in one.samples] + [(t, "stale", None) for t in one.stale_ms]
        events = sorted((event for event in events if at - LOOKBACK_MS < event[0] <= at), key=lambda e: e[0])
        if events and events[-1][1] == "sample":
            yield frozenset(one.labels.items()), events[-1][0], events[-1][2]


def call(expr: ast.Call, now: Moment) -> float | Vector:
    name, arguments = expr.function, expr.arguments
    first = arguments[0] if arguments else None
    while isinstance(first, ast.Paren):
        first = first.expr
    if isinstance(first, ast.MatrixSelector):
        return over_range(name, first, now)
    if name == "time":
        return now.at_ms / 1000
    if name == "pi":
        return math.pi
    if name == "timestamp" and isinstance(first, ast.VectorSelector):
        return nameless({labels: t / 1000 for labels, t, _ in newest(first, now)})
    value = instant(first, now)
    others = [instant(argument, now) for argument in arguments[1:]]
    if name == "vector":
        return {frozenset(): value}
    if name == "scalar":
        return next(iter(value.values())) if len(value) == 1 else math.nan
    if name == "absent":
        return {} if value else {frozenset(absent_labels(first)): 1.0}
    if name == "timestamp":
        return nameless(dict.fromkeys(value, now.at_ms / 1000))
    if name == "clamp" and others[1] < others[0]:
        return {}
    one = {
        "abs": abs,
        "ceil": lambda v: whole(math.ceil, v),
        "floor": lambda v: whole(math.floor, v),
        "sqrt": lambda v: math.sqrt(v) if v >= 0 else math.nan,
        "sgn": lambda v: 1.0 if v > 0 else -1.0 if v < 0 else v,
        "clamp": lambda v: go_max(others[0], go_min(others[1], v)),
        "clamp_min": lambda v: go_max(others[0], v),
        "clamp_max": lambda v: go_min(others[0], v),
    }[name]
    return nameless({labels: float(one(v)) for labels, v in value.items()})


def whole(rounding, value: float) -> float:
    return math.copysign(rounding(value), value) if math.isfinite(value) else value


def go_max(a: float, b: float) -> float:
    if math.inf in (a, b):
        return math.inf
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return max(a, b, key=lambda v: (v, math.copysign(1, v)))


def go_min(a: float, b: float) -> float:
    return -go_max(-a, -b)


def absent_labels(expr: ast.Expr) -> list[tuple[str, str]]:
    if not isinstance(expr, ast.VectorSelector):
        return []
    matchers = [m for m in expr.selector.matchers if m.name != NAME]
    names = [m.name for m in matchers]
    return [(m.name, m.value) for m in matchers if m.op == "=" and names.count(m.name) == 1 and m.value]


# -- range functions --------------------------------------------------------------------------


def over_range(name: str, selector: ast.MatrixSelector, now: Moment) -> Vector:
    end = seen_at(selector.vector, now)
    start = end - selector.range_ms
    out: Vector = {}
    for one in now.series:
        if not selector.vector.selector.matches(one.labels):
            continue
        window = [(t, v) for t, v in one.samples if start < t <= end]
        value = of_window(name, window, start, end) if window else None
        if value is None:
            continue
        labels = (
            one.labels if name == "last_over_time" else {k: v for k, v in one.labels.items() if k != NAME}
        )
        key = frozenset(labels.items())
        if key in out:
            raise NaiveError("same labels")
        out[key] = float(value)
    return out


def of_window(name: str, window: list[tuple[int, float]], start: int, end: int) -> float | None:
    values = [v for _, v in window]
    pairs = list(pairwise(values))
    if name in ("rate", "increase", "delta"):
        return extrapolated(name, window, start, end)
    if name == "irate":
        if len(window) < 2:
            return None
        (t1, v1), (t2, v2) = window[-2:]
        return (v2 if v2 < v1 else v2 - v1) / ((t2 - t1) / 1000)
    if name == "changes":
        return sum(1 for a, b in pairs if a != b and not (math.isnan(a) and math.isnan(b)))
    if name == "resets":
        return sum(1 for a, b in pairs if b < a)
    return {
        "count_over_time": len,
        "last_over_time": lambda vs: vs[-1],
        "sum_over_time": exact_sum,
        "avg_over_time": exact_mean,
        "min_over_time": lambda vs: extreme(vs, min),
        "max_over_time": lambda vs: extreme(vs, max),
    }[name](values)


def extrapolated(name: str, window: list[tuple[int, float]], start: int, end: int) -> float | None:
    if len(window) < 2:
        return None
    (t1, v1), (tn, vn) = window[0], window[-1]
    counter = name != "delta"
    difference = vn - v1
    if counter:
        for (_, a), (_, b) in pairwise(window):
            if b < a:
                difference += a
    sampled = (tn - t1) / 1000
    mean = sampled / (len(window) - 1)
    to_start, to_end = (t1 - start) / 1000, (end - tn) / 1000
    if to_start >= mean * 1.1:
        to_start = mean / 2
    if counter and difference > 0 and v1 >= 0:
        to_start = min(to_start, sampled * (v1 / difference))
    if to_end >= mean * 1.1:
        to_end = mean / 2
    factor = (sampled + to_start + to_end) / sampled
    if name == "rate":
        factor /= (end - start) / 1000
    return difference * factor


# -- sums -------------------------------------------------------------------------------------


def compensated(values: list[float]) -> tuple[float, float]:
    """Neumaier: the sum, and what rounding lost."""
    total, lost = values[0], 0.0
    for value in values[1:]:
        new = total + value
        if math.isinf(new):
            lost = 0.0
        elif abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total, lost


def exact_sum(values: list[float], start: float | None = 0.0) -> float:
    total, lost = compensated(values if start is None else [start, *values])
    return total if math.isinf(total) else total + lost


def exact_mean(values: list[float]) -> float:
    total, lost = values[0], 0.0
    for i, value in enumerate(values[1:], start=2):
        new, more = compensated([total, value])
        if math.isinf(new):
            return running_mean(values[i - 1 :], i - 1, total / (i - 1), lost / (i - 1))
        total, lost = new, lost + more
    return total / len(values) + lost / len(values)


def running_mean(rest: list[float], seen: int, mean: float, lost: float) -> float:
    for i, value in enumerate(rest, start=seen + 1):
        share = (i - 1) / i
        add, base, carry = value / i, share * mean, share * lost
        new = base + add
        if math.isinf(new):
            carry = 0.0
        elif abs(base) >= abs(add):
            carry += (base - new) + add
        else:
            carry += (add - new) + base
        mean, lost = new, carry
    return mean + lost


def extreme(values: list[float], pick) -> float:
    numbers = [v for v in values if not math.isnan(v)]
    return pick(numbers) if numbers else math.nan


# -- aggregation --------------------------------------------------------------------------------


def aggregated(expr: ast.Aggregate, vector: Vector) -> Vector:
    groups: dict[frozenset, list[float]] = {}
    for labels, value in sorted(vector.items(), key=lambda item: sorted(item[0])):
        if expr.without:
            key = {(k, v) for k, v in labels if k not in expr.labels and k != NAME}
        else:
            key = {(k, v) for k, v in labels if k in expr.labels}
        groups.setdefault(frozenset(key), []).append(value)
    how = {
        "sum": lambda vs: sum(compensated(vs)),
        "avg": exact_mean,
        "count": len,
        "group": lambda vs: 1.0,
        "min": lambda vs: extreme(vs, min),
        "max": lambda vs: extreme(vs, max),
    }[expr.op]
    return {key: float(how(values)) for key, values in groups.items()}


# -- operators ----------------------------------------------------------------------------------


def binary(expr: ast.Binary, now: Moment) -> float | Vector:
    left, right = instant(expr.left, now), instant(expr.right, now)
    compares = expr.op in ast.COMPARISONS
    if isinstance(left, float) and isinstance(right, float):
        return float(operate(expr.op, left, right))
    if isinstance(left, float) or isinstance(right, float):
        vector = right if isinstance(left, float) else left
        out = {}
        for labels, value in vector.items():
            a, b = (left, value) if isinstance(left, float) else (value, right)
            result = operate(expr.op, a, b)
            if compares and not expr.return_bool:
                if result:
                    out[labels] = value
            else:
                out[labels] = float(result)
        return out if compares and not expr.return_bool else nameless(out)
    matching = expr.matching or ast.Matching()
    if expr.op in ast.SET_OPERATORS:
        return set_operation(expr.op, left, right, matching)
    return matched(expr, left, right, matching)


def key_of(labels: frozenset, matching: ast.Matching) -> frozenset:
    if matching.on:
        return frozenset(pair for pair in labels if pair[0] in matching.labels)
    return frozenset(pair for pair in labels if pair[0] not in matching.labels and pair[0] != NAME)


def set_operation(op: str, left: Vector, right: Vector, matching: ast.Matching) -> Vector:
    left_keys = {key_of(labels, matching) for labels in left}
    right_keys = {key_of(labels, matching) for labels in right}
    if op == "and":
        return {labels: v for labels, v in left.items() if key_of(labels, matching) in right_keys}
    if op == "unless":
        return {labels: v for labels, v in left.items() if key_of(labels, matching) not in right_keys}
    extra = {labels: v for labels, v in right.items() if key_of(labels, matching) not in left_keys}
    if set(extra) & set(left):
        raise NaiveError("same labels")
    return {**left, **extra}


def matched(expr: ast.Binary, left: Vector, right: Vector, matching: ast.Matching) -> Vector:
    if not left or not right:
        return {}
    swapped = matching.group == "right"
    many, one = (right, left) if swapped else (left, right)
    partners: dict[frozenset, tuple[frozenset, float]] = {}
    for labels, value in one.items():
        key = key_of(labels, matching)
        if key in partners:
            raise NaiveError("several series on the one side")
        partners[key] = (labels, value)
    filters = expr.op in ast.COMPARISONS and not expr.return_bool
    met, out = set(), {}
    for labels, value in many.items():
        key = key_of(labels, matching)
        if key not in partners:
            continue
        one_labels, one_value = partners[key]
        a, b = (one_value, value) if swapped else (value, one_value)
        result = operate(expr.op, a, b)
        if filters and not result:
            continue
        if matching.group is None and key in met:
            raise NaiveError("many to one")
        met.add(key)
        result_labels = dict(labels)
        if not filters:
            result_labels.pop(NAME, None)
        if matching.group is None:
            result_labels = {k: v for k, v in result_labels.items() if (k in matching.labels) == matching.on}
        for name in matching.include:
            result_labels.pop(name, None)
            if name in dict(one_labels):
                result_labels[name] = dict(one_labels)[name]
        key = frozenset(result_labels.items())
        if key in out:
            raise NaiveError("same labels")
        out[key] = float(a if filters else result)
    return out


def operate(op: str, a: float, b: float) -> float | bool:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            if b == 0:
                return (
                    math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
                )
            return a / b
        case "%":
            if b == 0 or math.isinf(a) or math.isnan(a) or math.isnan(b):
                return math.nan
            return math.fmod(a, b)
        case "==":
            return a == b
        case "!=":
            return a != b
        case ">":
            return a > b
        case "<":
            return a < b
        case ">=":
            return a >= b
        case "<=":
            return a <= b
    raise NaiveError(f"no twin for {op}")


def nameless(vector: Vector) -> Vector:
    out: Vector = {}
    for labels, value in vector.items():
        key = frozenset(pair for pair in labels if pair[0] != NAME)
        if key in out:
            raise NaiveError("same labels")
        out[key] = value
    return out
