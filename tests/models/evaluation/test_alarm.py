"""*Throttled* as an alarm, by hand."""

from __future__ import annotations

import pytest

from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, UNKNOWN, said, true, truth
from throttlescope.models.evaluation import settled_windows
from throttlescope.models.evaluation.alarm import alarm_of, precision_at

TRUTH = truth([true("a", 0, 60, *THROTTLED), true("b", 0, 60, *SLOW), true("c", 0, 60, *HEALTHY)])


def alarm(*windows):
    return alarm_of(settled_windows(windows, TRUTH)[0], lambda w: w.judged.side)


def test_precision_follows_from_recall_and_false_alarms():
    found = alarm(
        said("a", 0, *THROTTLED), said("a", 1, "both", "both", "topic.msg"), said("a", 2, *UNKNOWN), said("a", 3, *SLOW),
        said("b", 0, *THROTTLED), said("b", 1, *SLOW), said("c", 0, *HEALTHY), said("c", 1, *HEALTHY),
    )  # fmt: skip
    assert (found.recall.count, found.recall.of) == (2, 4)
    assert (found.false_alarms.count, found.false_alarms.of) == (1, 4)
    assert found.precision == pytest.approx(0.01 * 0.5 / (0.01 * 0.5 + 0.99 * 0.25))
    low, high = found.precision_between
    assert low < found.precision < high
    assert low == precision_at(0.01, found.recall.wilson[0], found.false_alarms.wilson[1])


def test_few_windows_give_wide_intervals():
    found = alarm(
        *(said("a", n, *THROTTLED) for n in range(10)), *(said("c", n, *HEALTHY) for n in range(10))
    )
    assert found.precision == 1.0
    assert found.precision_between[0] < 0.03


def test_without_alarms_there_is_no_precision():
    assert precision_at(0.01, 0.0, 0.0) is None
    assert alarm(said("a", 0, *SLOW)).precision is None
