"""Changes by the timeline, and the statistics of every minute. In: a step of the timeline, or a time. Out: a status."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import advance_all
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.connections import disconnect_all, hang, join, leave, resume
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    HANG,
    JOIN,
    LEAVE,
    PROCESSING,
    RATES,
    RESUME,
    SEEK,
    UNLOAD,
    D,
    G,
    H,
    M,
    R,
    W,
    X,
)
from throttlescope.models.throttling.kernel.logs import published
from throttlescope.models.throttling.kernel.meters import follow, renew
from throttlescope.models.throttling.kernel.ports import connected_port
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_at, meter_at, worker_at
from throttlescope.models.throttling.kernel.schedule import schedule_worker


@compiled
def change(a, row, now):
    """Do one step of the timeline."""
    kind = a[row + X.KIND]
    number = a[row + X.NUMBER]
    engine = a[R.ENGINE]
    status = advance_all(a, now - 1)
    if status != DONE:
        return status
    if kind == RATES:
        g = a[a[H.LIMITER_LOG] + number]
        for unit in range(2):
            average = a[log_at(a, g) + G.AVERAGE_MSG + unit]
            renew(
                a,
                meter_at(a, number, unit),
                engine,
                a[row + X.MSG + unit],
                a[row + X.RELATIVE],
                average,
                a[row + X.PERIOD_US],
                now,
                False,
            )
    elif kind == PROCESSING:
        a[worker_at(a, number) + W.PROCESSING_US] = a[row + X.VALUE]
        schedule_worker(a, number)
    elif kind == JOIN:
        return join(a, number, now)
    elif kind == LEAVE:
        return leave(a, number, now)
    elif kind == HANG:
        hang(a, number, now)
    elif kind == RESUME:
        resume(a, number, now)
    elif kind == UNLOAD:
        for d in range(a[H.DISPATCHER_COUNT]):
            if a[dispatcher_at(a, d) + D.LOG] != number:
                continue
            status = disconnect_all(a, d, now)
            if status != DONE:
                return status
            for level in range(1, 3):
                limiter = a[dispatcher_at(a, d) + D.BROKER_LIMITER + level]
                for unit in range(2):
                    meter = meter_at(a, limiter, unit)
                    average = a[log_at(a, a[a[H.LIMITER_LOG] + limiter]) + G.AVERAGE_MSG + unit]
                    renew(
                        a,
                        meter,
                        engine,
                        a[meter + M.CONFIGURED],
                        a[meter + M.RELATIVE],
                        average,
                        a[meter + M.PERIOD_US],
                        now,
                        True,
                    )
    elif kind == SEEK:
        status = disconnect_all(a, number, now)
        dispatcher = dispatcher_at(a, number)
        a[dispatcher + D.AGAIN_START] = a[dispatcher + D.AGAIN_END] = 0
        a[dispatcher + D.ACKED_LATE_COUNT] = 0
        a[dispatcher + D.POSITION] = a[dispatcher + D.GONE] = a[dispatcher + D.EXPIRED_BELOW] = a[
            row + X.VALUE
        ]
    return status


@compiled
def stats_update(a, now):
    """Every minute: average publish rates for relative limits, and which cursors are caught up."""
    for g in range(a[H.LOG_COUNT]):
        log = log_at(a, g)
        entries = published(a, g, now) - published(a, g, now - a[R.STATS_US])
        for unit in range(2):
            amount = entries * a[log + G.MSGS] if unit == 0 else entries * a[log + G.ESTIMATE_BYTES]
            current = amount * 1_000_000 // a[R.STATS_US]
            average = a[log + G.AVERAGE_MSG + unit]
            a[log + G.AVERAGE_MSG + unit] = current if current > average else (current + average) // 2
    for limiter in range(a[H.LIMITER_COUNT]):
        for unit in range(2):
            average = a[log_at(a, a[a[H.LIMITER_LOG] + limiter]) + G.AVERAGE_MSG + unit]
            follow(a, meter_at(a, limiter, unit), a[R.ENGINE], average, now)
    for d in range(a[H.DISPATCHER_COUNT]):
        dispatcher = dispatcher_at(a, d)
        _, connected = connected_port(a, d, 0)
        unread = (
            published(a, a[dispatcher + D.LOG], now)
            - a[dispatcher + D.POSITION]
            + a[dispatcher + D.AGAIN_END]
            - a[dispatcher + D.AGAIN_START]
        )
        a[dispatcher + D.ACTIVE] = 0
        if connected > 0 and (
            a[R.KEEPS_CURSOR_ACTIVE] == 1 or a[R.BACKLOGGED_ENTRIES] < 0 or unread <= a[R.BACKLOGGED_ENTRIES]
        ):
            a[dispatcher + D.ACTIVE] = 1
