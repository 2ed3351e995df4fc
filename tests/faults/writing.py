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
from throttlescope.ingest.lake import ConflictError, Lake, write_data_file
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
    draw, lost, turn, lake = random.Random(f"{seed} {name}"), 0, 0, Lake(root)  # noqa: S311
    here = {"window_start_ms": (HOUR, HOUR + HOURS * BLOCK_MS - 1)}
    while not ended.exists():
        turn += 1
        version = lake.version("verdicts")
        old = lake.files("verdicts", between=here, version=version)
        new = [
            write_data_file(root, "verdicts", table_of("verdicts", rows))
            for rows in files_of(f"{name} {turn}", draw)
        ]
        try:
            lake.commit("verdicts", new, old, run_id=f"{name} {turn}", read_version=version)
        except ConflictError:
            lost += 1
        if turn % 7 == 0:
            compact(lake, "verdicts", run_id=f"{name} compacts", now_ms=_LATER_MS)
    return lost


def files_of(token: str, draw: random.Random) -> list[list[dict[str, Any]]]:
    """The rows of a version by file: one for each hour and subscription."""
    files: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in version_of(token, draw):
        files.setdefault((row["window_start_ms"] // BLOCK_MS, row["subscription"]), []).append(row)
    return list(files.values())


def begin(root: str, seed: int) -> None:
    """The first version."""
    add(Lake(root), "verdicts", *files_of("first", random.Random(seed)))  # noqa: S311


if __name__ == "__main__":
    print(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
