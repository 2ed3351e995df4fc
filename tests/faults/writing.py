"""A process that rewrites a range of ``verdicts`` again and again. In: a lake, a name, a seed, a file. Out: versions, until the file is there.

Every version says of itself whether it is whole: each of its rows carries who wrote it, how many rows there are and which one it is.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, table_of, verdict
from throttlescope.ingest.lake import ConflictError, Lake
from throttlescope.ingest.lake.hours import replace_hours
from throttlescope.ingest.lake.upkeep.compact import compact

HOURS = 3
_LATER_MS = 4_000_000_000_000
#: The columns that tell; what they mean in a verdict is of no matter here.
COLUMNS = ["rules_version", "backlog_entries", "backlog_growth_entries"]


def version_of(token: str, draw: random.Random) -> list[dict[str, Any]]:
    """Rows of one version: over three hours, of some subscriptions, each with its number and how many there are."""
    places = [(hour, i) for hour in range(HOURS) for i in range(draw.randint(1, 5))]
    return [
        verdict(
            0, start_ms=HOUR + hour * BLOCK_MS + i * FIVE, subscription=f"s{draw.randrange(3)}", rules_version=token,
            backlog_entries=float(number), backlog_growth_entries=float(len(places)),
        )
        for number, (hour, i) in enumerate(places)
    ]  # fmt: skip


def is_whole(rows: Iterable[tuple[str, float, float]]) -> bool:
    """Whether rows are all of one version and nothing else."""
    rows = list(rows)
    return (
        len({token for token, _, _ in rows}) == 1
        and sorted(number for _, number, _ in rows) == list(range(len(rows)))
        and {count for _, _, count in rows} == {float(len(rows))}
    )


def write(root: str, name: str, seed: int, ended: Path) -> int:
    """Rewrite until a file is there; how often another writer was faster."""
    draw, lost, turn = random.Random(f"{seed} {name}"), 0, 0  # noqa: S311
    where = {
        "time_column": "window_start_ms",
        "clusters": ["prod"],
        "start_ms": HOUR,
        "end_ms": HOUR + HOURS * BLOCK_MS,
    }
    while not ended.exists():
        turn += 1
        rows = table_of("verdicts", version_of(f"{name} {turn}", draw))
        try:
            replace_hours(Lake(root), rows, "verdicts", run_id=f"{name} {turn}", **where)
        except ConflictError:
            lost += 1
        if turn % 7 == 0:
            compact(Lake(root), "verdicts", run_id=f"{name} compacts", now_ms=_LATER_MS)
    return lost


def begin(root: str, seed: int) -> None:
    """The first version."""
    add(Lake(root), "verdicts", version_of("first", random.Random(seed)))  # noqa: S311


if __name__ == "__main__":
    print(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
