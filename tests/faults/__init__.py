"""The fault suite: the real parts are broken on purpose, with a seed, and what is there afterwards is looked at. ``python -m tests.faults --help``."""
