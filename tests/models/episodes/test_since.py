"""Since when a backlog grows: scenes whose answer is known, and cuts compared with every way to cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.episodes.scenes import DAY, minutes, signals_table
from tests.naive import episodes as naive
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes.minutes import EpisodeMinutes
from throttlescope.models.episodes.since import change_points, since


def found(entries, **columns):
    known = EpisodeMinutes.of_rows(signals_table(minutes(entries, **columns)))
    at_ms, method = since(known, int(np.flatnonzero(known.over)[0]))
    return (at_ms - DAY) / MINUTE_MS, method


def calm(count, seed=1):
    return list(np.random.default_rng(seed).integers(0, 40, count))


def test_slow_growth_is_found_before_it_is_above_the_floor():
    # 20 entries a minute are above the floor of 100 only after the fifth.
    assert found([*calm(60), *(40 + 20 * i for i in range(1, 30))]) == (
        pytest.approx(60, abs=2),
        "change_point",
    )


def test_fast_growth_is_found_at_its_minute():
    assert found([*calm(60), *(3000 * i for i in range(1, 30))]) == (60, "change_point")


def test_a_drain_after_the_peak_does_not_move_it():
    up = [500 * i for i in range(1, 20)]
    assert found([*calm(60), *up, *up[::-1]]) == found([*calm(60), *up]) == (60, "change_point")


def test_growth_that_quickens_began_where_it_was_slower():
    slow = [200 * i for i in range(1, 6)]
    fast = [1000 + 600 * i for i in range(1, 20)]
    assert found([*calm(60), *slow, *fast])[0] == 60


def test_growth_after_a_gap_is_told_from_the_growth_in_it():
    entries = [*calm(40), *[None] * 10, *(5000 + 300 * i for i in range(1, 20))]
    at, method = found(entries)
    # 5,300 entries in eleven minutes that were not seen: it grew already then.
    assert (at, method) == (40, "change_point")


@pytest.mark.parametrize("entries", [[500], [500, 900], [900 * i for i in range(1, 30)]])
def test_with_nothing_before_it_may_have_begun_earlier(entries):
    assert found(entries) == (0, "start_of_data")


def test_growth_from_the_first_minute_on_is_no_change():
    assert found([30 * i for i in range(1, 40)]) == (0, "start_of_data")


def test_too_few_minutes_have_no_change():
    assert found([0, 0, 500]) == (2, "first_minute")


def test_a_backlog_that_swings_about_the_floor_has_no_change():
    swings = np.random.default_rng(5).integers(0, 160, 90)
    assert found(list(swings))[1] in ("first_minute", "start_of_data")


_means = st.lists(
    st.tuples(st.sampled_from([-500, 0, 40, 300, 3000]), st.integers(1, 12)), min_size=1, max_size=4
)


@given(_means, st.integers(0, 10_000), st.sampled_from([10, 1000, 100_000]))
def test_cuts_cost_hardly_more_than_the_best_of_all(means, seed, penalty):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(mean, 20, count) for mean, count in means])
    cuts = change_points(values, penalty)
    best, _ = naive.best_cuts(list(values), penalty, 2)
    if len(values) < 4:
        assert cuts == []
    else:
        # Pruning is exact but for stretches of the least length: never worse than by one cut.
        assert naive.cost_of(list(values), cuts, penalty) <= best + penalty + 1e-6


@given(st.integers(3, 30), st.integers(3, 30), st.sampled_from([50, 400, 5000]), st.integers(0, 10_000))
def test_one_clear_step_is_cut_where_the_twin_cuts_it(low, high, step, seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(0, 5, low), rng.normal(step, 5, high)])
    penalty = 2 * 10**2 * np.log(len(values))
    assert change_points(values, penalty) == naive.best_cuts(list(values), penalty, 2)[1]
