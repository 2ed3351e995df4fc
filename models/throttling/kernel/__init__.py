"""The compiled form of the simulation."""
