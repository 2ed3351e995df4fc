"""The evaluation: settled windows, confusion, shares, and what it refuses. Counted by hand on a small example."""

from __future__ import annotations

import json
import random

import pytest

from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, UNKNOWN, said, true, truth
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.evaluation import evaluate


def judge(windows, rows):
    return evaluate(windows, truth(rows))


TRUTH = [
    true("a", 1, 20, *THROTTLED, family="topic"),
    true("a", 25, 40, *HEALTHY, family="topic"),
    true("b", 1, 20, *SLOW, family="slow", kept_aside=True),
]
WINDOWS = [
    said("a", 0, *UNKNOWN),  # begins before the range
    said("a", 5, *THROTTLED, naive="throttle"),
    said("a", 10, "throttle", "throttled", "subscription.msg", naive="throttle"),
    said("a", 15, *UNKNOWN, naive="consumer_capacity"),  # ends with the range
    said("a", 20, *HEALTHY),  # between the ranges
    said("a", 25, *HEALTHY, naive="throttle"),
    said("a", 30, *THROTTLED, naive="throttle"),
    said("a", 36, *HEALTHY),  # ends after the range
    said("b", 5, *SLOW, naive="consumer_capacity"),
    said("b", 10, *SLOW, naive="throttle"),
    said("c", 5, *SLOW),  # no truth
]


def test_only_windows_whole_inside_one_range_count():
    result = judge(WINDOWS, TRUTH)
    assert result.all.windows == 7
    assert result.windows_not_settled == 4
    assert (result.truth_rows, result.truth_rows_without_windows) == (3, 0)
    assert (result.kept_aside.windows, result.not_kept_aside.windows) == (2, 5)
    assert (result.all.recordings, result.all.families, result.all.states) == (2, 2, 3)


def test_confusion_precision_and_recall():
    scores = judge(WINDOWS, TRUTH).all.ours.cause
    assert scores.confusion == {
        "healthy": {"healthy": 1, "throttled": 1},
        "throttled": {"throttled": 2, "unknown": 1},
        "slow_consumers": {"slow_consumers": 2},
    }
    throttled = scores.classes["throttled"]
    assert (throttled.precision.count, throttled.precision.of) == (2, 3)
    assert (throttled.recall.count, throttled.recall.of) == (2, 3)
    assert throttled.f1 == pytest.approx(2 / 3)
    assert (throttled.windows, throttled.recordings, throttled.families) == (3, 1, 1)
    assert scores.classes["healthy"].f1 == pytest.approx(2 / 3)
    assert scores.classes["slow_consumers"].f1 == 1.0
    assert scores.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    # Unknown is named once and true never: it has a precision of 0 and is no class to average over.
    assert scores.classes["unknown"].precision.value == 0.0
    assert scores.classes["unknown"].f1 is None


def test_unknown_is_neither_right_nor_answer():
    scores = judge(WINDOWS, TRUTH).all.ours.side
    assert (scores.right.count, scores.right.of) == (5, 7)
    assert (scores.right_when_answered.count, scores.right_when_answered.of) == (5, 6)
    assert (scores.unknown.count, scores.unknown.of) == (1, 7)


def test_the_naive_rule_is_judged_by_side():
    scores = judge(WINDOWS, TRUTH).all.baselines["naive rule"].side
    assert scores.confusion == {
        "throttle": {"throttle": 2, "consumer_capacity": 1},
        "consumer_capacity": {"throttle": 1, "consumer_capacity": 1},
        "neither": {"throttle": 2},
    }
    assert scores.right.count == 3


def test_limiters_and_false_alarms():
    part = judge(WINDOWS, TRUTH).all
    assert (part.limiter_right.count, part.limiter_right.of) == (1, 2)
    assert (part.ours.healthy_called_throttled.count, part.ours.healthy_called_throttled.of) == (1, 2)
    assert (part.ours.healthy_answered.count, part.ours.healthy_answered.of) == (2, 2)
    naive = part.baselines["naive rule"].healthy_called_throttled
    assert (naive.count, naive.of) == (2, 2)


def test_side_rules_mean_the_usual_cause():
    baselines = judge(WINDOWS, TRUTH).all.baselines
    assert baselines["naive rule"].cause.confusion["throttled"] == {"throttled": 2, "slow_consumers": 1}
    # Three of the seven windows are throttled: one more than of any other cause.
    most = baselines["majority"]
    assert (most.cause.right.count, most.side.right.count) == (3, 3)
    assert most.healthy_called_throttled.count == 2


def test_the_intervals_of_f1_are_over_recordings():
    scores = judge(WINDOWS, TRUTH).all.ours.cause
    # Only one recording has throttled windows, so nothing is known of others.
    assert scores.classes["throttled"].f1_clustered is None
    low, high = scores.macro_f1_clustered
    # Resamples are a, a (2/3), b, b (1) or both (7/9).
    assert low == pytest.approx(2 / 3)
    assert high == pytest.approx(1.0)


def test_states_that_are_mostly_wrong_are_named():
    wrong = [said("a", n, *SLOW) for n in (1, 6, 11)] + [said("b", n, *UNKNOWN) for n in (1, 6)]
    result = judge(wrong, TRUTH)
    assert result.all.ours.side.mostly_wrong == [
        {
            "recording": "a",
            "topic": "persistent://lab/x/orders",
            "partition": -1,
            "subscription": "billing",
            "true": "throttle",
            "named": {"consumer_capacity": 3},
        }
    ]
    assert result.truth_rows_without_windows == 1


def test_part_without_windows_has_no_figures():
    part = judge([said("a", 5, *THROTTLED)], TRUTH).kept_aside
    assert part.windows == 0
    assert part.ours.cause.macro_f1 is None
    assert part.ours.side.right.value is None
    assert part.limiter_right.wilson is None


def test_result_is_json_in_any_order():
    rng = random.Random(3)  # noqa: S311
    shuffled = WINDOWS.copy()
    rng.shuffle(shuffled)
    first, second = judge(WINDOWS, TRUTH), judge(shuffled, TRUTH[::-1])
    assert first == second
    assert json.loads(json.dumps(first.to_json()))["all"]["ours"]["cause"]["right"]["count"] == 5


def test_two_intervals_for_every_share():
    share = judge(WINDOWS, TRUTH).all.ours.side.right
    assert share.wilson[0] < share.value < share.wilson[1]
    assert share.clustered[0] <= share.value <= share.clustered[1]
    assert share.recordings == 2


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="no truth to compare"):
        judge(WINDOWS, [])
    with pytest.raises(InputError, match="No verdict can be judged"):
        judge([said("a", 0, *UNKNOWN)], TRUTH)
    with pytest.raises(InputError, match="overlap"):
        judge(WINDOWS, [*TRUTH, true("a", 19, 30, *HEALTHY)])
