"""Sets of scenarios of scalable topics: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.scalable.draw import KINDS, draw
from tests.lab.scalable.model import ScalableScenario
from tests.lab.sets import MORE_RECORDINGS


@dataclass(frozen=True)
class ScalableSet:
    """Seeds; each draws one scenario of every kind."""

    seeds: tuple[int, ...]
    recordings: Path
    kept_aside: bool

    @property
    def scenarios(self) -> list[ScalableScenario]:
        """The scenarios, in the order in which they are recorded."""
        return [draw(kind, seed, kept_aside=self.kept_aside) for seed in self.seeds for kind in KINDS]

    @property
    def folders(self) -> list[Path]:
        """Folders of the recordings that there are, by name."""
        return sorted(path.parent for path in self.recordings.glob("*/recording.json"))


SCALABLE_SETS = {
    "development": ScalableSet((1,), MORE_RECORDINGS / "scalable" / "development", False),
    "held-out": ScalableSet((101,), MORE_RECORDINGS / "scalable" / "held_out", True),
}
