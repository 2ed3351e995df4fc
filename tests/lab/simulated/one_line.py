"""The one-line model, ``min(limit, capacity, arrivals)``, as the measure that the simulator has to beat.

In: a recording's scenario on its clock; out: the backlog at every scrape. The limit is the smallest that is set, in messages (a byte
limit over the mean stored size), a shared one split evenly among its subscriptions; the capacity is consumers over processing time;
arrivals are what the producer is set to.
"""

from __future__ import annotations

import math

import numpy as np

from tests.lab.simulated.recorded import Key, Recorded, Track
from tests.lab.simulated.simulated import as_recorded
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.resolve import Place, place_of, rates_in_force
from throttlescope.models.throttling.scenario import (
    Hang,
    LiftLimit,
    Limit,
    Scenario,
    SetConsumers,
    SetLimit,
)
from throttlescope.models.throttling.world import Rates


def one_line(recorded: Recorded, machine: Machine = LAB) -> dict[Key, Track]:
    """Follow the backlog of every subscription by one line of arithmetic; it dispatches evenly and counts no events."""
    scenario = as_recorded(recorded)
    world = compile_scenario(scenario, machine)
    begins_s = np.cumsum([0.0, *(state.duration_s for state in scenario.timeline)]) - recorded.lead_s
    allowed = _allowed(scenario, {log.topic: log.estimate_bytes / log.msgs for log in world.logs})
    tracks = {}
    for item in world.dispatchers:
        log = world.logs[item.log]
        key = (log.topic, log.partition, item.subscription)
        backlog, out = [0.0], [0.0]
        times_s = [begins_s[0]]
        for number, end_s in enumerate(begins_s[1:]):
            span_s = end_s - times_s[-1]
            arrivals = _arrivals(log, times_s[-1] + recorded.lead_s, end_s + recorded.lead_s)
            _spend(times_s, backlog, out, arrivals, allowed[number][key], span_s)
        at = np.interp(recorded.at_s, times_s, backlog), np.interp(recorded.at_s, times_s, out)
        tracks[key] = Track(at[0] / log.msgs, at[1] - at[1][0], None)
    return tracks


def _arrivals(log, from_s: float, to_s: float) -> float:
    published = log.published(round(to_s * 1e6)) - log.published(round(from_s * 1e6))
    return published * log.msgs / (to_s - from_s)


def _spend(
    times_s: list[float],
    backlog: list[float],
    out: list[float],
    arrivals: float,
    allowed: float,
    span_s: float,
) -> None:
    """Append the end of a span in which nothing changes, and before it the moment at which the backlog is gone."""
    if allowed > arrivals and backlog[-1] > 0:
        gone_s = min(span_s, backlog[-1] / (allowed - arrivals)) if math.isfinite(allowed) else 0.0
        sent = allowed * gone_s if math.isfinite(allowed) else backlog[-1]
        left = max(0.0, backlog[-1] + arrivals * gone_s - sent)
        times_s.append(times_s[-1] + gone_s)
        out.append(out[-1] + sent)
        backlog.append(left)
        span_s -= gone_s
    rate = min(allowed, arrivals)
    times_s.append(times_s[-1] + span_s)
    out.append(out[-1] + rate * span_s)
    backlog.append(backlog[-1] + (arrivals - rate) * span_s)


def _allowed(scenario: Scenario, mean_bytes: dict[str, float]) -> list[dict[Key, float]]:
    """Messages per second that every subscription may get in every state: the smaller of limit and capacity."""
    limits: dict[Place, Limit] = {place_of(limit): limit for limit in scenario.limits}
    consumers = {item.name: item.consumers for item in scenario.subscriptions}
    processing_ms = {item.name: item.processing_ms for item in scenario.subscriptions}
    hanging = dict.fromkeys(consumers, 0)
    found = []
    for state in scenario.timeline:
        for step in state.interventions:
            if isinstance(step, SetLimit):
                limits[place_of(step)] = step
            elif isinstance(step, LiftLimit):
                limits.pop(place_of(step), None)
            elif isinstance(step, Hang):
                hanging[step.subscription] = step.consumers
            elif isinstance(step, SetConsumers):
                name = step.subscription
                consumers[name] = consumers[name] if step.consumers is None else step.consumers
                if step.processing_ms is not None:
                    processing_ms[name] = step.processing_ms
        rates = rates_in_force(scenario, limits)
        keys = {key for _, key in rates}
        capacity = {
            name: (consumers[name] - hanging[name]) * 1000 / processing_ms[name]
            if processing_ms[name]
            else math.inf
            for name in consumers
        }
        found.append({key: min(capacity[key[2]], _limit(rates, keys, key, mean_bytes)) for key in keys})
    return found


def _limit(
    rates: dict[tuple[str, Key], Rates], keys: set[Key], key: Key, mean_bytes: dict[str, float]
) -> float:
    sharing = {
        "subscription": 1,
        "topic": sum(other[:2] == key[:2] for other in keys),
        "broker": len(keys),
    }
    smallest = math.inf
    for level, among in sharing.items():
        rate = rates.get((level, key), Rates())
        for amount, per_message in ((rate.msg, 1.0), (rate.bytes, mean_bytes[key[0]])):
            if amount and per_message:
                smallest = min(smallest, amount / per_message / (rate.period_us / 1e6) / among)
    return smallest
