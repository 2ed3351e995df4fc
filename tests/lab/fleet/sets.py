"""Sets of fleets: in, a name; out, their seeds and where their recordings are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.fleet.draw import draw
from tests.lab.fleet.model import Fleet
from tests.lab.sets import MORE_RECORDINGS


@dataclass(frozen=True)
class FleetSet:
    """Seeds of fleets; chosen by what they draw of versions, profiles and intervals, before any was played."""

    seeds: tuple[int, ...]
    recordings: Path
    kept_aside: bool

    @property
    def fleets(self) -> list[Fleet]:
        """The fleets, in the order in which they are recorded."""
        return [draw(seed, kept_aside=self.kept_aside) for seed in self.seeds]

    @property
    def dropped_file(self) -> Path:
        """The list of the fleets that did not count."""
        return self.recordings / "dropped.json"


#: The second set is recorded once the rules are frozen, and not before.
FLEET_SETS = {
    "fleet-development": FleetSet((2, 1, 16, 3, 15, 4), MORE_RECORDINGS / "fleet" / "development", False),
    "fleet-held-out": FleetSet(
        (106, 110, 118, 112, 109, 117, 105), MORE_RECORDINGS / "fleet" / "held_out", True
    ),
}
