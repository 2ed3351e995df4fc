"""Sets of geo scenarios: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from tests.lab.geo.draw import KINDS, draw
from tests.lab.sets import MORE_RECORDINGS, SeededSet

_FOLDER, _KINDS = MORE_RECORDINGS / "geo", tuple(KINDS)
#: The first held-out set was judged once, and a rule was changed for what it missed: since then it belongs to the development.
GEO_SETS = {
    "development": SeededSet((1,), _FOLDER / "development", False, _KINDS, draw),
    "first-held-out": SeededSet((101,), _FOLDER / "held_out", True, _KINDS, draw),
    "held-out": SeededSet((102,), _FOLDER / "held_out_2", True, _KINDS, draw),
}
