"""Retry-letter topics: what clients reconsume later is published there. In: an entry and a time. Out: a status, and whether it is dead."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import DONE, LIST_FULL, NEVER, D, G, H, R
from throttlescope.models.throttling.kernel.logs import mixed
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_of
from throttlescope.models.throttling.kernel.schedule import schedule_dispatcher


@compiled
def reconsume(a, d, entry, now):
    """Publish an entry's messages to the retry-letter topic, if that is their fate; returns a status, and whether they are dead."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.RETRY_BELOW] == 0:
        return DONE, False
    log = log_of(a, dispatcher)
    again = a[log + G.ATTEMPTS] >= 0
    attempt = 0
    if again:
        attempt = a[a[H.ATTEMPTS] + a[log + G.ATTEMPTS] * a[H.LIST_SIZE] + entry]
    if attempt >= a[dispatcher + D.RETRY_TIMES] or (
        not again and mixed(entry, a[log + G.SALT] + 2) >= a[dispatcher + D.RETRY_BELOW]
    ):
        return DONE, False
    if 0 <= a[dispatcher + D.MAX_RECONSUME] <= attempt:
        return DONE, True
    other = a[dispatcher + D.RETRY_DISPATCHER]
    retry = log_of(a, dispatcher_at(a, other))
    for _ in range(a[log + G.MSGS]):
        count = a[retry + G.LISTED_COUNT]
        if count == a[H.LIST_SIZE]:
            return LIST_FULL, False
        a[a[H.LISTED] + a[retry + G.FIRST_LISTED] + count] = now + a[R.FLOW_US]
        a[a[H.ATTEMPTS] + a[retry + G.ATTEMPTS] * a[H.LIST_SIZE] + count] = attempt + 1
        a[retry + G.LISTED_COUNT] = count + 1
    if (
        a[dispatcher_at(a, other) + D.ARMED_COUNT] > 0
        and a[dispatcher_at(a, other) + D.ARMED_DONE_AT] == NEVER
    ):
        a[dispatcher_at(a, other) + D.ARMED_DONE_AT] = now + a[R.FLOW_US] + a[R.NOTIFY_US]
        schedule_dispatcher(a, other)
    return DONE, False
