"""Connections of clients: they join, leave, hang, are cut off and come back. In: a client or a dispatcher, and a time. Out: changed rows."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import request
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.draining import note_moves
from throttlescope.models.throttling.kernel.entries import add_again
from throttlescope.models.throttling.kernel.fields import DONE, NEVER, SINGLE, D, E, H, P, Q, R, W
from throttlescope.models.throttling.kernel.ports import active_port, connected_port
from throttlescope.models.throttling.kernel.redelivery import cancel_reads, forget, has_unacknowledged, rewind
from throttlescope.models.throttling.kernel.rows import (
    current_at,
    dispatcher_at,
    list_at,
    port_at,
    ports_of,
    ports_of_worker,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import ask_poll, schedule_worker


@compiled
def connect(a, p, now):
    """A consumer connects and requests messages up to its queue size."""
    port = port_at(a, p)
    a[port + P.CONNECTED] = 1
    a[port + P.RECONNECT_AT] = NEVER
    a[port + P.PERMITS] = a[port + P.PARKED] = a[port + P.UNACKED] = a[port + P.TAKEN] = 0
    a[port + P.BLOCKED] = 0
    a[port + P.SESSION] += 1
    a[port + P.EPOCH] += 1
    status = request(
        a, a[port + P.WORKER], now + a[R.FLOW_US], p, max(1, a[port + P.QUEUE]), a[port + P.SESSION]
    )
    schedule_worker(a, a[port + P.WORKER])
    return status if status != DONE else note_moves(a, a[port + P.DISPATCHER])


@compiled
def join(a, w, now):
    """A client connects to all its partitions."""
    worker = worker_at(a, w)
    if a[worker + W.JOINED] == 1:
        return DONE
    a[worker + W.JOINED] = 1
    for place in ports_of_worker(a, worker):
        status = connect(a, a[place], now)
        if status != DONE:
            return status
    return DONE


@compiled
def leave(a, w, now):
    """A client closes; what it had not acknowledged goes to others, or is read again when there are none."""
    worker = worker_at(a, w)
    if a[worker + W.JOINED] == 0:
        return DONE
    a[worker + W.JOINED] = 0
    for place in ports_of_worker(a, worker):
        status = _disconnect(a, a[place])
        if status != DONE:
            return status
    a[worker + W.QUEUE_HEAD] = a[worker + W.QUEUE_TAIL]
    a[worker + W.BUSY] = 0
    a[worker + W.TIMEOUT_AT] = NEVER
    a[current_at(a, w) + Q.PORT] = -1
    schedule_worker(a, w)
    return DONE


@compiled
def _disconnect(a, p):
    """A consumer closes."""
    port = port_at(a, p)
    d = a[port + P.DISPATCHER]
    dispatcher = dispatcher_at(a, d)
    single = a[dispatcher + D.KIND] == SINGLE
    was_active = single and active_port(a, d) == p
    a[port + P.CONNECTED] = 0
    a[port + P.RECONNECT_AT] = NEVER
    a[port + P.SESSION] += 1
    _, others = connected_port(a, d, 0)
    status = DONE
    if single:
        if was_active or has_unacknowledged(a, p):
            status = cancel_reads(a, d)
    elif others == 0:
        status = cancel_reads(a, d)
        for at in range(a[dispatcher + D.REPLAY_COUNT]):
            if status == DONE:
                row = list_at(a, H.REPLAY, d, at)
                status = add_again(a, d, a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED])
        for at in range(a[dispatcher + D.DELAYED_START], a[dispatcher + D.DELAYED_END]):
            if status == DONE:
                status = add_again(a, d, a[list_at(a, H.DELAYED, d, at) + E.ENTRY], 0, 0)
        a[dispatcher + D.REPLAY_COUNT] = 0
        a[dispatcher + D.DELAYED_START] = a[dispatcher + D.DELAYED_END] = 0
    if status != DONE:
        return status
    a[dispatcher + D.TOTAL_PERMITS] -= a[port + P.PERMITS]
    a[dispatcher + D.UNACKED] -= a[port + P.UNACKED]
    a[port + P.PERMITS] = a[port + P.UNACKED] = 0
    status = forget(a, p, others > 0 and not single, -1)
    if status == DONE:
        status = note_moves(a, d)
    if others == 0:
        a[dispatcher + D.TOTAL_PERMITS] = a[dispatcher + D.UNACKED] = 0
        a[dispatcher + D.BLOCKED] = 0
    elif (
        a[dispatcher + D.MAX_UNACKED_SUBSCRIPTION] > 0
        and a[dispatcher + D.UNACKED] < a[dispatcher + D.MAX_UNACKED_SUBSCRIPTION] // 2
    ):
        a[dispatcher + D.BLOCKED] = 0
    if others > 0:
        ask_poll(a, d)
    return status


@compiled
def hang(a, w, now):
    """A client stops in the middle of a message."""
    worker = worker_at(a, w)
    if a[worker + W.HUNG] == 0:
        a[worker + W.HUNG] = 1
        a[worker + W.HUNG_LEFT_US] = max(0, a[worker + W.BUSY_UNTIL] - now)
        schedule_worker(a, w)


@compiled
def resume(a, w, now):
    """A client goes on after it hung."""
    worker = worker_at(a, w)
    if a[worker + W.HUNG] == 0:
        return
    a[worker + W.HUNG] = 0
    if a[worker + W.BUSY] == 1 and a[current_at(a, w) + Q.PORT] >= 0:
        a[worker + W.BUSY_UNTIL] = now + a[worker + W.HUNG_LEFT_US]
    elif a[worker + W.QUEUE_HEAD] < a[worker + W.QUEUE_TAIL]:
        a[worker + W.BUSY] = 1
        a[worker + W.BUSY_UNTIL] = now
        a[current_at(a, w) + Q.PORT] = -1
    schedule_worker(a, w)


@compiled
def disconnect_all(a, d, now):
    """The dispatcher closes; its consumers are cut off and come back."""
    dispatcher = dispatcher_at(a, d)
    status = cancel_reads(a, d)
    for at in range(a[dispatcher + D.REPLAY_COUNT]):
        if status == DONE:
            row = list_at(a, H.REPLAY, d, at)
            status = add_again(a, d, a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED])
    for at in range(a[dispatcher + D.DELAYED_START], a[dispatcher + D.DELAYED_END]):
        if status == DONE:
            status = add_again(a, d, a[list_at(a, H.DELAYED, d, at) + E.ENTRY], 0, 0)
    if status != DONE:
        return status
    a[dispatcher + D.REPLAY_COUNT] = 0
    a[dispatcher + D.DELAYED_START] = a[dispatcher + D.DELAYED_END] = 0
    a[dispatcher + D.TOTAL_PERMITS] = a[dispatcher + D.UNACKED] = a[dispatcher + D.ROUND_ROBIN] = 0
    a[dispatcher + D.BLOCKED] = 0
    a[dispatcher + D.BACKOFF_US] = 1_000
    a[dispatcher + D.DRAINING_COUNT] = 0
    for place in ports_of(a, dispatcher):
        p = a[place]
        port = port_at(a, p)
        status = rewind(a, p, -1)
        if status != DONE:
            return status
        if a[port + P.CONNECTED] == 1:
            a[port + P.CONNECTED] = 0
            a[port + P.SESSION] += 1
            a[port + P.PERMITS] = a[port + P.UNACKED] = 0
            a[port + P.RECONNECT_AT] = now + a[R.RECONNECT_US]
            schedule_worker(a, a[port + P.WORKER])
    return DONE
