"""What would have happened, and what will. In: an :class:`Observed` and a :class:`Change`; out: an :class:`Answer` with intervals.

First the window is replayed as it was: how far the simulated backlog is from the recorded one says what the rest is worth. Then the
time after it is simulated, as it is and with the change, three times each: with what was fitted, and with the best and the worst
that fit the samples as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from throttlescope.ingest.contracts.words import LEVELS, UNITS
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.replay.capacity import Capacity, fit_capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    active_consumers,
    asked_dispatchers,
    future_world,
    processing_ms,
    window_world,
)
from throttlescope.models.throttling.simulate import run
from throttlescope.models.throttling.world import World

#: How far ahead is looked, step by step until the backlog is drained.
HORIZONS_S = (900, 3_600, 21_600, 86_400)
#: A backlog of so few entries, or of what comes in two periods, is none: deliveries come period by period.
DRAINED_ENTRIES, DRAINED_PERIODS = 100, 2
#: A limit of which so much is used while the backlog drains is what holds it.
HOLDS_FROM_SHARE = 0.8
#: Between two scrapes nothing is known, so arrivals are compared over minutes.
MINUTE_S = 60.0

Engine = Literal["kernel", "twin"]


@dataclass(frozen=True)
class Arrivals:
    """Messages per second published to the topic: mean of the window, 10 % and 90 % of its minutes.

    ``lower_bound`` says that producers were held back by a publish limit: more would have come.
    """

    msg_per_s: float
    low_msg_per_s: float
    high_msg_per_s: float
    lower_bound: bool | None


@dataclass(frozen=True, eq=False)
class Outlook:
    """One simulated future of the subscription asked for, all partitions together.

    Attributes
    ----------
    drain_s : float or None
        Seconds until the backlog is drained; None: not within ``horizon_s``.
    backlog_entries : ndarray of int64
        At the end of every ``every_s`` seconds.
    out_msg_per_s : float
        Mean until it is drained (or to the end).
    held_by : str
        What holds the drain: a limiter (``subscription.msg``), ``consumers``, or ``arrivals`` once it is drained.
    """

    drain_s: float | None
    horizon_s: int
    every_s: int
    backlog_entries: np.ndarray
    out_msg_per_s: float
    held_by: str


@dataclass(frozen=True)
class Forecast:
    """The same future with what was fitted, and with the best and the worst that the samples allow; ``fitted`` is None where the
    consumers' capacity was never seen."""

    fitted: Outlook | None
    best: Outlook
    worst: Outlook


@dataclass(frozen=True, eq=False)
class Answer:
    """What a replay knows.

    Attributes
    ----------
    window_backlog_entries : ndarray of int64
        The simulated backlog at every second of the window; None where no capacity could be assumed.
    window_error_share : float
        Mean distance between simulated and recorded backlog over the recorded peak.
    drained_below_entries : int
        What counts as drained.
    notes : list of str
        Gaps, restarts and everything else that makes the answer less sure.
    """

    observed: Observed
    change: Change
    capacity: Capacity
    arrivals: Arrivals
    backlog_entries: int
    window_backlog_entries: np.ndarray
    window_error_share: float
    as_is: Forecast
    changed: Forecast
    drained_below_entries: int
    notes: list[str] = field(default_factory=list)


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
        What is different from its end on.
    history
        A longer window with the same end, in which the consumers' capacity is looked for.
    horizon_s
        How far ahead is looked at most.
    drained_below_entries
        A backlog below it is drained; by default 100 entries, or what comes in two periods of the longest limit.
    engine
        ``twin`` runs the slow, obvious form of the simulator.
    """
    longer = history or observed
    capacities = {name: fit_capacity(longer, name) for name in {name for name, _ in observed.readers}}
    capacity = _given(observed, change, capacities[observed.subscription])
    arrivals = fit_arrivals(observed)
    backlog = sum(int(item.backlog_entries[-1]) for item in observed.of(observed.subscription).values())
    below = drained_below_entries if drained_below_entries is not None else _drained_below(observed, arrivals)
    simulated, error = _window(observed, capacities, machine, engine)

    def forecast(what: Change, known: bool) -> Forecast:
        def outlook(which: str, rate: float) -> Outlook:
            assumed = _assumed(observed, capacities, which, rate)
            return _outlook(observed, assumed, what, backlog, below, horizon_s, machine, engine)

        return Forecast(
            fitted=outlook("fitted", arrivals.msg_per_s) if known else None,
            best=outlook("high", arrivals.low_msg_per_s),
            worst=outlook("low", arrivals.high_msg_per_s),
        )

    as_is = forecast(Change(), capacities[observed.subscription].msg_per_s is not None)
    changed = forecast(change, capacity.msg_per_s is not None)
    return Answer(
        observed, change, capacity, arrivals, backlog, simulated, error, as_is, changed, below,
        _notes(observed, longer, capacity, arrivals, change),
    )  # fmt: skip


def fit_arrivals(observed: Observed) -> Arrivals:
    """How much was published, from the counters of the window."""
    total = np.sum([item.in_msg for item in observed.partitions.values()], axis=0)
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


def _given(observed: Observed, change: Change, fitted: Capacity) -> Capacity:
    if change.processing_ms is None:
        return fitted
    consumers = change.consumers if change.consumers is not None else fitted.consumers
    active = active_consumers(observed, observed.subscription, consumers)
    per_s = 1000 * active / change.processing_ms if change.processing_ms else math.inf
    return Capacity(per_s, per_s, per_s, "given", None, consumers)


def _assumed(
    observed: Observed, capacities: Mapping[str, Capacity], which: str, rate_msg: float = 0.0
) -> Assumed:
    """The ``high``, ``low`` or ``fitted`` capacities; where none was fitted the consumers are taken to keep up."""
    found = {}
    for name, item in capacities.items():
        fitted = math.inf if item.msg_per_s is None else item.msg_per_s
        per_s = {"high": item.high_msg_per_s, "low": item.low_msg_per_s, "fitted": fitted}[which]
        found[name] = processing_ms(observed, name, item.consumers, per_s)
    return Assumed(found, rate_msg)


def _drained_below(observed: Observed, arrivals: Arrivals) -> int:
    periods = [row["period_s"] for row in observed.limits.values() if row["rate_msg"] or row["rate_bytes"]]
    entries_per_s = arrivals.msg_per_s / observed.messages_per_entry
    return max(DRAINED_ENTRIES, math.ceil(DRAINED_PERIODS * max([1, *periods]) * entries_per_s))


# -- the window itself -------------------------------------------------------------------------------


def _window(observed: Observed, capacities: dict[str, Capacity], machine: Machine, engine: Engine):
    world = window_world(observed, _assumed(observed, capacities, "fitted"), machine)
    backlog = run(world, machine, 1, engine)["backlog_entries"][:, asked_dispatchers(world)].sum(axis=1)
    recorded = np.sum([item.backlog_entries for item in observed.of(observed.subscription).values()], axis=0)
    seconds = ((observed.times_ms - observed.times_ms[0]) // 1000).astype(int)
    at = np.clip(seconds[1:] - 1, 0, len(backlog) - 1)
    peak = float(recorded.max())
    error = float(np.mean(np.abs(backlog[at] - recorded[1:])) / peak) if peak else 0.0
    return backlog, error


# -- the time after it ---------------------------------------------------------------------------------


def _outlook(
    observed: Observed,
    assumed: Assumed,
    change: Change,
    backlog: int,
    below: int,
    horizon_s: int,
    machine: Machine,
    engine: Engine,
) -> Outlook:
    steps = [*(seconds for seconds in HORIZONS_S if seconds < horizon_s), horizon_s]
    for seconds in steps:
        every_s = max(1, seconds // 3_600)
        world = future_world(observed, assumed, change, seconds, machine)
        totals = run(world, machine, every_s, engine)
        mine = asked_dispatchers(world)
        waiting = totals["backlog_entries"][:, mine].sum(axis=1)
        drained = np.flatnonzero(waiting <= below)
        if backlog <= below or len(drained) or seconds == steps[-1]:
            break
    at = 0 if backlog <= below else int(drained[0]) + 1 if len(drained) else None
    until = len(waiting) if not at else at
    return Outlook(
        drain_s=None if at is None else float(at * every_s),
        horizon_s=seconds,
        every_s=every_s,
        backlog_entries=waiting,
        out_msg_per_s=float(totals["out_messages"][until - 1, mine].sum() / (until * every_s)),
        held_by=_held_by(world, totals, mine, until, until * every_s, at == 0),
    )


def _held_by(world: World, totals: dict, mine: list[int], until: int, seconds: int, drained: bool) -> str:
    """The limiter of which most is used while the backlog drains; the consumers where none is used up."""
    used = {}
    for number in mine:
        for level_number, level in enumerate(LEVELS):
            index = world.dispatchers[number].limiters[level_number]
            rates = world.limiters[index].rates
            sharing = [
                at for at, item in enumerate(world.dispatchers) if item.limiters[level_number] == index
            ]
            for unit in UNITS:
                rate = getattr(rates, unit)
                if rate:
                    name = "out_messages" if unit == "msg" else "out_bytes"
                    use = totals[name][until - 1, sharing].sum() / seconds
                    share = use / (rate * 1_000_000 / rates.period_us)
                    used[f"{level}.{unit}"] = max(used.get(f"{level}.{unit}", 0.0), float(share))
    if drained:
        return "arrivals"
    name = max(used, key=used.__getitem__, default="")
    return name if used.get(name, 0.0) >= HOLDS_FROM_SHARE else "consumers"


# -- what makes it less sure -----------------------------------------------------------------------------


def _notes(
    observed: Observed, history: Observed, capacity: Capacity, arrivals: Arrivals, change: Change
) -> list[str]:
    found = []
    if observed.gaps:
        missing_s = sum(end - start for start, end in observed.gaps) / 1000
        found.append(
            f"{len(observed.gaps)} gaps of {missing_s:.0f} s in all in the samples: arrivals are spread evenly over them"
        )
    if observed.restarts_ms:
        found.append(
            "counters restarted in the window (unload, move or restart of the broker): what was counted before the last"
            " scrape is missing"
        )
    if arrivals.lower_bound:
        found.append("a publish limit held producers back: the arrivals are a lower bound")
    elif arrivals.lower_bound is None:
        found.append(
            "whether a publish limit held producers back was not recorded; if so, arrivals are a lower bound"
        )
    if capacity.seen == "at_least":
        found.append(
            f"consumers were never seen at their limit (in {_hours(history)}): they manage at least"
            f" {capacity.low_msg_per_s:.0f} msg/s; --set processing_ms=N says what they can do"
        )
    if not observed.limits:
        found.append("limits were never observed (no admin API answers in the lake): none is taken to hold")
    if observed.delayed_entries:
        found.append(
            f"up to {observed.delayed_entries:.0f} entries waited for their delivery time: taken as deliverable"
        )
    if observed.redelivered_msg_per_s > 0.01 * arrivals.msg_per_s:
        found.append(
            f"{observed.redelivered_msg_per_s:.1f} msg/s were delivered again: a replay delivers every message once"
        )
    if observed.subscription not in observed.types:
        found.append("the subscription's type was not observed: taken as Shared")
    if observed.others_per_s and any(
        row["level"] == "broker" and (row["rate_msg"] or row["rate_bytes"])
        for row in observed.limits.values()
    ):
        found.append(
            f"other topics of the broker take {observed.others_per_s.get('msg', 0):.0f} msg/s of its limit, as on average"
            " in the window"
        )
    near = round(observed.messages_per_entry)
    if abs(observed.messages_per_entry - near) > 0.05 * near:
        found.append(
            f"batches of {observed.messages_per_entry:.2f} messages on average are taken as {max(1, near)}"
        )
    if len(observed.partitions) > 1 and change.limits:
        found.append(
            f"limits of topic and subscription hold for each of the {len(observed.partitions)} partitions"
        )
    return found


def _hours(observed: Observed) -> str:
    seconds = (observed.times_ms[-1] - observed.times_ms[0]) / 1000
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
