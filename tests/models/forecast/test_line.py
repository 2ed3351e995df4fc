"""The newest straight stretch: compared with its slow twin, and on series whose stretches are known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.examples import seeds
from tests.naive.forecast_line import newest_stretch
from throttlescope.models.forecast.line import MOST_POINTS, newest_line

SEEDS = range(60)


def random_series(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 70))
    times = np.cumsum(rng.choice([14.0, 15.0, 16.0, 60.0], count))
    slopes = np.repeat(rng.normal(0, 50, 6), -(-count // 6))[:count]
    values = 20_000 + np.cumsum(slopes * 15) + rng.normal(0, rng.choice([0.0, 3.0, 300.0]), count)
    return times, np.maximum(values, 0)


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_it_is_what_the_slow_twin_finds(seed: int) -> None:
    times, values = random_series(seed)
    line = newest_line(times, values)
    first, points, slope, scatter = newest_stretch(times.tolist(), values.tolist())
    assert (line.first, line.points) == (first, points)
    assert line.slope_per_s == pytest.approx(slope, rel=1e-9, abs=1e-9)
    # Prefix sums lose digits of a scatter that is nearly none.
    assert line.scatter == pytest.approx(scatter, rel=1e-3, abs=0.02)
    assert line.span_s == times[-1] - times[first]


def test_the_random_series_have_cuts_and_none() -> None:
    """A comparison on series without a cut would compare nothing."""
    lines = [(newest_line(*random_series(seed)), len(random_series(seed)[0])) for seed in SEEDS]
    cut = sum(line.first > max(0, count - MOST_POINTS) for line, count in lines)
    assert 10 < cut < len(SEEDS) - 5


def test_a_drain_is_found_two_points_after_it_began() -> None:
    times = np.arange(0, 30) * 15.0
    values = np.where(times <= 27 * 15, 5_000 + 20 * times, 5_000 + 20 * 27 * 15 - 300 * (times - 27 * 15))
    line = newest_line(times, values)
    assert line.points in (2, 3)
    assert line.slope_per_s == pytest.approx(-300)


def test_noise_without_a_trend_is_steady_or_too_short_to_say() -> None:
    rng = np.random.default_rng(1)
    lines = [newest_line(np.arange(40) * 60.0, 1000 + rng.normal(0, 50, 40)) for _ in range(100)]
    assert sum(line.is_steady for line in lines) >= 65
    assert sum(line.is_steady or line.points < 3 for line in lines) >= 95


def test_a_bend_behind_other_bends_is_found() -> None:
    """No single cut of a series that bent three times explains much of it."""
    times = np.arange(40) * 15.0
    values = np.interp(times, [0, 200, 350, 510, 585], [2_000, 9_000, 8_000, 15_000, 9_000])
    line = newest_line(times, values)
    assert line.slope_per_s == pytest.approx(-80)
    assert times[line.first] >= 495


def test_a_clean_slope_is_not_steady() -> None:
    assert not newest_line(np.arange(40) * 60.0, 90_000 - np.arange(40) * 60.0).is_steady


def test_one_stray_sample_does_not_tilt_it() -> None:
    times, values = np.arange(40) * 60.0, 90_000 - np.arange(40) * 600.0
    values[20] = 0
    assert newest_line(times, values).slope_per_s == pytest.approx(-10)


def test_too_few_points_are_no_line() -> None:
    assert newest_line(np.array([1.0]), np.array([5.0])) is None
    assert newest_line(np.empty(0), np.empty(0)) is None
