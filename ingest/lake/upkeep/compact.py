"""Fewer and larger files. In: a table of a lake and a range. Out: the same rows in fewer files, each batch one transaction.

Only files of one place are put together: the same partition, cluster and shard, and the same single UTC hour. No file spans two
blocks before, and none does after, so a writer that replaces an hour still finds it whole. Rows are sorted by key as writers sort
them; the same rows give the same file.

Hours that may still be written are left alone: those that ended less than ``settled_ms`` ago, and those with a file that came
since then. A concurrent writer of an hour wins: its place is read again, and left alone if that happens repeatedly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake.files import DataFile, NewFile, write_data_file
from throttlescope.ingest.lake.lake import ConflictError, Lake
from throttlescope.ingest.lake.parquet import parquet_file
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.lake.upkeep.ages import span_of

#: A merged file holds no more than this: what a task of the diagnosis holds while it writes one.
LARGEST_ROWS = 250_000
LARGEST_BYTES = 64_000_000
#: Files of one transaction.
_AT_ONCE = 500
_ATTEMPTS = 3

Progress = Callable[[int, int], None]


@dataclass
class Compacted:
    """What was put together.

    Attributes
    ----------
    files_before, files_after : int
        Files of the table that were taken, and what they became.
    places_left : int
        Places that another writer was changing.
    """

    table: str
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    rows: int = 0
    places_left: int = 0


def compact(
    lake: Lake,
    table: str,
    *,
    run_id: str,
    now_ms: int,
    settled_ms: int = BLOCK_MS,
    start_ms: int | None = None,
    end_ms: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Compacted:
    """Put small files of a table together.

    Parameters
    ----------
    settled_ms : int
        How long nothing must have come to an hour, and how long it must have ended.
    start_ms, end_ms : int, optional
        Only hours inside [start, end).
    dry_run : bool
        Count what would be taken, and write nothing; files and bytes after it are not known then.
    progress : callable, optional
        Called with files done and files to do.

    Raises
    ------
    InputError
        There is no such table, or it cannot be read by this version.
    """
    contract, done = TABLES[table], Compacted(table)
    quiet_ms = now_ms - settled_ms

    def places() -> list[list[DataFile]]:
        return [
            some
            for place, files in _by_place(contract, lake.files(table)).items()
            if place.start_ms >= (start_ms if start_ms is not None else place.start_ms)
            and place.end_ms <= min(quiet_ms, end_ms if end_ms is not None else quiet_ms)
            and max(file.committed_ms for file in files) <= quiet_ms
            for some in _together(files)
        ]

    todo = places()
    total = sum(len(files) for files in todo)
    if dry_run:
        for files in todo:
            done.files_before += len(files)
            done.bytes_before += sum(file.size_bytes for file in files)
            done.rows += sum(file.rows for file in files)
        return done

    def merge() -> None:
        nonlocal todo
        lost: ConflictError | None = None
        for batch in _batches(todo):
            try:
                _merge(lake, contract, batch, run_id, done)
            except ConflictError as error:
                lost = error
                continue
            if progress:
                progress(done.files_before, total)
        if lost is not None:
            # What was merged is one file now; only what lost a race is listed again.
            todo = places()
            raise lost

    try:
        retry(merge, attempts=_ATTEMPTS)
    except ConflictError:
        done.places_left = len(todo)
    return done


@dataclass(frozen=True)
class _FilePlace:
    """Where rows that may be in one file belong."""

    partition: tuple[tuple[str, str], ...]
    cluster: str
    shard: int | None
    start_ms: int
    end_ms: int


def _by_place(contract: Table, files: Iterable[DataFile]) -> dict[_FilePlace, list[DataFile]]:
    found: dict[_FilePlace, list[DataFile]] = {}
    for file in files:
        place = _place(contract, file)
        if place is not None:
            found.setdefault(place, []).append(file)
    return found


def _place(contract: Table, file: DataFile) -> _FilePlace | None:
    """Where a file belongs; None where it may not be put together with others."""
    span = span_of(contract, file)
    if span is None or span[1] - span[0] != BLOCK_MS:
        return None
    one = {}
    for name in ("cluster", "shard"):
        low, high = file.minimum.get(name), file.maximum.get(name)
        if low != high:
            return None
        one[name] = low
    if one["cluster"] is None:
        return None
    return _FilePlace(tuple(sorted(file.partition.items())), str(one["cluster"]), one["shard"], *span)


def _together(files: list[DataFile]) -> Iterator[list[DataFile]]:
    """Files of one place, cut so that none grows too large; those that stay alone are left out."""
    group: list[DataFile] = []
    for file in sorted(files, key=lambda file: (file.size_bytes, file.relative_path)):
        fits = (
            sum(one.rows for one in group) + file.rows <= LARGEST_ROWS
            and sum(one.size_bytes for one in group) + file.size_bytes <= LARGEST_BYTES
        )
        if group and not fits:
            if len(group) > 1:
                yield group
            group = []
        group.append(file)
    if len(group) > 1:
        yield group


def _batches(places: list[list[DataFile]]) -> Iterator[list[list[DataFile]]]:
    batch, count = [], 0
    for files in places:
        if batch and count + len(files) > _AT_ONCE:
            yield batch
            batch, count = [], 0
        batch.append(files)
        count += len(files)
    if batch:
        yield batch


def _merge(lake: Lake, contract: Table, batch: list[list[DataFile]], run_id: str, done: Compacted) -> None:
    """Merge some places in one transaction; ConflictError where another writer was faster."""
    version = lake.version(contract.name)
    now = {file.relative_path for file in lake.files(contract.name, version=version)}
    batch = [
        files
        for files in batch
        if now.issuperset(file.relative_path for file in files)
        and all(_is_whole(contract, file) for file in files)
    ]
    new: list[NewFile] = []
    came_ms: dict[str, int] = {}
    for files in batch:
        one = _merged(lake, contract, files)
        new.append(one)
        # A verdict is opened again with the signals of the time it came.
        came_ms[one.relative_path] = max(file.committed_ms for file in files)
    old = [file for files in batch for file in files]
    lake.commit(contract.name, new, old, run_id=run_id, read_version=version, moved_ms=came_ms)
    done.files_before += len(old)
    done.files_after += len(new)
    done.bytes_before += sum(file.size_bytes for file in old)
    done.bytes_after += sum(file.size_bytes for file in new)
    done.rows += sum(file.rows for file in new)


def _is_whole(contract: Table, file: DataFile) -> bool:
    """Whether a file has all columns of the contract.

    One from before a column was added stays as it is: DuckDB looks for such files where the oldest one lacks a column.
    """
    with parquet_file(file.path) as opened:
        return set(contract.schema.names) <= set(opened.schema_arrow.names)


def _merged(lake: Lake, contract: Table, files: list[DataFile]) -> NewFile:
    rows = read_files(contract.name, files)
    expected = sum(file.rows for file in files)
    if rows.num_rows != expected:
        raise ThrottlescopeError(
            f"Files of {contract.name} do not hold the rows that its log says",
            got=f"{rows.num_rows} rows",
            expected=f"{expected} rows",
            fix="throttlescope lake check says which files are damaged",
        )
    return write_data_file(
        lake.root,
        contract.name,
        rows.sort_by([(name, "ascending") for name in contract.key]).combine_chunks(),
    )
