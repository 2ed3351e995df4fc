"""Counters by the minute: worked cases, what must always hold, and the slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive.deltas import NaiveCounter, covered_ms, minutes_of, span_ms
from throttlescope.transforms.deltas import (
    LONGEST_GAP_MS,
    CounterMinutes,
    counter_deltas,
    group_series,
    samples_at_or_below_zero,
    samples_seen,
    scrape_intervals_ms,
    serving_instances,
)
from throttlescope.transforms.promql.source import Series

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS


def counter(points, instance="i1", **labels):
    """Samples as (seconds after the first minute's start, value)."""
    times = np.array([START_MS + round(s * 1000) for s, _ in points], np.int64)
    return Series({"instance": instance, **labels}, times, np.array([float(v) for _, v in points]))


def grouped(*series):
    return group_series(series, [0] * len(series), 1, {})


def deltas(*series, minutes=4):
    return counter_deltas(grouped(*series), CounterMinutes(START_MS, minutes))


def listed(array):
    return [None if np.isnan(v) else v for v in array[0].tolist()]


def test_minute_counts_from_last_earlier_sample():
    found = deltas(counter([(-20, 100), (10, 130), (40, 150), (70, 155), (130, 160)]))
    assert listed(found.delta) == [50, 5, 5, None]
    assert found.covered_ms[0].tolist() == [60_000, 30_000, 60_000, 0]
    assert found.intervals[0].tolist() == [2, 1, 1, 0]


def test_the_first_sample_of_all_says_nothing():
    assert listed(deltas(counter([(10, 500), (40, 501)])).delta) == [1, None, None, None]
    assert listed(deltas(counter([(10, 500)])).delta) == [None] * 4


def test_unchanged_counter_is_zero_missing_is_null():
    found = deltas(counter([(-10, 7), (10, 7), (130, 7)]))
    assert listed(found.delta) == [0, None, 0, None]
    assert found.intervals_with_events[0].tolist() == [0, 0, 0, 0]


def test_a_restart_counts_from_zero():
    found = deltas(counter([(-10, 1000), (20, 1040), (50, 30), (70, 50)]))
    assert listed(found.delta) == [70, 20, None, None]
    assert found.restarts[0].tolist() == [1, 0, 0, 0]


def test_moved_counter_continues_from_zero():
    """A counter that continues at another instance starts from zero there."""
    old = counter([(-60, 100), (-30, 110), (0, 120), (30, 130)])
    new = counter([(70, 25), (100, 55)], "i2")
    found = deltas(old, new)
    assert listed(found.delta) == [20, 55, None, None]
    assert found.restarts[0].tolist() == [0, 1, 0, 0]
    # It began somewhere between two scrapes: the time in which it counted the 25 is unknown.
    assert listed(found.spans_ms) == [60_000, None, None, None]


def away_and_back(first, returned, second_until_s=630):
    """The first instance serves until 30 s, the second then, and later the first again; 10 messages a second."""
    second = [(s, 10 * (s - 35)) for s in range(37, second_until_s, 15)]
    return deltas(counter([*first, *returned]), counter(second, "i2"), minutes=12)


def test_returning_counter_started_from_zero():
    first = [(s, 10_000 + 10 * s) for s in range(-300, 31, 15)]
    found = away_and_back(first, [(s, 10 * (s - 630)) for s in range(645, 700, 15)])
    assert listed(found.delta)[9:] == [600, 300 + 150, 450]
    assert listed(found.spans_ms)[9:] == [60_000, None, 45_000]
    assert found.restarts[0, 10] == 1


def test_counter_that_returns_higher_has_restarted():
    first = [(0, 40), (15, 190), (30, 340)]
    found = away_and_back(first, [(645, 450), (660, 600)], second_until_s=600)
    assert listed(found.delta)[10:] == [450, 150]
    assert listed(found.spans_ms)[10:] == [None, 15_000]


def test_counter_that_returns_above_all_is_ambiguous():
    """It may have restarted, or be the old one under two names."""
    first = [(0, 40), (15, 190), (30, 340)]
    found = away_and_back(first, [(645, 60_000), (660, 60_150)], second_until_s=600)
    assert listed(found.delta)[10:] == [None, 150]


def test_renamed_counter_adds_nothing():
    old = counter([(s, 1_000_000 + 10 * s) for s in range(-300, 31, 15)])
    new = counter([(s, 1_000_000 + 10 * s) for s in range(45, 200, 15)], "10.0.0.1:8080")
    found = deltas(old, new)
    assert listed(found.delta) == [450, 600, 600, 300]
    assert found.restarts.sum() == 0


def test_two_clusters_under_one_name_say_nothing():
    one = counter([(s, 5_000 + 10 * s) for s in range(-300, 240, 15)])
    other = counter([(s, 90_000 + 7 * s) for s in range(-295, 240, 15)], "i2")
    assert listed(deltas(one, other).delta) == [None] * 4


def test_missed_scrapes_do_not_change_rate():
    steady = counter([(s, 1000.0 * s) for s in (-30, 30, 210, 540)])
    found = deltas(steady, minutes=10)
    assert listed(found.delta) == [60_000, None, None, 180_000, None, None, None, None, None, 330_000]
    # The last one is mostly of another time.
    assert listed(found.spans_ms) == [60_000, None, None, 180_000, *[None] * 6]


def test_instances_at_data_start_are_no_move():
    """The data begins, not the counter: its whole past would be added."""
    found = deltas(counter([(-30, 1_000_000), (0, 1_000_000)], "i1"), counter([(5, 900), (35, 930)], "i2"))
    assert listed(found.delta)[0] == 30


def test_unchanged_old_instance_adds_nothing():
    old = counter([(-60, 100), (-30, 110), (0, 120), (30, 120), (60, 120), (90, 120)])
    new = counter([(40, 5), (70, 35), (100, 65)], "i2")
    assert listed(deltas(old, new).delta) == [15, 60, None, None]


def test_relabelled_instance_continues_its_counter():
    old = counter([(-60, 100), (-30, 110), (0, 120)])
    new = counter([(30, 150), (60, 160)], pod="renamed")
    found = deltas(old, new)
    assert listed(found.delta) == [40, 10, None, None]
    assert found.restarts.sum() == 0


def test_gap_above_an_hour_gives_null():
    gap_s = LONGEST_GAP_MS / 1000
    assert listed(deltas(counter([(10 - gap_s, 1), (10, 5)])).delta)[0] == 4
    assert listed(deltas(counter([(9 - gap_s, 1), (10, 5)])).delta)[0] is None


def test_groups_are_apart():
    series = [counter([(-10, 0), (10, 1)]), counter([(-10, 0), (10, 20)]), counter([(-10, 0), (10, 300)])]
    found = counter_deltas(group_series(series, [1, 0, 1], 3, {}), CounterMinutes(START_MS, 1))
    assert found.delta[:2, 0].tolist() == [20, 301]
    assert np.isnan(found.delta[2, 0])
    left_out = counter_deltas(group_series(series, [0, -1, -1], 1, {}), CounterMinutes(START_MS, 1))
    assert left_out.delta[0, 0] == 1


points = st.lists(
    st.tuples(st.integers(-4000, 600), st.integers(0, 50)), max_size=25, unique_by=lambda p: p[0]
)
groups = st.lists(st.tuples(st.sampled_from("AB"), points.map(sorted)), max_size=4)


@given(groups, st.integers(1, 10))
def test_the_twin_agrees(group, minutes):
    found = deltas(
        *(counter(samples, instance, n=str(n)) for n, (instance, samples) in enumerate(group)),
        minutes=minutes,
    )
    twin = minutes_of(
        [
            NaiveCounter(instance, [(START_MS + s * 1000, float(v)) for s, v in samples])
            for instance, samples in group
        ],
        START_MS,
        minutes,
    )
    assert listed(found.delta) == [m.delta for m in twin]
    assert found.intervals[0].tolist() == [m.intervals for m in twin]
    assert found.intervals_with_events[0].tolist() == [m.with_events for m in twin]
    assert found.restarts[0].tolist() == [m.restarts for m in twin]
    assert found.covered_ms[0].tolist() == [covered_ms(m) for m in twin]
    assert listed(found.spans_ms) == [span_ms(m) for m in twin]


@given(groups, st.integers(1, 9))
def test_differences_do_not_depend_on_split(group, cut):
    """Ten minutes at once, or the first ones and then the rest with their own look-back: the same numbers."""
    series = [counter(samples, instance, n=str(n)) for n, (instance, samples) in enumerate(group)]
    whole = deltas(*series, minutes=10)
    first = counter_deltas(grouped(*series), CounterMinutes(START_MS, cut))
    rest_ms = START_MS + cut * 60_000
    # Only what a task of the second part would have read.
    later = [
        Series(one.labels, one.timestamps_ms[keep], one.values[keep])
        for one in series
        for keep in [one.timestamps_ms >= rest_ms - LONGEST_GAP_MS]
    ]
    rest = counter_deltas(grouped(*later), CounterMinutes(rest_ms, 10 - cut))
    for name in ("delta", "restarts", "intervals", "covered_ms"):
        parts = np.concatenate([getattr(first, name), getattr(rest, name)], axis=1)
        np.testing.assert_array_equal(parts, getattr(whole, name))


@given(points.map(sorted))
def test_minutes_sum_to_last_minus_first(samples):
    """Without restarts."""
    samples = [(s, v) for s, v in samples if s > -3000]
    rising = list(zip((s for s, _ in samples), np.cumsum([v for _, v in samples]).tolist(), strict=True))
    inside = [n for n, (s, _) in enumerate(rising) if 0 <= s < 600]
    found = deltas(counter(rising), minutes=10)
    if not inside:
        assert np.isnan(found.delta).all()
        return
    first = max(inside[0] - 1, 0)
    assert np.nansum(found.delta) == rising[inside[-1]][1] - rising[first][1]


def test_seen_samples_and_exhausted_permits():
    permits = grouped(counter([(0, 5), (30, 0), (59, -3), (60, 2)]), counter([(10, -1)]))
    assert samples_seen(permits, CounterMinutes(START_MS, 2)).tolist() == [[4, 1]]
    assert samples_at_or_below_zero(permits, CounterMinutes(START_MS, 2)).tolist() == [[3, 0]]


def test_scrape_interval_is_usual_distance_in_hour():
    points = [(s, 0) for s in range(0, 1800, 15)] + [(s, 0) for s in range(3600, 5400, 60)]
    found = scrape_intervals_ms(grouped(counter(points)), CounterMinutes(START_MS, 90))
    assert set(found[0, :60].tolist()) == {15_000}
    assert set(found[0, 60:].tolist()) == {60_000}
    assert scrape_intervals_ms(grouped(counter([(5, 0)])), CounterMinutes(START_MS, 1)).tolist() == [[0]]


@pytest.mark.parametrize(("last_s", "served"), [(50, [0, 0, 0, 0, 0, -1, -1]), (60, [-1, 0, 0, 0, 0, 0, -1])])
def test_instance_serves_five_minutes_after_last_sample(last_s, served):
    found = serving_instances(grouped(counter([(last_s, 1)])), CounterMinutes(START_MS, 7))
    assert found[0].tolist() == served


def test_the_newest_sample_tells_who_serves():
    found = serving_instances(
        grouped(counter([(0, 1), (30, 1), (61, 1)]), counter([(40, 1)], "i2")), CounterMinutes(START_MS, 2)
    )
    assert found[0].tolist() == [1, 0]
