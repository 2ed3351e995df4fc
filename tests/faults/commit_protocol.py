"""Study: a writer is killed at every call of the commit protocol. In: a seed. Out: what readers saw, what the repetition gave, what was left.

Every operation runs undisturbed once, which says what it changes; then once more for every change, from the same lake, killed right before
it, and once killed after the last one. Readers look, the operation is repeated (at every third instant killed once more while it
is), and the vacuum runs.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.forked import Forker
from tests.faults.operations import OPERATIONS, tables, vacuum
from tests.faults.study import Found, Study
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check

Rows = dict[str, Counter]


def rows_of(lake: Lake) -> Rows:
    """Rows of every table as text, each with how often it is there."""
    return {table: Counter(map(repr, lake.read(table).to_pylist())) for table in tables()}


def _by_duckdb(lake: Lake) -> dict[str, int]:
    with lake.duckdb() as connection:
        return {
            table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608
            for table in tables()
        }


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    with Forker() as forker:
        yield _instants(forker, seed, instants, scratch)


def _instants(
    forker: Forker, first_seed: int, instants: int, scratch: Path
) -> Iterator[tuple[str, Callable[[], Found]]]:
    # A few instants are one of each operation; many take every call. Both go on with other tables when they are through.
    each = None if instants >= 500 else 1
    for seed in itertools.count(first_seed):
        for name in OPERATIONS:
            yield from _of_operation(forker, name, seed, scratch, each)


def _of_operation(
    forker: Forker, name: str, seed: int, scratch: Path, each: int | None
) -> Iterator[tuple[str, Callable[[], Found]]]:
    folder = scratch / f"{seed}-{name.replace(' ', '-')}"
    begun, whole = folder / "begun", folder / "whole"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = forker.run(name, str(begun), seed, begin=True)
    _copied(begun, whole)
    undisturbed = forker.run(name, str(whole), seed)
    if made["error"] or undisturbed["error"]:
        raise RuntimeError(made["error"] or undisturbed["error"])
    with OPERATIONS[name].meant():
        states = rows_of(Lake(begun)), rows_of(Lake(whole))
    count = len(undisturbed["changes"])
    numbers = list(range(1, count + 2))
    if each is not None:
        numbers = sorted(random.Random(f"{seed} {name}").sample(numbers, min(each, len(numbers))))  # noqa: S311
    for number in numbers:
        at = f"before call {number} of {count}" if number <= count else f"after call {count} of {count}"
        yield (
            f"seed {seed}, {name}, {at}",
            lambda at=at, number=number: _instant(forker, name, seed, number, count, folder, states, at),
        )
    shutil.rmtree(folder)


def _copied(source: Path, target: Path) -> None:
    if source.exists():
        shutil.copytree(source, target)


def _instant(
    forker: Forker,
    name: str,
    seed: int,
    number: int,
    count: int,
    folder: Path,
    states: tuple[Rows, Rows],
    at: str,
) -> Found:
    found, root = Found(f"seed {seed}, {name}, {at}"), folder / "killed"
    shutil.rmtree(root, ignore_errors=True)
    _copied(folder / "begun", root)
    with OPERATIONS[name].meant():
        kills = [number]
        if number % 3 == 0:
            kills.append(random.Random(f"{seed} {name} {number}").randint(1, count))  # noqa: S311
        for kill_before in kills:
            ended = forker.run(name, str(root), seed, kill_before)
            if ended["error"]:
                found.wrong.append("it failed by itself: " + ended["error"].strip().splitlines()[-1])
            last = ended["changes"][-1][0] if ended["changes"] else "nothing"
            found.tally[f"before {last}"] = found.tally.get(f"before {last}", 0) + 1
            _look(Lake(root), states, found)
        ended = forker.run(name, str(root), seed)
        if ended["error"]:
            found.wrong.append("repeated, it failed: " + ended["error"].strip().splitlines()[-1])
        _compare(Lake(root), states[1], found)
        _clean_up(root, states[1], found)
    shutil.rmtree(root, ignore_errors=True)
    found.counts = len(kills)
    found.tally[name] = len(kills)
    return found


def _look(lake: Lake, states: tuple[Rows, Rows], found: Found) -> None:
    """Every table is as it was, or as it is to be."""
    try:
        seen, counted = rows_of(lake), _by_duckdb(lake)
        faults = check(lake)
    except (ThrottlescopeError, OSError, ValueError) as error:
        found.torn += 1
        found.wrong.append(f"not readable: {error}")
        return
    for table, rows in seen.items():
        if rows not in (states[0][table], states[1][table]):
            found.torn += 1
            found.wrong.append(f"{table} is neither as before nor as after: {rows.total()} rows")
        if rows.total() != counted[table]:
            found.torn += 1
            found.wrong.append(f"{table} has {rows.total()} rows by Arrow and {counted[table]} by DuckDB")
    known = set(lake.read("series", columns=["series_id"])["series_id"].to_pylist())
    strange = set(lake.read("samples", columns=["series_id"])["series_id"].to_pylist()) - known
    if strange:
        found.wrong.append(f"samples of {len(strange)} series that the catalogue does not know")
    # Files that no log names yet are no fault of a table.
    found.wrong += [
        f"lake check: {fault.path or fault.table}: {fault.what}" for fault in faults if fault.path
    ]


def _compare(lake: Lake, wanted: Rows, found: Found) -> None:
    for table, rows in rows_of(lake).items():
        found.lost += (wanted[table] - rows).total()
        found.doubled += (rows - wanted[table]).total()
    found.wrong += [
        f"repeated, lake check: {fault.path or fault.table}: {fault.what}" for fault in check(lake)
    ]


def _clean_up(root: Path, wanted: Rows, found: Found) -> None:
    lake = Lake(root)
    vacuum(lake)
    if rows_of(lake) != wanted:
        found.wrong.append("the vacuum changed what the tables hold")
    named = {f"{table}/{file.relative_path}" for table in TABLES for file in lake.files(table)}
    there = {file.relative_path for file in lake.storage.list()}
    left = [
        path
        for path in sorted(there - named)
        if "/_delta_log/" not in path or "#" in path or path.endswith(".tmp")
    ]
    if left:
        found.wrong.append(f"the vacuum left {len(left)} files, such as {left[0]}")


STUDY = Study(
    "commit protocol",
    "readable, one whole version, before or after; the repetition gives the undisturbed rows; the vacuum leaves nothing",
    2_000,
    opened,
)
