"""Hours of the week in a time zone. In: a range of UTC days and an IANA zone. Out: a label per hour, and its earlier likes.

An hour is a UTC hour and is called by the local time at which it begins. Where clocks are put forward a week has one hour
less, where they are put back one hour comes twice; nothing else shifts. In a zone that is half an hour off UTC the hours are
half past by the clock on the wall, the same every week.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS

WEEK_HOURS = 168
#: Hours of the same name that are nearer than this are the hour that came twice.
_TWICE_HOURS = 24


@dataclass(frozen=True, eq=False)
class Calendar:
    """Hours of [first_ms, end_ms).

    Attributes
    ----------
    hour_of_week : ndarray of int16, shape (hours,)
        0 is Monday 00:00 local.
    earlier : ndarray of int32, shape (hours, weeks + 1)
        For each hour the hours of the same name in the weeks before, newest first; -1 where there is none.
    """

    zone: str
    first_ms: int
    end_ms: int
    hour_of_week: np.ndarray
    earlier: np.ndarray

    @property
    def hours(self) -> int:
        return len(self.hour_of_week)


@lru_cache(maxsize=8)
def calendar_of(first_ms: int, end_ms: int, zone: str, weeks: int) -> Calendar:
    """The calendar of whole UTC days.

    Raises
    ------
    InputError
        There is no such zone, or the range is not of whole UTC days.
    """
    if first_ms % DAY_MS or end_ms % DAY_MS or end_ms <= first_ms:
        raise InputError("A baseline is cut at UTC midnights", got=f"[{first_ms}, {end_ms})")
    known = zone_of(zone)
    starts_ms = range(first_ms, end_ms, BLOCK_MS)
    local = [datetime.fromtimestamp(start_ms / SECOND_MS, known) for start_ms in starts_ms]
    labels = np.array([24 * at.weekday() + at.hour for at in local], dtype=np.int16)
    earlier = np.full((len(labels), weeks + 1), -1, dtype=np.int32)
    seen: list[list[int]] = [[] for _ in range(WEEK_HOURS)]
    for hour, label in enumerate(labels.tolist()):
        likes = [
            like for like in reversed(seen[label]) if _TWICE_HOURS <= hour - like <= weeks * WEEK_HOURS + 1
        ]
        earlier[hour, : len(likes[: weeks + 1])] = likes[: weeks + 1]
        seen[label].append(hour)
    for array in (labels, earlier):
        array.setflags(write=False)
    return Calendar(zone, first_ms, end_ms, labels, earlier)


def zone_of(name: str) -> ZoneInfo:
    """An IANA zone.

    Raises
    ------
    InputError
        There is none of this name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InputError(
            "There is no such time zone",
            got=name or "nothing",
            expected="an IANA name such as Europe/Berlin or UTC",
        ) from None
