"""What happens at clients and dispatchers when their time has come. In: a client or a dispatcher, and the time. Out: a status."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import advance, flow, request
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.connections import connect
from throttlescope.models.throttling.kernel.delayed_delivery import arm_tick
from throttlescope.models.throttling.kernel.dispatching import dispatch, dispatch_volatile
from throttlescope.models.throttling.kernel.fields import DONE, NEVER, SINGLE, C, D, E, F, G, H, N, P, R, W
from throttlescope.models.throttling.kernel.logs import mixed, time_of
from throttlescope.models.throttling.kernel.meters import charge
from throttlescope.models.throttling.kernel.reading import poll, take
from throttlescope.models.throttling.kernel.redelivery import is_timed, nack_timers, ring_row_due, time_out
from throttlescope.models.throttling.kernel.rows import (
    dispatcher_at,
    flow_at,
    list_at,
    log_at,
    log_of,
    nack_at,
    port_at,
    ports_of_worker,
    read_at,
    send_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import schedule_dispatcher, schedule_worker


@compiled
def worker_event(a, w, now):
    """All that is due at a client."""
    worker = worker_at(a, w)
    status = advance(a, w, now)
    if status != DONE:
        return status
    for place in ports_of_worker(a, worker):
        p = a[place]
        port = port_at(a, p)
        half = max(1, a[port + P.QUEUE] // 2)
        while a[port + P.TAKEN] >= half:
            a[port + P.TAKEN] -= half
            status = request(a, w, now + a[R.FLOW_US], p, half, a[port + P.SESSION])
            if status != DONE:
                return status
    while (
        a[worker + W.FLOWS_HEAD] < a[worker + W.FLOWS_TAIL]
        and a[flow_at(a, w, a[worker + W.FLOWS_HEAD]) + F.AT] <= now
    ):
        row = flow_at(a, w, a[worker + W.FLOWS_HEAD])
        a[worker + W.FLOWS_HEAD] += 1
        flow(a, a[row + F.PORT], a[row + F.MESSAGES], a[row + F.SESSION])
    status = nack_timers(a, w, now)
    while (
        status == DONE
        and a[worker + W.NACKS_HEAD] < a[worker + W.NACKS_TAIL]
        and a[nack_at(a, w, a[worker + W.NACKS_HEAD]) + N.DUE_AT] <= now
        and not is_timed(a, a[nack_at(a, w, a[worker + W.NACKS_HEAD]) + N.PORT])
    ):
        row = nack_at(a, w, a[worker + W.NACKS_HEAD])
        a[worker + W.NACKS_HEAD] += 1
        status = ring_row_due(a, row)
    if status != DONE:
        return status
    for place in ports_of_worker(a, worker):
        p = a[place]
        if a[port_at(a, p) + P.RECONNECT_AT] <= now:
            a[port_at(a, p) + P.RECONNECT_AT] = NEVER
            if a[worker + W.JOINED] == 1:
                status = connect(a, p, now)
                if status != DONE:
                    return status
    if a[worker + W.TIMEOUT_AT] <= now:
        status = time_out(a, w)
    schedule_worker(a, w)
    return status


@compiled
def _second_passes(a, dispatcher):
    """How many of the requests for redelivery since the last requested poll have a second pass of their own."""
    count, a[dispatcher + D.REQUESTS] = a[dispatcher + D.REQUESTS], 0
    if a[dispatcher + D.KIND] == SINGLE:
        return count
    passes = 0
    salt = a[log_of(a, dispatcher) + G.SALT] + 4
    for _ in range(count):
        a[dispatcher + D.REQUESTS_SO_FAR] += 1
        if mixed(a[dispatcher + D.REQUESTS_SO_FAR], salt) < a[R.SECOND_PASS_BELOW]:
            passes += 1
    return passes


@compiled
def dispatcher_event(a, d, now):
    """The first thing that is due at a dispatcher."""
    dispatcher = dispatcher_at(a, d)
    status = DONE
    if a[dispatcher + D.READING_DONE_AT] <= now:
        a[dispatcher + D.READING_DONE_AT] = NEVER
        status = dispatch(
            a,
            d,
            read_at(a, H.READING, d, 0),
            a[dispatcher + D.READING_FIRST],
            a[dispatcher + D.READING_COUNT],
            now,
        )
    elif a[dispatcher + D.REPLAYING_DONE_AT] <= now:
        a[dispatcher + D.REPLAYING_DONE_AT] = NEVER
        status = dispatch(a, d, read_at(a, H.REPLAYING, d, 0), -1, a[dispatcher + D.REPLAYING_COUNT], now)
    elif (
        a[dispatcher + D.SENDS_HEAD] < a[dispatcher + D.SENDS_TAIL]
        and a[send_at(a, d, a[dispatcher + D.SENDS_HEAD]) + C.AT] <= now
    ):
        row = send_at(a, d, a[dispatcher + D.SENDS_HEAD])
        a[dispatcher + D.SENDS_HEAD] += 1
        # A connection that is gone completes no write.
        if a[port_at(a, a[row + C.PORT]) + P.SESSION] == a[row + C.SESSION]:
            messages = a[row + C.ENTRIES] * a[log_of(a, dispatcher) + G.MSGS]
            charge(a, d, a[row + C.ENTRIES], messages, a[row + C.BYTES], now)
            status = poll(a, d, now)
    elif a[dispatcher + D.TIMER_AT] <= now:
        a[dispatcher + D.TIMER_AT] = NEVER
        status = poll(a, d, now)
    elif a[dispatcher + D.TICK_AT] <= now:
        a[dispatcher + D.TICK_AT] = NEVER
        a[dispatcher + D.LAST_TICK_AT] = now
        status = poll(a, d, now)
        if a[dispatcher + D.DELAYED_START] < a[dispatcher + D.DELAYED_END]:
            g = a[dispatcher + D.LOG]
            entry = a[list_at(a, H.DELAYED, d, a[dispatcher + D.DELAYED_START]) + E.ENTRY]
            if time_of(a, g, entry) + a[log_at(a, g) + G.DELIVER_AFTER_US] > now:
                arm_tick(a, d)
    elif a[dispatcher + D.ARMED_DONE_AT] <= now:
        a[dispatcher + D.ARMED_DONE_AT] = NEVER
        if a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
            status = dispatch_volatile(a, d, now)
        else:
            armed = a[dispatcher + D.ARMED_COUNT]
            a[dispatcher + D.ARMED_COUNT] = 0
            found = take(a, d, armed, now)
            status = dispatch(a, d, read_at(a, H.READING, d, 0), a[dispatcher + D.READING_FIRST], found, now)
    elif a[dispatcher + D.POLL_AT] <= now:
        a[dispatcher + D.POLL_AT] = NEVER
        passes = max(1, a[dispatcher + D.REQUESTS])
        if a[dispatcher + D.REQUESTS] > 0:
            passes += _second_passes(a, dispatcher)
        a[dispatcher + D.REQUEST_TURN] += 1
        for _ in range(passes):
            if status == DONE:
                status = poll(a, d, now)
    else:
        a[dispatcher + D.FOLLOW_UP_AT] = NEVER
        status = poll(a, d, now)
    schedule_dispatcher(a, d)
    return status
