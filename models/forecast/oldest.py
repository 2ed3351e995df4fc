"""How old the oldest message of a backlog is, and when it will be too old. In: a trace. Out: ages and times in seconds.

It follows from the arrivals, as ``models/backlog_age.py`` says; unlike there, every moment of a trace has an age, also the future ones.
Its age goes up by a second per second less what consumers work off: at every moment it is the age of the message that
they have come to. The slow twin, which moves every single message, is ``tests/naive/forecast_oldest.py``.

Messages that were acknowledged out of order make it look younger than it is. Where the backlog is older than the known
arrivals, those before are taken to have come like them; a backlog of more than twice the known arrivals has no known age.
"""

from __future__ import annotations

import math

import numpy as np

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.backlog_age import time_since_s
from throttlescope.models.forecast.trace import Trace


def arrivals_before(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Entries that came since, by how long ago; from now backwards.

    Returns
    -------
    ago_s, entries : ndarray of float64
        ``entries[n]`` came within the last ``ago_s[n]``; both begin with 0 and rise. Behind what is known they go on as they
        were on average, for as long again.
    """
    spans = np.diff(trace.times_ms)[::-1] / SECOND_MS
    came = trace.in_entries[1:][::-1]
    known = len(came) if not np.isnan(came).any() else int(np.argmax(np.isnan(came)))
    ago_s, entries = np.cumsum(spans[:known]), np.cumsum(came[:known])
    if not len(ago_s):
        return np.zeros(1), np.zeros(1)
    return np.r_[0.0, ago_s, 2 * ago_s[-1]], np.r_[0.0, entries, 2 * entries[-1]]


def oldest_age_s(trace: Trace) -> float | None:
    """Age of the oldest message of the backlog at the newest point.

    Returns
    -------
    float or None
        0 without a backlog; None where the backlog is more than twice the known arrivals.
    """
    ago_s, entries = arrivals_before(trace)
    return time_since_s(ago_s, entries, float(trace.backlog_entries[-1]))


def seconds_until_age(trace: Trace, age_s: float, acked_per_s: float, in_per_s: float = 0.0) -> float | None:
    """When the oldest message will be so old, if consumers go on at a rate.

    Parameters
    ----------
    age_s : float
        The age that is waited for.
    acked_per_s : float
        Entries per second that consumers work off; 0: none.
    in_per_s : float
        Entries per second that come from now on.

    Returns
    -------
    float or None
        0 where it is that old already; ``inf`` where the consumers come to younger messages in time; None where its age is
        not known.
    """
    ago_s, entries = arrivals_before(trace)
    backlog = float(trace.backlog_entries[-1])
    now_s = time_since_s(ago_s, entries, backlog)
    if now_s is None:
        return None
    if now_s >= age_s or acked_per_s <= 0:
        return max(0.0, age_s - now_s) if backlog > 0 else math.inf
    # Between two points arrivals are even, so the oldest age goes in straight pieces: after x seconds consumers
    # have come to the message with backlog - acked * x behind it. Corners are where that is one of the points.
    corner = int(np.searchsorted(entries, backlog))
    behind = np.r_[backlog, entries[:corner][::-1]]
    after_s = (backlog - behind) / acked_per_s
    ages = np.r_[now_s, ago_s[:corner][::-1]] + after_s
    reached = np.flatnonzero(ages >= age_s)
    if not len(reached):
        # All that is there now is gone in time. What comes later waits longer only if more comes than is worked off.
        if in_per_s <= acked_per_s:
            return math.inf
        published_s = (age_s - ages[-1]) / (in_per_s / acked_per_s - 1)
        return float(published_s + age_s)
    last = int(reached[0])
    rise, length = ages[last] - ages[last - 1], after_s[last] - after_s[last - 1]
    return (
        float(after_s[last - 1] + length * (age_s - ages[last - 1]) / rise)
        if rise > 0
        else float(after_s[last])
    )
