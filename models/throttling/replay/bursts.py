"""What consumers can do, from the time they need for the bursts of a limiter. In: a window and simulated bursts; out: a :class:`Capacity` or None.

A limiter dispatches a period's messages at once, and the consumers then work them off. The broker keeps the time of the last
dispatch and of the last acknowledgement, to the millisecond: at a scrape between two bursts their distance is how long the consumers
worked after the last dispatch. The simulator says how that distance is distributed for a processing time, over random times of a scrape;
what was scraped then makes some processing times likelier than others.

The distance contains more than work, and no metric says how much: clients group acknowledgements, for 100 ms by default or not at
all, and a broker spreads the reads of one burst over some tens of milliseconds. Both are summed over. So bursts that are
worked off in less than about 200 ms leave several capacities possible, and nothing is claimed of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.binding import bound
from throttlescope.models.throttling.replay.capacity import (
    WAITING_ENTRIES,
    Capacity,
    acked_msg,
    disturbed,
    waiting_entries,
)
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    full_backlog,
    future_world,
    limits_after,
    real_messages,
    selected_dispatchers,
)
from throttlescope.models.throttling.simulate import run

#: Scrapes in throttled spans that are needed.
LEAST_SCRAPES = 20
#: Capacities that are tried, as multiples of the dispatch rate.
TRIED = np.geomspace(1.05, 20, 40)
#: How long bursts are simulated, and the periods at the beginning that do not count.
LEAST_S, LEAST_PERIODS, FIRST_PERIODS = 30, 6, 2
MOST_PERIOD_S, MOST_MESSAGES = 60, 3_000_000
STEP_MS = 5
#: How long clients collect acknowledgements: not at all, or by default.
GROUPING_MS = (0, 100)
#: How much later than simulated the last message of a burst is dispatched: reads share a machine with what they cause.
SPREAD_MS = (0, 20, 40, 60, 80)
#: Phases of the clients' timers that are tried, and the most timers: the latest of more is hardly later.
PHASES, MOST_TIMERS = 6, 8
#: Distances are compared in bins, each as likely as its neighbourhood; some scrapes are of something else.
BIN_MS, NEAR_MS, OTHER_SHARE = 10, 15.0, 0.05
#: The simulated bursts are those that were seen if they dispatch as much, and consumers keep up if they acknowledge as much.
SAME_RATE_SHARE = 0.1
#: Ends of the interval, what it is widened by for what the model leaves out, and how wide it may be: highest over lowest.
ENDS, WIDENED, WIDEST = (0.05, 0.95), 1.2, 2.0


def fit_bursts(
    observed: Observed,
    assumed: Callable[[float], Assumed],
    machines: Callable[[], Sequence[Machine]],
    engine: str = "kernel",
) -> Capacity | None:
    """The capacity of the selected subscription's consumers, where the bursts of a limiter show it.

    Parameters
    ----------
    observed
        The window.
    assumed
        What is assumed where a consumer of the selected subscription needs so many milliseconds for a message.
    machines
        Called if there are bursts: machines that replay the window equally well.
    engine
        ``twin`` runs the slow form of the simulator.

    Returns
    -------
    Capacity or None
        None where :func:`burst_interval` has none, or one that is too wide.
    """
    found = burst_interval(observed, assumed, machines, engine)
    if found is None or found[2] > WIDEST * found[0]:
        return None
    low, middle, high = found
    return Capacity(middle, low, high, "bursts", None, None, observed.consumers(observed.subscription))


def burst_interval(
    observed: Observed,
    assumed: Callable[[float], Assumed],
    machines: Callable[[], Sequence[Machine]],
    engine: str = "kernel",
) -> tuple[float, float, float] | None:
    """Lowest, likeliest and highest capacity that the bursts allow, in messages per second; the parameters are those of :func:`fit_bursts`.

    None where no limiter makes bursts of which all is known: no timestamps, too few throttled scrapes, several partitions, a shared
    limit, or bursts that the simulator does not repeat.
    """
    scraped = throttled_delays_ms(observed)
    period_s = max([1, *(limit["period_s"] for limit in limits_after(observed, Change()))])
    active = observed.active(observed.subscription, observed.consumers(observed.subscription))
    if scraped is None or _shared(observed) or not active or period_s > MOST_PERIOD_S:
        return None
    delays_ms, msg_per_s = scraped
    seconds = max(LEAST_S, period_s * (FIRST_PERIODS + LEAST_PERIODS))
    if msg_per_s * seconds > MOST_MESSAGES:
        return None
    tried = msg_per_s * TRIED
    logs = []
    for machine in dict.fromkeys(machines()):
        for per_s in tried:
            found = _simulated(observed, assumed(1000 * active / per_s), machine, seconds, engine)
            first = 1000 * period_s * FIRST_PERIODS // STEP_MS
            rate = (found["out_messages"][-1] - found["out_messages"][first]) / (
                seconds - FIRST_PERIODS * period_s
            )
            same = abs(rate * real_messages(observed) - msg_per_s) <= SAME_RATE_SHARE * msg_per_s
            logs.append(
                _likelihoods(found, first, active, delays_ms, 1000 * (period_s + 1)) if same else None
            )
    posterior = _posterior(logs, len(tried))
    if posterior is None or max(posterior[0], posterior[-1]) > ENDS[0]:
        return None
    low, middle, high = np.exp(np.interp([ENDS[0], 0.5, ENDS[1]], np.cumsum(posterior), np.log(tried)))
    return float(low / WIDENED), float(middle), float(high * WIDENED)


def throttled_delays_ms(observed: Observed) -> tuple[np.ndarray, float] | None:
    """From the last dispatch to the last acknowledgement, at every scrape of a throttled span, and messages per second of these spans.

    Below 0 where the newest dispatch was not acknowledged yet. None where there are too few, or several partitions: their bursts meet at the
    consumers, at times that no sample shows.
    """
    mine = observed.of(observed.subscription)
    if len(mine) != 1:
        return None
    ((partition, item),) = mine.items()
    if item.dispatched_ms is None or item.acked_ms is None:
        return None
    throttled = (
        bound(observed, observed.subscription, partition) & (observed.seconds > 0) & ~disturbed(observed)
    )
    throttled &= (item.consumers == item.consumers[-1]) & ~item.blocked
    throttled &= waiting_entries(item, observed.messages_per_entry) >= WAITING_ENTRIES
    throttled &= (item.dispatched_ms > 0) & (item.acked_ms > 0)
    if throttled.sum() < LEAST_SCRAPES:
        return None
    dispatched, acked = (
        item.out_msg[throttled].sum(),
        acked_msg(observed, observed.subscription)[throttled].sum(),
    )
    if abs(acked - dispatched) > SAME_RATE_SHARE * dispatched:
        # Queues of slow consumers fill: they never come to the end of a burst.
        return None
    rate = float(dispatched / observed.seconds[throttled].sum())
    return (item.acked_ms - item.dispatched_ms)[throttled], rate


def _shared(observed: Observed) -> bool:
    """Whether another subscription takes its part of the same bursts: how large it is, no sample shows."""
    levels = {limit["level"] for limit in limits_after(observed, Change())}
    return "broker" in levels or ("topic" in levels and len({name for name, _ in observed.readers}) > 1)


def _simulated(
    observed: Observed, assumed: Assumed, machine: Machine, seconds: int, engine: str
) -> dict[str, np.ndarray]:
    """Bursts from a full backlog: totals of the selected dispatcher at every step."""
    world = future_world(full_backlog(observed, Change()), assumed, Change(), seconds, machine)
    (mine,) = selected_dispatchers(world)
    totals = run(world, machine, STEP_MS / 1000, engine)
    return {name: totals[name][:, mine] for name in ("out_messages", "acked_entries")}


def simulated_delays_ms(
    out_messages: np.ndarray, acked_entries: np.ndarray, timers: int, grouping_ms: int
) -> np.ndarray:
    """What :func:`throttled_delays_ms` would be at the end of every step.

    Parameters
    ----------
    out_messages, acked_entries
        Totals at the end of steps of ``STEP_MS``.
    timers
        Clients that acknowledge, each at the ticks of its own timer.
    grouping_ms
        Distance of the ticks; 0: acknowledged at once.

    Returns
    -------
    ndarray of float
        Phases x steps; below 0 where the newest dispatch was not acknowledged yet.
    """
    at_ms = STEP_MS * np.arange(1, len(out_messages) + 1)
    dispatched = _newest(at_ms, out_messages)
    worked = _newest(at_ms, acked_entries)
    if not grouping_ms:
        return (worked - dispatched)[None, :]
    rows = []
    for phase in range(PHASES):
        acked = np.full(len(at_ms), -1.0)
        for timer in range(min(timers, MOST_TIMERS)):
            # Evenly spread, and at other distances from each other in every row.
            begin_ms = grouping_ms * (((phase + 0.5) / PHASES + timer * (0.618 + 0.755 * phase)) % 1)
            tick_ms = np.floor((at_ms - begin_ms) / grouping_ms) * grouping_ms + begin_ms
            step = (tick_ms // STEP_MS).astype(int) - 1
            # Worked off since the tick before.
            newest = np.where(step >= 0, worked[np.maximum(step, 0)], -1)
            done = (newest > 0) & (newest > tick_ms - grouping_ms)
            acked = np.maximum(acked, np.maximum.accumulate(np.where(done, tick_ms, -1.0)))
        rows.append(acked - dispatched)
    return np.array(rows)


def _newest(at_ms: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The newest step up to each at which a total grew."""
    return np.maximum.accumulate(np.where(np.diff(total, prepend=0) > 0, at_ms, -1))


def _likelihoods(
    found: dict[str, np.ndarray], first: int, timers: int, delays_ms: np.ndarray, most_ms: int
) -> np.ndarray:
    """Log likelihood of what was scraped, for every grouping and spread."""
    return np.array(
        [
            log_likelihood(
                simulated_delays_ms(found["out_messages"], found["acked_entries"], timers, grouping)[:, first:] - spread,
                delays_ms,
                most_ms,
            )
            for grouping in GROUPING_MS
            for spread in SPREAD_MS
        ]
    )  # fmt: skip


def log_likelihood(simulated_ms: np.ndarray, scraped_ms: np.ndarray, most_ms: int) -> float:
    """Log of the probability of the scraped delays, each at a random one of the simulated ones, or anything up to ``most_ms`` either side of 0."""
    bins = 2 * most_ms // BIN_MS

    def bin_of(delays_ms: np.ndarray) -> np.ndarray:
        return np.clip((delays_ms + most_ms) // BIN_MS, 0, bins - 1).astype(int)

    share = np.bincount(bin_of(simulated_ms.ravel()), minlength=bins) / simulated_ms.size
    near = np.arange(-5, 6) * BIN_MS / NEAR_MS
    weights = np.exp(-(near**2) / 2)
    share = (1 - OTHER_SHARE) * np.convolve(share, weights / weights.sum(), "same") + OTHER_SHARE / bins
    return float(np.log(share[bin_of(scraped_ms)]).sum())


def _posterior(logs: Sequence[np.ndarray | None], tried: int) -> np.ndarray | None:
    """Probability of every capacity, summed over machines, groupings and spreads; None if no simulated burst was like those that were seen."""
    known = [item for item in logs if item is not None]
    if not known:
        return None
    most = max(float(item.max()) for item in known)
    weights = [0.0 if item is None else math.fsum(np.exp(item - most)) for item in logs]
    sums = np.array(weights).reshape(-1, tried).sum(axis=0)
    return sums / sums.sum()
