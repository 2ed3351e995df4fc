"""The slow twin: the simulation one message at a time, in plain Python and whole numbers.

In: a world and a machine. Out: the same columns as the kernel's, which must not differ in a single number. It is for reading
and for tests; ``kernel/`` is for use.
"""

from throttlescope.models.throttling.twin.simulation import run_twin

__all__ = ["run_twin"]
