"""What all replays of one window rest on. In: an :class:`Observed` and a longer one; out: arrivals, capacities, speeds and futures.

Several changes are tried on one window. What does not depend on the change is found once: what was published, what the
consumers can do, how fast the broker reads (the dearest: the window is replayed at several speeds), and the future as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.replay.bursts import fit_bursts
from throttlescope.models.throttling.replay.capacity import Capacity, fit_capacity
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.outlook import Engine, Future
from throttlescope.models.throttling.replay.rebuild import Assumed, processing_ms
from throttlescope.models.throttling.replay.replay_answer import Arrivals
from throttlescope.models.throttling.replay.speed import Speed, fit_speed

#: Between two scrapes nothing is known, so arrivals are compared over minutes.
MINUTE_S = 60.0
#: A page asks one ground for hundreds of changes: what is kept of each kind.
MOST_CACHED = {"speed": 8, "future": 4, "past": 60, "service": 200}

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Ground:
    """One window, looked at once.

    Attributes
    ----------
    observed : Observed
        The window.
    history : Observed
        A longer window with the same end, in which the consumers' capacity is looked for.
    with_bursts : bool
        Whether a capacity that was never observed is estimated from the bursts of a limiter, which takes a second.
    fitted_on : Observed, optional
        A shorter window with the same end, in which the broker's speed is looked for: replaying a day at several speeds takes minutes.
    """

    observed: Observed
    history: Observed
    machine: Machine = LAB
    engine: Engine = "kernel"
    fitted_on: Observed | None = None
    with_bursts: bool = False
    _cache: dict[tuple, Any] = field(default_factory=dict)

    @cached_property
    def arrivals(self) -> Arrivals:
        """How much was published to the selected partitions."""
        return fit_arrivals(self.observed)

    @cached_property
    def observed_capacities(self) -> dict[str, Capacity]:
        """What consumers can do, by subscription of the topic, as far as it was seen."""
        names = {name for name, _ in self.observed.readers}
        return {name: fit_capacity(self.history, name) for name in names}

    @cached_property
    def capacities(self) -> dict[str, Capacity]:
        """As :attr:`observed_capacities`; that of the selected subscription from bursts where it was not seen."""
        name, found = self.observed.subscription, self.observed_capacities
        if not self.with_bursts or found[name].seen != "at_least":
            return found
        rate_msg = self.arrivals.msg_per_s
        estimated = fit_bursts(
            self.fitted_on or self.observed,
            lambda took_ms: self.assumed("unseen", took_ms, rate_msg),
            lambda: (self.speed().fitted, self.speed().fastest),
            self.engine,
        )
        return found if estimated is None else found | {name: estimated}

    @property
    def capacity(self) -> Capacity:
        """The capacity of the consumers of the selected subscription."""
        return self.capacities[self.observed.subscription]

    def assumed(self, which: str, assumed_ms: float | None = None, rate_msg: float = 0.0) -> Assumed:
        """The ``high``, ``low`` or ``fitted`` capacities; where none was fitted the consumers are taken to keep up. ``unseen``: those
        of bursts are not used.

        ``assumed_ms``, the assumed processing time per message, overrides what was observed.
        """
        found = {}
        capacities = self.observed_capacities if which == "unseen" else self.capacities
        for name, item in sorted(capacities.items()):
            fitted = math.inf if item.msg_per_s is None else item.msg_per_s
            per_s = {"high": item.high_msg_per_s, "low": item.low_msg_per_s}.get(which, fitted)
            found[name] = processing_ms(self.observed, name, item.consumers, per_s)
        override: Mapping[str, float] = {} if assumed_ms is None else {self.observed.subscription: assumed_ms}
        return Assumed({**found, **override}, rate_msg)

    def speed(self, assumed_ms: float | None = None) -> Speed:
        """How fast the broker reads, and with it the window replayed."""

        def fit() -> Speed:
            return fit_speed(
                self.fitted_on or self.observed, self.assumed("unseen", assumed_ms), self.machine, self.engine
            )

        return self.cached(("speed", assumed_ms), fit)

    def future(self, drained_below_entries: int, horizon_s: int) -> Future:
        """Futures from the window's end on; each that was simulated is kept."""
        backlog = int(self.observed.backlog_entries[-1])
        return self.cached(
            ("future", drained_below_entries, horizon_s),
            lambda: Future(self.observed, backlog, drained_below_entries, horizon_s, self.engine),
        )

    def cached(self, request: tuple, find: Callable[[], T]) -> T:
        """A cached result, or a new one: the newest :data:`MOST_CACHED` of each kind are kept; ``request`` begins with the kind."""
        found = self._cache.pop(request, None)
        if found is None:
            found = find()
        self._cache[request] = found
        kind = [key for key in self._cache if key[0] == request[0]]
        for key in kind[: -MOST_CACHED[request[0]]]:
            self._cache.pop(key, None)
        return found


def fit_arrivals(observed: Observed) -> Arrivals:
    """How much was published to the selected partitions, from the counters of the window.

    Scrapes that a counter restarted before are left out, because what was counted up to the restart is lost; if that is most of the window, none is.
    """
    total = np.sum([observed.partitions[partition].in_msg for partition in observed.selected], axis=0)[1:]
    seconds = np.diff(observed.times_ms) / 1000
    whole = np.ones(len(seconds), bool)
    restarted = np.searchsorted(observed.times_ms, observed.restarts_ms) - 1
    whole[restarted[(restarted >= 0) & (restarted < len(seconds))]] = False
    if 2 * seconds[whole].sum() >= seconds.sum():
        total, seconds = total[whole], seconds[whole]
    elapsed, published = np.r_[0.0, np.cumsum(seconds)], np.r_[0.0, np.cumsum(total)]
    mean = float(published[-1] / elapsed[-1])
    edges = np.arange(0, elapsed[-1] + 1e-9, MINUTE_S)
    rates = np.diff(np.interp(edges, elapsed, published)) / MINUTE_S if len(edges) >= 4 else total / seconds
    low, high = (float(np.quantile(rates, share)) for share in (0.1, 0.9))
    return Arrivals(mean, min(low, mean), max(high, mean), observed.publish_limited)
