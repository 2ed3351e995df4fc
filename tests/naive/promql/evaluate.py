"""A tree at each moment of a grid. In: a tree, a grid, the data. Out: one answer per moment.

What a moment's answer is follows from the answers of the parts at the same moment. Three rules look at all moments of a
grid at once, as Prometheus does: what may not be called the same after a range function, a sign or a change of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tests.naive.promql import aggregate, buckets, dates, numbers, windows
from tests.naive.promql import labels as relabel
from tests.naive.promql.binary import binary
from tests.naive.promql.data import (
    Labels,
    NaiveSeries,
    Query,
    Vector,
    nameless,
    nameless_labels,
    refuse_equal,
)
from tests.naive.promql.moments import Grid, is_pinned, pin_ms, read_at, subquery_grid, visible
from throttlescope.transforms.promql import ast

Answer = float | str | Vector
_DATES = (
    "days_in_month", "day_of_month", "day_of_week", "day_of_year", "hour", "minute", "month", "year",
)  # fmt: skip
#: Nothing here is a native histogram, and they look at nothing else.
_OF_NATIVE = tuple(f"histogram_{name}" for name in ("avg", "count", "stddev", "stdvar", "sum"))

_OF_LABELS = {"label_replace": relabel.replacing, "label_join": relabel.joining}


def evaluated(expr: ast.Expr, grid: Grid, query: Query) -> list[Answer]:
    """The answer at each moment; what is pinned is evaluated at the first one and stays."""
    if not grid.moments:
        return []
    if grid.in_parameter or not is_pinned(expr):
        return _at_each(expr, grid, query)
    return _at_each(expr, grid.first_alone(), query) * len(grid.moments)


def _at_each(expr: ast.Expr, grid: Grid, query: Query) -> list[Answer]:
    match expr:
        case ast.NumberLiteral(value=value):
            return [float(value)] * len(grid.moments)
        case ast.StringLiteral(value=text):
            return [text] * len(grid.moments)
        case ast.Paren(expr=inner):
            return evaluated(inner, grid, query)
        case ast.Unary(op=op, expr=inner):
            return _signed(op, evaluated(inner, grid, query))
        case ast.VectorSelector():
            return [
                {name: value for name, _, value in _newest(expr, at, grid, query)}
                for at in _times(expr, grid, query)
            ]
        case ast.Binary(left=left, right=right):
            sides = zip(evaluated(left, grid, query), evaluated(right, grid, query), strict=True)
            return [binary(expr, a, b) for a, b in sides]
        case ast.Aggregate():
            return _aggregated(expr, grid, query)
        case ast.Call():
            return _called(expr, grid, query)
    raise TypeError(expr)


def _signed(op: str, answers: list[Answer]) -> list[Answer]:
    if op == "+" or isinstance(answers[0], float):
        return answers if op == "+" else [-value for value in answers]
    refuse_equal(nameless_labels(one) for one in _all_labels(answers))
    return [nameless({one: -value for one, value in vector.items()}) for vector in answers]


def _all_labels(vectors: list[Vector]) -> set[Labels]:
    return {one for vector in vectors for one in vector}


def _aggregated(expr: ast.Aggregate, grid: Grid, query: Query) -> list[Vector]:
    parameters = [None] * len(grid.moments)
    if expr.parameter is not None:
        parameters = evaluated(expr.parameter, grid.for_parameter(), query)
    vectors = evaluated(expr.expr, grid, query)
    if expr.op in ("topk", "bottomk", "limitk") and all(k < 1 for k in parameters):
        return [{} for _ in vectors]
    return [
        aggregate.aggregated(expr, vector, parameter, backwards=query.backwards)
        for vector, parameter in zip(vectors, parameters, strict=True)
    ]


# -- selectors ------------------------------------------------------------------------------


def _times(expr: ast.VectorSelector, grid: Grid, query: Query) -> list[int]:
    return [read_at(expr, now, grid, query) for now in grid.moments]


def _series(expr: ast.VectorSelector, query: Query) -> list[NaiveSeries]:
    return [one for one in query.series if relabel.selected(expr, one.labels)]


def _newest(
    expr: ast.VectorSelector, at_ms: int, grid: Grid, query: Query
) -> list[tuple[Labels, int, float]]:
    """(labels, sample time, value) of each series that is current at a moment: its newest sample is not too old, and no marker."""
    found = []
    after, until = visible(expr, query.lookback_ms, grid, query)
    after, until = max(after, at_ms - query.lookback_ms), min(until, at_ms)
    for one in _series(expr, query):
        samples = [(t, v) for t, v in one.samples if after < t <= until]
        markers = [t for t in one.stale_ms if after < t <= until]
        if samples and not (markers and max(markers) > samples[-1][0]):
            found.append((frozenset(one.labels.items()), *samples[-1]))
    return found


# -- ranges ---------------------------------------------------------------------------------


def ranges(
    expr: ast.MatrixSelector | ast.Subquery, grid: Grid, query: Query
) -> dict[Labels, list[windows.Window]]:
    """The window of each series at each moment. A pinned range has the samples of the first one always.

    Inside a parameter Prometheus lets the edges of the window, from which a rate is extrapolated, go on with the moments
    all the same: the third of its faults.
    """
    if isinstance(expr, ast.MatrixSelector):
        after, until = visible(expr.vector, expr.range_ms, grid, query)
        samples = {
            frozenset(one.labels.items()): [(t, v) for t, v in one.samples if after < t <= until]
            for one in _series(expr.vector, query)
        }
        ends, pinned = _times(expr.vector, grid, query), pin_ms(expr.vector, grid, query) is not None
    else:
        samples = _subquery_samples(expr, grid, query)
        # Whatever it read, the window is where the text says.
        straight = replace(grid, slip_ms=0)
        ends = [read_at(expr, now, straight, query) for now in grid.moments]
        pinned = pin_ms(expr, grid, query) is not None
    found = {}
    for one, points in samples.items():
        row = [
            windows.Window.of(points, end - expr.range_ms, end, now)
            for now, end in zip(grid.moments, ends, strict=True)
        ]
        if pinned:
            row = [
                replace(window if query.faults else row[0], samples=row[0].samples, now_ms=window.now_ms)
                for window in row
            ]
        found[one] = row
    return found


def _subquery_samples(expr: ast.Subquery, grid: Grid, query: Query) -> dict[Labels, list[windows.Sample]]:
    """What is inside a subquery, evaluated at its steps, as if it had been sampled there."""
    inner = subquery_grid(expr, grid, query)
    samples: dict[Labels, list[windows.Sample]] = {}
    for at, vector in zip(inner.moments, evaluated(expr.expr, inner, query), strict=True):
        for one, value in vector.items():
            samples.setdefault(one, []).append((at, value))
    return samples


# -- functions ------------------------------------------------------------------------------


def _called(expr: ast.Call, grid: Grid, query: Query) -> list[Answer]:
    inner = [_without_brackets(argument) for argument in expr.arguments]
    for place, argument in enumerate(inner):
        if isinstance(argument, ast.MatrixSelector | ast.Subquery):
            others = [evaluated(one, grid, query) for i, one in enumerate(inner) if i != place]
            return _over_range(expr, argument, others, grid, query)
    if expr.function == "timestamp" and isinstance(inner[0], ast.VectorSelector):
        return _timestamps(inner[0], grid, query)
    answers = [evaluated(argument, grid, query) for argument in inner]
    if expr.function in _OF_LABELS:
        return _relabelled(answers[0], _OF_LABELS[expr.function](*(texts[0] for texts in answers[1:])))
    if expr.function.startswith("sort") and len(grid.moments) > 1:
        return answers[0]
    return [_at_moment(expr, now, [answer[i] for answer in answers]) for i, now in enumerate(grid.moments)]


def _timestamps(selector: ast.VectorSelector, grid: Grid, query: Query) -> list[Vector]:
    """The times of the samples. Where the selector is pinned, its offset changes nothing but what the storage gives."""
    pin = pin_ms(selector, grid, query)
    times = _times(selector, grid, query) if pin is None else [pin] * len(grid.moments)
    return [nameless({one: t / 1000 for one, t, _ in _newest(selector, at, grid, query)}) for at in times]


def _without_brackets(expr: ast.Expr) -> ast.Expr:
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    return expr


def _relabelled(vectors: list[Vector], change: Callable[[Labels], Labels]) -> list[Vector]:
    changed = {one: change(one) for one in _all_labels(vectors)}
    refuse_equal(changed.values())
    return [{changed[one]: value for one, value in vector.items()} for vector in vectors]


def _over_range(
    expr: ast.Call,
    argument: ast.MatrixSelector | ast.Subquery,
    others: list[list[float]],
    grid: Grid,
    query: Query,
) -> list[Vector]:
    name = expr.function
    rows: list[tuple[Labels, list[float | None]]] = []
    for one, found in ranges(argument, grid, query).items():
        values = [
            windows.of_window(name, window, [other[i] for other in others]) for i, window in enumerate(found)
        ]
        if any(value is not None for value in values):
            rows.append((one if name == "last_over_time" else nameless_labels(one), values))
    count = len(grid.moments)
    if name == "absent_over_time":
        absent = {relabel.absent_labels(argument): 1.0}
        return [{} if any(values[i] is not None for _, values in rows) else absent for i in range(count)]
    refuse_equal(one for one, _ in rows)
    return [{one: values[i] for one, values in rows if values[i] is not None} for i in range(count)]


def _at_moment(expr: ast.Call, now_ms: int, arguments: list[Answer]) -> Answer:
    """A function whose answer follows from its arguments at this moment."""
    name = expr.function
    match name:
        case "time":
            return now_ms / 1000
        case "pi":
            return math.pi
        case "vector":
            return {frozenset(): arguments[0]}
        case "scalar":
            values = list(arguments[0].values())
            return values[0] if len(values) == 1 else math.nan
        case "absent":
            return {} if arguments[0] else {relabel.absent_labels(expr.arguments[0]): 1.0}
        case "timestamp":
            return nameless(dict.fromkeys(arguments[0], now_ms / 1000))
        case "sort" | "sort_desc":
            return relabel.by_value(arguments[0], descending=name == "sort_desc")
        case "sort_by_label" | "sort_by_label_desc":
            return relabel.by_labels(
                arguments[0], tuple(arguments[1:]), descending=name == "sort_by_label_desc"
            )
        case "histogram_quantile":
            return buckets.quantiles(*arguments)
        case "histogram_fraction":
            return buckets.fractions(*arguments)
        case "clamp" if arguments[2] < arguments[1]:
            return {}
    if name in _OF_NATIVE:
        return {}
    if name in _DATES:
        values = arguments[0] if arguments else {frozenset(): float(now_ms // 1000)}
        return nameless({one: dates.part_of_date(name, value) for one, value in values.items()})
    function, others = numbers.FUNCTIONS[name], arguments[1:]
    return nameless({one: float(function(value, *others)) for one, value in arguments[0].items()})
