"""The client side: consumers that take, process and acknowledge messages. In: entries and a time. Out: changed rows.

Entries that nothing tells apart are counted in ranges. What goes back to the broker without an acknowledgement is in :mod:`redelivery`.
"""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.draining import drained
from throttlescope.models.throttling.kernel.entries import add_acked_late, find
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    GIVEN_BACK,
    LIST_FULL,
    NEVER,
    QUEUE_FULL,
    RING_FULL,
    SINGLE,
    D,
    E,
    F,
    G,
    H,
    N,
    P,
    Q,
    R,
    T,
    W,
)
from throttlescope.models.throttling.kernel.logs import mixed
from throttlescope.models.throttling.kernel.retry_letter import reconsume
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    current_at,
    dispatcher_at,
    flow_at,
    list_at,
    log_of,
    nack_at,
    port_at,
    ports_of,
    queue_at,
    totals_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import ask_poll, schedule_worker
from throttlescope.models.throttling.world import EXPONENTIAL


@compiled
def deliver(a, p, entry, count, redeliveries, acked, now):
    """Entries arrive at the client of a port."""
    port = port_at(a, p)
    w = a[port + P.WORKER]
    worker = worker_at(a, w)
    d = a[port + P.DISPATCHER]
    msgs = a[log_of(a, dispatcher_at(a, d)) + G.MSGS]
    size = a[H.QUEUE_SIZE]
    messages = count * msgs - acked
    a[port + P.WAITING] += messages
    merged = False
    if a[worker + W.QUEUE_HEAD] < a[worker + W.QUEUE_TAIL] and a[dispatcher_at(a, d) + D.EXACT] == 0:
        last = queue_at(a, w, (a[worker + W.QUEUE_TAIL] - 1))
        if (
            a[last + Q.PORT] == p
            and a[last + Q.EPOCH] == a[port + P.EPOCH]
            and (a[R.ANONYMOUS] == 1 or a[last + Q.ENTRY] + a[last + Q.ENTRIES] == entry)
        ):
            a[last + Q.ENTRIES] += count
            a[last + Q.LEFT] += messages
            merged = True
    if not merged:
        if a[worker + W.QUEUE_TAIL] - a[worker + W.QUEUE_HEAD] == size:
            return QUEUE_FULL
        item = queue_at(a, w, a[worker + W.QUEUE_TAIL])
        a[item + Q.PORT] = p
        a[item + Q.EPOCH] = a[port + P.EPOCH]
        a[item + Q.ENTRY] = entry
        a[item + Q.ENTRIES] = count
        a[item + Q.REDELIVERIES] = redeliveries
        a[item + Q.ACKED] = acked
        a[item + Q.LEFT] = messages
        a[worker + W.QUEUE_TAIL] += 1
    if a[worker + W.BUSY] == 0 and a[worker + W.HUNG] == 0 and a[worker + W.JOINED] == 1:
        a[worker + W.BUSY] = 1
        a[worker + W.BUSY_UNTIL] = now
        a[current_at(a, w) + Q.PORT] = -1
    schedule_worker(a, w)
    return DONE


@compiled
def add_to_busy(a, port, entries, messages, now):
    """Add to the queue of a client that works until after now in any case, where that does not change when it asks for more."""
    w = a[port + P.WORKER]
    worker = worker_at(a, w)
    waiting = a[port + P.WAITING]
    if a[worker + W.PORT_COUNT] != 1 or a[worker + W.BUSY] == 0 or waiting == 0:
        return False
    if a[worker + W.BUSY_UNTIL] + waiting * a[worker + W.PROCESSING_US] <= now:
        return False
    asks_at = max(1, a[port + P.QUEUE] // 2) - a[port + P.TAKEN]
    if waiting < asks_at <= waiting + messages:
        return False
    row = queue_at(a, w, a[worker + W.QUEUE_TAIL] - 1)
    if a[row + Q.EPOCH] != a[port + P.EPOCH]:
        return False
    a[row + Q.ENTRIES] += entries
    a[row + Q.LEFT] += messages
    a[port + P.WAITING] = waiting + messages
    return True


@compiled
def advance(a, w, now):
    """Let a client process until a time. Only what no other part waits for happens here."""
    worker = worker_at(a, w)
    while a[worker + W.BUSY] == 1 and a[worker + W.BUSY_UNTIL] <= now and a[worker + W.HUNG] == 0:
        if a[current_at(a, w) + Q.PORT] >= 0:
            if a[current_at(a, w) + Q.LEFT] == 0:
                status = _entries_done(
                    a,
                    w,
                    current_at(a, w),
                    a[current_at(a, w) + Q.ENTRY],
                    1,
                    a[worker + W.BUSY_UNTIL],
                )
                if status != DONE:
                    return status
            a[current_at(a, w) + Q.PORT] = -1
        if a[worker + W.QUEUE_HEAD] == a[worker + W.QUEUE_TAIL]:
            a[worker + W.BUSY] = 0
            break
        head = queue_at(a, w, a[worker + W.QUEUE_HEAD])
        port = port_at(a, a[head + Q.PORT])
        processing = a[worker + W.PROCESSING_US]
        d = a[port + P.DISPATCHER]
        msgs = a[log_of(a, dispatcher_at(a, d)) + G.MSGS]
        whole = 0
        if a[dispatcher_at(a, d) + D.EXACT] == 0:
            whole = a[head + Q.LEFT]
            if processing > 0:
                whole = min(whole, (now - a[worker + W.BUSY_UNTIL]) // processing)
        if whole > 0:
            # Several messages start and end before anybody looks: count them.
            done_before = a[head + Q.ENTRIES] * msgs - a[head + Q.LEFT]
            a[head + Q.LEFT] -= whole
            a[port + P.TAKEN] += whole
            a[port + P.WAITING] -= whole
            a[worker + W.BUSY_UNTIL] += whole * processing
            first = done_before // msgs
            count = (done_before + whole) // msgs - first
            if count > 0:
                status = _entries_done(a, w, head, a[head + Q.ENTRY] + first, count, a[worker + W.BUSY_UNTIL])
                if status != DONE:
                    return status
            if a[head + Q.LEFT] == 0:
                a[worker + W.QUEUE_HEAD] += 1
            continue
        done_before = a[head + Q.ENTRIES] * msgs - a[head + Q.ACKED] - a[head + Q.LEFT]
        timeout = a[dispatcher_at(a, d) + D.ACK_TIMEOUT_US]
        if timeout > 0 and done_before == 0 and a[head + Q.EPOCH] == a[port + P.EPOCH]:
            # The time-out for an entry begins with its first message.
            a[worker + W.TIMEOUT_AT] = a[worker + W.BUSY_UNTIL] + timeout
        a[head + Q.LEFT] -= 1
        a[port + P.TAKEN] += 1
        a[port + P.WAITING] -= 1
        current = current_at(a, w)
        copy_row(a, current, head, Q.WIDTH)
        a[current + Q.ENTRY] = a[head + Q.ENTRY] + done_before // msgs
        # 0 says that this is the entry's last message.
        if a[head + Q.ENTRIES] > 1:
            a[current + Q.LEFT] = 0 if (done_before + 1) % msgs == 0 else 1
        if a[head + Q.LEFT] == 0:
            a[worker + W.QUEUE_HEAD] += 1
        if a[worker + W.EXPONENTIAL] == 1:
            salt = a[log_of(a, dispatcher_at(a, d)) + G.SALT]
            drawn = mixed(a[current + Q.ENTRY], salt + 1_000 + a[head + Q.LEFT]) % len(EXPONENTIAL)
            processing = processing * EXPONENTIAL[drawn] >> 16
        a[worker + W.BUSY_UNTIL] += processing
    return DONE


@compiled
def _entries_done(a, w, item, entry, count, now):
    """All messages of some entries are processed: acknowledge them, or give one back."""
    p = a[item + Q.PORT]
    port = port_at(a, p)
    given_back = a[item + Q.EPOCH] == GIVEN_BACK
    if a[item + Q.EPOCH] != a[port + P.EPOCH] and not given_back:
        return DONE
    d = a[port + P.DISPATCHER]
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.EXACT] == 0:
        acknowledge(a, p, entry, count, 0, True)
        return DONE
    worker = worker_at(a, w)
    timeout_at = a[worker + W.TIMEOUT_AT]
    a[worker + W.TIMEOUT_AT] = NEVER
    redeliveries = a[item + Q.REDELIVERIES]
    log = log_of(a, dispatcher)
    if (
        a[dispatcher + D.ACKED_LATE_COUNT] > 0
        and find(a, list_at(a, H.ACKED_LATE, d, 0), a[dispatcher + D.ACKED_LATE_COUNT], entry) >= 0
    ):
        # A copy of what was acknowledged meanwhile.
        if not given_back:
            fewer_unacked(a, p, a[log + G.MSGS] - a[item + Q.ACKED])
            drained(a, d, p, entry)
        return DONE
    nacked = (
        redeliveries < a[dispatcher + D.NACK_TIMES]
        and mixed(entry, a[log + G.SALT] + 2) < a[dispatcher + D.NACK_BELOW]
    )
    if given_back:
        # The broker has it already; only an acknowledgement still means something.
        if a[dispatcher + D.ACKS] == 0 or nacked:
            return DONE
        status, dead = reconsume(a, d, entry, now)
        return status if status != DONE else _acknowledge_late(a, d, entry, dead)
    dead = nacked and 0 <= a[dispatcher + D.MAX_REDELIVER] <= redeliveries
    if a[dispatcher + D.ACKS] == 1 and (dead or not nacked):
        if a[dispatcher + D.RETRY_BELOW] > 0:
            status, dead = reconsume(a, d, entry, now)
            if status != DONE:
                return status
        if dead and entry >= a[dispatcher + D.EXPIRED_BELOW]:
            a[totals_at(a, d) + T.DEAD] += 1
        acknowledge(a, p, entry, 1, a[item + Q.ACKED], not dead)
        if a[dispatcher + D.CUMULATIVE] == 1:
            _acknowledge_earlier(a, w, p, entry, not dead)
        return DONE
    # A client that never acknowledges has its time-outs in the same ring; they come due in the order of the entries.
    timed_out = a[dispatcher + D.ACKS] == 0 and a[dispatcher + D.ACK_TIMEOUT_US] > 0
    if nacked or timed_out or a[dispatcher + D.NACK_DELAY_US] > 0:
        if a[worker + W.NACKS_TAIL] - a[worker + W.NACKS_HEAD] == a[H.LIST_SIZE]:
            return RING_FULL
        row = nack_at(a, w, a[worker + W.NACKS_TAIL])
        if a[dispatcher + D.NACK_TIMER_US] > 0:
            a[port + P.NACK_TIMER_AT] = now + a[dispatcher + D.NACK_TIMER_US]
        a[row + N.DUE_AT] = timeout_at if timed_out else now + a[dispatcher + D.NACK_DELAY_US]
        a[row + N.PORT] = p
        a[row + N.EPOCH] = a[item + Q.EPOCH]
        a[row + N.ENTRY] = entry
        a[row + N.REDELIVERIES] = redeliveries
        a[row + N.ACKED] = a[item + Q.ACKED]
        a[worker + W.NACKS_TAIL] += 1
        return DONE
    # Never acknowledged and never given back: remembered until its consumer leaves.
    if a[dispatcher + D.NEVER_ACKED_COUNT] == a[H.LIST_SIZE]:
        return LIST_FULL
    row = list_at(a, H.NEVER_ACKED, d, a[dispatcher + D.NEVER_ACKED_COUNT])
    a[row + E.ENTRY] = entry
    a[row + E.REDELIVERIES] = redeliveries
    a[row + E.ACKED] = a[item + Q.ACKED]
    a[row + E.PORT] = p
    a[dispatcher + D.NEVER_ACKED_COUNT] += 1
    return DONE


@compiled
def _acknowledge_late(a, d, entry, dead):
    """An acknowledgement of what was given back counts; what is read again of it later is a copy."""
    dispatcher = dispatcher_at(a, d)
    if entry >= a[dispatcher + D.EXPIRED_BELOW]:
        a[dispatcher + D.GONE] += 1
        if dead:
            a[totals_at(a, d) + T.DEAD] += 1
        else:
            a[totals_at(a, d) + T.ACKED] += 1
    return add_acked_late(a, d, entry)


@compiled
def _acknowledge_earlier(a, w, p, entry, counted):
    """A cumulative acknowledgement covers what the client had given back and not sent yet."""
    worker = worker_at(a, w)
    epoch = a[port_at(a, p) + P.EPOCH]
    for number in range(a[worker + W.NACKS_HEAD], a[worker + W.NACKS_TAIL]):
        row = nack_at(a, w, number)
        if a[row + N.PORT] == p and a[row + N.EPOCH] == epoch and 0 <= a[row + N.ENTRY] < entry:
            acknowledge(a, p, a[row + N.ENTRY], 1, a[row + N.ACKED], counted)
            a[row + N.ENTRY] = -1


@compiled
def acknowledge(a, p, entry, count, acked, counted):
    """The broker learns that entries are done with."""
    port = port_at(a, p)
    d = a[port + P.DISPATCHER]
    dispatcher = dispatcher_at(a, d)
    log = log_of(a, dispatcher)
    live = entry + count - max(entry, a[dispatcher + D.EXPIRED_BELOW])
    if live > 0 and a[log + G.PERSISTENT] == 1:
        a[dispatcher + D.GONE] += live
        if counted:
            a[totals_at(a, d) + T.ACKED] += live
    fewer_unacked(a, p, count * a[log + G.MSGS] - acked)
    if a[dispatcher + D.DRAINING_COUNT] > 0:
        drained(a, d, p, entry)


@compiled
def fewer_unacked(a, p, messages):
    """Unacknowledged messages of a consumer and its subscription become fewer, which may unblock either."""
    port = port_at(a, p)
    dispatcher = dispatcher_at(a, a[port + P.DISPATCHER])
    if a[dispatcher + D.KIND] == SINGLE or a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
        return
    a[port + P.UNACKED] -= messages
    a[dispatcher + D.UNACKED] -= messages
    if a[port + P.BLOCKED] == 1 and a[port + P.UNACKED] <= a[dispatcher + D.MAX_UNACKED_CONSUMER] // 2:
        unblock(a, port)
    if (
        a[dispatcher + D.BLOCKED] == 1
        and a[dispatcher + D.UNACKED] < a[dispatcher + D.MAX_UNACKED_SUBSCRIPTION] // 2
    ):
        a[dispatcher + D.BLOCKED] = 0
        ask_poll(a, a[port + P.DISPATCHER])


@compiled
def unblock(a, port):
    """A blocked consumer can take something again, and gets the permits that it requested meanwhile."""
    a[port + P.BLOCKED] = 0
    a[port + P.PERMITS] += a[port + P.PARKED]
    a[dispatcher_at(a, a[port + P.DISPATCHER]) + D.TOTAL_PERMITS] += a[port + P.PARKED]
    a[port + P.PARKED] = 0
    ask_poll(a, a[port + P.DISPATCHER])


@compiled
def request(a, w, at, p, messages, session):
    """A client requests more messages; the request is on its way until ``at``."""
    worker = worker_at(a, w)
    size = a[H.RING_SIZE]
    if a[worker + W.FLOWS_TAIL] - a[worker + W.FLOWS_HEAD] == size:
        return RING_FULL
    row = flow_at(a, w, a[worker + W.FLOWS_TAIL])
    a[row + F.AT], a[row + F.PORT], a[row + F.MESSAGES], a[row + F.SESSION] = at, p, messages, session
    a[worker + W.FLOWS_TAIL] += 1
    return DONE


@compiled
def flow(a, p, messages, session):
    """A request for more messages reaches the broker."""
    port = port_at(a, p)
    if a[port + P.SESSION] != session or a[port + P.CONNECTED] == 0:
        return
    if a[port + P.BLOCKED] == 1:
        a[port + P.PARKED] += messages
        return
    a[port + P.PERMITS] += messages
    a[dispatcher_at(a, a[port + P.DISPATCHER]) + D.TOTAL_PERMITS] += messages
    ask_poll(a, a[port + P.DISPATCHER])


@compiled
def advance_clients(a, d, now):
    """Let the clients of a dispatcher process until now: what they hold decides who is blocked and who is idle."""
    dispatcher = dispatcher_at(a, d)
    for place in ports_of(a, dispatcher):
        status = advance(a, a[port_at(a, a[place]) + P.WORKER], now)
        if status != DONE:
            return status
    return DONE


@compiled
def advance_all(a, now):
    """Let all clients process until a time."""
    for w in range(a[H.WORKER_COUNT]):
        status = advance(a, w, now)
        if status != DONE:
            return status
    return DONE
