"""Gaps are as long as what would usually have come in them; a stop of few messages is found, and a usual gap is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.anomaly.traffic import DAY, FIRST_MS
from throttlescope.models.anomaly.baseline import usual_counts
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.gaps import LongGap, gap_history, long_gaps
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.anomaly.series import judge

DAYS, FROM, AT = 35, 20, 30
PER_DAY = 86_400_000


def calendar(days=DAYS):
    return calendar_of(FIRST_MS, FIRST_MS + days * PER_DAY, "UTC", RULES.weeks)


def few_messages(per_minute, seed=3):
    """Poisson counts that are twice as many at noon and none by night."""
    wave = np.clip(1 - np.cos(2 * np.pi * (np.arange(DAYS * DAY) % DAY) / DAY), 0.0, None)
    return np.random.default_rng(seed).poisson(per_minute * wave).astype(float)


def stops(counts):
    found, _ = judge(counts, calendar(), FROM, RULES, sides=(-1,))
    return found


@pytest.mark.parametrize("per_minute", [0.2, 1.0, 5.0])
def test_few_messages_without_stop_raise_no_alarm(per_minute):
    assert stops(few_messages(per_minute)) == []


@pytest.mark.parametrize(("per_minute", "hours"), [(0.2, 6), (1.0, 1), (2.0, 1)])
def test_stop_of_few_messages_is_found(per_minute, hours):
    counts = few_messages(per_minute)
    start = AT * DAY + 9 * 60
    counts[start : start + hours * 60] = 0.0
    (one,) = stops(counts)
    assert one.start <= start < one.alarm < one.end
    assert abs(one.end - start - hours * 60) <= 30 / per_minute
    assert one.value == 0.0
    # A band would hold the zero: one minute without messages is usual.
    assert one.expected == pytest.approx(per_minute, rel=0.8)
    assert one.low is one.high is None


def test_quiet_night_is_no_stop():
    """Of the night's few messages none comes: what was missed is little, however long it takes."""
    counts = few_messages(1.0)
    counts[AT * DAY - 90 : AT * DAY + 90] = 0.0
    assert stops(counts) == []


def test_usual_counts_follow_a_lower_level_within_days():
    counts = np.full(DAYS * DAY, 100.0)
    counts[20 * DAY :] = 1.0
    usual = usual_counts(counts, calendar()).reshape(-1, 24)
    assert usual[21].min() == 100.0
    assert usual[24].max() == 1.0


def test_stop_that_lasts_is_reported_once():
    """After a whole day nothing is missed any longer."""
    counts = few_messages(1.0)
    counts[AT * DAY - 600 :] = 0.0
    (one,) = stops(counts)
    assert one.adopted
    assert one.end < (AT + 2) * DAY


def obvious(came, known, usual, judged, least, masked, unjudged):
    """The same by loops over minutes, without the rule for days on which nothing is missed."""
    gaps, start, length, last = [], None, 0.0, 0
    for minute in range(len(came) + 1):
        ends = minute == len(came) or (known[minute] and (came[minute] or usual[minute] == 0))
        if ends and start is not None:
            if not unjudged[start] or last + 1 - start > 3 * RULES.mark_minutes:
                gaps.append((start, last + 1, length))
            start, length = None, 0.0
        elif not ends and known[minute]:
            start = minute if start is None else start
            length, last = length + usual[minute], minute
    found = []
    for start, end, length in gaps:
        day = start // DAY
        by_day = [
            max((size for at, _, size in gaps if at // DAY == past and not masked[at]), default=0.0)
            for past in range(max(0, day - 7 * RULES.weeks), day)
        ]
        most = max(least, 2 * sorted(by_day)[-2]) if len(by_day) > 1 else least
        if judged[day] and length >= most and end - start >= RULES.silent_minutes:
            found.append((start, end, length / most))
    return found


@pytest.mark.long
@given(st.integers(0, 2**32))
def test_gaps_equal_those_of_loops(seed):
    random = np.random.default_rng(seed)
    days = 4
    minutes = days * DAY
    came = random.random(minutes) < random.choice([0.02, 0.2, 0.8])
    known = random.random(minutes) < random.choice([0.5, 1.0])
    came &= known
    of_hour = random.integers(0, 4, days * 24).astype(float)
    masked, unjudged = (np.repeat(random.random(minutes // 60) < 0.1, 60) for _ in range(2))
    judged = np.array([False, False, True, True])
    # Something comes and is known on each day, and a gap may reach from one into the next.
    came[DAY // 2 :: DAY] = known[DAY // 2 :: DAY] = True
    least = float(random.integers(1, 60))
    first_day = int(random.integers(1, 3))
    begin = first_day * DAY
    history = gap_history(came, known, of_hour, first_day, RULES, masked=masked, unjudged=unjudged)
    found = long_gaps(
        came[begin:], known[begin:], history, judged[first_day:], least, RULES,
        masked=masked[begin:], unjudged=unjudged[begin:],
    )  # fmt: skip
    expected = obvious(came, known, np.repeat(of_hour, 60), judged, least, masked, unjudged)
    assert [(gap.start + begin, gap.end + begin) for gap in found] == [
        (start, end) for start, end, _ in expected
    ]
    for gap, (_, _, score) in zip(found, expected, strict=True):
        assert isinstance(gap, LongGap)
        assert gap.score == pytest.approx(score)
        assert gap.start < gap.alarm + 1 <= gap.end


def test_usual_counts_of_few_days_are_zero_on_the_first():
    usual = usual_counts(np.full(3 * DAY, 2.0), calendar(3))
    assert usual[:24].max() == 0.0
    assert usual[24:].min() == 2.0
