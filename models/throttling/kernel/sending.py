"""Entries on their way from a dispatcher to one consumer. In: a range of entries, or rows. Out: bytes that were sent, and a status."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import deliver
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import DONE, SINGLE, D, E, G, P, T
from throttlescope.models.throttling.kernel.logs import bytes_of, bytes_of_range
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_of, port_at, ports_of, totals_at
from throttlescope.models.throttling.kernel.schedule import schedule_worker


@compiled
def send_range(a, d, p, first, count, now):
    """Send entries that nothing tells apart; returns bytes and a status."""
    dispatcher = dispatcher_at(a, d)
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    size = bytes_of_range(a, a[dispatcher + D.LOG], first, count)
    account(a, d, p, count, count * msgs, 0, size)
    return size, deliver(a, p, first, count, 0, 0, now)


@compiled
def send_list(a, d, p, rows, start, end, now):
    """Send rows of a list one by one; returns bytes and a status."""
    dispatcher = dispatcher_at(a, d)
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    size = 0
    acked = 0
    for at in range(start, end):
        size += bytes_of(a, a[dispatcher + D.LOG], a[rows + at * E.WIDTH + E.ENTRY])
        acked += a[rows + at * E.WIDTH + E.ACKED]
        if a[rows + at * E.WIDTH + E.REDELIVERIES] > 0:
            a[totals_at(a, d) + T.REDELIVERED] += 1
    account(a, d, p, end - start, (end - start) * msgs, acked, size)
    for at in range(start, end):
        status = deliver(
            a,
            p,
            a[rows + at * E.WIDTH + E.ENTRY],
            1,
            a[rows + at * E.WIDTH + E.REDELIVERIES],
            a[rows + at * E.WIDTH + E.ACKED],
            now,
        )
        if status != DONE:
            return size, status
    return size, DONE


@compiled
def account(a, d, p, entries, messages, acked, size):
    """Note at the broker what was sent to a consumer, which may block it or its subscription."""
    dispatcher = dispatcher_at(a, d)
    port = port_at(a, p)
    a[port + P.PERMITS] -= messages - acked
    a[dispatcher + D.TOTAL_PERMITS] -= messages - acked
    if entries > 0:
        # Every entry of a log has as many messages, so their mean is that number.
        a[port + P.MSGS_PER_ENTRY] = messages // entries
    if a[dispatcher + D.KIND] != SINGLE and a[log_of(a, dispatcher) + G.PERSISTENT] == 1:
        a[port + P.UNACKED] += messages - acked
        a[dispatcher + D.UNACKED] += messages - acked
        if 0 < a[dispatcher + D.MAX_UNACKED_CONSUMER] <= a[port + P.UNACKED]:
            a[port + P.BLOCKED] = 1
        if (
            0 < a[dispatcher + D.MAX_UNACKED_SUBSCRIPTION] <= a[dispatcher + D.UNACKED]
            and a[dispatcher + D.BLOCKED] == 0
        ):
            a[dispatcher + D.BLOCKED] = 1
            # From now on every acknowledgement matters.
            for place in ports_of(a, dispatcher):
                schedule_worker(a, a[port_at(a, a[place]) + P.WORKER])
    totals = totals_at(a, d)
    a[totals + T.OUT_MESSAGES] += messages
    a[totals + T.OUT_BYTES] += size
    a[totals + T.OUT_ENTRIES] += entries
