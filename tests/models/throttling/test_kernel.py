"""The compiled kernel gives what the slow twin gives, number by number, on random scenarios."""

from __future__ import annotations

import numpy as np
import pytest

from tests.examples import seeds
from tests.models.throttling.random_scenarios import scenario_of
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.kernel.layout import is_anonymous
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.twin import run_twin
from throttlescope.models.throttling.world import World


@pytest.mark.long
@pytest.mark.parametrize("first", seeds(range(0, 200, 20)))
def test_kernel_equals_twin(first: int) -> None:
    for seed in range(first, first + 20):
        scenario, machine = scenario_of(seed)
        _compare(seed, compile_scenario(scenario, machine, seed), machine)


@pytest.mark.long
@pytest.mark.parametrize("first", seeds(range(1000, 1200, 20)))
def test_kernel_shortcuts_equal_twin(first: int) -> None:
    """The kernel takes shortcuts there; of the worlds above only one in ten is such a world."""
    for seed in range(first, first + 20):
        scenario, machine = scenario_of(seed)
        world = _made_anonymous(compile_scenario(scenario, machine, seed))
        assert is_anonymous(world)
        _compare(seed, world, machine)


def _made_anonymous(world: World) -> World:
    world.steps = [step for step in world.steps if step.kind not in ("leave", "unload", "seek")]
    for log in world.logs:
        log.ttl_us, log.deliver_after_us, log.persistent = 0, 0, True
    for worker in world.workers:
        worker.exponential = False
    for number, item in enumerate(world.dispatchers):
        item.nack_below = item.retry_below = item.ack_timeout_us = 0
        item.acks, item.drawn = True, False
        # Some begin in the middle, as a replay does.
        item.first = world.logs[item.log].published(1) // 2 if number % 2 else 0
        if item.kind == "key_shared":
            item.kind = "shared"
    return world


def _compare(seed: int, world: World, machine: Machine) -> None:
    slow, fast = run_twin(world, machine), run_kernel(world, machine)
    for name, expected in slow.items():
        different = np.argwhere(expected != fast[name])
        assert not len(different), (
            f"seed {seed}: {name} differs first in second {different[0][0] + 1}, dispatcher {different[0][1]}: "
            f"{expected[tuple(different[0])]} and {fast[name][tuple(different[0])]}"
        )
