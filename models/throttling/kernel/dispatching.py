"""The broker side, second half: who gets what a read brought, and what follows. In: a read that is done. Out: deliveries and the next poll."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import advance_clients
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.dispatch_key_shared import dispatch_keys
from throttlescope.models.throttling.kernel.dispatch_shared import dispatch_evenly, dispatch_shared
from throttlescope.models.throttling.kernel.dispatch_single import dispatch_single
from throttlescope.models.throttling.kernel.fields import DONE, KEY_SHARED, SINGLE, D, P, R, T
from throttlescope.models.throttling.kernel.logs import published
from throttlescope.models.throttling.kernel.ports import active_port, next_available
from throttlescope.models.throttling.kernel.reading import arm, poll, retry
from throttlescope.models.throttling.kernel.rows import dispatcher_at, port_at, totals_at
from throttlescope.models.throttling.kernel.sending import send_range


@compiled
def dispatch(a, d, rows, first, count, now):
    """Send what a read brought (a range from ``first``, or rows), charge for it, and read on."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.KIND] == SINGLE:
        return dispatch_single(a, d, rows, first, count, now)
    if a[R.ANONYMOUS] == 1:
        status, even = dispatch_evenly(a, d, rows, first, count, now)
        if status != DONE:
            return status
        if even:
            a[dispatcher + D.BACKOFF_US] = 1_000
            return poll(a, d, now)
    status = advance_clients(a, d, now)
    if status != DONE:
        return status
    if a[dispatcher + D.KIND] == KEY_SHARED:
        status, processed = dispatch_keys(a, d, rows, count, now)
    else:
        status, processed = dispatch_shared(a, d, rows, first, count, now)
    if status != DONE:
        return status
    if processed > 0 or (a[R.RETRY_BACKOFF] == 0 and a[dispatcher + D.KIND] != KEY_SHARED):
        a[dispatcher + D.BACKOFF_US] = 1_000
        return poll(a, d, now)
    retry(a, d, now)
    return DONE


@compiled
def dispatch_volatile(a, d, now):
    """A non-persistent topic: an entry goes to a consumer with permits or is dropped."""
    dispatcher = dispatcher_at(a, d)
    until = published(a, a[dispatcher + D.LOG], now + 1)
    status = advance_clients(a, d, now)
    if status != DONE:
        return status
    while a[dispatcher + D.POSITION] < until:
        entry = a[dispatcher + D.POSITION]
        a[dispatcher + D.POSITION] += 1
        a[dispatcher + D.GONE] += 1
        p = active_port(a, d) if a[dispatcher + D.KIND] == SINGLE else next_available(a, d)
        if p < 0 or a[port_at(a, p) + P.PERMITS] <= 0 or a[port_at(a, p) + P.BLOCKED] == 1:
            a[totals_at(a, d) + T.DROPPED] += 1
            continue
        _, status = send_range(a, d, p, entry, 1, now)
        if status != DONE:
            return status
    arm(a, d)
    return DONE
