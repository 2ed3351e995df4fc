"""Sets of scenarios of scalable topics: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from tests.lab.scalable.draw import KINDS, draw
from tests.lab.sets import MORE_RECORDINGS, SeededSet

_FOLDER, _KINDS = MORE_RECORDINGS / "scalable", tuple(KINDS)
SCALABLE_SETS = {
    "development": SeededSet((1,), _FOLDER / "development", False, _KINDS, draw),
    "held-out": SeededSet((101,), _FOLDER / "held_out", True, _KINDS, draw),
}
