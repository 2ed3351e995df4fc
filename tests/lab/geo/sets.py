"""Sets of geo scenarios: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.geo.draw import KINDS, draw
from tests.lab.geo.model import GeoScenario
from tests.lab.sets import MORE_RECORDINGS


@dataclass(frozen=True)
class GeoSet:
    """Seeds; each draws one scenario of every kind."""

    seeds: tuple[int, ...]
    recordings: Path
    kept_aside: bool

    @property
    def scenarios(self) -> list[GeoScenario]:
        """The scenarios, in the order in which they are recorded."""
        return [draw(kind, seed, kept_aside=self.kept_aside) for seed in self.seeds for kind in KINDS]

    @property
    def folders(self) -> list[Path]:
        """Folders of the recordings that there are, by name."""
        return sorted(path.parent for path in self.recordings.glob("*/recording.json"))


#: The first held-out set was judged once, and a rule was changed for what it missed: since then it belongs to the development.
GEO_SETS = {
    "development": GeoSet((1,), MORE_RECORDINGS / "geo" / "development", False),
    "first-held-out": GeoSet((101,), MORE_RECORDINGS / "geo" / "held_out", True),
    "held-out": GeoSet((102,), MORE_RECORDINGS / "geo" / "held_out_2", True),
}
