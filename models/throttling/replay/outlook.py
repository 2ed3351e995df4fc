"""One future, simulated as far as is needed. In: what was observed and what is assumed; out: an :class:`Outlook`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    batched,
    future_world,
    real_messages,
    recorded_entries,
    selected_dispatchers,
)
from throttlescope.models.throttling.replay.replay_answer import Outlook
from throttlescope.models.throttling.simulate import run
from throttlescope.models.throttling.world import World

#: How far ahead is looked, step by step until the backlog is drained.
HORIZONS_S = (900, 3_600, 21_600, 86_400)
#: What holds the drain is what is used most, if it is used by so much: slow reads leave a part of every period unused.
HOLDS_FROM_SHARE = 0.5
#: A curve has at most so many points.
POINTS = 3_600
#: Outlooks that are kept; a page asks one ground for hundreds.
MOST_KNOWN = 60

Engine = Literal["kernel", "twin"]


@dataclass(frozen=True, eq=False)
class Future:
    """What all outlooks of an answer share; the same question is simulated once."""

    observed: Observed
    backlog_entries: int
    drained_below_entries: int
    horizon_s: int
    engine: Engine
    known: dict[str, Outlook] = field(default_factory=dict)

    def outlook(self, assumed: Assumed, change: Change, machine: Machine) -> Outlook:
        """Simulate until the backlog is drained, or to the horizon."""
        request = repr((assumed, change, machine))
        found = self.known.pop(request, None) or self._outlook(assumed, change, machine)
        return keep(self.known, request, found)

    def _outlook(self, assumed: Assumed, change: Change, machine: Machine) -> Outlook:
        # Whether a backlog that is not there yet stays away shows at the end only.
        nothing_to_drain = self.backlog_entries <= self.drained_below_entries
        steps = [] if nothing_to_drain else [seconds for seconds in HORIZONS_S if seconds < self.horizon_s]
        for seconds in [*steps, self.horizon_s]:
            every_s = max(1, -(-seconds // POINTS))
            world = future_world(self.observed, assumed, change, seconds, machine)
            totals = run(world, machine, every_s, self.engine)
            mine = selected_dispatchers(world, self.observed.partition)
            waiting = waiting_entries(self.observed, change, totals, mine)
            low = np.flatnonzero(waiting <= self.drained_below_entries)
            if nothing_to_drain:
                stays = len(low) > 0 and low[-1] >= 0.9 * (len(waiting) - 1)
                rows, drain_s = len(waiting), 0.0 if stays else None
            elif len(low):
                rows = int(low[0]) + 1
                drain_s = float(rows * every_s)
                break
            else:
                rows, drain_s = len(waiting), None
        span_s = rows * every_s
        out = float(totals["out_messages"][rows - 1, mine].sum()) * real_messages(
            batched(self.observed, change)
        )
        used = used_shares(self.observed, world, totals, rows, span_s)
        return Outlook(
            drain_s=drain_s,
            horizon_s=seconds,
            every_s=every_s,
            backlog_entries=waiting,
            growth_entries_per_s=float(waiting[rows - 1] - self.backlog_entries) / span_s,
            out_msg_per_s=out / span_s,
            held_by="arrivals" if drain_s == 0 else limiting_factor_of(used),
            used=used,
        )


def keep(known: dict[str, Outlook], request: str, found: Outlook) -> Outlook:
    """Add an outlook to the cache; the least recently used one is removed where there are too many."""
    known[request] = found
    while len(known) > MOST_KNOWN:
        known.pop(next(iter(known)), None)
    return found


def waiting_entries(observed: Observed, change: Change, totals: dict, dispatchers: list[int]) -> np.ndarray:
    """The backlog of some dispatchers together, in entries as they were recorded."""
    waiting = totals["backlog_entries"][:, dispatchers].sum(axis=1)
    times = recorded_entries(observed, change)
    return waiting if times == 1 else np.round(waiting * times).astype(np.int64)


def limiting_factor_of(used: Mapping[str, float]) -> str:
    """What is used most; the broker's reads where none is used much."""
    name = max(used, key=used.__getitem__)
    return name if used[name] >= HOLDS_FROM_SHARE else "reads"


def used_shares(observed: Observed, world: World, totals: dict, rows: int, seconds: int) -> dict[str, float]:
    """How much of every limiter and of the consumers is used in a world's first rows."""
    every = selected_dispatchers(world)
    workers = [
        item
        for item in world.workers
        if item.subscription == world.dispatchers[every[0]].subscription and item.joined
    ]
    active = observed.active(observed.subscription, len(workers))
    if not active:
        return {"consumers": 1.0}
    out_per_s = float(totals["out_messages"][rows - 1, every].sum()) / seconds
    used = {"consumers": out_per_s * workers[0].processing_us / (active * 1_000_000)}
    for number in selected_dispatchers(world, observed.partition):
        for level_number, level in enumerate(LEVELS):
            index = world.dispatchers[number].limiters[level_number]
            rates = world.limiters[index].rates
            sharing = [
                at for at, item in enumerate(world.dispatchers) if item.limiters[level_number] == index
            ]
            for unit in UNITS:
                rate = getattr(rates, unit)
                if rate:
                    messages = "out_entries" if world.rules.per_entry else "out_messages"
                    use = (
                        totals[messages if unit == "msg" else "out_bytes"][rows - 1, sharing].sum() / seconds
                    )
                    share = float(use / (rate * 1_000_000 / rates.period_us))
                    used[f"{level}.{unit}"] = max(used.get(f"{level}.{unit}", 0.0), share)
    return used
