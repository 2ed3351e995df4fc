"""The same scenario in the simulator, on the recording's clock. In: a recording; out: tracks at the recording's scrapes."""

from __future__ import annotations

import numpy as np

from tests.lab.simulated.recorded import Recorded, Track
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.scenario import Scenario, SetRate, State

#: Distance of the simulated samples; a scrape sees the last one before it.
STEP_US = 100_000
_LEAD = "connected"


def simulated(recorded: Recorded, machine: Machine = LAB, seed: int = 0) -> dict:
    """Simulate what a recording's scenario does, and look at it when the broker was scraped.

    Parameters
    ----------
    recorded
        Its scenario is simulated with the recording's own times.
    machine, seed
        As for ``simulate``.

    Returns
    -------
    dict of Key to Track
        Counters count from the first scrape, as the recording's do.
    """
    world = compile_scenario(as_recorded(recorded), machine, seed)
    totals = run_kernel(world, machine, STEP_US)
    rows = ((recorded.at_s + recorded.lead_s) * 1e6 / STEP_US).astype(np.int64) - 1
    rows = np.clip(rows, 0, len(totals["out_messages"]) - 1)
    tracks = {}
    for number, item in enumerate(world.dispatchers):
        log = world.logs[item.log]

        def seen(name: str, number: int = number) -> np.ndarray:
            return totals[name][rows, number].astype(float)

        tracks[log.topic, log.partition, item.subscription] = Track(
            seen("backlog_entries"),
            seen("out_messages") - seen("out_messages")[0],
            {
                (level, unit): seen(f"{level}_{unit}_events") - seen(f"{level}_{unit}_events")[0]
                for level, unit in EVENTS
            },
        )
    return tracks


def as_recorded(recorded: Recorded) -> Scenario:
    """The scenario as it was played: consumers connect before the load starts, and every state begins when it did."""
    scenario, lead_s = recorded.scenario, recorded.lead_s
    begins_s = [*recorded.began_s.values(), recorded.end_s]
    timeline = [
        state.model_copy(update={"duration_s": after - before})
        for state, before, after in zip(scenario.timeline, begins_s, begins_s[1:], strict=False)
    ]
    if not lead_s:
        return scenario.model_copy(update={"timeline": tuple(timeline)})
    starts = tuple(
        SetRate(action="set_rate", topic=item.topic, rate_msg=item.rate_msg) for item in scenario.producers
    )
    silent = [
        item.model_copy(
            update={
                "rate_msg": 0.0,
                "steps": item.steps and [(at_s + lead_s, factor) for at_s, factor in item.steps],
            }
        )
        for item in scenario.producers
    ]
    first = timeline[0].model_copy(update={"interventions": starts})
    lead = State(name=_LEAD, duration_s=lead_s)
    return scenario.model_copy(update={"timeline": (lead, first, *timeline[1:]), "producers": tuple(silent)})
