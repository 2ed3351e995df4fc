"""When clients and dispatchers do the next thing. In: their rows. Out: ``W.NEXT_AT`` and ``D.NEXT_AT``, from which the clock chooses.

A client's messages are counted when somebody looks; its next time is only that of what another part of the simulation waits for.
"""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import NEVER, C, D, F, H, N, P, Q, R, W
from throttlescope.models.throttling.kernel.rows import (
    dispatcher_at,
    flow_at,
    nack_at,
    port_at,
    queue_at,
    send_at,
    worker_at,
)


@compiled
def schedule_dispatcher(a, d):
    """When a dispatcher does the next thing."""
    dispatcher = dispatcher_at(a, d)
    at = min(a[dispatcher + D.READING_DONE_AT], a[dispatcher + D.REPLAYING_DONE_AT])
    at = min(at, min(a[dispatcher + D.TIMER_AT], a[dispatcher + D.TICK_AT]))
    at = min(at, min(a[dispatcher + D.ARMED_DONE_AT], a[dispatcher + D.POLL_AT]))
    at = min(at, a[dispatcher + D.FOLLOW_UP_AT])
    if a[dispatcher + D.SENDS_HEAD] < a[dispatcher + D.SENDS_TAIL]:
        at = min(at, a[send_at(a, d, a[dispatcher + D.SENDS_HEAD]) + C.AT])
    a[dispatcher + D.NEXT_AT] = at


@compiled
def ask_poll(a, d):
    """Poll once, after everything else at the clients in this microsecond."""
    if a[dispatcher_at(a, d) + D.POLL_AT] == NEVER:
        a[dispatcher_at(a, d) + D.POLL_AT] = a[R.NOW]
        schedule_dispatcher(a, d)


@compiled
def schedule_worker(a, w):
    """When a client does the next thing that somebody waits for."""
    worker = worker_at(a, w)
    at = a[worker + W.TIMEOUT_AT]
    if a[worker + W.FLOWS_HEAD] < a[worker + W.FLOWS_TAIL]:
        at = a[flow_at(a, w, a[worker + W.FLOWS_HEAD]) + F.AT]
    first, count = a[worker + W.FIRST_PORT], a[worker + W.PORT_COUNT]
    timed = False
    for index in range(first, first + count):
        port = port_at(a, a[a[H.WORKER_PORTS] + index])
        at = min(at, min(a[port + P.RECONNECT_AT], a[port + P.NACK_TIMER_AT]))
        timed = a[dispatcher_at(a, a[port + P.DISPATCHER]) + D.NACK_TIMER_US] > 0
    if a[worker + W.NACKS_HEAD] < a[worker + W.NACKS_TAIL] and not timed:
        at = min(at, a[nack_at(a, w, a[worker + W.NACKS_HEAD]) + N.DUE_AT])
    if a[worker + W.BUSY] == 1 and a[worker + W.HUNG] == 0:
        for index in range(first, first + count):
            p = a[a[H.WORKER_PORTS] + index]
            port = port_at(a, p)
            dispatcher = dispatcher_at(a, a[port + P.DISPATCHER])
            if a[dispatcher + D.EXACT] == 1 or a[port + P.BLOCKED] == 1 or a[dispatcher + D.BLOCKED] == 1:
                at = min(at, a[worker + W.BUSY_UNTIL])
                continue
            needed = max(1, a[port + P.QUEUE] // 2) - a[port + P.TAKEN]
            if needed <= 0:
                at = min(at, a[worker + W.BUSY_UNTIL])
            elif a[port + P.WAITING] >= needed:
                ahead = needed - 1 if count == 1 else _messages_ahead(a, w, p, needed)
                at = min(at, a[worker + W.BUSY_UNTIL] + ahead * a[worker + W.PROCESSING_US])
    a[worker + W.NEXT_AT] = at


@compiled
def _messages_ahead(a, w, p, needed):
    """Messages in the queue before the ``needed``-th one of a port."""
    worker = worker_at(a, w)
    ahead = 0
    for number in range(a[worker + W.QUEUE_HEAD], a[worker + W.QUEUE_TAIL]):
        item = queue_at(a, w, number)
        if a[item + Q.PORT] == p:
            if a[item + Q.LEFT] >= needed:
                return ahead + needed - 1
            needed -= a[item + Q.LEFT]
        ahead += a[item + Q.LEFT]
    return ahead
