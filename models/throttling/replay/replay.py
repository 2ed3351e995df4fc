"""What would have happened, and what will. In: an :class:`Observed` and a :class:`Change`; out: an :class:`ReplayAnswer` with intervals.

First the window is replayed as it was: how far the simulated backlog is from the recorded one says what the rest is worth. Then the
time after it is simulated, as it is and with the change, three times each: with what was fitted, and with the best and the worst
that fit the samples as well.
"""

from __future__ import annotations

import math

from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.bounds import MAX_EVENTS
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.replay.capacity import Capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.ground import Ground
from throttlescope.models.throttling.replay.notes import notes_of
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.outlook import HORIZONS_S, Engine
from throttlescope.models.throttling.replay.rebuild import Assumed, limits_after, own_limits
from throttlescope.models.throttling.replay.replay_answer import Arrivals, Forecast, ReplayAnswer
from throttlescope.models.throttling.scenario.limits import MAX_PER_PERIOD

#: A backlog of so few entries, or of what comes in two periods, is none: deliveries come period by period.
DRAINED_ENTRIES, DRAINED_PERIODS = 100, 2
#: As is and changed, with the fitted, the best and the worst.
_FUTURES = 6


def replay(
    observed: Observed,
    change: Change,
    *,
    history: Observed | None = None,
    machine: Machine = LAB,
    horizon_s: int = HORIZONS_S[-1],
    drained_below_entries: int | None = None,
    engine: Engine = "kernel",
    ground: Ground | None = None,
) -> ReplayAnswer:
    """Replay a window and look ahead from its end.

    Parameters
    ----------
    observed
        The window.
    change
        What is different from its end on. A processing time counts for both futures where what the consumers can do was never seen.
    history
        A longer window with the same end, in which the consumers' capacity is looked for.
    horizon_s
        How far ahead is looked at most.
    drained_below_entries
        A backlog below it is drained; by default 100 entries, or what comes in two periods of the longest limit.
    engine
        ``twin`` runs the slow, obvious form of the simulator.
    ground
        What earlier replays of the same window found; ``history``, ``machine`` and ``engine`` are its own then.

    Raises
    ------
    InputError
        The change makes no sense here, or it would take too long.
    """
    # A given processing time is the capacity: then it need not be estimated from bursts, which takes seconds.
    ground = ground or Ground(
        observed, history or observed, machine, engine, with_bursts=change.processing_ms is None
    )
    arrivals = ground.arrivals
    check_change(observed, change, arrivals, horizon_s)
    fitted = ground.capacity
    capacity = given_capacity(observed, change, fitted)
    below = drained_below_entries
    if below is None:
        below = drained_below(observed, change, arrivals)
    assumed_ms = None if fitted.seen == "saturated" else change.processing_ms
    speed = ground.speed(assumed_ms)
    future = ground.future(below, horizon_s)

    def forecast(what: Change, known: bool) -> Forecast:
        def assumed(which: str, rate: float) -> Assumed:
            return ground.assumed(which, assumed_ms, rate * topic_share(observed))

        return Forecast(
            fitted=future.outlook(assumed("fitted", arrivals.msg_per_s), what, speed.fitted)
            if known
            else None,
            best=future.outlook(assumed("high", arrivals.low_msg_per_s), what, speed.fastest),
            worst=future.outlook(assumed("low", arrivals.high_msg_per_s), what, speed.fitted),
        )

    backlog_matters = float(observed.backlog_entries.max()) > below
    return ReplayAnswer(
        observed, change, capacity, arrivals, speed, future.backlog_entries,
        as_is=forecast(Change(), assumed_ms is not None or fitted.msg_per_s is not None),
        changed=forecast(change, capacity.msg_per_s is not None),
        drained_below_entries=below,
        notes=notes_of(observed, ground.history, fitted, capacity, arrivals, change, speed.error_share if backlog_matters else 0.0),
    )  # fmt: skip


def check_change(observed: Observed, change: Change, arrivals: Arrivals, horizon_s: int) -> None:
    """Refuse what has no meaning for this subscription, or would take hours."""
    if observed.is_replicator:
        _check_replicator(change)
    limits = own_limits(observed, change)
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        if field == "period_s" and level not in limits:
            raise InputError(
                f"{key}: there is no {level} limit with a period",
                got=f"{key}={value}",
                fix=f"set {level}.msg=N or {level}.bytes=N too",
            )
    for level, limit in limits.items():
        for unit in ("msg", "bytes"):
            if (limit[unit] or 0) * limit["period_s"] > MAX_PER_PERIOD:
                raise InputError(
                    f"{level}.{unit}: the limit is too large",
                    got=f"{limit[unit]} times a period of {limit['period_s']} s",
                    expected=f"at most {MAX_PER_PERIOD}",
                )
    load = 1.0 if change.load is None else change.load
    rate = max(arrivals.high_msg_per_s * max(1.0, load), change.rate_msg or 0.0)
    per_entry = min(observed.messages_per_entry, change.batch_msg or math.inf)
    readers = len({name for name, _ in observed.readers})
    events = rate / per_entry * topic_share(observed) * readers * horizon_s * _FUTURES
    if events > MAX_EVENTS:
        raise InputError(
            f"A replay of {rate:,.0f} msg/s for {horizon_s:,} s and {readers} subscriptions takes too long",
            got=f"{events:.0e} events",
            expected=f"at most {MAX_EVENTS:.0e}",
            fix=f"use a horizon of {max(1, int(horizon_s * MAX_EVENTS / events))}s or less",
        )


def _check_replicator(change: Change) -> None:
    """A replicator has one limit of its own, whatever level sets it, and no consumers that could be added."""
    vain = [key for key in change.limits if not key.startswith("subscription.")]
    vain += ["consumers"] if change.consumers is not None else []
    if vain:
        raise InputError(
            f"{vain[0]} does not change what a replicator sends",
            got=change.words,
            expected="subscription.msg or subscription.bytes for the replicator's own limit (msg counts entries), rate_msg, load, batch_msg or processing_ms",
            fix="to try other limits, name a subscription of the topic instead",
        )


def topic_share(observed: Observed) -> float:
    """Publish rate of the topic over that of the selected partition."""
    if observed.partition is None:
        return 1.0
    mine = float(observed.partitions[observed.partition].in_msg.sum())
    return sum(float(item.in_msg.sum()) for item in observed.partitions.values()) / mine if mine else 1.0


def given_capacity(observed: Observed, change: Change, fitted: Capacity) -> Capacity:
    """The fitted capacity, or what the change says of it."""
    if change.processing_ms is None:
        return fitted
    consumers = (
        change.consumers if change.consumers is not None else observed.consumers(observed.subscription)
    )
    active = observed.active(observed.subscription, consumers)
    per_s = 1000 * active / change.processing_ms if change.processing_ms else math.inf if active else 0.0
    return Capacity(per_s, per_s, per_s, "given", None, None, consumers)


def drained_below(observed: Observed, change: Change, arrivals: Arrivals) -> int:
    """Entries that count as no backlog: 100, or what comes in two periods of the longest limit."""
    periods = [limit["period_s"] for what in (Change(), change) for limit in limits_after(observed, what)]
    load = 1.0 if change.load is None else change.load
    entries_per_s = (
        max(arrivals.msg_per_s * max(1.0, load), change.rate_msg or 0.0) / observed.messages_per_entry
    )
    return max(DRAINED_ENTRIES, math.ceil(DRAINED_PERIODS * max([1, *periods]) * entries_per_s))
