"""What is delivered again: negative acknowledgements, reads that are cancelled, clients that are gone. In: a port. Out: longer lists."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import fewer_unacked
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.entries import add_again, add_replay
from throttlescope.models.throttling.kernel.fields import DONE, NEVER, SINGLE, D, E, G, H, N, P, Q, W
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    current_at,
    dispatcher_at,
    list_at,
    log_of,
    nack_at,
    port_at,
    ports_of_worker,
    queue_at,
    read_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import ask_poll, schedule_dispatcher, schedule_worker


@compiled
def cancel_reads(a, d):
    """Forget reads and timers; what they would have brought is read again."""
    dispatcher = dispatcher_at(a, d)
    status = DONE
    if a[dispatcher + D.READING_DONE_AT] != NEVER:
        for at in range(a[dispatcher + D.READING_COUNT]):
            if a[dispatcher + D.READING_FIRST] >= 0:
                status = add_again(a, d, a[dispatcher + D.READING_FIRST] + at, 0, 0)
            else:
                row = read_at(a, H.READING, d, at)
                status = add_again(a, d, a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED])
            if status != DONE:
                return status
    if a[dispatcher + D.REPLAYING_DONE_AT] != NEVER:
        for at in range(a[dispatcher + D.REPLAYING_COUNT]):
            row = read_at(a, H.REPLAYING, d, at)
            status = add_again(a, d, a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED])
            if status != DONE:
                return status
    a[dispatcher + D.READING_DONE_AT] = a[dispatcher + D.REPLAYING_DONE_AT] = NEVER
    a[dispatcher + D.TIMER_AT] = a[dispatcher + D.TICK_AT] = NEVER
    if a[log_of(a, dispatcher) + G.PERSISTENT] == 1:
        a[dispatcher + D.ARMED_DONE_AT] = NEVER
    a[dispatcher + D.ARMED_COUNT] = 0
    schedule_dispatcher(a, d)
    return DONE


@compiled
def give_back(a, p, epoch, entry, redeliveries, acked):
    """A negative acknowledgement (or a time-out) reaches the broker."""
    port = port_at(a, p)
    d = a[port + P.DISPATCHER]
    dispatcher = dispatcher_at(a, d)
    if a[port + P.EPOCH] != epoch or a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
        return DONE
    if a[dispatcher + D.KIND] == SINGLE:
        status = cancel_reads(a, d)
        if status != DONE:
            return status
        returned = a[port + P.WAITING]
        status = rewind(a, p, entry)
        if status == DONE:
            status = add_again(a, d, entry, redeliveries + 1, acked)
        if status != DONE:
            return status
        a[port + P.PERMITS] += returned
        a[dispatcher + D.TOTAL_PERMITS] += returned
        ask_poll(a, d)
        return DONE
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    status = add_replay(
        a, d, entry, redeliveries + 1, msgs - 1 if a[dispatcher + D.BATCH_INDEX_ACK] == 1 else 0
    )
    fewer_unacked(a, p, msgs - acked)
    ask_poll(a, d)
    return status


@compiled
def nack_timers(a, w, now):
    """Timers under which a client's negative acknowledgements wait: what is due goes, the rest waits for the next time."""
    worker = worker_at(a, w)
    for place in ports_of_worker(a, worker):
        p = a[place]
        port = port_at(a, p)
        if a[port + P.NACK_TIMER_AT] > now:
            continue
        a[port + P.NACK_TIMER_AT] = NEVER
        kept = a[worker + W.NACKS_HEAD]
        end = a[worker + W.NACKS_TAIL]
        for number in range(a[worker + W.NACKS_HEAD], end):
            row = nack_at(a, w, number)
            if a[row + N.PORT] == p and a[row + N.DUE_AT] <= now:
                status = give_back(
                    a, p, a[row + N.EPOCH], a[row + N.ENTRY], a[row + N.REDELIVERIES], a[row + N.ACKED]
                )
                if status != DONE:
                    return status
                continue
            if a[row + N.PORT] == p:
                a[port + P.NACK_TIMER_AT] = (
                    now + a[dispatcher_at(a, a[port + P.DISPATCHER]) + D.NACK_TIMER_US]
                )
            if number != kept:
                copy_row(a, nack_at(a, w, kept), row, N.WIDTH)
            kept += 1
        a[worker + W.NACKS_TAIL] = kept
    return DONE


@compiled
def is_timed(a, p):
    """Whether the negative acknowledgements of a port wait for a timer."""
    return a[dispatcher_at(a, a[port_at(a, p) + P.DISPATCHER]) + D.NACK_TIMER_US] > 0


@compiled
def forget(a, p, to_replay, except_entry):
    """Move everything unacknowledged of a port to the replay list or back to be read; empty the client's queue of it."""
    port = port_at(a, p)
    w = a[port + P.WORKER]
    d = a[port + P.DISPATCHER]
    worker = worker_at(a, w)
    dispatcher = dispatcher_at(a, d)
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    kept = a[worker + W.QUEUE_HEAD]
    epoch = a[port + P.EPOCH]
    current = current_at(a, w)
    if (
        a[worker + W.BUSY] == 1
        and a[current + Q.PORT] == p
        and a[current + Q.EPOCH] == epoch
        and a[current + Q.ENTRY] != except_entry
    ):
        status = _put(
            a, d, to_replay, a[current + Q.ENTRY], a[current + Q.REDELIVERIES], a[current + Q.ACKED]
        )
        if status != DONE:
            return status
    for number in range(a[worker + W.QUEUE_HEAD], a[worker + W.QUEUE_TAIL]):
        item = queue_at(a, w, number)
        if a[item + Q.PORT] != p:
            if number != kept:
                copy_row(a, queue_at(a, w, kept), item, Q.WIDTH)
            kept += 1
            continue
        done = (a[item + Q.ENTRIES] * msgs - a[item + Q.ACKED] - a[item + Q.LEFT]) // msgs
        for entry in range(a[item + Q.ENTRY] + done, a[item + Q.ENTRY] + a[item + Q.ENTRIES]):
            if a[item + Q.EPOCH] == epoch and entry != except_entry:
                status = _put(a, d, to_replay, entry, a[item + Q.REDELIVERIES], a[item + Q.ACKED])
                if status != DONE:
                    return status
    a[worker + W.QUEUE_TAIL] = kept
    for number in range(a[worker + W.NACKS_HEAD], a[worker + W.NACKS_TAIL]):
        row = nack_at(a, w, number)
        if a[row + N.PORT] == p and a[row + N.EPOCH] == epoch and a[row + N.ENTRY] != except_entry:
            status = _put(a, d, to_replay, a[row + N.ENTRY], a[row + N.REDELIVERIES], a[row + N.ACKED])
            if status != DONE:
                return status
    left = 0
    for number in range(a[dispatcher + D.NEVER_ACKED_COUNT]):
        row = list_at(a, H.NEVER_ACKED, d, number)
        if a[row + E.PORT] == p:
            status = _put(a, d, to_replay, a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED])
            if status != DONE:
                return status
        else:
            copy_row(a, list_at(a, H.NEVER_ACKED, d, left), row, E.WIDTH)
            left += 1
    a[dispatcher + D.NEVER_ACKED_COUNT] = left
    a[port + P.EPOCH] += 1
    a[port + P.WAITING] = 0
    schedule_worker(a, w)
    return DONE


@compiled
def _put(a, d, to_replay, entry, redeliveries, acked):
    """Move an entry that a client has to where it is read again."""
    if a[log_of(a, dispatcher_at(a, d)) + G.PERSISTENT] == 0:
        return DONE
    if to_replay:
        return add_replay(a, d, entry, redeliveries, acked)
    return add_again(a, d, entry, redeliveries, acked)


@compiled
def rewind(a, p, except_entry):
    """Everything that a consumer has not acknowledged is to be read again."""
    return forget(a, p, False, except_entry)


@compiled
def has_unacknowledged(a, p):
    """Whether a client has anything of a port that is not acknowledged."""
    port = port_at(a, p)
    w = a[port + P.WORKER]
    worker = worker_at(a, w)
    dispatcher = dispatcher_at(a, a[port + P.DISPATCHER])
    current = current_at(a, w)
    if a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
        return False
    if a[port + P.WAITING] > 0:
        return True
    if a[worker + W.BUSY] == 1 and a[current + Q.PORT] == p and a[current + Q.EPOCH] == a[port + P.EPOCH]:
        return True
    for number in range(a[worker + W.NACKS_HEAD], a[worker + W.NACKS_TAIL]):
        row = nack_at(a, w, number)
        if a[row + N.PORT] == p and a[row + N.EPOCH] == a[port + P.EPOCH]:
            return True
    for number in range(a[dispatcher + D.NEVER_ACKED_COUNT]):
        if a[list_at(a, H.NEVER_ACKED, a[port + P.DISPATCHER], number) + E.PORT] == p:
            return True
    return False
