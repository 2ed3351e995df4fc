"""The lab's sets of scenarios: in, a name; out, where its scenarios and recordings are and how it is grouped on brokers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import typer

#: Anything with a name, such as a scenario.
Named = TypeVar("Named")

REPOSITORY = Path(__file__).resolve().parents[2]
SCENARIOS = Path(__file__).with_name("scenarios")
RECORDINGS = REPOSITORY / "ingest" / "recordings"
MORE_RECORDINGS = REPOSITORY / "tests" / "recordings"
#: The held-out set as measured files name it. Pages write :func:`title`.
HELD_OUT = "kept aside"


def title(part: str) -> str:
    """The name of a set, or of a recording of it, as pages write it.

    >>> title("kept aside"), title("kept aside/quota-2026-1"), title("development")
    ('held-out', 'held-out/quota-2026-1', 'development')
    """
    return f"held-out{part.removeprefix(HELD_OUT)}" if part.startswith(HELD_OUT) else part


@dataclass(frozen=True)
class ScenarioSet:
    """A folder of scenarios, and how many of them run at the same time.

    ``recordings`` is where new recordings go, ``places`` where recordings may lie that count as made: a few of the default set
    come with the package.
    ``most_on_broker`` is the number of scenarios that share a broker, ``single_active_alone`` whether a scenario with an Exclusive
    or Failover subscription has a broker of its own, ``batch_rate_msg`` and ``batch_groups`` bound what runs at one time, a group of
    more than ``alone_above`` scenarios has the machine for itself, ``warm_up_s`` is how long a broker works before its recording begins.
    ``with_ages``: the stats are requested at the end of each minute, with the publish time of every subscription's oldest entry, which
    the broker reads for that.
    """

    scenarios: Path
    recordings: Path
    places: tuple[Path, ...]
    most_on_broker: int
    single_active_alone: bool
    batch_rate_msg: float
    batch_groups: int = 3
    alone_above: int = 8
    warm_up_s: float = 0
    with_ages: bool = False

    @property
    def folders(self) -> list[Path]:
        """Folders of the recordings that there are, by name. A fleet that comes with the package belongs to no set of scenarios."""
        found = [path.parent for place in self.places for path in place.glob("*/scenario.yaml")]
        return sorted(found, key=lambda folder: folder.name)

    @property
    def dropped_file(self) -> Path:
        """The list of the scenarios that did not count."""
        return self.places[-1] / "dropped.json"


@dataclass(frozen=True)
class SeededSet:
    """Seeds; each draws one scenario of every kind.

    Attributes
    ----------
    draw : callable
        ``draw(kind, seed, kept_aside=...)`` makes one scenario.
    """

    seeds: tuple[int, ...]
    recordings: Path
    kept_aside: bool
    kinds: tuple[str, ...]
    draw: Callable[..., Any]

    @property
    def scenarios(self) -> list[Any]:
        """The scenarios, in the order in which they are recorded."""
        return [
            self.draw(kind, seed, kept_aside=self.kept_aside) for seed in self.seeds for kind in self.kinds
        ]

    @property
    def folders(self) -> list[Path]:
        """Folders of the recordings that there are, by name."""
        return sorted(path.parent for path in self.recordings.glob("*/recording.json"))


#: More than ``batch_rate_msg`` published messages per second at once would make the CPU a limiter of its own.
#: The engine set judges the simulator by its timing. A single-active dispatcher charges what its thread's last dispatch
#: sent, which may have been another subscription's, so such scenarios are alone there.
SETS = {
    "default": ScenarioSet(
        SCENARIOS,
        MORE_RECORDINGS / "default",
        (RECORDINGS, MORE_RECORDINGS / "default"),
        1000,
        False,
        4500,
    ),
    "engine": ScenarioSet(
        SCENARIOS / "engine",
        MORE_RECORDINGS / "engine",
        (MORE_RECORDINGS / "engine",),
        4,
        True,
        1500,
        warm_up_s=45,
    ),
    "diagnosis": ScenarioSet(
        SCENARIOS / "diagnosis",
        MORE_RECORDINGS / "diagnosis",
        (MORE_RECORDINGS / "diagnosis",),
        1000,
        False,
        4500,
    ),
    # Six broker limits need brokers of their own, one of which runs with the others; with two more, drains had too little CPU.
    "kept-aside": ScenarioSet(
        SCENARIOS / "kept_aside",
        MORE_RECORDINGS / "kept_aside",
        (MORE_RECORDINGS / "kept_aside",),
        22,
        False,
        3000,
        batch_groups=2,
        alone_above=1000,
    ),
    # Publish limits and the connections that they pause; drawn from seed 1, and the held-out set from seed 101.
    "publishing": ScenarioSet(
        SCENARIOS / "publishing",
        MORE_RECORDINGS / "publishing" / "development",
        (MORE_RECORDINGS / "publishing" / "development",),
        1000,
        False,
        4500,
    ),
    "publishing-held-out": ScenarioSet(
        SCENARIOS / "publishing_held_out",
        MORE_RECORDINGS / "publishing" / "held_out",
        (MORE_RECORDINGS / "publishing" / "held_out",),
        1000,
        False,
        4500,
    ),
    # Judges the estimate of a backlog's age. Nothing in it is about rates or times, so it may share the machine.
    "ages": ScenarioSet(
        SCENARIOS / "ages",
        MORE_RECORDINGS / "ages",
        (MORE_RECORDINGS / "ages",),
        1000,
        False,
        4500,
        batch_groups=1,
        with_ages=True,
    ),
}


def picked(scenarios: list[Named], only: list[str] | None) -> list[Named]:
    """The scenarios of these names, in their order; without any, all."""
    if not only:
        return scenarios
    known = {scenario.name: scenario for scenario in scenarios}
    for name in only:
        if name not in known:
            raise typer.BadParameter(f"no scenario {name!r}; there are {', '.join(known)}")
    return [known[name] for name in only]
