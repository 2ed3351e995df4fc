"""The compiled form of the simulation. In: a world and a machine; out: the same numbers as the slow twin's, much sooner."""

from throttlescope.models.throttling.kernel.layout import run_counted, run_kernel

__all__ = ["run_counted", "run_kernel"]
