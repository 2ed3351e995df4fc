"""Summary of a simulation. In: a `Simulation`. Out: for every subscription partition and state limits and figures.

Seconds count from the scenario's start, a state is [start, end). Entries are not messages: limits and events of ``msg`` count
messages (or entries, see the broker's setting), backlogs are given as both.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.models.throttling import Scenario, Simulation
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.resolve import change_limits, place_of, rates_in_force
from throttlescope.models.throttling.scenario import LiftLimit, SetLimit

#: A backlog has drained when it is no more than a second's publishing, or than this share of its peak.
DRAINED_SHARE = 0.01


@dataclass(frozen=True)
class LimitInForce:
    """One limit on a subscription partition: ``rate`` messages or bytes per ``period_s`` seconds."""

    level: str
    unit: str
    rate: int
    period_s: float
    relative_to_publish: bool

    @property
    def per_s(self) -> float:
        """Its rate in a second, without the publish rate that may come on top."""
        return self.rate / self.period_s


@dataclass(frozen=True)
class BacklogSummary:
    """A backlog at the start and the end of a state, and the largest that a row of it shows."""

    start: int
    end: int
    peak: int


@dataclass(frozen=True)
class StateSummary:
    """One state of one subscription partition.

    ``drained`` is None where there was nothing to drain; figures are None where no row ends in the state.
    ``drained_after_s`` counts from the state's start.
    """

    state: str
    start_s: float
    end_s: float
    interventions: tuple[str, ...]
    limits: tuple[LimitInForce, ...]
    published_msg_per_s: float | None
    dispatched_msg_per_s: float | None
    dispatched_bytes_per_s: float | None
    events: dict[str, int]
    backlog_entries: BacklogSummary | None
    backlog_messages: BacklogSummary | None
    drained: bool | None
    drained_after_s: float | None


@dataclass(frozen=True)
class PartitionSummary:
    """One subscription partition; ``rows`` are its values by column, one per span."""

    topic: str
    partition: int
    subscription: str
    type: str
    dispatched_msg_per_s: float
    states: tuple[StateSummary, ...]
    rows: dict[str, np.ndarray]

    @property
    def name(self) -> str:
        """As ``orders-partition-3#billing``."""
        return subscription_text(self.topic, self.partition, self.subscription)

    @property
    def peak_entries(self) -> int:
        """The largest backlog of all rows."""
        return int(self.rows["backlog_entries"].max(initial=0))

    @property
    def batched(self) -> bool:
        """Whether its entries hold more than one message, as far as a backlog shows."""
        return bool((self.rows["backlog_entries"] != self.rows["backlog_messages"]).any())

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows."""
        states = [
            asdict(state)
            | {
                "events": [
                    {"reason": reason, "unit": unit, "events": state.events[f"{reason}_{unit}"]}
                    for reason, unit in EVENTS
                ]
            }
            for state in self.states
        ]
        return {
            "topic": self.topic,
            "partition": self.partition,
            "subscription": self.subscription,
            "type": self.type,
            "dispatched_msg_per_s": self.dispatched_msg_per_s,
            "states": states,
        }


def summarise(simulation: Simulation, every_s: int) -> list[PartitionSummary]:
    """Summarise a simulation, one entry per subscription partition in the order of its rows."""
    scenario, table = simulation.scenario, simulation.seconds
    samples = int(scenario.duration_s // every_s)
    dispatchers = table.num_rows // samples
    shaped = {name: table.column(name).to_numpy().reshape(samples, dispatchers) for name in _numeric(table)}
    limits = _limits(scenario)
    found = []
    for number in range(dispatchers):
        topic, partition, subscription = (
            table.column(name)[number].as_py() for name in ("topic", "partition", "subscription")
        )
        rows = {name: values[:, number] for name, values in shaped.items()}
        key = (topic, partition, subscription)
        states, start_s = [], 0.0
        for state, rates in zip(scenario.timeline, limits, strict=True):
            end_s = start_s + state.duration_s
            done = tuple(describe(step) for step in state.interventions)
            in_force = _limits_in_force(scenario, rates, key)
            states.append(_state(state.name, start_s, end_s, done, in_force, rows, every_s))
            start_s = end_s
        found.append(
            PartitionSummary(
                topic=topic,
                partition=partition,
                subscription=subscription,
                type=scenario.subscription(subscription).type,
                dispatched_msg_per_s=float(rows["out_messages"].sum()) / (samples * every_s),
                states=tuple(states),
                rows=rows,
            )
        )
    return found


def describe(step) -> str:
    """An intervention on one line, in the words of the scenario file."""
    fields = step.model_dump(exclude_unset=True, exclude={"action"})
    return " ".join([step.action, *(f"{name}={value}" for name, value in fields.items())])


def _numeric(table) -> list[str]:
    # Tokens are NULL where there is no meter; nothing here needs them.
    return [
        name
        for name in table.column_names
        if name not in ("topic", "partition", "subscription") and not name.endswith("_tokens")
    ]


def _limits(scenario: Scenario) -> list[dict]:
    """The rates in force in each state."""
    limits = {place_of(limit): limit for limit in scenario.limits}
    found = [rates_in_force(scenario, limits)]
    for state in scenario.timeline[1:]:
        changes = [step for step in state.interventions if isinstance(step, (SetLimit, LiftLimit))]
        for step in changes:
            change_limits(limits, step)
        found.append(rates_in_force(scenario, limits) if changes else found[-1])
    return found


def _limits_in_force(scenario: Scenario, rates: dict, key: tuple[str, int, str]) -> tuple[LimitInForce, ...]:
    if any(topic.name == key[0] and not topic.persistent for topic in scenario.topics):
        return ()
    found = []
    for level, unit in EVENTS:
        own = rates.get((level, key))
        rate = getattr(own, unit) if own is not None else 0
        if rate:
            found.append(LimitInForce(level, unit, rate, own.period_us / 1_000_000, own.relative))
    return tuple(found)


def _state(name, start_s, end_s, done, limits, rows, every_s) -> StateSummary:
    ends = rows["second"]
    inside = (ends > start_s) & (ends <= end_s)
    seconds = int(inside.sum()) * every_s
    events = {f"{level}_{unit}": int(rows[f"{level}_{unit}_events"][inside].sum()) for level, unit in EVENTS}
    if not seconds:
        return StateSummary(
            name, start_s, end_s, done, limits, None, None, None, events, None, None, None, None
        )
    before = np.flatnonzero(ends <= start_s)
    entries, messages = (
        _backlog(rows[column], inside, before) for column in ("backlog_entries", "backlog_messages")
    )
    rate = {
        name: float(rows[name][inside].sum()) / seconds
        for name in ("published_entries", "published_messages", "out_messages", "out_bytes")
    }
    drained, after_s = _drained(
        rows["backlog_entries"], ends, inside, entries, rate["published_entries"], start_s
    )
    return StateSummary(
        state=name,
        start_s=start_s,
        end_s=end_s,
        interventions=done,
        limits=limits,
        published_msg_per_s=rate["published_messages"],
        dispatched_msg_per_s=rate["out_messages"],
        dispatched_bytes_per_s=rate["out_bytes"],
        events=events,
        backlog_entries=entries,
        backlog_messages=messages,
        drained=drained,
        drained_after_s=after_s,
    )


def _backlog(values: np.ndarray, inside: np.ndarray, before: np.ndarray) -> BacklogSummary:
    start = int(values[before[-1]]) if len(before) else 0
    mine = values[inside]
    return BacklogSummary(start, int(mine[-1]), max(start, int(mine.max())))


def _drained(values, ends, inside, backlog: BacklogSummary, published: float, start_s: float):
    """Whether and when, from the state's start, the backlog fell from its peak to next to nothing."""
    enough = max(1.0, published, DRAINED_SHARE * backlog.peak)
    if backlog.peak <= enough:
        return None, None
    mine, at_s = values[inside], ends[inside]
    first = 0 if backlog.start == backlog.peak else int(mine.argmax())
    low = np.flatnonzero(mine[first:] <= enough)
    if not len(low):
        return False, None
    return True, float(at_s[first + low[0]]) - start_s
