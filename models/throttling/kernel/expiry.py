"""Expiry: entries that are older than their topic's TTL leave the backlog. In: a time. Out: a status."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import advance_all
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import DONE, NEVER, D, E, G, H, N, P, Q, T, W
from throttlescope.models.throttling.kernel.logs import published
from throttlescope.models.throttling.kernel.reading import arm
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    current_at,
    dispatcher_at,
    list_at,
    log_of,
    nack_at,
    port_at,
    ports_of,
    queue_at,
    read_at,
    totals_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import schedule_dispatcher


@compiled
def expire(a, now):
    """Entries older than the topic's TTL leave the backlog without having been dispatched."""
    status = advance_all(a, now - 1)
    if status != DONE:
        return status
    for d in range(a[H.DISPATCHER_COUNT]):
        dispatcher = dispatcher_at(a, d)
        ttl = a[log_of(a, dispatcher) + G.TTL_US]
        if ttl == 0 or a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
            continue
        below = published(a, a[dispatcher + D.LOG], now - ttl)
        low = a[dispatcher + D.EXPIRED_BELOW]
        if below <= low:
            continue
        expired = _unacknowledged_between(a, d, low, below)
        left = a[dispatcher + D.AGAIN_START]
        while left < a[dispatcher + D.AGAIN_END] and a[list_at(a, H.AGAIN, d, left) + E.ENTRY] < below:
            left += 1
            expired += 1
        a[dispatcher + D.AGAIN_START] = left
        if a[dispatcher + D.AGAIN_START] == a[dispatcher + D.AGAIN_END]:
            a[dispatcher + D.AGAIN_START] = a[dispatcher + D.AGAIN_END] = 0
        gone = 0
        while gone < a[dispatcher + D.REPLAY_COUNT] and a[list_at(a, H.REPLAY, d, gone) + E.ENTRY] < below:
            gone += 1
        for at in range(gone, a[dispatcher + D.REPLAY_COUNT]):
            copy_row(a, list_at(a, H.REPLAY, d, at - gone), list_at(a, H.REPLAY, d, at), E.WIDTH)
        a[dispatcher + D.REPLAY_COUNT] -= gone
        expired += gone
        while (
            a[dispatcher + D.DELAYED_START] < a[dispatcher + D.DELAYED_END]
            and a[list_at(a, H.DELAYED, d, a[dispatcher + D.DELAYED_START]) + E.ENTRY] < below
        ):
            a[dispatcher + D.DELAYED_START] += 1
            expired += 1
        if a[dispatcher + D.READING_DONE_AT] != NEVER:
            if a[dispatcher + D.READING_FIRST] >= 0:
                first = a[dispatcher + D.READING_FIRST]
                expired += _waited_for(a, d, first, first + a[dispatcher + D.READING_COUNT], low, below)
            else:
                for at in range(a[dispatcher + D.READING_COUNT]):
                    expired += _is_waited_for(a, d, a[read_at(a, H.READING, d, at) + E.ENTRY], low, below)
        if a[dispatcher + D.REPLAYING_DONE_AT] != NEVER:
            for at in range(a[dispatcher + D.REPLAYING_COUNT]):
                expired += _is_waited_for(a, d, a[read_at(a, H.REPLAYING, d, at) + E.ENTRY], low, below)
        if below > a[dispatcher + D.POSITION]:
            expired += _waited_for(a, d, a[dispatcher + D.POSITION], below, low, below)
            a[dispatcher + D.POSITION] = below
        a[dispatcher + D.GONE] += expired
        a[totals_at(a, d) + T.EXPIRED] += expired
        a[dispatcher + D.EXPIRED_BELOW] = below
        if a[dispatcher + D.ARMED_COUNT] > 0:
            arm(a, d)
            schedule_dispatcher(a, d)
    return DONE


@compiled
def _waited_for(a, d, first, last, low, high):
    """How many of the entries [first, last) are in [low, high) and were not acknowledged late."""
    first, last = max(first, low), min(last, high)
    found = max(0, last - first)
    if found > 0:
        for number in range(a[dispatcher_at(a, d) + D.ACKED_LATE_COUNT]):
            if first <= a[list_at(a, H.ACKED_LATE, d, number) + E.ENTRY] < last:
                found -= 1
    return found


@compiled
def _is_waited_for(a, d, entry, low, high):
    """The same for one entry."""
    return _waited_for(a, d, entry, entry + 1, low, high)


@compiled
def _unacknowledged_between(a, d, low, high):
    """Unacknowledged entries at the clients in [low, high)."""
    dispatcher = dispatcher_at(a, d)
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    found = 0
    for place in ports_of(a, dispatcher):
        p = a[place]
        port = port_at(a, p)
        w = a[port + P.WORKER]
        worker = worker_at(a, w)
        current = current_at(a, w)
        in_queue = False
        for number in range(a[worker + W.QUEUE_HEAD], a[worker + W.QUEUE_TAIL]):
            item = queue_at(a, w, number)
            if a[item + Q.PORT] != p or a[item + Q.EPOCH] != a[port + P.EPOCH]:
                continue
            done = (a[item + Q.ENTRIES] * msgs - a[item + Q.ACKED] - a[item + Q.LEFT]) // msgs
            first, last = a[item + Q.ENTRY] + done, a[item + Q.ENTRY] + a[item + Q.ENTRIES]
            found += _waited_for(a, d, first, last, low, high)
            if a[current + Q.PORT] == p and first <= a[current + Q.ENTRY] < last:
                in_queue = True
        if (
            a[worker + W.BUSY] == 1
            and a[current + Q.PORT] == p
            and a[current + Q.EPOCH] == a[port + P.EPOCH]
            and not in_queue
        ):
            found += _is_waited_for(a, d, a[current + Q.ENTRY], low, high)
        for number in range(a[worker + W.NACKS_HEAD], a[worker + W.NACKS_TAIL]):
            row = nack_at(a, w, number)
            if a[row + N.PORT] == p and a[row + N.EPOCH] == a[port + P.EPOCH]:
                found += _is_waited_for(a, d, a[row + N.ENTRY], low, high)
    for number in range(a[dispatcher + D.NEVER_ACKED_COUNT]):
        found += _is_waited_for(a, d, a[list_at(a, H.NEVER_ACKED, d, number) + E.ENTRY], low, high)
    return found
