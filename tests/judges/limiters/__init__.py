"""Pulsar's own limiter classes next to the simulator's: the same random operations, and the state compared after each."""
