"""The short form of docs/accuracy/anomalies.md: scores against injected anomalies, and the score itself against its rules."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.anomaly import detectors
from tests.models.anomaly.scoring import Score
from tests.models.anomaly.traffic import DAY, DAYS, KINDS, Truth, local_minutes, subscription

#: No seed of benchmarks/anomalies.py, neither of those that the rules were chosen on nor of those that are reported.
SEED = 900
_TRUTHS = [Truth("spike", 1000, 1030, 1090), Truth("level", 5000, 6440, 7880)]


def score(alarms, truths=_TRUTHS):
    found = Score()
    found.add(alarms, truths, 7 * DAY)
    return found


def test_only_alarms_inside_events_are_right():
    found = score([1004, 4000, 5100])
    assert (found.events, found.found, found.false, found.repeats) == (2, 2, 1, 0)
    assert (found.recall, found.precision, found.f1) == (1.0, pytest.approx(2 / 3), pytest.approx(4 / 5))
    assert (found.false_per_week, found.median_delay) == (1.0, 53)
    assert found.by_kind["spike"] == [1, 1]


def test_repeated_alarms_add_no_score():
    assert score([1001, 1002, 1003]).f1 == score([1001]).f1
    assert score([1001, 1002, 1003]).repeats == 2


def test_the_aftermath_is_neither_right_nor_wrong():
    assert (score([1060]).found, score([1060]).false) == (0, 0)


def test_constant_alarms_or_silence_gain_nothing():
    assert score([]).f1 == 0
    # One alarm that never ends began before the events.
    assert detectors.incidents([(0, 5, 60 * DAY)]) == [5]
    assert score([5]).found == 0


def test_anomalies_that_overlap_are_one_alarm():
    assert detectors.incidents([(10, 14, 40), (12, 13, 20), (50, 60, 70), (150, 160, 170)]) == [13, 160]


def test_traffic_is_repeatable_and_follows_local_clock():
    one, again = subscription(SEED, 3, 20), subscription(SEED, 3, 20)
    for name, counts in one.counts.items():
        np.testing.assert_array_equal(counts, again.counts[name])
    assert one.truths == again.truths
    minute, weekday = local_minutes("Europe/Berlin", DAYS * DAY)
    before, after = 33 * DAY + 22 * 60, 34 * DAY + 23 * 60  # 2026-10-24T22:00Z and 2026-10-25T23:00Z
    assert (minute[before], weekday[before]) == (0, 6)
    assert (minute[after], weekday[after]) == (0, 0)


@pytest.mark.long
def test_traffic_has_what_makes_it_hard():
    made = [subscription(SEED, number) for number in range(40)]
    assert {truth.kind for one in made for truth in one.truths} == set(KINDS)
    assert {one.shape for one in made} == {"human", "flat", "batch", "sparse"}
    assert any((np.nan_to_num(one.counts["in"]) == 0).mean() > 0.5 for one in made)
    assert sum(int(one.marks.sum()) for one in made) > 20
    assert all(not one.covered.all() for one in made)
    for one in made:
        assert all(truth.start < truth.end <= truth.calm for truth in one.truths)
        # Aftermaths are short compared with what is judged: they hide no false alarms.
        hidden = sum(truth.calm - truth.end for truth in one.truths)
        assert hidden < 0.5 * len(one.present)


@pytest.mark.study
def test_injected_anomalies_are_found_and_little_else():
    by_name = {
        "ours": detectors.ours,
        "threshold": detectors.sigma_threshold,
        "fixed": detectors.fixed_threshold,
        "last week": detectors.last_week,
        "chance": lambda traffic: detectors.chance(traffic, 0.5, 1),
        "nothing": detectors.nothing,
    }
    scores = {name: Score() for name in by_name}
    for number in range(12):
        traffic = subscription(SEED, number)
        for name, detector in by_name.items():
            scores[name].add(detector(traffic), traffic.truths, (DAYS - detectors.FROM_DAY) * DAY)
    ours = scores["ours"]
    assert ours.events >= 10
    # The targets are those of the page; so few subscriptions say it less surely, so the bars are lower.
    assert ours.f1 >= 0.7
    assert ours.false_per_week <= 0.2
    assert ours.median_delay <= 10
    assert all(ours.f1 > other.f1 for name, other in scores.items() if name != "ours")
    assert scores["nothing"].f1 == 0
