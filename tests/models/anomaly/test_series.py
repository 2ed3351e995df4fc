"""One series: the same anomalies as the slow twin, and the rules one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.models.anomaly.traffic import DAY, FIRST_MS, subscription
from tests.naive import anomaly as naive
from throttlescope.models.anomaly.baseline import hour_sums, learned_since
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.anomaly.series import deviations, judge

WEEK = 7 * DAY
#: Short weeks for the twin, which is slow; every rule is met all the same.
SHORT = replace(RULES, weeks=2, alarms=(8.0,), slacks=(2.0,))


def calendar(days, zone="UTC", weeks=RULES.weeks):
    return calendar_of(FIRST_MS, FIRST_MS + days * 86_400_000, zone, weeks)


def steady_traffic(days, level=1000.0, seed=1):
    """Traffic with a day and a weekend, 3 % of noise."""
    rng = np.random.default_rng(seed)
    minute = np.arange(days * DAY)
    shape = 1.2 + np.sin(2 * np.pi * minute / DAY) * np.where(minute // DAY % 7 >= 5, 0.3, 1.0)
    return rng.poisson(level * shape * np.exp(rng.normal(0, 0.03, len(minute)))).astype(float)


def spans(found):
    return [(one.side, one.start, one.end) for one in found]


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "name", "shape"),
    [(0, "in", "flat"), (1, "backlog", "batch"), (2, "in", "human"), (3, "in", "sparse")],
)
def test_the_slow_twin_finds_the_same(number, name, shape):
    days, first_day = 27, 15
    traffic = subscription(7, number, days)
    assert traffic.shape == shape
    counts = traffic.counts[name].copy()
    # A burst, and a level that changes, so that runs and adoption are met whatever was drawn.
    counts[17 * DAY + 300 : 17 * DAY + 330] += max(2000.0, 10 * np.nanmean(counts))
    counts[20 * DAY + 300 :] *= 2.5
    mine = calendar(days, traffic.zone, SHORT.weeks)
    labels = mine.hour_of_week.tolist()
    known = [None if np.isnan(one) else one for one in counts.tolist()]
    found, baseline = judge(counts, mine, first_day, SHORT)
    assert found
    assert baseline.levels.adopted[1].size or shape in ("batch", "sparse")
    for side in (1, -1):
        expected = naive.alarms(known, labels, first_day, side, SHORT)
        assert [(one.start, one.alarm, one.end) for one in found if one.side == side] == expected


def test_nothing_is_said_of_ordinary_weeks():
    found, baseline = judge(steady_traffic(42), calendar(42), 15, RULES)
    assert found == []
    assert baseline.ready.all()


@pytest.mark.parametrize(("factor", "side"), [(3.0, 1), (0.2, -1)])
def test_spike_and_drop_are_located(factor, side):
    counts = steady_traffic(30)
    counts[25 * DAY + 600 : 25 * DAY + 640] *= factor
    found, _ = judge(counts, calendar(30), 20, RULES)
    ((found_side, start, end),) = spans(found)
    assert found_side == side
    assert abs(start - (25 * DAY + 600)) <= 2
    assert abs(end - (25 * DAY + 640)) <= 5
    assert found[0].alarm - start <= 10
    assert not found[0].open
    outside = found[0].value > found[0].high if side > 0 else found[0].value < found[0].low
    assert outside
    assert found[0].low < found[0].expected < found[0].high


def test_one_minute_alone_is_no_anomaly():
    counts = steady_traffic(30)
    counts[25 * DAY + 600] *= 50
    assert judge(counts, calendar(30), 20, RULES)[0] == []


def test_zero_is_a_value():
    counts = steady_traffic(30)
    counts[25 * DAY + 600 : 25 * DAY + 700] = 0.0
    (one,) = judge(counts, calendar(30), 20, RULES)[0]
    assert (one.side, one.value) == (-1, 0.0)


def test_what_is_not_known_is_no_anomaly():
    counts = steady_traffic(30)
    counts[25 * DAY + 600 : 25 * DAY + 700] = np.nan
    assert judge(counts, calendar(30), 20, RULES)[0] == []


def test_burst_in_zeros_is_found():
    counts = np.zeros(30 * DAY)
    counts[25 * DAY + 600 : 25 * DAY + 610] = 40.0
    (one,) = judge(counts, calendar(30), 20, RULES)[0]
    assert (one.start, one.expected, one.low) == (25 * DAY + 600, 0.0, 0.0)


def test_an_open_anomaly_says_so():
    counts = steady_traffic(30)
    counts[29 * DAY + 1300 :] *= 3
    (one,) = judge(counts, calendar(30), 20, RULES)[0]
    assert one.open
    assert one.end == 30 * DAY


def test_judged_day_is_outside_its_baseline():
    """Whatever a day and those after it hold, what was expected of it, and its sigma, stay the same."""
    counts = steady_traffic(30)
    _, calm = judge(counts, calendar(30), 20, RULES)
    wild = counts.copy()
    wild[25 * DAY :] = np.random.default_rng(3).uniform(0, 1e6, 5 * DAY)
    _, other = judge(wild, calendar(30), 20, RULES)
    hours = (26 - 20) * 24
    np.testing.assert_array_equal(
        calm.levels.expected[: RULES.wander_hours + hours],
        other.levels.expected[: RULES.wander_hours + hours],
    )
    for side in (1, -1):
        np.testing.assert_array_equal(calm.levels.sigma[side][:hours], other.levels.sigma[side][:hours])
        np.testing.assert_array_equal(calm.levels.alarm[side][: 26 - 20], other.levels.alarm[side][: 26 - 20])


def test_level_shift_is_anomalous_until_adopted():
    counts = steady_traffic(40)
    counts[25 * DAY + 600 :] *= 2
    found, baseline = judge(counts, calendar(40), 20, RULES)
    (one,) = found
    assert one.side == 1
    # The first whole UTC day at the new level is day 26; it counts from the next midnight on.
    assert baseline.levels.adopted[1].tolist() == [(27 - 20) * 24]
    assert baseline.levels.adopted[-1].tolist() == []
    assert abs(one.end - 27 * DAY) <= 60
    assert one.adopted
    expected = deviations(
        counts[baseline.begin :], baseline.levels, RULES, unjudged=np.zeros(20 * DAY, bool)
    ).expected
    after = expected[(30 - 20) * DAY : (31 - 20) * DAY]
    before = expected[3 * DAY : 4 * DAY]
    assert np.median(after - before) == pytest.approx(20 * np.log(2) / 2, rel=0.15)


def test_return_to_former_level_is_normal():
    counts = steady_traffic(40)
    counts[25 * DAY : 28 * DAY] *= 2
    found, _ = judge(counts, calendar(40), 20, RULES)
    assert [one.side for one in found] == [1]


def test_change_of_hours_is_no_level():
    counts = steady_traffic(40)
    counts[25 * DAY + 600 : 25 * DAY + 1200] *= 2
    found, baseline = judge(counts, calendar(40), 20, RULES)
    assert not any(hours.size for hours in baseline.levels.adopted.values())
    assert len(found) == 1
    assert not found[0].adopted


def test_single_outlier_is_excluded_habit_learned():
    """A job that begins to run on Tuesdays is unusual until it has run in more than half of the weeks."""
    counts = steady_traffic(49)
    tuesdays = [15, 22, 29, 36, 43]
    for day in tuesdays:
        counts[day * DAY + 600 : day * DAY + 780] *= 2.5
    found, _ = judge(counts, calendar(49), 15, RULES)
    days = [one.start // DAY for one in found]
    assert days[:2] == [15, 22]
    assert 43 not in days


def test_incidents_are_masked_from_the_baseline():
    counts = steady_traffic(30)
    masked = np.zeros(len(counts), bool)
    for week in (11, 18):
        span = slice(week * DAY + 600, week * DAY + 900)
        counts[span] *= 4
        masked[span] = True
    _, without = judge(counts, calendar(30), 25, RULES)
    _, with_mask = judge(counts, calendar(30), 25, RULES, masked=masked)
    with_mask, without = with_mask.levels, without.levels
    assert with_mask.masked_share[-1] == pytest.approx(600 / (28 * DAY), rel=0.2)
    assert without.masked_share[-1] == 0
    noon, next_noon = RULES.wander_hours + 12, RULES.wander_hours + 36
    assert abs(with_mask.expected[noon] - with_mask.expected[next_noon]) < 1
    assert without.expected[noon] - without.expected[next_noon] > 5


def test_masks_above_half_are_ignored():
    counts, days = steady_traffic(30), np.arange(30 * DAY) // DAY

    def holds(masked):
        return judge(counts, calendar(30), 20, RULES, masked=masked)[1].levels.masks_hold

    assert not holds(days < 11)
    assert holds(days < 9)
    # What is masked later has no say in whether masks are used.
    assert holds(days >= 20)


def test_minutes_after_a_mark_are_not_judged():
    counts = steady_traffic(30)
    span = slice(25 * DAY + 600, 25 * DAY + 606)
    counts[span] = 0.0
    unjudged = np.zeros(len(counts), bool)
    assert len(judge(counts, calendar(30), 20, RULES, unjudged=unjudged)[0]) == 1
    unjudged[span] = True
    assert judge(counts, calendar(30), 20, RULES, unjudged=unjudged)[0] == []


def test_two_weeks_of_history_are_needed():
    counts = steady_traffic(30)
    counts[: 10 * DAY] = np.nan
    counts[20 * DAY : 20 * DAY + 60] *= 10
    counts[27 * DAY : 27 * DAY + 60] *= 10
    found, baseline = judge(counts, calendar(30), 15, RULES)
    assert [one.start // DAY for one in found] == [27]
    assert baseline.ready.tolist() == [False] * (24 - 15) + [True] * (30 - 24)


def test_a_stray_early_row_is_no_history():
    known = np.zeros(20 * DAY, bool)
    known[5] = True
    known[10 * DAY + 90 :] = True
    assert learned_since(hour_sums(known)) == 10 * 24 + 1
    assert learned_since(hour_sums(known[: 9 * DAY])) is None


def test_only_the_sides_that_are_asked_for():
    counts = steady_traffic(30)
    counts[25 * DAY : 25 * DAY + 60] = 0
    counts[26 * DAY : 26 * DAY + 60] *= 5
    assert [one.side for one in judge(counts, calendar(30), 20, RULES, sides=(1,))[0]] == [1]


@pytest.mark.parametrize("counts", [np.full(30 * DAY, np.nan), np.full(30 * DAY, 7.0)])
def test_a_series_without_values_or_without_noise(counts):
    assert judge(counts, calendar(30), 20, RULES)[0] == []
