"""Study: bytes of a lake go bad. In: a seed. Out: whether the check named it, what readers said, and what a repair without a source left.

Data files, commits, checkpoints and the file that names the last one are changed by a byte, cut short, overwritten with zeros, made longer
or taken away. A lake is small here: what is damaged is mostly read.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.commit_protocol import rows_of
from tests.faults.operations import begin_everything, tables
from tests.faults.study import Found, Study
from throttlescope.app.cli.library_errors import wrapped_error
from throttlescope.app.services.lake_repair import planned
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.duck import from_table
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.upkeep.losses import take_out

Rows = dict[str, Counter]


def _byte(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def _cut_at_a_line(content: bytes, draw: random.Random) -> bytes:
    # What is left of a commit is a commit, too.
    ends = [i + 1 for i, byte in enumerate(content[:-1]) if byte == 0x0A]
    return content[: draw.choice(ends)] if ends else _cut(content, draw)


def _zeros(content: bytes, draw: random.Random) -> bytes:
    # As a block that was never written; where it is zeros already, more of it is.
    at, size = draw.randrange(len(content)), 64
    damaged = content[:at] + bytes(min(size, len(content) - at)) + content[at + size :]
    return damaged if damaged != content else b"\xff" + content[1:]


def _longer(content: bytes, draw: random.Random) -> bytes:
    return content + draw.randbytes(draw.randint(1, 64))


def _gone(content: bytes, draw: random.Random) -> None:
    return None


DAMAGES = {
    "a bit": _byte,
    "cut short": _cut,
    "cut at a line": _cut_at_a_line,
    "zeros": _zeros,
    "longer": _longer,
    "gone": _gone,
}


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    yield _instants(seed, scratch)


def _instants(first_seed: int, scratch: Path) -> Iterator[tuple[str, Callable[[], Found]]]:
    # A lake for each hundred, all of them from the first seed.
    for number in itertools.count():
        begun = scratch / f"begun-{number // 100}"
        if not begun.exists():
            shutil.rmtree(scratch / f"begun-{number // 100 - 1}", ignore_errors=True)
            begin_everything(Lake(begun), random.Random(f"{first_seed} {number // 100}"))  # noqa: S311
            truth, kinds = rows_of(Lake(begun)), _files(begun)
        draw = random.Random(f"{first_seed} {number}")  # noqa: S311
        kind = draw.choice(sorted(kinds))
        path, how = draw.choice(kinds[kind]), draw.choice(sorted(DAMAGES))
        name = f"number {number}, {kind}: {how}"
        yield (
            name,
            lambda name=name, kind=kind, path=path, how=how, draw=draw, begun=begun, truth=truth: _instant(
                name, kind, path, how, draw, begun, scratch / "damaged", truth
            ),
        )


def _files(root: Path) -> dict[str, list[str]]:
    """Files that are read, by kind, as paths below the lake."""
    lake, found = Lake(root), {}
    for table in tables():
        found.setdefault("data file", []).extend(
            f"{table}/{file.relative_path}" for file in lake.files(table)
        )
        for file in lake.storage.list(f"{table}/_delta_log"):
            path = file.relative_path
            kind = (
                "commit"
                if path.endswith(".json")
                else "checkpoint"
                if path.endswith(".parquet")
                else "last checkpoint"
            )
            found.setdefault(kind, []).append(path)
    return {kind: sorted(paths) for kind, paths in found.items()}


def _instant(
    name: str, kind: str, path: str, how: str, draw: random.Random, begun: Path, root: Path, truth: Rows
) -> Found:
    found = Found(name)
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(begun, root)
    content = (root / path).read_bytes()
    damaged = DAMAGES[how](content, draw)
    if damaged is None:
        (root / path).unlink()
    else:
        (root / path).write_bytes(damaged)
    if damaged == content:
        return found
    told, silent = _readers(root, path, truth, found)
    faults = check(Lake(root), tables())
    code, said = (1 if faults else 0), " ".join(f"{fault.path} {fault.table}" for fault in faults)
    if draw.random() < 0.05:
        by_command = _command("lake", "check", "--lake", str(root), "--format", "json", "--quiet")
        if by_command[0] != code or not all(
            str(fault.path or fault.what) in by_command[1] for fault in faults
        ):
            found.wrong.append(f"the command says {by_command} and the check {faults}"[:500])
        found.tally["checked by the command"] = 1
    named = path in said or (kind != "data file" and f"{path.split('/')[0]}" in said and code == 1)
    if kind == "data file" and not (named and code == 1):
        found.wrong.append(f"lake check did not name {path} (exit code {code})")
    if (told or silent) and code != 1:
        found.wrong.append(f"readers met the damage of {path} and lake check did not (exit code {code})")
    if silent and not named:
        found.wrong.append(f"read otherwise than written, and nothing reports it: {path}")
    found.tally[f"{kind}: {'named' if named and code == 1 else 'of no effect'}"] = 1
    if silent:
        found.tally[f"{kind}: other rows read without an error"] = 1
    if told:
        found.tally[f"{kind}: reported by readers"] = 1
    _repaired(root, truth, found)
    return found


def _readers(root: Path, path: str, truth: Rows, found: Found) -> tuple[bool, bool]:
    """Whether a reader refused, and whether one read other rows than were written."""
    told = silent = False
    for reader in (_by_arrow, _by_duckdb):
        for table in tables():
            try:
                rows = reader(Lake(root), table)
            except ThrottlescopeError as error:
                told = True
                if table not in str(error) or "\n" in str(error) or error.exit_code == 0:
                    found.wrong.append(f"{reader.__name__} did not say what is damaged: {error}")
            except Exception as error:
                told = True
                ours = wrapped_error(error)
                if ours is None:
                    found.wrong.append(
                        f"{reader.__name__} of {table} fell over {path}: {type(error).__name__}: {error}"[
                            :300
                        ]
                    )
            else:
                silent |= rows != (truth[table] if reader is _by_arrow else truth[table].total())
    return told, silent


def _by_arrow(lake: Lake, table: str) -> Counter:
    return Counter(map(repr, lake.read(table).to_pylist()))


def _by_duckdb(lake: Lake, table: str) -> int:
    files = lake.files(table)
    with lake.counting(table, files) as connection:
        return len(connection.execute(f"SELECT * FROM {from_table(connection, table, files)}").fetchall())  # noqa: S608


def _command(*arguments: str) -> tuple[int, str]:
    from throttlescope.app.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(list(arguments))
            code = 0
        except SystemExit as ended:
            code = ended.code
    return code, said.getvalue()


def _repaired(root: Path, truth: Rows, found: Found) -> None:
    """Without a source: what is left is whole, and what is missing was named."""
    lake = Lake(root)
    try:
        plan = planned(lake, tables(), recordings=False, repair_logs=True)
        lost = [*plan.read, *plan.computed, *plan.gone]
        out = [loss for loss in lost if loss.path in {file.relative_path for file in lake.files(loss.table)}]
        take_out(lake, out, "repair")
        faults = check(lake, tables())
        rows = rows_of(lake)
    except ThrottlescopeError as error:
        if plan_is_beyond(str(error)):
            found.tally["repair: the first version is damaged, only a copy helps"] = 1
            return
        found.wrong.append(f"the repair failed: {error}")
        return
    if any(
        (fault.path or "").endswith(f"{0:020}.json") or "no log that names them" in fault.what
        for fault in faults
    ):
        # Nothing is before it to go back to, and the check goes on naming it.
        found.tally["repair: the first version is damaged, only a copy helps"] = 1
        return
    found.wrong += [f"after the repair: {fault.path or fault.table}: {fault.what}" for fault in faults]
    for table in tables():
        strange, missing = rows[table] - truth[table], truth[table] - rows[table]
        allowed = sum(loss.rows for loss in lost if loss.table == table)
        went_back = any(line.startswith(f"{table}:") and "back to version" in line for line in plan.logs)
        if strange and not went_back:
            found.doubled += strange.total()
        if missing.total() > allowed:
            found.lost += missing.total() - allowed
            found.wrong.append(f"{table}: {missing.total()} rows are missing and {allowed} were named")
    found.tally["repair: whole" if not lost else "repair: whole but for what was named"] = 1


def plan_is_beyond(text: str) -> bool:
    """Whether a table's log is damaged from its first version on."""
    return "The log of table" in text and "is damaged" in text


STUDY = Study(
    "damage",
    "lake check names every damaged data file and all damage to a log that changes an answer; readers return what was written or name the file in one line; "
    "a repair leaves a whole lake and names what is missing",
    300,
    opened,
)
