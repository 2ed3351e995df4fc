"""Answers that were seen on a Prometheus 3.5.3 server, to the last digit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.source import MemorySource, Series

NAN = math.nan


def series(name, points, **labels):
    times = np.array([round(t * 1000) for t, _ in points], np.int64)
    return Series({"__name__": name, **labels}, times, np.array([float(v) for _, v in points]))


SOURCE = MemorySource(
    [
        series("c1", [(t, 100 + 3 * i) for i, t in enumerate(range(0, 301, 15))]),
        series("c2", [(t, 5 + 10 * i) for i, t in enumerate(range(200, 300, 15))]),
        series("c3", [(t, 10 * i) for i, t in enumerate(range(10, 251, 60))]),
        series("c4", [(30 * i, v) for i, v in enumerate([10, 20, 5, 15, 25, 3, 8])]),
        series("g2", [(30 * i, v) for i, v in enumerate([1, NAN, 3, 2, NAN, 4])]),
        series("o1", [(10 * i, v) for i, v in enumerate([0, 1, 1e16, 1, -1e16, 1])]),
        series("old", [(0, 7)]),
        series("a", [(299, 10)], a="1", b="x"),
        series("a", [(299, 20)], a="2", b="x"),
        series("n", [(299, 2)], a="1", c="k"),
        series("n", [(299, 4)], a="2", c="k"),
        series("n", [(299, 8)], a="3", c="k"),
    ]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate(c1[5m])", 0.19999999999999998),
        ("increase(c1[5m])", 60),
        # Open on the left: the sample at the window's begin is not in it.
        ("count_over_time(c1[5m])", 20),
        ("increase(c1[15s])", None),
        ("increase(c2[5m])", 71.66666666666667),
        ("increase(c3[5m])", 48.33333333333333),
        ("increase(c4[200s])", 12.666666666666666),
        ("rate(c4[200s])", 0.06333333333333332),
        ("irate(c4[200s])", 0.16666666666666666),
        ("resets(c4[200s])", 1),
        ("changes(c4[200s])", 2),
        ("increase(g2[4m])", 3.5),
        ("avg_over_time(o1[10m])", 0.5),
        ("sum_over_time(o1[10m])", 3),
        ("vector(-1 ^ 2)", -1),
        ("vector(2 ^ 3 ^ 2)", 512),
        ("vector(2 * 3 % 4)", 2),
        # A sample exactly as old as the look-back is gone.
        ("old", None),
        ("old offset 1ms", 7),
    ],
)
def test_one_value(text, expected):
    matrix = evaluate(plan_query(text), SOURCE, Steps.at(300_000))
    if expected is None:
        assert not matrix.labels
    else:
        assert matrix.values.tolist() == [[expected]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > on(a) n", {(("a", "1"),): 10, (("a", "2"),): 20}),
        (
            "a > ignoring(b, c) n",
            {(("__name__", "a"), ("a", "1")): 10, (("__name__", "a"), ("a", "2")): 20},
        ),
        (
            "n * on(a) group_left(b) a",
            {(("a", "1"), ("b", "x"), ("c", "k")): 20, (("a", "2"), ("b", "x"), ("c", "k")): 80},
        ),
    ],
)
def test_what_vectors_keep_when_they_meet(text, expected):
    matrix = evaluate(plan_query(text), SOURCE, Steps.at(300_000))
    assert dict(zip(matrix.labels, matrix.values[:, 0].tolist(), strict=True)) == expected
