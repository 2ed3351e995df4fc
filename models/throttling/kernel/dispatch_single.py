"""The dispatcher of Exclusive and Failover subscriptions. In: what a read brought. Out: a write that is on its way."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import add_to_busy, advance, advance_clients, deliver
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.entries import add_again
from throttlescope.models.throttling.kernel.fields import DONE, RING_FULL, C, D, E, G, H, P, R
from throttlescope.models.throttling.kernel.logs import bytes_of_range
from throttlescope.models.throttling.kernel.ports import active_port
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_of, port_at, send_at
from throttlescope.models.throttling.kernel.sending import account, send_list, send_range


@compiled
def dispatch_single(a, d, rows, first, count, now):
    """Send a read to the active consumer; the limiters are charged when the write is complete."""
    dispatcher = dispatcher_at(a, d)
    p = active_port(a, d)
    if p < 0:
        for at in range(count):
            if first >= 0:
                status = add_again(a, d, first + at, 0, 0)
            else:
                status = add_again(
                    a,
                    d,
                    a[rows + at * E.WIDTH + E.ENTRY],
                    a[rows + at * E.WIDTH + E.REDELIVERIES],
                    a[rows + at * E.WIDTH + E.ACKED],
                )
            if status != DONE:
                return status
        return DONE
    port = port_at(a, p)
    messages = count * a[log_of(a, dispatcher) + G.MSGS]
    if a[R.ANONYMOUS] == 1 and first >= 0:
        size = bytes_of_range(a, a[dispatcher + D.LOG], first, count)
        account(a, d, p, count, messages, 0, size)
        if not add_to_busy(a, port, count, messages, now):
            status = advance(a, a[port + P.WORKER], now)
            if status == DONE:
                status = deliver(a, p, first, count, 0, 0, now)
            if status != DONE:
                return status
    else:
        status = advance_clients(a, d, now)
        if status != DONE:
            return status
        if first >= 0:
            size, status = send_range(a, d, p, first, count, now)
        else:
            size, status = send_list(a, d, p, rows, 0, count, now)
        if status != DONE:
            return status
    ring = a[H.RING_SIZE]
    if a[dispatcher + D.SENDS_TAIL] - a[dispatcher + D.SENDS_HEAD] == ring:
        return RING_FULL
    row = send_at(a, d, a[dispatcher + D.SENDS_TAIL])
    a[row + C.AT] = now + a[R.SEND_US]
    a[row + C.ENTRIES] = count
    a[row + C.SESSION] = a[port_at(a, p) + P.SESSION]
    a[row + C.PORT] = p
    a[row + C.BYTES] = size
    a[dispatcher + D.SENDS_TAIL] += 1
    return DONE
