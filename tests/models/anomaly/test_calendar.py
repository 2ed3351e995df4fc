"""Hours of the week by the local clock, over both changes of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.models.anomaly.calendar import calendar_of

DAY_MS = 86_400_000


def midnight(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def of(first, days, zone, weeks=4):
    first_ms = midnight(first)
    return calendar_of(first_ms, first_ms + days * DAY_MS, zone, weeks)


@pytest.mark.parametrize(
    "zone",
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Chatham"],
)
def test_hour_is_named_by_local_start(zone):
    found = of("2026-09-21", 70, zone)
    for hour, label in enumerate(found.hour_of_week.tolist()):
        local = datetime.fromtimestamp(found.first_ms / 1000 + hour * 3600, ZoneInfo(zone))
        assert label == local.weekday() * 24 + local.hour


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_likes_are_same_hours_of_earlier_weeks(zone):
    found = of("2026-09-21", 70, zone)
    labels = found.hour_of_week
    for hour in range(30 * 24, found.hours):
        likes = [at for at in found.earlier[hour].tolist() if at >= 0]
        assert likes == sorted(likes, reverse=True)
        assert {labels[at] for at in likes} == {labels[hour]}
        assert all(24 <= hour - at <= 4 * 168 + 1 for at in likes)
        assert 3 <= len(likes) <= 5


def test_clock_change_does_not_shift_hours():
    """Nine in the morning in Berlin is an hour later in UTC after 25 October; its likes are nine in the morning."""
    found = of("2026-09-28", 35, "Europe/Berlin")
    before = (midnight("2026-10-20") - found.first_ms) // 3_600_000 + 7
    after = (midnight("2026-10-27") - found.first_ms) // 3_600_000 + 8
    assert found.hour_of_week[before] == found.hour_of_week[after] == 24 + 9
    assert found.earlier[after][0] == before
    assert after - before == 7 * 24 + 1


def test_repeated_hour_is_not_its_own_like():
    found = of("2026-09-28", 35, "Europe/Berlin")
    first = (midnight("2026-10-25") - found.first_ms) // 3_600_000
    assert found.hour_of_week[first] == found.hour_of_week[first + 1] == 6 * 24 + 2
    assert first not in found.earlier[first + 1]
    # A week later both are likes.
    later = np.flatnonzero(found.hour_of_week == 6 * 24 + 2)[-1]
    assert {first, first + 1} <= set(found.earlier[later].tolist())


def test_skipped_spring_hour_has_no_row():
    found = of("2026-03-23", 14, "Europe/Berlin")
    counts = np.bincount(found.hour_of_week[: 7 * 24 + 23], minlength=168)
    assert counts[6 * 24 + 2] == 0


@pytest.mark.parametrize("zone", ["", "Berlin", "../etc/passwd", "Europe/Nowhere", "utc\x00"])
def test_a_zone_that_is_none_is_refused(zone):
    with pytest.raises(InputError, match="no such time zone"):
        of("2026-09-21", 7, zone)


def test_range_of_partial_days_is_refused():
    with pytest.raises(InputError, match="midnights"):
        calendar_of(1, DAY_MS, "UTC", 4)
