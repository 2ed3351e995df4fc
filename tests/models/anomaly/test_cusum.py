"""Sums of deviations: against a loop, and how runs begin, end and join."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.naive import anomaly as naive
from throttlescope.models.anomaly.cusum import CusumRun, joined, one_sided, runs
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.anomaly.sorted_rows import median_of_rows, quantile_of_sorted
from throttlescope.models.anomaly.transform import restored, stabilised

# Eighths add up without rounding, so that loop and array agree to the last bit.
_eighths = st.integers(-80, 80).map(lambda eighths: eighths / 8)
_z = st.lists(st.one_of(st.none(), _eighths), min_size=1, max_size=120)


def array(values):
    return np.array([np.nan if value is None else value for value in values], dtype=float)


@given(_z, st.sampled_from([0.0, 0.5, 3.0]))
def test_the_sum_is_that_of_a_loop(values, slack):
    assert one_sided(array(values), slack, 8.0).tolist() == naive.sums(values, slack, 8.0)


@examples(300)
@given(_z, st.sampled_from([2.0, 7.0]), st.sampled_from([6, 30, 2880]), st.sampled_from([0, 5]))
def test_runs_are_those_of_a_walk(values, limit, most_minutes, gap):
    rules = replace(RULES, most_minutes=most_minutes, join_minutes=gap)
    limits = np.full(len(values), limit)
    found = joined(runs(array(values), 1.0, limits, rules), gap)
    expected = naive.walk(values, limits.tolist(), 0, 1.0, rules)
    assert [(run.start, run.alarm, run.end) for run in found] == expected
    for run in found:
        assert run.start <= run.alarm < run.end <= len(values)
        assert run.score > 1


def test_runs_that_are_near_are_one():
    first, second, third = (
        CusumRun(0, 5, 10, 2.0, False),
        CusumRun(12, 15, 20, 3.0, False),
        CusumRun(60, 61, 70, 1.5, True),
    )
    assert joined([third, first, second], 5) == [CusumRun(0, 5, 20, 3.0, False), third]
    assert joined([first, second], 1) == [first, second]


def test_unending_run_is_reported_again():
    rules = replace(RULES, most_minutes=100, join_minutes=0)
    z = np.full(250, 8.0)
    found = runs(z, 3.0, np.full(250, 12.0), rules)
    assert [(run.start, run.end, run.open) for run in found] == [
        (0, 100, False),
        (100, 200, False),
        (200, 250, True),
    ]


@given(st.lists(st.lists(st.one_of(st.none(), _eighths), min_size=4, max_size=4), min_size=1, max_size=8))
def test_order_statistics_of_rows_with_gaps(rows):
    values = np.stack([array(row) for row in rows])
    count = (~np.isnan(values)).sum(axis=1)
    for row, median, quantile in zip(
        rows, median_of_rows(values), quantile_of_sorted(np.sort(values, axis=1), count, 0.9), strict=True
    ):
        known = [value for value in row if value is not None]
        assert (naive.middle(row) if known else None) == (None if np.isnan(median) else median)
        assert (naive.quantile(known, 0.9) if known else None) == (None if np.isnan(quantile) else quantile)


@given(st.floats(0, 1e12))
def test_the_transform_is_undone(count):
    assert np.isclose(restored(stabilised(np.array([count])))[0], count, rtol=1e-9, atol=1e-9)


def test_the_transform_makes_noise_alike():
    """A count's noise is one unit; a tenth of a large value is about one unit."""
    rng = np.random.default_rng(5)
    for mean in (20, 50):
        assert 0.8 < stabilised(rng.poisson(mean, 20_000).astype(float)).std() < 1.1
    large = stabilised(1e6 * np.exp(rng.normal(0, 0.1, 20_000)))
    assert 0.95 < large.std() < 1.05
    assert restored(-3.0) == 0.0
