"""What would have been: a window replayed with a change from its beginning on. In: a :class:`Ground` and a change; out: an :class:`ReplayAnswer`.

Arrivals are known here, so best and worst differ by what the consumers can do and by how fast the broker reads. As it was, it is the
replay that the window was fitted with.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.ground import Ground
from throttlescope.models.throttling.replay.notes import notes_of
from throttlescope.models.throttling.replay.outlook import (
    POINTS,
    limiting_factor_of,
    used_shares,
    waiting_entries,
)
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    batched,
    real_messages,
    selected_dispatchers,
    window_world,
)
from throttlescope.models.throttling.replay.replay import check_change, drained_below, given_capacity
from throttlescope.models.throttling.replay.replay_answer import Forecast, Outlook, ReplayAnswer
from throttlescope.models.throttling.simulate import run


def rewind(ground: Ground, change: Change, *, drained_below_entries: int | None = None) -> ReplayAnswer:
    """Replay a window with a change from its beginning on.

    Parameters
    ----------
    ground
        The window and what was found of it.
    drained_below_entries
        A backlog below it is drained; the default is that of :func:`replay`.

    Returns
    -------
    ReplayAnswer
        ``drain_s`` of its outlooks counts from the window's beginning to when the backlog is gone for good; None: it is there
        at the end.

    Raises
    ------
    InputError
        The change makes no sense here, or it would take too long.
    """
    observed, arrivals, fitted = ground.observed, ground.arrivals, ground.capacity
    check_change(observed, change, arrivals, max(1, int(observed.elapsed_s)))
    capacity = given_capacity(observed, change, fitted)
    assumed_ms = None if fitted.seen == "saturated" else change.processing_ms
    speed = ground.speed(assumed_ms)
    below = drained_below_entries
    if below is None:
        below = drained_below(observed, change, arrivals)

    def forecast(what: Change, known: bool) -> Forecast:
        def past(which: str, machine: Machine) -> Outlook:
            assumed = ground.assumed(which, assumed_ms)
            return ground.cached(
                ("past", below, repr((assumed, what, machine))),
                lambda: _past(ground, assumed, what, machine, below),
            )

        return Forecast(
            fitted=past("fitted", speed.fitted) if known else None,
            best=past("high", speed.fastest),
            worst=past("low", speed.fitted),
        )

    return ReplayAnswer(
        observed, change, capacity, arrivals, speed, int(observed.backlog_entries[-1]),
        as_is=forecast(Change(), assumed_ms is not None or fitted.msg_per_s is not None),
        changed=forecast(change, capacity.msg_per_s is not None),
        drained_below_entries=below,
        notes=notes_of(observed, ground.history, fitted, capacity, arrivals, change, speed.error_share),
    )  # fmt: skip


def _past(ground: Ground, assumed: Assumed, change: Change, machine: Machine, below: int) -> Outlook:
    observed = ground.observed
    world = window_world(observed, assumed, machine, change)
    seconds = max(1, int(observed.elapsed_s))
    every_s = max(1, -(-seconds // POINTS))
    totals = run(world, machine, every_s, ground.engine)
    mine = selected_dispatchers(world, observed.partition)
    waiting = waiting_entries(observed, change, totals, mine)
    rows, span_s = len(waiting), len(waiting) * every_s
    above = np.flatnonzero(waiting > below)
    last = int(above[-1]) + 1 if len(above) else 0
    out = float(totals["out_messages"][-1, mine].sum()) * real_messages(batched(observed, change))
    used = used_shares(observed, world, totals, rows, span_s)
    return Outlook(
        drain_s=None if last == rows else float(last * every_s),
        horizon_s=seconds,
        every_s=every_s,
        backlog_entries=waiting,
        growth_entries_per_s=float(waiting[-1] - observed.backlog_entries[0]) / span_s,
        out_msg_per_s=out / span_s,
        held_by=limiting_factor_of(used),
        used=used,
    )
