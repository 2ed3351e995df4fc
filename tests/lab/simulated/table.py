"""One row per recording, and medians of rows. In: the recordings; out: what the page shows and the fit minimises.

A scenario's figure is the median over its subscription partitions (events: over their pairs of reason and unit too), a family's the
median over its scenarios.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from tests.lab.simulated.compare import Errors, compare
from tests.lab.simulated.one_line import one_line
from tests.lab.simulated.pairing import paired
from tests.lab.simulated.recorded import Key, Recorded, Track
from tests.lab.simulated.simulated import simulated
from throttlescope.models.throttling.machine import LAB, Machine

#: What the median over the held-out scenarios has to stay within; events in multiples of what is allowed.
TARGETS = {"dispatched": 0.02, "backlog": 0.03, "drain": 0.05, "events": 1.0}


@dataclass(frozen=True)
class Figures:
    """A scenario's errors; None where nothing is comparable."""

    dispatched: float | None
    backlog: float
    drain: float | None
    events: float | None


@dataclass(frozen=True)
class Row:
    """A recording beside the simulator (``ours``) and beside the one-line model (``line``), with what both said of every subscription."""

    name: str
    family: str
    engine: str
    version: str
    kept_aside: bool
    ours: Figures
    line: Figures
    same_events: bool | None
    errors: dict[str, Errors]


@dataclass(frozen=True)
class Judged:
    """A recording, the tracks of both models on its clock, and the row that comes of them."""

    recorded: Recorded
    ours: dict[Key, Track]
    line: dict[Key, Track]
    row: Row


def judge(recorded: Recorded, machine: Machine = LAB) -> Judged:
    """Compare one recording with the simulator and with the one-line model."""
    scenario = recorded.scenario
    ours = paired(recorded, simulated(recorded, machine))
    line = paired(recorded, one_line(recorded, machine))
    errors = compare(recorded, ours)
    same = [item.same_events for item in errors.values() if item.same_events is not None]
    row = Row(
        scenario.name,
        scenario.family,
        scenario.broker.limiter_engine,
        scenario.broker.version,
        scenario.kept_aside,
        figures(errors.values()),
        figures(compare(recorded, line).values()),
        all(same) if same else None,
        {_name(key): item for key, item in errors.items()},
    )
    return Judged(recorded, ours, line, row)


def figures(errors: Iterable[Errors]) -> Figures:
    """A scenario's figures from those of its subscription partitions."""
    found = list(errors)
    events = [value for item in found if item.events is not None for value in item.events.values()]
    return Figures(
        median(item.dispatched for item in found),
        statistics.median(item.backlog for item in found),
        median(item.drain.error for item in found if item.drain is not None),
        median(events),
    )


def median(values: Iterable[float | None]) -> float | None:
    """Median of what is there; None of nothing. Half of two where one is infinite is infinite."""
    known = [value for value in values if value is not None]
    return float(statistics.median(known)) if known else None


def medians(rows: Iterable[Row], model: str = "ours") -> Figures:
    """Median of every figure over recordings."""
    found = [getattr(row, model) for row in rows]
    return Figures(
        median(item.dispatched for item in found),
        median(item.backlog for item in found) if found else math.nan,
        median(item.drain for item in found),
        median(item.events for item in found),
    )


def _name(key: tuple[str, int, str]) -> str:
    topic, partition, subscription = key
    return subscription if partition < 0 else f"{subscription} ({topic}, partition {partition})"
