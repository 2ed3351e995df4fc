"""Calibration by hand: bins, Brier score, expected error, grades."""

from __future__ import annotations

import pytest

from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, UNKNOWN, said, true, truth
from throttlescope.models.evaluation import settled_windows
from throttlescope.models.evaluation.calibration import calibration_of

TRUTH = truth([true("a", 0, 60, *SLOW), true("b", 0, 60, *SLOW)])


def calibration(*windows):
    return calibration_of(settled_windows(windows, TRUTH)[0])


def test_four_windows():
    found = calibration(
        said("a", 0, *SLOW, confidence=0.95),
        said("a", 1, *SLOW, confidence=0.95),
        said("a", 2, *THROTTLED, confidence=0.95),
        said("b", 0, *SLOW, confidence=0.55, grade="D"),
        said("b", 1, *UNKNOWN),
    )
    assert found.answered == 4
    assert found.brier == pytest.approx((2 * 0.05**2 + 0.95**2 + 0.45**2) / 4)
    low, *_, high = found.bins
    assert (low.name, low.stated, low.right.count, low.right.of) == ("0.5 to 0.6", pytest.approx(0.55), 1, 1)
    assert (high.name, high.stated, high.right.count, high.right.of) == (
        "0.9 to 1.0",
        pytest.approx(0.95),
        2,
        3,
    )
    assert found.expected_error == pytest.approx((0.45 * 1 + abs(0.95 - 2 / 3) * 3) / 4)
    assert [(one.name, one.right.of) for one in found.grades] == [("A", 3), ("B", 0), ("C", 0), ("D", 1)]


def test_bins_include_low_end_and_certainty():
    found = calibration(*(said("a", n, *SLOW, confidence=c) for n, c in enumerate((0.5, 0.6, 0.7, 0.9, 1.0))))
    assert [one.right.of for one in found.bins] == [1, 1, 1, 0, 2]


def test_unanswered_windows_are_not_calibrated():
    found = calibration(said("a", 0, *UNKNOWN))
    assert (found.answered, found.brier, found.expected_error) == (0, None, None)
    assert all(one.stated is None and one.right.value is None for one in found.bins)


def test_certain_and_wrong_is_worst():
    found = calibration(said("a", 0, *HEALTHY, confidence=1.0))
    assert (found.brier, found.expected_error) == (1.0, 1.0)
