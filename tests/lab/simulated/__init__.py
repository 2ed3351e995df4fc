"""The simulator compared with the real broker: in, the engine set's recordings; out, ``docs/accuracy/simulator.md``."""
