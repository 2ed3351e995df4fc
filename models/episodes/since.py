"""Since when a backlog grows. In: its minutes around the first one above the floor. Out: a moment, and how it was found.

The growth from minute to minute is cut where its mean changes (``ruptures``, PELT with squared error). The stretch in which the
backlog crosses the floor, and those before it that grew nearly as fast, are the growth that made it; it began where they begin.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes import thresholds as t
from throttlescope.models.episodes.minutes import EpisodeMinutes

#: A change has at least so many minutes on either side; fewer cannot be distinguished from one stray sample.
_SHORTEST = 2


class Since(NamedTuple):
    """A moment, and one of ``SINCE_METHODS``."""

    at_ms: int
    method: str


def since(minutes: EpisodeMinutes, first: int) -> Since:
    """When the backlog began to grow that is above the floor at minute ``first``.

    Parameters
    ----------
    minutes : EpisodeMinutes
        With the hour before, as far as it is known.
    first : int
        Place of the episode's first minute.

    Returns
    -------
    Since
        ``change_point``; ``start_of_data`` where it grew already in the first minute that was looked at; ``first_minute``
        above the floor where there is no clear growth.
    """
    start_ms = int(minutes.start_ms[first])
    low = int(np.searchsorted(minutes.start_ms, start_ms - t.SINCE_MINUTES * MINUTE_MS))
    high = int(np.searchsorted(minutes.start_ms, start_ms + t.SINCE_MINUTES * MINUTE_MS))
    if low == first:
        return Since(start_ms, "start_of_data")
    # What comes after the peak is the drain.
    high = first + int(np.argmax(minutes.ready[first:high])) + 1
    ends_ms, ready = minutes.end_ms[low:high], minutes.ready[low:high]
    growth = np.diff(ready) / (np.diff(ends_ms) / MINUTE_MS)  # entries per minute
    noise = max(_noise(growth), t.NOISE_SHARE * float(np.median(minutes.floor[low:high])))
    cuts = change_points(growth, t.PENALTY * noise**2 * np.log(len(growth)))
    parts = list(pairwise([0, *cuts, len(growth)]))
    means = [float(growth[a:b].mean()) for a, b in parts]
    at = crossing = next(i for i, (a, b) in enumerate(parts) if a <= first - low - 1 < b)
    if len(growth) < 2 * _SHORTEST or means[crossing] <= noise:
        return Since(start_ms, "first_minute")
    while at > 0 and means[at - 1] >= t.RISE_SHARE * means[crossing]:
        at -= 1
    if at == 0:
        return Since(int(minutes.start_ms[low]), "start_of_data")
    return Since(int(ends_ms[parts[at][0]]), "change_point")


def change_points(growth: np.ndarray, penalty: float) -> list[int]:
    """Places at which a new mean begins, so that squared error + penalty x changes is least; [] under four values."""
    if len(growth) < 2 * _SHORTEST:
        return []
    # Imported here: most subscriptions have no backlog, and it brings scipy along.
    import ruptures

    # A linear kernel's cost is the squared error, and this form of PELT is compiled.
    found = ruptures.KernelCPD(kernel="linear", min_size=_SHORTEST).fit(growth).predict(pen=penalty)
    return [int(place) for place in found[:-1]]


def _noise(growth: np.ndarray) -> float:
    """Deviation of the growth about its mean, by the median of its steps: a change of the mean is one step of many."""
    if len(growth) < 2:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(growth))) / np.sqrt(2))
