"""What nothing names any more. In: a lake and an age. Out: the files that may be deleted, and the lake without them.

A data file goes when two things hold:

- no version of its table that somebody may still be reading names it: neither the newest, nor any that was the newest less than
  ``keep_ms`` ago. Time travel reaches exactly as far back;
- it was written, or found again by a writer, longer ago than ``keep_ms`` and the day for which a stopped pull may go on from its
  notes. Files that a run has written and not committed yet are therefore never taken.

What was left by killed writers goes by the second rule alone: files without their final name, and folders of notes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake.damage import ASIDE
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile
from throttlescope.ingest.lake.upkeep.log import commit_files, commits, log_folder
from throttlescope.ingest.pull.pull_lock import lock_folder

#: Less than this, and a slow reader or a long run could lose files under its hands.
SAFE_KEEP_MS = 24 * BLOCK_MS
#: For so long a stopped pull goes on from what it wrote.
_RESUMED_MS = DAY_MS
_AT_ONCE = 1_000
#: Files that are checked and deleted concurrently: in an object store each takes two round trips.
_CONCURRENT_FILES = 16
#: What folders of a pull's notes are called; see :mod:`throttlescope.ingest.pull.staging`.
_STAGED = "_staging-"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Unnamed:
    """A file that may go.

    Attributes
    ----------
    table : str or None
        None: it belongs to no table.
    why : str
        ``no version`` names it, it is ``unfinished``, or it is what a pull ``staged`` and no run will continue.
    """

    table: str | None
    file: StoredFile
    why: str


def check_keep(keep_ms: int, *, anyway: bool = False) -> None:
    """Refuse to keep files for less than the safe time.

    Raises
    ------
    InputError
    """
    if keep_ms < SAFE_KEEP_MS and not anyway:
        raise InputError(
            "That is less than readers and running commands may need",
            got=f"{keep_ms / BLOCK_MS:g} h",
            expected=f"{SAFE_KEEP_MS // BLOCK_MS} h or more",
            fix="keep files longer; or add --even-if-in-use when nothing reads or writes this lake",
        )


def unnamed(
    lake: Lake, keep_ms: int, *, now_ms: int, tables: Iterable[str] | None = None, anyway: bool = False
) -> list[Unnamed]:
    """Files that may be deleted, by table and path.

    Parameters
    ----------
    keep_ms : int
        For how long after a version was replaced its files stay.
    tables : iterable of str, optional
        Only these; what pulls have staged is left out then.
    anyway : bool
        Allow less than the safe time, and do not wait for stopped pulls.

    Raises
    ------
    InputError
        ``keep_ms`` is less than what is safe.
    """
    check_keep(keep_ms, anyway=anyway)
    written_ms = now_ms - keep_ms - (0 if anyway else _RESUMED_MS)
    by_top = _by_top(lake, tables)
    found = _staged(by_top, written_ms)
    for table, stored in by_top.items():
        old = [file for file in stored if file.modified_ms < written_ms]
        if table not in TABLES or not old:
            continue
        named = named_since(lake, table, now_ms - keep_ms)
        for file in old:
            relative = file.relative_path.removeprefix(f"{table}/")
            if relative.startswith("_delta_log/"):
                if _is_unfinished(relative):
                    found.append(Unnamed(table, file, "unfinished"))
            elif relative not in named:
                found.append(Unnamed(table, file, "unfinished" if _is_unfinished(relative) else "no version"))
    return found


def _by_top(lake: Lake, tables: Iterable[str] | None) -> dict[str, list[StoredFile]]:
    """All files of the lake, or of some tables, by their first folder."""
    if tables is not None:
        return {table: lake.storage.list(table) for table in tables}
    found: dict[str, list[StoredFile]] = {}
    for file in lake.storage.list():
        found.setdefault(file.relative_path.split("/", 1)[0], []).append(file)
    return found


def _staged(by_top: dict[str, list[StoredFile]], written_ms: int) -> list[Unnamed]:
    """Files of pulls that stopped so long ago that no other one goes on from them."""
    return [
        Unnamed(None, file, "staged")
        for folder, files in sorted(by_top.items())
        if folder.startswith(_STAGED) and max(file.modified_ms for file in files) < written_ms
        for file in files
    ]


def named_since(lake: Lake, table: str, since_ms: int) -> set[str]:
    """Paths, below the table, that the newest version names or one that was the newest at ``since_ms`` or later."""
    # First the log, then the newest version: what is committed in between is in one of the two at least.
    named: set[str] = set()
    for commit in commits(lake, table):
        if commit.time_ms < since_ms:
            break
        named.update(action["path"] for action in (*commit.add, *commit.remove))
    return named | {file.relative_path for file in lake.files(table)}


def delete(lake: Lake, files: list[Unnamed], *, progress: Progress | None = None) -> tuple[int, int]:
    """Delete files, unless a writer has taken them up since they were found.

    Returns
    -------
    (int, int)
        Files deleted, and their bytes.
    """
    storage = lake.storage
    count, size_bytes = _delete_staged(lake, [one.file for one in files if one.table is None])
    files = [one for one in files if one.table is not None]
    for start in range(0, len(files), _AT_ONCE):
        some = files[start : start + _AT_ONCE]
        now = {
            table: {f"{table}/{file.relative_path}" for file in lake.files(table)}
            for table in {one.table for one in some}
        }

        def is_gone(one: Unnamed, now: dict[str | None, set[str]] = now) -> bool:
            path = one.file.relative_path
            # A writer that has the same rows again finds the file and makes it young: it may be committed any moment.
            if path in now[one.table] or storage.look(path) != one.file:
                return False
            storage.delete([path])
            return True

        with ThreadPoolExecutor(_CONCURRENT_FILES) as deleting:
            for one, gone in zip(some, deleting.map(is_gone, some), strict=True):
                count += gone
                size_bytes += one.file.size_bytes if gone else 0
        if progress:
            progress(min(start + _AT_ONCE, len(files)), len(files))
    return count, size_bytes


def _delete_staged(lake: Lake, files: list[StoredFile]) -> tuple[int, int]:
    """Delete folders of notes, but for those that a run has taken up."""
    by_folder: dict[str, list[StoredFile]] = {}
    for file in files:
        by_folder.setdefault(file.relative_path.split("/", 1)[0], []).append(file)
    count = size_bytes = 0
    for folder, some in by_folder.items():
        with lock_folder(lake.storage, folder) as is_free:
            if is_free:
                lake.storage.delete_below(folder)
                count += len(some)
                size_bytes += sum(file.size_bytes for file in some)
    return count, size_bytes


def clean_log(lake: Lake, table: str) -> int:
    """Write a checkpoint of the newest version, and drop what of the log Delta's own retention lets go (30 days by default).

    Returns
    -------
    int
        Commits that went.
    """
    with lake._delta.looking():
        delta = lake._open(table)
        if delta is None:
            return 0
        before = len(commit_files(lake, table))
        delta.create_checkpoint()
        _name_checkpoint(lake, table, delta.version())
        delta.cleanup_metadata()
        return before - len(commit_files(lake, table))


def _name_checkpoint(lake: Lake, table: str, version: int) -> None:
    """See that the log names its newest checkpoint.

    Delta does not write one that is there already, nor then name it: a run that was killed in between would leave a name whose file is removed
    with the old commits.
    """
    folder = log_folder(table)
    content = lake.storage.read(f"{folder}/{version:020}.checkpoint.parquet")
    if content is None:
        return
    with contextlib.suppress(ValueError, KeyError, TypeError):
        if json.loads(lake.storage.read(f"{folder}/_last_checkpoint") or b"")["version"] == version:
            return
    rows = pq.read_metadata(pa.BufferReader(content)).num_rows
    lake.storage.write(f"{folder}/_last_checkpoint", json.dumps({"version": version, "size": rows}).encode())


def _is_unfinished(relative_path: str) -> bool:
    """Whether a file has no name that is read: ours begin with a dot, Delta's end in ``.tmp`` or ``#`` and a number; or it was set aside."""
    name = relative_path.rsplit("/", 1)[-1]
    return name.startswith(".") or name.endswith((".tmp", ASIDE)) or "#" in name
