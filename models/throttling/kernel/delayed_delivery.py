"""Delayed delivery: entries whose time has not come, and the timer that wakes their dispatcher. In: an entry. Out: yes or no, a time."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import D, E, G, H, R
from throttlescope.models.throttling.kernel.logs import time_of
from throttlescope.models.throttling.kernel.rows import dispatcher_at, list_at, log_at


@compiled
def is_not_due(a, d, entry, now):
    """Whether an entry's delivery time has not come."""
    g = a[dispatcher_at(a, d) + D.LOG]
    return time_of(a, g, entry) + a[log_at(a, g) + G.DELIVER_AFTER_US] > now + a[R.DELAY_TICK_US]


@compiled
def arm_tick(a, d):
    """Wake up when the first delayed entry is due, at most once per tick."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.DELAYED_START] == a[dispatcher + D.DELAYED_END]:
        return
    g = a[dispatcher + D.LOG]
    due = (
        time_of(a, g, a[list_at(a, H.DELAYED, d, a[dispatcher + D.DELAYED_START]) + E.ENTRY])
        + a[log_at(a, g) + G.DELIVER_AFTER_US]
    )
    at = max(due, a[dispatcher + D.LAST_TICK_AT] + a[R.DELAY_TICK_US])
    if at < a[dispatcher + D.TICK_AT]:
        a[dispatcher + D.TICK_AT] = at
