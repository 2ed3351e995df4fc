"""Backlogs as a flow: what comes, less what is served while messages wait. In: a :class:`Ground` and a change; out: an :class:`ReplayAnswer`.

What is served is measured in the simulator, from a full backlog and for some periods: every loss of the engine is in it (the second's
pause, batches, reads, neighbours on a shared limit). What the simulator would repeat for hours is then a sum. It takes
milliseconds where :func:`replay` and :func:`rewind`, its exact twins, take seconds for a day of a subscription that keeps up. What it
leaves out: the saw-tooth within a period, the entries in flight, and that consumers of a drained partition help the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.ground import Ground
from throttlescope.models.throttling.replay.notes import notes_of
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.outlook import POINTS, limiting_factor_of, used_shares
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    full_backlog,
    future_world,
    own_limits,
    recorded_entries,
    selected_dispatchers,
)
from throttlescope.models.throttling.replay.replay import (
    check_change,
    drained_below,
    given_capacity,
    topic_share,
)
from throttlescope.models.throttling.replay.replay_answer import Forecast, Outlook, ReplayAnswer
from throttlescope.models.throttling.simulate import run

#: How long it is measured: whole periods, behind the first one.
LEAST_S, LEAST_PERIODS = 120, 4
#: A period is looked at in so many rows, of a second at least.
ROWS_OF_PERIOD = 20

When = Literal["end", "start"]


@dataclass(frozen=True, eq=False)
class Service:
    """What is served while messages wait.

    Attributes
    ----------
    entries_per_s : mapping
        By selected partition, in entries as they were recorded.
    first_entries : mapping
        What is served beyond that at once, as limiters begin full.
    first_s : int
        Within which that is served: the longest period.
    used : mapping
        Use of every limiter and of the consumers meanwhile, as shares.
    """

    entries_per_s: Mapping[int, float]
    first_entries: Mapping[int, float]
    first_s: int
    used: Mapping[str, float]

    def of(self, partition: int | None = None) -> tuple[float, float]:
        """Entries per second, and at once beyond them, of one partition or of all."""
        if partition is not None:
            return self.entries_per_s[partition], self.first_entries[partition]
        return sum(self.entries_per_s.values()), sum(self.first_entries.values())


def flow(
    ground: Ground,
    change: Change,
    when: When = "end",
    *,
    horizon_s: int,
    drained_below_entries: int | None = None,
) -> ReplayAnswer:
    """What a change does from the window's end on, or had done from its beginning on.

    Parameters
    ----------
    when
        ``end``: the future up to ``horizon_s``, as :func:`replay` has it; ``start``: the window, as :func:`rewind` has it.

    Raises
    ------
    InputError
        The change makes no sense here.
    """
    observed, arrivals, fitted = ground.observed, ground.arrivals, ground.capacity
    # A flow costs the same however much comes.
    check_change(observed, change, arrivals, 0)
    capacity = given_capacity(observed, change, fitted)
    assumed_ms = None if fitted.seen == "saturated" else change.processing_ms
    below = drained_below_entries
    if below is None:
        below = drained_below(observed, change, arrivals)
    speed = ground.speed()

    def forecast(what: Change, known: bool) -> Forecast:
        def outlook(which: str, machine: Machine, msg_per_s: float) -> Outlook:
            assumed = ground.assumed(which, assumed_ms, msg_per_s * topic_share(observed))
            served = _service(ground, assumed, what, machine)
            if when == "start":
                return _past(observed, what, served, below)
            return _future(observed, what, served, msg_per_s, below, horizon_s)

        return Forecast(
            fitted=outlook("fitted", speed.fitted, arrivals.msg_per_s) if known else None,
            best=outlook("high", speed.fastest, arrivals.low_msg_per_s),
            worst=outlook("low", speed.fitted, arrivals.high_msg_per_s),
        )

    backlog_matters = float(observed.backlog_entries.max()) > below
    error = error_share(ground) if backlog_matters else 0.0
    return ReplayAnswer(
        observed, change, capacity, arrivals, speed, int(observed.backlog_entries[-1]),
        as_is=forecast(Change(), assumed_ms is not None or fitted.msg_per_s is not None),
        changed=forecast(change, capacity.msg_per_s is not None),
        drained_below_entries=below,
        notes=notes_of(observed, ground.history, fitted, capacity, arrivals, change, error),
    )  # fmt: skip


def as_it_was(ground: Ground) -> Outlook:
    """The window's own backlog as a flow; consumers that were never seen at their limit are taken to keep up."""
    assumed = ground.assumed("fitted", None, ground.arrivals.msg_per_s * topic_share(ground.observed))
    served = _service(ground, assumed, Change(), ground.speed().fitted)
    return _past(ground.observed, Change(), served, 0)


def error_share(ground: Ground) -> float:
    """Mean distance of :func:`as_it_was` from the recorded backlog over the recorded peak."""
    observed, found = ground.observed, as_it_was(ground)
    peak = float(observed.backlog_entries.max())
    if not peak:
        return 0.0
    elapsed_s = (observed.times_ms - observed.times_ms[0]) / 1000
    ends_s = found.every_s * np.arange(1, len(found.backlog_entries) + 1)
    replayed = np.interp(elapsed_s[1:], ends_s, found.backlog_entries)
    return float(np.mean(np.abs(replayed - observed.backlog_entries[1:]))) / peak


# -- what is served -----------------------------------------------------------------------------


def _service(ground: Ground, assumed: Assumed, change: Change, machine: Machine) -> Service:
    # What comes matters for limits that are relative to it alone: the full backlog hides it otherwise.
    return ground.cached(
        ("service", repr((assumed, change, machine))), lambda: _measured(ground, assumed, change, machine)
    )


def _measured(ground: Ground, assumed: Assumed, change: Change, machine: Machine) -> Service:
    observed = ground.observed
    full = full_backlog(observed, change)
    period_s = int(max([1, *(limit["period_s"] for limit in own_limits(observed, change).values())]))
    seconds = period_s * (1 + max(LEAST_PERIODS, -(-LEAST_S // period_s)))
    every_s = max(1, period_s // ROWS_OF_PERIOD)
    world = future_world(full, assumed, change, seconds, machine)
    totals = run(world, machine, every_s, ground.engine)
    mine = selected_dispatchers(world, observed.partition)
    # Acknowledgements reduce a backlog; a slow consumer still gets a queue of a thousand messages at once.
    acked = totals["acked_entries"]
    waiting = totals["backlog_entries"][:, mine].sum(axis=1)
    last = int(np.argmax(waiting <= 0)) if (waiting <= 0).any() else len(waiting)
    first = period_s // every_s
    if last <= 2 * first:
        first, last = 0, max(1, last)
    at_s = every_s * np.arange(first, last + 1)
    per_s, at_once = _lines(at_s, np.vstack([np.zeros_like(acked[0]), acked])[first : last + 1])
    per_entry = np.array([world.logs[item.log].msgs for item in world.dispatchers])
    size = np.array([world.logs[item.log].sizes[0][0] for item in world.dispatchers])
    flows = {"out_entries": per_s, "out_messages": per_s * per_entry, "out_bytes": per_s * size}
    used = used_shares(observed, world, {name: value[None, :] for name, value in flows.items()}, 1, 1)
    times = recorded_entries(observed, change)
    partitions = {at: world.logs[world.dispatchers[at].log].partition for at in mine}
    return Service(
        {partition: float(per_s[at]) * times for at, partition in partitions.items()},
        {partition: float(at_once[at]) * times for at, partition in partitions.items()},
        period_s,
        used,
    )


def _lines(at_s: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and beginning of the line through each column's stairs, whatever part of a step is at the ends."""
    aside = at_s - at_s.mean()
    per_s = aside @ totals / float(aside @ aside)
    return per_s, np.maximum(0.0, totals.mean(axis=0) - per_s * at_s.mean())


# -- what is left -------------------------------------------------------------------------------


def _pooled(parts: Mapping[int, np.ndarray], served: Service) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """Partitions apart, each with what it is served; together where the consumers hold them, who help wherever something waits."""
    if limiting_factor_of(served.used) == "consumers":
        return [(np.sum(list(parts.values()), axis=0), served.of())]
    return [(part, served.of(partition)) for partition, part in parts.items()]


def _future(
    observed: Observed, change: Change, served: Service, msg_per_s: float, below: int, horizon_s: int
) -> Outlook:
    every_s = max(1, -(-horizon_s // POINTS))
    at_s = every_s * np.arange(1, horizon_s // every_s + 1)
    rate = msg_per_s * (1.0 if change.load is None else change.load)
    if change.rate_msg is not None:
        rate = change.rate_msg / topic_share(observed)
    came = {number: float(observed.partitions[number].in_msg.sum()) for number in observed.selected}
    total = sum(came.values())
    parts = {
        number: np.array(
            [float(item.backlog_entries[-1]), rate / observed.messages_per_entry * (came[number] / total if total else 1 / len(came))]
        )
        for number, item in observed.selected.items()
    }  # fmt: skip
    waiting = np.zeros(len(at_s))
    for (begins, comes), (serves, at_once) in _pooled(parts, served):
        begun = np.minimum(1.0, at_s / served.first_s)
        waiting += np.maximum(0.0, np.maximum(0.0, begins - at_once * begun) + (comes - serves) * at_s)
    begins, comes = (float(sum(part[at] for part in parts.values())) for at in (0, 1))
    low = np.flatnonzero(waiting <= below)
    if begins <= below:
        drain_s = 0.0 if waiting[-1] <= below else None
    elif len(low):
        before = begins if low[0] == 0 else float(waiting[low[0] - 1])
        part = (before - below) / max(1e-9, before - float(waiting[low[0]]))
        drain_s = every_s * (float(low[0]) + part)
    else:
        drain_s = None
    span_s = drain_s or float(at_s[-1])
    ends = float(np.interp(span_s, np.r_[0, at_s], np.r_[begins, waiting]))
    return _outlook(observed, served, drain_s, horizon_s, every_s, waiting, begins, ends, comes, span_s)


def _past(observed: Observed, change: Change, served: Service, below: int) -> Outlook:
    seconds = observed.seconds
    load = 1.0 if change.load is None else change.load
    parts = {}
    total = sum(float(item.in_msg.sum()) for item in observed.partitions.values())
    for number, item in observed.selected.items():
        came = observed.partitions[number].in_msg
        entries = came * load / observed.messages_per_entry
        if change.rate_msg is not None:
            share = float(came.sum()) / total if total else 1 / len(observed.partitions)
            entries = seconds * change.rate_msg * share / observed.messages_per_entry
        parts[number] = np.r_[float(item.backlog_entries[0]), entries]
    waiting = np.zeros(len(seconds))
    begun = np.minimum(1.0, np.cumsum(seconds) / served.first_s)
    for part, (serves, at_once) in _pooled(parts, served):
        goes = serves * seconds + at_once * np.diff(begun, prepend=0.0)
        waiting += backlog_behind(float(part[0]), part[1:] - goes)
    elapsed_s = (observed.times_ms - observed.times_ms[0]) / 1000
    horizon_s = max(1, int(observed.elapsed_s))
    every_s = max(1, -(-horizon_s // POINTS))
    at_s = every_s * np.arange(1, max(1, horizon_s // every_s) + 1)
    curve = np.interp(at_s, elapsed_s, waiting)
    above = np.flatnonzero(curve > below)
    last = int(above[-1]) + 1 if len(above) else 0
    drain_s = None if last == len(curve) else float(last * every_s)
    begins = float(sum(part[0] for part in parts.values()))
    comes = float(sum(part[1:].sum() for part in parts.values())) / observed.elapsed_s
    return _outlook(
        observed, served, drain_s, horizon_s, every_s, curve, begins, float(waiting[-1]), comes, observed.elapsed_s
    )  # fmt: skip


def backlog_behind(begins: float, net: np.ndarray) -> np.ndarray:
    """A backlog at every step: what was there, and what came more than could go; it is never below nothing."""
    free = begins + np.cumsum(net)
    return free + np.maximum(0.0, -np.minimum.accumulate(free))


def _outlook(
    observed: Observed,
    served: Service,
    drain_s: float | None,
    horizon_s: int,
    every_s: int,
    waiting: np.ndarray,
    begins: float,
    ends: float,
    comes_per_s: float,
    span_s: float,
) -> Outlook:
    out_per_s = max(0.0, comes_per_s + (begins - ends) / span_s)
    most = sum(served.entries_per_s.values())
    # Where nothing waits less is used than could be.
    busy = min(1.0, out_per_s / most) if most else 1.0
    return Outlook(
        drain_s=drain_s,
        horizon_s=horizon_s,
        every_s=every_s,
        backlog_entries=np.round(waiting).astype(np.int64),
        growth_entries_per_s=(ends - begins) / span_s,
        out_msg_per_s=out_per_s * observed.messages_per_entry,
        held_by="arrivals" if drain_s == 0 else limiting_factor_of(served.used),
        used={name: share * busy for name, share in served.used.items()},
    )
