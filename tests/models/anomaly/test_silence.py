"""Silence is an anomaly where there used to be samples, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.anomaly import detectors
from tests.models.anomaly.traffic import DAY, FIRST_MS
from throttlescope.models.anomaly.baseline import hour_sums, ready_days
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.rules import RULES

DAYS = 30
FROM = 20


def silences_of(present, covered=None, **more):
    covered = np.ones(len(present), bool) if covered is None else covered
    calendar = calendar_of(FIRST_MS, FIRST_MS + len(present) // DAY * 86_400_000, "UTC", RULES.weeks)
    found = detectors.silences_of(present, covered, calendar, FROM, **more)
    ready = ready_days(hour_sums(present & covered), FROM, RULES)
    return [(one.start, one.end) for one in found], found, ~np.repeat(ready, DAY)


@pytest.fixture
def present():
    return np.random.default_rng(2).random(DAYS * DAY) > 0.001


def test_samples_that_stop_are_found(present):
    present[25 * DAY + 100 : 25 * DAY + 160] = False
    spans, (one,), _ = silences_of(present)
    assert spans == [(25 * DAY + 100, 25 * DAY + 160)]
    assert one.alarm - one.start == RULES.silent_minutes - 1
    assert one.score == pytest.approx(12)
    assert not one.open


def test_a_short_gap_is_none(present):
    present[25 * DAY + 100 : 25 * DAY + 104] = False
    assert silences_of(present)[0] == []


def test_gaps_that_are_usual_are_none(present):
    """A topic that is unloaded for twenty minutes every night."""
    for day in range(DAYS):
        present[day * DAY + 100 : day * DAY + 120] = False
    assert silences_of(present)[0] == []


def test_cluster_gap_is_no_silence(present):
    covered = np.ones(len(present), bool)
    covered[25 * DAY + 100 : 25 * DAY + 200] = False
    assert silences_of(present, covered)[0] == []
    # The subscription alone stays away before and after: one silence, the cluster's gap not counted.
    present[25 * DAY + 90 : 25 * DAY + 220] = False
    spans, (one,), _ = silences_of(present, covered)
    assert spans == [(25 * DAY + 90, 25 * DAY + 220)]
    assert one.score == pytest.approx(30 / 5)


def test_a_move_is_a_mark(present):
    present[25 * DAY + 100 : 25 * DAY + 110] = False
    unjudged = np.zeros(len(present), bool)
    unjudged[25 * DAY + 97 : 25 * DAY + 102] = True
    assert silences_of(present, unjudged=unjudged)[0] == []
    present[25 * DAY + 100 : 25 * DAY + 180] = False
    assert len(silences_of(present, unjudged=unjudged)[0]) == 1


def test_deleted_subscription_stops_being_silent(present):
    present[23 * DAY + 600 :] = False
    spans, (one,), _ = silences_of(present)
    assert spans == [(23 * DAY + 600, 25 * DAY)]
    assert one.adopted


def test_who_comes_back_is_missed_again(present):
    present[23 * DAY + 600 : 26 * DAY + 600] = False
    present[28 * DAY + 600 : 28 * DAY + 700] = False
    assert silences_of(present)[0] == [(23 * DAY + 600, 25 * DAY), (28 * DAY + 600, 28 * DAY + 700)]


def test_an_open_silence_says_so(present):
    present[-30:] = False
    _, (one,), _ = silences_of(present)
    assert one.open


def test_what_never_had_samples_is_not_missed():
    assert silences_of(np.zeros(DAYS * DAY, bool))[0] == []
    late = np.zeros(DAYS * DAY, bool)
    late[22 * DAY :] = True
    late[25 * DAY : 25 * DAY + 60] = False
    spans, _, learning = silences_of(late)
    assert spans == []
    assert learning[FROM * DAY :].all()
