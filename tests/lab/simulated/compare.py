"""How far two courses of the same scenario are apart. In: what was recorded and what a model says; out: errors.

All figures are taken at the recording's scrapes, from both sides alike:

* dispatched messages per minute: minutes count from the recording's beginning, from scrape to scrape; a minute that crosses a change
  counts like any other, for the model changes in the same second; minutes without traffic on both sides do not count; the figure is the
  median of their relative errors;
* backlog: mean absolute error over the recorded peak;
* drain: from the intervention until the backlog falls below the scenario's own threshold for good; one that took less than ten
  seconds, five scrapes, is not judged;
* events: per minute, reason and unit, the absolute error as a multiple of what is allowed (a tenth, or five events); the figure is the
  median over minutes. A pair of reason and unit counts when it ticked on either side.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

import numpy as np

from tests.lab.simulated.recorded import Event, Key, Recorded, Track

MINUTE_S = 60
ALLOWED_EVENTS = 5
ALLOWED_SHARE = 0.1
#: Of the backlog at the last intervention, where a scenario has no threshold of its own.
DRAINED_SHARE = 0.05
SHORTEST_DRAIN_S = 10


@dataclass(frozen=True)
class Drain:
    """How long a drain took on both sides, in seconds; ``simulated_s`` is None when it never ended there."""

    below_entries: float
    recorded_s: float
    simulated_s: float | None

    @property
    def error(self) -> float:
        """Relative error; infinite when the model never drains."""
        if self.simulated_s is None:
            return math.inf
        return abs(self.simulated_s - self.recorded_s) / self.recorded_s


@dataclass
class Errors:
    """One subscription partition: figures as shares (events: as a multiple of what is allowed), None where there is nothing to compare."""

    dispatched: float | None
    backlog: float
    drain: Drain | None
    events: dict[Event, float] | None
    per_minute: dict[Event, tuple[float, float]] = field(default_factory=dict)
    same_events: bool | None = None


def compare(recorded: Recorded, model: dict[Key, Track]) -> dict[Key, Errors]:
    """Compare a model's tracks with a recording's, subscription by subscription."""
    return {key: _compare(recorded, key, track, model[key]) for key, track in recorded.tracks.items()}


def _compare(recorded: Recorded, key: Key, broker: Track, model: Track) -> Errors:
    edges = minute_edges(recorded.at_s)
    peak = float(broker.backlog_entries.max())
    off = np.abs(model.backlog_entries - broker.backlog_entries)
    found = Errors(
        dispatched_error(broker.out_messages[edges], model.out_messages[edges]),
        float(off.mean()) / peak if peak else 0.0,
        drain_of(recorded, key, broker, model),
        None,
    )
    if broker.events is not None and model.events is not None:
        ticked = [
            event for event in broker.events if max(broker.events[event][-1], model.events[event][-1]) > 0
        ]
        found.events = {
            event: events_error(broker.events[event][edges], model.events[event][edges]) for event in ticked
        }
        minutes = (recorded.at_s[-1] - recorded.at_s[0]) / MINUTE_S
        found.per_minute = {
            event: (broker.events[event][-1] / minutes, model.events[event][-1] / minutes) for event in ticked
        }
        found.same_events = all(
            min(broker.events[event][-1], model.events[event][-1]) > 0 for event in ticked
        )
    return found


def minute_edges(at_s: np.ndarray) -> np.ndarray:
    """The scrapes that full minutes lie between: the first at or after every full minute."""
    minutes = np.arange(0, math.floor(at_s[-1] / MINUTE_S) + 1) * MINUTE_S
    return np.searchsorted(at_s, minutes)


def dispatched_error(broker: np.ndarray, model: np.ndarray) -> float | None:
    """Median relative error of the messages per minute; counters at the minutes' edges."""
    ours, theirs = np.diff(model), np.diff(broker)
    # What only the model dispatched is an error of one whole minute of the model.
    errors = [abs(m - b) / (b or m) for b, m in zip(theirs, ours, strict=True) if b or m]
    return float(statistics.median(errors)) if errors else None


def events_error(broker: np.ndarray, model: np.ndarray) -> float:
    """Median over minutes of the error in multiples of what is allowed."""
    errors = [
        abs(m - b) / max(ALLOWED_SHARE * b, ALLOWED_EVENTS)
        for b, m in zip(np.diff(broker), np.diff(model), strict=True)
    ]
    return float(statistics.median(errors)) if errors else 0.0


def drain_of(recorded: Recorded, key: Key, broker: Track, model: Track) -> Drain | None:
    """The drain after the intervention that drains, None where the recording shows none."""
    check = next(
        (
            item
            for item in recorded.scenario.confirm
            if item.check == "drains" and item.subscription == key[2]
        ),
        None,
    )
    state = recorded.scenario.timeline[-1].name if check is None else check.state
    names = list(recorded.began_s)
    number = names.index(state)
    begin_s = recorded.began_s[state]
    end_s = recorded.began_s[names[number + 1]] if number + 1 < len(names) else recorded.end_s
    span = (recorded.at_s >= begin_s) & (recorded.at_s < end_s)
    at_s = recorded.at_s[span] - begin_s
    if check is None:
        below = DRAINED_SHARE * float(broker.backlog_entries[span][0])
    else:
        below = float(check.below_entries)
    seen_s = drained_s(at_s, broker.backlog_entries[span], below)
    if seen_s is None or seen_s < SHORTEST_DRAIN_S:
        return None
    return Drain(below, seen_s, drained_s(at_s, model.backlog_entries[span], below))


def drained_s(at_s: np.ndarray, backlog: np.ndarray, below: float) -> float | None:
    """When a backlog falls below a threshold for good, between two scrapes on a straight line; None if it does not."""
    above = np.nonzero(backlog >= below)[0]
    if not len(above):
        return 0.0
    last = int(above[-1])
    if last + 1 == len(backlog):
        return None
    fall = (backlog[last] - below) / (backlog[last] - backlog[last + 1])
    return float(at_s[last] + fall * (at_s[last + 1] - at_s[last]))
