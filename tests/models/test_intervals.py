"""Intervals: Wilson's against its published values, and the bootstrap over whole recordings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throttlescope.models.intervals import clustered, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(successes, trials, low, high):
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_nothing_tried_has_no_interval():
    assert wilson(0, 0) is None
    assert clustered([], []) is None
    assert clustered([0, 0], [0, 0]) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_contains_share_within_bounds(pair):
    successes, trials = pair
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials <= high + 1e-12
    assert high <= 1


def test_one_recording_says_nothing_about_others():
    assert clustered([90], [100]) is None


def test_agreeing_windows_widen_the_interval():
    # Four recordings, each right or wrong throughout: 75 of 100, but really 3 of 4.
    low, high = clustered([25, 25, 25, 0], [25, 25, 25, 25])
    wilson_low, wilson_high = wilson(75, 100)
    assert low < wilson_low
    assert high > wilson_high
    # The same share spread evenly over the recordings is the same in every resample.
    assert clustered([75, 75, 75, 75], [100, 100, 100, 100]) == (0.75, 0.75)


def test_the_same_counts_give_the_same_interval():
    counts = [[3, 9, 0, 4, 40, 17, 5], [5, 9, 8, 4, 90, 41, 7]]
    assert clustered(*counts) == clustered(*counts)
    assert clustered(*counts) != clustered(*counts, seed=1)
