"""Flips per hour, by hand."""

from __future__ import annotations

import pytest

from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, said, true, truth
from throttlescope.models.evaluation import settled_windows
from throttlescope.models.evaluation.flips import flips_of

TRUTH = truth([true("a", 0, 60, *SLOW), true("a", 61, 120, *HEALTHY), true("b", 0, 60, *SLOW)])


def flips(*windows):
    return flips_of(settled_windows(windows, TRUTH)[0])


def test_hysteresis_removes_single_window_flips():
    found = flips(*(said("a", n, *(THROTTLED if n == 10 else SLOW)) for n in range(31)))
    assert (found.flips, found.steady_flips, found.hours) == (2, 0, 0.5)
    assert (found.per_hour, found.steady_per_hour) == (4.0, 0.0)


def test_lasting_change_flips_with_hysteresis_too():
    found = flips(*(said("a", n, *(THROTTLED if n >= 15 else SLOW)) for n in range(31)))
    assert (found.flips, found.steady_flips) == (1, 1)


def test_what_changes_between_states_is_no_flip():
    found = flips(*(said("a", n, *SLOW) for n in range(11)), *(said("a", n, *HEALTHY) for n in range(65, 76)))
    assert (found.states, found.flips, found.hours) == (2, 0, pytest.approx(20 / 60))


def test_flip_hours_add_up_without_holes():
    found = flips(*(said(name, n, *SLOW) for name in "ab" for n in (0, 1, 2, 30, 31)))
    assert found.hours == pytest.approx(2 * 3 / 60)


def test_another_limiter_is_no_other_cause():
    found = flips(
        said("a", 0, *THROTTLED),
        said("a", 1, "throttle", "throttled", "subscription.msg"),
        said("a", 2, *SLOW),
    )
    assert found.flips == 1


def test_single_window_has_no_flip_time():
    assert flips(said("a", 0, *SLOW)).per_hour is None
