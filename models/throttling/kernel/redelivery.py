"""What is delivered again: negative acknowledgements, reads that are cancelled, clients that are gone. In: a port. Out: longer lists."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import acknowledge, fewer_unacked, unblock
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.draining import drained
from throttlescope.models.throttling.kernel.entries import add_acked_late, add_again, add_replay
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    GIVEN_BACK,
    NEVER,
    SINGLE,
    D,
    E,
    G,
    H,
    N,
    P,
    Q,
    T,
    W,
)
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
    totals_at,
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
def time_out(a, w):
    """The entry that a client works on was not acknowledged in time: it is given back, the client goes on with it."""
    worker = worker_at(a, w)
    current = current_at(a, w)
    a[worker + W.TIMEOUT_AT] = NEVER
    p, entry = a[current + Q.PORT], a[current + Q.ENTRY]
    status = not_in_time(a, p, a[current + Q.EPOCH], entry, a[current + Q.REDELIVERIES], a[current + Q.ACKED])
    a[current + Q.EPOCH] = GIVEN_BACK
    if a[worker + W.QUEUE_HEAD] < a[worker + W.QUEUE_TAIL]:
        # Messages of the same entry that are left.
        head = queue_at(a, w, a[worker + W.QUEUE_HEAD])
        if a[head + Q.PORT] == p and a[head + Q.ENTRY] == entry:
            a[head + Q.EPOCH] = GIVEN_BACK
    schedule_worker(a, w)
    return status


@compiled
def not_in_time(a, p, epoch, entry, redeliveries, acked):
    """Give an entry back that was not acknowledged in time, or send it to the dead-letter topic."""
    port = port_at(a, p)
    d = a[port + P.DISPATCHER]
    dispatcher = dispatcher_at(a, d)
    if a[port + P.EPOCH] != epoch:
        return DONE
    if a[dispatcher + D.MAX_REDELIVER] < 0 or redeliveries < a[dispatcher + D.MAX_REDELIVER]:
        return give_back(a, p, epoch, entry, redeliveries, acked)
    if entry >= a[dispatcher + D.EXPIRED_BELOW]:
        a[totals_at(a, d) + T.DEAD] += 1
    acknowledge(a, p, entry, 1, acked, False)
    return add_acked_late(a, d, entry)


@compiled
def ring_row_due(a, row):
    """A negative acknowledgement that waits for no timer is due, or the time-out of a client that never acknowledges."""
    p = a[row + N.PORT]
    dispatcher = dispatcher_at(a, a[port_at(a, p) + P.DISPATCHER])
    if a[dispatcher + D.ACKS] == 0 and a[dispatcher + D.ACK_TIMEOUT_US] > 0:
        return not_in_time(
            a, p, a[row + N.EPOCH], a[row + N.ENTRY], a[row + N.REDELIVERIES], a[row + N.ACKED]
        )
    return give_back(a, p, a[row + N.EPOCH], a[row + N.ENTRY], a[row + N.REDELIVERIES], a[row + N.ACKED])


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
        # An entry below 0 was covered by a cumulative acknowledgement: the request alone is left.
        if status == DONE and entry >= 0:
            status = add_again(a, d, entry, redeliveries + 1, acked)
        if status != DONE:
            return status
        a[port + P.PERMITS] += returned
        a[dispatcher + D.TOTAL_PERMITS] += returned
        _ask_redelivery(a, d, port)
        return DONE
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    status = add_replay(
        a, d, entry, redeliveries + 1, msgs - 1 if a[dispatcher + D.BATCH_INDEX_ACK] == 1 else 0
    )
    fewer_unacked(a, p, msgs - acked)
    # The request unblocks its consumer, however many unacknowledged messages are left.
    if a[port + P.BLOCKED] == 1:
        unblock(a, port)
    drained(a, d, p, entry)
    _ask_redelivery(a, d, port)
    return status


@compiled
def _ask_redelivery(a, d, port):
    """A client's request for redelivery has passes of its own, also where two come in the same microsecond."""
    dispatcher = dispatcher_at(a, d)
    if a[port + P.REQUEST_TURN] != a[dispatcher + D.REQUEST_TURN]:
        a[port + P.REQUEST_TURN] = a[dispatcher + D.REQUEST_TURN]
        a[dispatcher + D.REQUESTS] += 1
    ask_poll(a, d)


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
    if a[current + Q.PORT] == p:
        a[worker + W.TIMEOUT_AT] = NEVER
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
        mine = a[row + N.PORT] == p and a[row + N.EPOCH] == epoch
        if mine and a[row + N.ENTRY] >= 0 and a[row + N.ENTRY] != except_entry:
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
        if a[row + N.PORT] == p and a[row + N.EPOCH] == a[port + P.EPOCH] and a[row + N.ENTRY] >= 0:
            return True
    for number in range(a[dispatcher + D.NEVER_ACKED_COUNT]):
        if a[list_at(a, H.NEVER_ACKED, a[port + P.DISPATCHER], number) + E.PORT] == p:
            return True
    return False
