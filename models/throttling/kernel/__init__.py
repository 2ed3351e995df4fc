"""The compiled form of the simulation. In: a world and a machine; out: the same numbers as the slow twin's, much sooner."""

from throttlescope.models.throttling.kernel.layout import run_counted, run_kernel
from throttlescope.models.throttling.kernel.simulation import is_compiled

__all__ = ["is_compiled", "run_counted", "run_kernel"]
