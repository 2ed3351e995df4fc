"""What a study is, and how its instants are kept. In: a seed and a number. Out: one finding an instant, summed to one line of the table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(kw_only=True)
class Sums:
    """What was seen.

    Attributes
    ----------
    lost, doubled : int
        Rows.
    torn : int
        Reads that were no whole version.
    wrong : list of str
        Whatever else was not as asserted.
    tally : dict
        Counts by kind, for the page.
    """

    lost: int = 0
    doubled: int = 0
    torn: int = 0
    wrong: list[str] = field(default_factory=list)
    tally: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.torn or self.wrong)


@dataclass
class Found(Sums):
    """What one instant showed.

    Attributes
    ----------
    instant : str
        What was broken and when; with the seed it says how to repeat it.
    counts : int
        Instants that it stands for.
    """

    instant: str
    counts: int = 1


@dataclass(frozen=True)
class Study:
    """One study.

    Attributes
    ----------
    asserted : str
        What has to hold at each instant, in one line.
    default : int
        Instants, where no number is given.
    opened : callable
        With a seed, a number and a scratch folder: the instants, by name, each with what is to be done.
    """

    name: str
    asserted: str
    default: int
    opened: Callable[[int, int, Path], AbstractContextManager[Iterator[tuple[str, Callable[[], Found]]]]]


@dataclass
class Line(Sums):
    """The sum of a study."""

    study: str
    seed: int
    asserted: str
    instants: int = 0

    @property
    def holds(self) -> bool:
        return self.is_clean and self.instants > 0

    def add(self, found: Found) -> None:
        self.instants += found.counts
        self.lost += found.lost
        self.doubled += found.doubled
        self.torn += found.torn
        self.wrong += [f"{found.instant}: {one}" for one in found.wrong]
        self.seconds += found.seconds
        for name, count in found.tally.items():
            self.tally[name] = self.tally.get(name, 0) + count

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"seconds": round(self.seconds, 1)}


def run(
    study: Study,
    seed: int,
    instants: int,
    scratch: Path,
    kept: Path | None = None,
    said: Callable[[str], None] = lambda line: None,
) -> Line:
    """Run a study until it has so many instants; those that are kept are not done again.

    Parameters
    ----------
    kept : Path, optional
        A file with a line of JSON for each instant that is done.
    """
    line, done = Line(study.name, seed, study.asserted), {}
    if kept is not None and kept.exists():
        # A line that was cut by a kill is done again.
        for text in kept.read_text().splitlines():
            try:
                found = Found(**json.loads(text))
            except (ValueError, TypeError):
                continue
            done[found.instant] = found
    for found in done.values():
        if line.instants < instants:
            line.add(found)
    if line.instants >= instants:
        return line
    with study.opened(seed, instants, scratch) as todo:
        for name, act in todo:
            if line.instants >= instants:
                break
            if name in done:
                continue
            started_s = time.monotonic()
            found = act()
            found.seconds = round(time.monotonic() - started_s, 3)
            line.add(found)
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                cut = kept.exists() and not kept.read_bytes().endswith(b"\n")
                with kept.open("a") as file:
                    file.write("\n" * cut + json.dumps(asdict(found)) + "\n")
            said(
                f"{study.name} {line.instants}/{instants} {found.instant}{'' if found.is_clean else ': NOT AS ASSERTED'}"
            )
    return line
