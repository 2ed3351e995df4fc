"""The compiled kernel gives what the slow twin gives, number by number, on random scenarios."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.throttling.random_scenarios import scenario_of
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.twin import run_twin


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_kernel_equals_twin(first: int) -> None:
    for seed in range(first, first + 20):
        scenario, machine = scenario_of(seed)
        world = compile_scenario(scenario, machine, seed)
        slow, fast = run_twin(world, machine), run_kernel(world, machine)
        for name, expected in slow.items():
            different = np.argwhere(expected != fast[name])
            assert not len(different), (
                f"seed {seed}: {name} differs first in second {different[0][0] + 1}, dispatcher {different[0][1]}: "
                f"{expected[tuple(different[0])]} and {fast[name][tuple(different[0])]}"
            )
