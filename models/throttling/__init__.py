"""Simulator of Pulsar's throttling. In: scenarios. Out: tables of the simulated broker's counters."""

from throttlescope.models.throttling.machine import INSTANT, LAB, Machine
from throttlescope.models.throttling.scenario import Scenario, ScenarioError, load_scenario
from throttlescope.models.throttling.simulate import Simulation, simulate
from throttlescope.models.throttling.sweep import sweep

__all__ = [
    "INSTANT",
    "LAB",
    "Machine",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "load_scenario",
    "simulate",
    "sweep",
]
