"""What would have happened, and what will. In: an :class:`Observed` and a :class:`Change`; out: an :class:`Answer` with intervals.

First the window is replayed as it was: how far the simulated backlog is from the recorded one says what the rest is worth. Then the
time after it is simulated, as it is and with the change, three times each: with what was fitted, and with the best and the worst
that fit the samples as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from throttlescope.ingest.errors import InputError
from throttlescope.models.throttling.bounds import MAX_EVENTS
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.replay.answer import Answer, Arrivals, Forecast
from throttlescope.models.throttling.replay.capacity import Capacity, fit_capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.notes import notes_of
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.outlook import HORIZONS_S, Engine, Future
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    limits_after,
    processing_ms,
)
from throttlescope.models.throttling.replay.speed import fit_speed
from throttlescope.models.throttling.scenario.limits import MAX_PER_PERIOD

#: A backlog of so few entries, or of what comes in two periods, is none: deliveries come period by period.
DRAINED_ENTRIES, DRAINED_PERIODS = 100, 2
#: Between two scrapes nothing is known, so arrivals are compared over minutes.
MINUTE_S = 60.0
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
) -> Answer:
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

    Raises
    ------
    InputError
        The change makes no sense here, or it would take too long.
    """
    longer = history or observed
    arrivals = fit_arrivals(observed)
    check_change(observed, change, arrivals, horizon_s)
    capacities = {name: fit_capacity(longer, name) for name in {name for name, _ in observed.readers}}
    fitted = capacities[observed.subscription]
    capacity = _given(observed, change, fitted)
    backlog = int(observed.backlog_entries[-1])
    below = drained_below_entries
    if below is None:
        below = _drained_below(observed, change, arrivals)
    told_ms = change.processing_ms if fitted.msg_per_s is None else None
    told = {} if told_ms is None else {observed.subscription: told_ms}
    speed = fit_speed(observed, _assumed(observed, capacities, "fitted", told), machine, engine)
    future = Future(observed, backlog, below, horizon_s, engine)

    def forecast(what: Change, known: bool) -> Forecast:
        def assumed(which: str, rate: float) -> Assumed:
            return _assumed(observed, capacities, which, told, rate * _topic_share(observed))

        return Forecast(
            fitted=future.outlook(assumed("fitted", arrivals.msg_per_s), what, speed.fitted)
            if known
            else None,
            best=future.outlook(assumed("high", arrivals.low_msg_per_s), what, speed.fastest),
            worst=future.outlook(assumed("low", arrivals.high_msg_per_s), what, speed.fitted),
        )

    return Answer(
        observed, change, capacity, arrivals, speed, backlog,
        as_is=forecast(Change(), bool(told) or fitted.msg_per_s is not None),
        changed=forecast(change, capacity.msg_per_s is not None),
        drained_below_entries=below,
        notes=notes_of(observed, longer, fitted, capacity, arrivals, change),
    )  # fmt: skip


def fit_arrivals(observed: Observed) -> Arrivals:
    """How much was published to what was asked for, from the counters of the window."""
    total = np.sum([observed.partitions[partition].in_msg for partition in observed.asked], axis=0)
    elapsed = (observed.times_ms - observed.times_ms[0]) / 1000
    mean = float(total.sum() / elapsed[-1])
    published = np.cumsum(total)
    edges = np.arange(0, elapsed[-1] + 1e-9, MINUTE_S)
    if len(edges) >= 4:
        rates = np.diff(np.interp(edges, elapsed, published)) / MINUTE_S
    else:
        rates = total[1:] / np.diff(elapsed)
    low, high = (float(np.quantile(rates, share)) for share in (0.1, 0.9))
    return Arrivals(mean, min(low, mean), max(high, mean), observed.publish_limited)


def check_change(observed: Observed, change: Change, arrivals: Arrivals, horizon_s: int) -> None:
    """Refuse what has no meaning for this subscription, or would take hours."""
    limits = {item["level"]: item for item in limits_after(observed, change) if item["subscription"] in (None, observed.subscription)}  # fmt: skip
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        if field == "period_s" and level not in limits:
            raise InputError(
                f"--set {key}: there is no {level} limit whose period it could be",
                got=f"{key}={value}",
                fix=f"add --set {level}.msg=N or --set {level}.bytes=N",
            )
    for level, limit in limits.items():
        for unit in ("msg", "bytes"):
            if (limit[unit] or 0) * limit["period_s"] > MAX_PER_PERIOD:
                raise InputError(
                    f"--set {level}.{unit}: no limit is that large",
                    got=f"{limit[unit]} times a period of {limit['period_s']} s",
                    expected=f"at most {MAX_PER_PERIOD}",
                )
    rate = max(arrivals.high_msg_per_s, change.rate_msg or 0.0)
    readers = len({name for name, _ in observed.readers})
    events = rate / observed.messages_per_entry * _topic_share(observed) * readers * horizon_s * _FUTURES
    if events > MAX_EVENTS:
        raise InputError(
            f"A replay of {rate:,.0f} msg/s for {horizon_s:,} s and {readers} subscriptions takes too long",
            got=f"{events:.0e} events",
            expected=f"at most {MAX_EVENTS:.0e}",
            fix=f"--horizon {max(1, int(horizon_s * MAX_EVENTS / events))}s",
        )


def _topic_share(observed: Observed) -> float:
    """What is published to the topic over what is published to the partition asked for."""
    if observed.partition is None:
        return 1.0
    mine = float(observed.partitions[observed.partition].in_msg.sum())
    return sum(float(item.in_msg.sum()) for item in observed.partitions.values()) / mine if mine else 1.0


def _given(observed: Observed, change: Change, fitted: Capacity) -> Capacity:
    """The fitted capacity, or what the change says of it."""
    if change.processing_ms is None:
        return fitted
    consumers = (
        change.consumers if change.consumers is not None else observed.consumers(observed.subscription)
    )
    active = observed.active(observed.subscription, consumers)
    per_s = 1000 * active / change.processing_ms if change.processing_ms else math.inf if active else 0.0
    return Capacity(per_s, per_s, per_s, "given", None, None, consumers)


def _assumed(
    observed: Observed,
    capacities: Mapping[str, Capacity],
    which: str,
    told_ms: Mapping[str, float],
    rate_msg: float = 0.0,
) -> Assumed:
    """The ``high``, ``low`` or ``fitted`` capacities; where none was fitted the consumers are taken to keep up. What is told wins."""
    found = {}
    for name, item in sorted(capacities.items()):
        fitted = math.inf if item.msg_per_s is None else item.msg_per_s
        per_s = {"high": item.high_msg_per_s, "low": item.low_msg_per_s, "fitted": fitted}[which]
        found[name] = processing_ms(observed, name, item.consumers, per_s)
    return Assumed(found | dict(told_ms), rate_msg)


def _drained_below(observed: Observed, change: Change, arrivals: Arrivals) -> int:
    periods = [limit["period_s"] for what in (Change(), change) for limit in limits_after(observed, what)]
    entries_per_s = max(arrivals.msg_per_s, change.rate_msg or 0.0) / observed.messages_per_entry
    return max(DRAINED_ENTRIES, math.ceil(DRAINED_PERIODS * max([1, *periods]) * entries_per_s))
