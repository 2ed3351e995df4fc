"""PromQL the slow way: one moment at a time, one sample after the other, in plain Python.

In: a tree, series as lists, the moments. Out: a number, a text, a vector as a dict of label sets to values, or the
samples of a range. The package shares the tree with the evaluator under test and nothing else; it was written from the
rules in prose, so that a rule that was misread has to be misread twice. It carries the whole language but ``info`` and
what speaks of native histograms, gives no warnings, and takes series in the order of their labels where Prometheus
takes that of its storage.
"""

from __future__ import annotations

from tests.naive.promql.data import LOOKBACK_MS, Labels, NaiveError, NaiveSeries, Query, Vector, in_order
from tests.naive.promql.evaluate import evaluated, ranges
from tests.naive.promql.moments import grid_of_query
from throttlescope.transforms.promql import ast

__all__ = ["LOOKBACK_MS", "NaiveError", "NaiveSeries", "evaluate_instant", "evaluate_range"]

Samples = list[tuple[int, float]]


def evaluate_range(
    expr: ast.Expr, series: list[NaiveSeries], start_ms: int, end_ms: int, step_ms: int, **flags: int
) -> list[float] | dict[Labels, dict[int, float]]:
    """Each step on its own: a list of floats for a scalar, else a dict of label sets to dicts of step to value.

    ``flags`` are those of :class:`Query`: ``lookback_ms``, ``subquery_step_ms``, ``backwards``,
    ``faults``.
    """
    query = _query(series, start_ms, end_ms, flags)
    grid = grid_of_query(query, step_ms)
    answers = evaluated(expr, grid, query)
    if isinstance(answers[0], float):
        return answers
    matrix: dict[Labels, dict[int, float]] = {}
    for step, vector in zip(grid.moments, answers, strict=True):
        for labels, value in vector.items():
            matrix.setdefault(labels, {})[step] = value
    return matrix


def evaluate_instant(
    expr: ast.Expr, series: list[NaiveSeries], at_ms: int, **flags: int
) -> float | str | Vector | dict[Labels, Samples]:
    """One moment: a number, a text, a vector in its order, or for a range the samples of each series."""
    query = _query(series, at_ms, at_ms, flags)
    grid = grid_of_query(query, 1)
    while isinstance(expr, ast.Paren):
        expr = expr.expr
    if isinstance(expr, ast.MatrixSelector | ast.Subquery):
        found = {labels: window.samples for labels, (window,) in ranges(expr, grid, query).items()}
        return {labels: found[labels] for labels in sorted(found, key=in_order) if found[labels]}
    return evaluated(expr, grid, query)[0]


def _query(series: list[NaiveSeries], start_ms: int, end_ms: int, flags: dict[str, int]) -> Query:
    return Query(sorted(series, key=lambda one: sorted(one.labels.items())), start_ms, end_ms, **flags)
