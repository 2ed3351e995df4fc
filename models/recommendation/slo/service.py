"""What is served while messages wait. In: a window's ground and a change; out: messages per second, and what holds them.

The simulator delivers from a full backlog: so every loss of the engine is in it (the pause of a second after a period's tokens are
used, batches, reads, neighbours on a shared limit, consumers' queues), and no formula has to be believed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay import Change, Ground, Observed
from throttlescope.models.throttling.replay.outlook import Future
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    future_world,
    own_limits,
    real_messages,
    selected_dispatchers,
)
from throttlescope.models.throttling.simulate import run
from throttlescope.models.throttling.world import World

#: Entries that wait in every partition, and for how long it is looked at: whole periods, two minutes or more.
WAITING_ENTRIES = 200_000
LEAST_S, LEAST_PERIODS = 120, 3


def service_msg_per_s(ground: Ground, change: Change) -> float:
    """What a subscription is served per second while messages wait, all selected partitions together.

    Consumers whose capacity was never seen are taken to keep up.
    """
    seconds, period_s = _span(ground, change)
    world, machine = _world(ground, change, seconds)
    totals = run(world, machine, 1, ground.engine)
    mine = selected_dispatchers(world, ground.observed.partition)
    out = totals["out_messages"][:, mine].sum(axis=1) * real_messages(ground.observed)
    waiting = totals["backlog_entries"][:, mine].sum(axis=1)
    # Up to where messages wait: beyond, what comes is what is served.
    last = int(np.argmax(waiting <= 0)) if (waiting <= 0).any() else seconds
    if last > 2 * period_s:
        last = period_s + (last - period_s) // period_s * period_s
        return float(out[last - 1] - out[period_s - 1]) / (last - period_s)
    last = max(last, 1)
    return float(out[last - 1]) / last


def limiting_factor_of(ground: Ground, change: Change) -> str:
    """What limits the drain then: a limiter, ``consumers`` or ``reads``."""
    seconds, _ = _span(ground, change)
    observed = _full(ground.observed)
    future = Future(observed, int(observed.backlog_entries[-1]), 0, seconds, ground.engine)
    return future.outlook(_assumed(ground), change, ground.speed().fitted).held_by


def _span(ground: Ground, change: Change) -> tuple[int, int]:
    """How long it is looked at, and the longest period. The first one begins with a full bucket; behind it whole ones count."""
    periods = [limit["period_s"] for limit in own_limits(ground.observed, change).values()]
    period_s = int(max([1, *periods]))
    return period_s * (1 + max(LEAST_PERIODS, -(-LEAST_S // period_s))), period_s


def _world(ground: Ground, change: Change, seconds: int) -> tuple[World, Machine]:
    machine = ground.speed().fitted
    return future_world(_full(ground.observed), _assumed(ground), change, seconds, machine), machine


def _assumed(ground: Ground) -> Assumed:
    return ground.assumed("fitted", None, ground.arrivals.msg_per_s)


def _full(observed: Observed) -> Observed:
    """The same window with a full backlog of the selected subscription."""
    readers = dict(observed.readers)
    for (name, partition), item in observed.readers.items():
        if name == observed.subscription and observed.partition in (None, partition):
            backlog = item.backlog_entries.copy()
            backlog[-1] = WAITING_ENTRIES
            readers[name, partition] = replace(item, backlog_entries=backlog)
    return replace(observed, readers=readers)
