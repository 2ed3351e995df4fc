"""The clock of the kernel, and its one function that Python calls. In: a packed world; out: totals at every sample.

The same rules as ``twin/``, which is the place to read them; here entries travel in ranges where nothing tells them apart,
publishing and processing are formulas that are evaluated when somebody looks, and the clock jumps from one thing that matters to the next.
"""

from __future__ import annotations

from throttlescope.ingest.core import compilation
from throttlescope.models.throttling import columns, world
from throttlescope.models.throttling.kernel.changes import change, stats_update
from throttlescope.models.throttling.kernel.clients import advance_all
from throttlescope.models.throttling.kernel.compilation import address_of, compiled
from throttlescope.models.throttling.kernel.connections import join
from throttlescope.models.throttling.kernel.events import dispatcher_event, worker_event
from throttlescope.models.throttling.kernel.expiry import expire
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    JOINS_AT_START,
    NEVER,
    D,
    G,
    H,
    M,
    P,
    R,
    S,
    T,
    W,
    X,
)
from throttlescope.models.throttling.kernel.logs import published
from throttlescope.models.throttling.kernel.meters import balance, renew
from throttlescope.models.throttling.kernel.reading import arm
from throttlescope.models.throttling.kernel.rows import (
    dispatcher_at,
    log_of,
    meter_at,
    port_at,
    ports_of,
    step_at,
    totals_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import schedule_dispatcher

#: The order of what happens in the same microsecond: changes, the broker's own tasks, clients, dispatchers.
CHANGES, TASKS, CLIENTS, DISPATCHERS = range(4)


@compiled
def _sample(a, row, before):
    """Write a row of totals and gauges."""
    status = advance_all(a, before - 1)
    if status != DONE:
        return status
    for d in range(a[H.DISPATCHER_COUNT]):
        dispatcher = dispatcher_at(a, d)
        out = row[d]
        totals = totals_at(a, d)
        a[totals + T.PUBLISHED] = published(a, a[dispatcher + D.LOG], before)
        for number in range(T.WIDTH):
            out[number] = a[totals + number]
        out[S.BACKLOG] = a[totals + T.PUBLISHED] - a[dispatcher + D.GONE]
        out[S.UNACKED] = a[dispatcher + D.UNACKED]
        permits = 0
        for place in ports_of(a, dispatcher):
            port = port_at(a, a[place])
            if a[port + P.CONNECTED] == 1:
                permits += a[port + P.PERMITS]
        out[S.PERMITS] = permits
        out[S.REPLAY] = a[dispatcher + D.REPLAY_COUNT]
        out[S.DELAYED] = a[dispatcher + D.DELAYED_END] - a[dispatcher + D.DELAYED_START]
        for level in range(3):
            for unit in range(2):
                out[S.TOKENS + 2 * level + unit] = balance(
                    a, meter_at(a, a[dispatcher + D.BROKER_LIMITER + level], unit), a[R.ENGINE]
                )
    return DONE


@compiled
def _run(a, out):
    every, duration = a[R.EVERY_US], a[R.DURATION_US]
    events = 0
    for limiter in range(a[H.LIMITER_COUNT]):
        for unit in range(2):
            meter = meter_at(a, limiter, unit)
            configured, relative = a[meter + M.CONFIGURED], a[meter + M.RELATIVE]
            renew(a, meter, a[R.ENGINE], configured, relative, 0, a[meter + M.PERIOD_US], 0, True)
    for w in range(a[H.WORKER_COUNT]):
        if a[worker_at(a, w) + W.JOINED] == JOINS_AT_START:
            a[worker_at(a, w) + W.JOINED] = 0
            status = join(a, w, 0)
            if status != DONE:
                return status, events
    for d in range(a[H.DISPATCHER_COUNT]):
        if a[log_of(a, dispatcher_at(a, d)) + G.PERSISTENT] == 0:
            arm(a, d)
        schedule_dispatcher(a, d)
    done = 0
    step = 0
    stats_at = a[R.STATS_US]
    expiry_at = a[R.EXPIRY_US] if a[R.ANY_TTL] == 1 else NEVER
    samples = out.shape[0]
    while done < samples:
        now = min(stats_at, expiry_at)
        phase = TASKS
        if step < a[H.STEP_COUNT] and a[step_at(a, step) + X.AT] <= now:
            now = a[step_at(a, step) + X.AT]
            phase = CHANGES
        index = 0
        for w in range(a[H.WORKER_COUNT]):
            if a[worker_at(a, w) + W.NEXT_AT] < now:
                now = a[worker_at(a, w) + W.NEXT_AT]
                index = w
                phase = CLIENTS
        for d in range(a[H.DISPATCHER_COUNT]):
            if a[dispatcher_at(a, d) + D.NEXT_AT] < now:
                now = a[dispatcher_at(a, d) + D.NEXT_AT]
                index = d
                phase = DISPATCHERS
        while done < samples and (done + 1) * every <= now:
            status = _sample(a, out[done], (done + 1) * every)
            if status != DONE:
                return status, events
            done += 1
        if done == samples or now >= duration:
            if now >= duration:
                while done < samples:
                    status = _sample(a, out[done], (done + 1) * every)
                    if status != DONE:
                        return status, events
                    done += 1
            break
        events += 1
        a[R.NOW] = now
        if phase == CHANGES:
            status = change(a, step_at(a, step), now)
            step += 1
        elif phase == TASKS:
            if stats_at <= now:
                status = advance_all(a, now - 1)
                stats_update(a, now)
                stats_at += a[R.STATS_US]
            else:
                status = expire(a, now)
                expiry_at += a[R.EXPIRY_US]
        elif phase == CLIENTS:
            status = worker_event(a, index, now)
        else:
            status = dispatcher_event(a, index, now)
        if status != DONE:
            return status, events
    return DONE, events


@compilation.compiled(columns, world, whole_package=True, error_model="numpy")
def run_packed(a, out):
    """Run a packed world to its end.

    Parameters
    ----------
    a
        The world as :func:`layout.pack` lays it out; it is changed.
    out
        Samples x dispatchers x ``S.WIDTH``; it is filled.

    Returns
    -------
    tuple
        ``DONE`` or which container was too small, and how many events there were.
    """
    return _run(address_of(a), out)


def is_compiled() -> bool:
    """Whether this process or, as far as the cache shows, this machine has compiled the kernel."""
    return run_packed.is_compiled
