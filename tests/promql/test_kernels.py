"""What kernels carry from window to window, against windows that are looked at one by one; groups against plain sorting."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.naive.promql.sums import quantile
from tests.naive.promql.windows import Window, of_window
from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.functions import FUNCTIONS, MATRIX
from throttlescope.transforms.promql.operators.windows import window
from throttlescope.transforms.promql.source import Samples

_FUNCTIONS = [name for name, one in FUNCTIONS.items() if one.family == "range" and MATRIX in one.takes]
_VALUES = (0.0, 1.0, 1.0, 2.0, 3.5, -1.0, 0.1, 7.0, 100.0, math.nan, math.inf, -math.inf, 1e16, 1e308)


def samples_of(series: list[list[tuple[int, float]]]) -> Samples:
    labels = tuple((("__name__", "x_total"), ("i", str(i))) for i in range(len(series)))
    flat = [sample for one in series for sample in one]
    none = np.empty(0, np.int64)
    return Samples(
        labels,
        np.array([t for t, _ in flat], np.int64),
        np.array([v for _, v in flat]),
        np.cumsum([0, *map(len, series)], dtype=np.int64),
        none,
        np.zeros(len(series) + 1, np.int64),
    )


def random_samples(rng: random.Random) -> list[tuple[int, float]]:
    odd = rng.random() < 0.5
    times = sorted(rng.sample(range(0, 4000, 5), rng.randint(0, 150)))
    return [(t, rng.choice(_VALUES if odd else _VALUES[:9])) for t in times]


@examples(30)
@given(
    st.integers(0, 2**32),
    st.sampled_from((10, 95, 400, 3000)),
    st.sampled_from((5, 37, 250, 1500)),
    st.booleans(),
)
@pytest.mark.long
def test_moving_windows_equal_recomputed_windows(seed, range_ms, step_ms, pinned):
    rng = random.Random(seed)  # noqa: S311
    series = [random_samples(rng) for _ in range(3)]
    steps_ms = np.arange(0, 5000, step_ms)
    ends_ms = np.full(len(steps_ms), 2000) if pinned else steps_ms - rng.choice((0, 40))
    for function in _FUNCTIONS:
        takes = len(FUNCTIONS[function].takes) - 1
        numbers = [np.array([rng.uniform(0.01, 0.99) for _ in steps_ms]) for _ in range(takes)]
        found = window(
            function, samples_of(series), ends_ms, range_ms, numbers, steps_ms, Annotations(), Budget()
        )
        rows = {dict(labels)["i"]: row for row, labels in enumerate(found.labels)}
        for i, samples in enumerate(series):
            for j, (step, end) in enumerate(zip(steps_ms.tolist(), ends_ms.tolist(), strict=True)):
                inside = Window.of(samples, end - range_ms, end, step)
                told = of_window(function, inside, [float(one[j]) for one in numbers])
                row = rows.get(str(i))
                if row is None or not found.present[row, j]:
                    assert told is None, (function, i, j)
                else:
                    assert told is not None, (function, i, j)
                    assert same(found.values[row, j], told), (function, i, j, found.values[row, j], told)


def same(ours: float, told: float) -> bool:
    return ours == told or (math.isnan(ours) and math.isnan(told))


def test_the_samples_reach_what_is_odd():
    """Resets, NaN, equal extremes, and windows that are sorted again as well as ones that are updated."""
    series = [random_samples(random.Random(seed)) for seed in range(40)]  # noqa: S311
    values = [[v for _, v in one] for one in series]
    assert sum(any(math.isnan(v) for v in one) for one in values) > 5
    assert sum(any(b < a for a, b in pairwise(one)) for one in values) > 20
    assert max(map(len, values)) > 100


@examples(100)
@given(st.integers(0, 2**32))
def test_what_is_chosen_of_groups(seed):
    rng = random.Random(seed)  # noqa: S311
    series, steps, groups = rng.randint(1, 40), rng.randint(1, 6), rng.randint(1, 4)
    values = np.array([[rng.choice(_VALUES) for _ in range(steps)] for _ in range(series)])
    present = np.array([[rng.random() < 0.8 for _ in range(steps)] for _ in range(series)])
    group_of = np.array([rng.randrange(groups) for _ in range(series)])
    rows = np.argsort(group_of, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(group_of, minlength=groups))])
    counts = np.array([rng.randint(0, 12) for _ in range(steps)])
    q = np.array([rng.random() for _ in range(steps)])
    topmost = kernels.strongest(values, present, rows, bounds, counts, True)
    lowest = kernels.strongest(values, present, rows, bounds, counts, False)
    first = kernels.first_of_groups(present, group_of, groups, counts)
    quantiles, _ = kernels.quantile_across(values, present, rows, bounds, q)
    for g in range(groups):
        for j in range(steps):
            members = [i for i in range(series) if group_of[i] == g and present[i, j]]
            numbers = [float(values[i, j]) for i in members]
            assert kept(first, group_of, g, j) == members[: counts[j]]
            for found, sign in ((topmost, -1), (lowest, 1)):
                order = sorted(
                    members,
                    key=lambda i, j=j, sign=sign: (
                        (math.isnan(values[i, j]), sign * values[i, j], i)
                        if not math.isnan(values[i, j])
                        else (True, 0.0, i)
                    ),
                )
                assert kept(found, group_of, g, j) == sorted(order[: counts[j]])
            if members:
                assert same(quantiles[g, j], quantile(float(q[j]), numbers))


def kept(chosen: np.ndarray, group_of: np.ndarray, group: int, step: int) -> list[int]:
    return [int(i) for i in np.flatnonzero(chosen[:, step]) if group_of[i] == group]


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_nothing_in_gives_nothing_out(function):
    numbers = [np.full(3, 0.5)] * (len(FUNCTIONS[function].takes) - 1)
    for series in ([], [[]], [[], []]):
        found = window(
            function, samples_of(series), np.arange(3), 10, numbers, np.arange(3), Annotations(), Budget()
        )
        assert found.labels == ()
        assert found.steps == 3
