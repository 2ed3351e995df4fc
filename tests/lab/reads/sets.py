"""Sets of scenarios of the read budget: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from tests.lab.reads.draw import KINDS, draw
from tests.lab.sets import MORE_RECORDINGS, SeededSet

_FOLDER, _KINDS = MORE_RECORDINGS / "reads", tuple(KINDS)
READS_SETS = {
    "development": SeededSet((1,), _FOLDER / "development", False, _KINDS, draw),
    "held-out": SeededSet((101,), _FOLDER / "held_out", True, _KINDS, draw),
}
