"""Whether everything that the logs name is there. In: a lake. Out: what is missing or damaged, file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.errors import ThrottlescopeError
from throttlescope.ingest.lake.lake import Lake


@dataclass(frozen=True)
class Fault:
    """Something that is not as the log says.

    Attributes
    ----------
    path : str or None
        Below the lake; None: the table as a whole.
    what : str
        In words.
    """

    table: str
    path: str | None
    what: str

    def to_row(self) -> dict[str, Any]:
        return asdict(self)


def check(lake: Lake, tables: Iterable[str] | None = None) -> list[Fault]:
    """Compare the newest version of every table with the files that are there, by name and size; no file is opened.

    Raises
    ------
    InputError
        There is no such table.
    """
    return [fault for table in (TABLES if tables is None else tables) for fault in _faults(lake, table)]


def _faults(lake: Lake, table: str) -> Iterator[Fault]:
    stored = {file.relative_path: file for file in lake.storage.list(table)}
    try:
        version = lake.version(table)
    except ThrottlescopeError as error:
        if not stored:
            raise
        yield Fault(table, None, str(error))
        return
    if version is None:
        if stored:
            yield Fault(
                table, None, "there are files and no log that names them; a table begins with the next run"
            )
        return
    for file in sorted(lake.files(table, version=version), key=lambda file: file.relative_path):
        path = f"{table}/{file.relative_path}"
        there = stored.get(path)
        if there is None:
            yield Fault(table, path, f"missing, with {file.rows} rows")
        elif there.size_bytes != file.size_bytes:
            yield Fault(table, path, f"{there.size_bytes} bytes, not {file.size_bytes}")
