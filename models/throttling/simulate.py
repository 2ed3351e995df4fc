"""Simulation of a broker. In: a scenario and a seed; out: a table with one row per second and subscription partition.

>>> from pathlib import Path
>>> from throttlescope.models.throttling import load_scenario, simulate
>>> answer = simulate(load_scenario(Path("orders.yaml")))  # doctest: +SKIP
>>> answer.seconds.column_names[:3]  # doctest: +SKIP
['second', 'topic', 'partition']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from throttlescope.models.throttling.bounds import notes
from throttlescope.models.throttling.columns import COLUMNS, COUNTS, NO_METER
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.scenario import Scenario
from throttlescope.models.throttling.twin import run_twin
from throttlescope.models.throttling.world import World

#: Gauges that are missing where a limiter has no such meter.
_TOKENS = tuple(name for name in COLUMNS if name.endswith("_tokens"))


@dataclass(frozen=True)
class Simulation:
    """A simulated scenario.

    Attributes
    ----------
    seconds : pyarrow.Table
        One row per sample and subscription partition: ``second`` (end of the row's span, seconds from the start), ``topic``,
        ``partition``, ``subscription``, the counts of the span (:data:`columns.COUNTS`) and the gauges at its end
        (:data:`columns.GAUGES`; tokens NULL where there is no meter). Published and backlog are given in
        messages too.
    notes : list of str
        What a reader should know: limits that cannot bind, consumers that stop for good.
    """

    scenario: Scenario
    seconds: pa.Table
    notes: list[str] = field(default_factory=list)


def simulate(
    scenario: Scenario,
    seed: int = 0,
    *,
    machine: Machine = LAB,
    every_s: int = 1,
    engine: Literal["kernel", "twin"] = "kernel",
) -> Simulation:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        What runs and what changes when.
    seed
        Draws sizes, keys, Poisson arrivals and negative acknowledgements; the same seed gives the same bytes.
    machine
        Latencies and stored sizes; the default was fitted to the lab's machine.
    every_s
        Length of a row's span in seconds.
    engine
        ``twin`` runs the slow, obvious form.

    Raises
    ------
    ScenarioError
        The scenario is too large to compute.
    """
    world = compile_scenario(scenario, machine, seed)
    return Simulation(
        scenario, table_of(world, run(world, machine, every_s, engine), every_s), notes(scenario)
    )


def run(world: World, machine: Machine, every_s: float = 1, engine: str = "kernel") -> dict[str, np.ndarray]:
    """Run a laid out scenario; arrays of samples x dispatchers, counts as totals."""
    runner = run_twin if engine == "twin" else run_kernel
    return runner(world, machine, round(every_s * 1_000_000))


def table_of(world: World, totals: Mapping[str, np.ndarray], every_s: int = 1) -> pa.Table:
    """Turn totals at every sample into rows, counts per span."""
    samples, dispatchers = totals["out_messages"].shape
    columns: dict[str, object] = {
        "second": np.repeat(np.arange(1, samples + 1, dtype=np.int64) * every_s, dispatchers),
        "topic": [world.logs[item.log].topic for item in world.dispatchers] * samples,
        "partition": np.tile([world.logs[item.log].partition for item in world.dispatchers], samples),
        "subscription": [item.subscription for item in world.dispatchers] * samples,
    }
    per_entry = np.array([world.logs[item.log].msgs for item in world.dispatchers], np.int64)
    for name in COLUMNS:
        values = totals[name]
        if name in COUNTS:
            values = np.diff(values, axis=0, prepend=np.zeros((1, dispatchers), np.int64))
        flat = values.reshape(-1)
        columns[name] = pa.array(flat, mask=flat == NO_METER) if name in _TOKENS else pa.array(flat)
        if name in ("published_entries", "backlog_entries"):
            columns[name.replace("entries", "messages")] = pa.array((values * per_entry).reshape(-1))
    return pa.table(columns)
