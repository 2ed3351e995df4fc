"""A lake for who stays: a server. In: the lake, and tables that are known to be there. Out: as :class:`Lake`, but a table that went away is an error.

To a command a table that is not there was never written, and reads as empty. A server that has read it knows better: the folder was
unmounted, moved or emptied, and "no rows" would be a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.actions import file_table
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile

if TYPE_CHECKING:
    from deltalake import DeltaTable


class MissingTableError(ThrottlescopeError):
    """A table that was there is not there any more."""

    @classmethod
    def of(cls, table: str, root: str) -> MissingTableError:
        return cls(
            f"Table {table} was there and is gone",
            got=f"no table at {root}/{table}",
            expected="the lake that was served until now",
            fix="mount its folder again or bring it back from a copy; where another lake took its place, restart throttlescope serve",
        )


class RememberingLake(Lake):
    """A lake that remembers which tables it has met. Threads may share it.

    Parameters
    ----------
    root : str or Path
        As of :class:`Lake`.
    there : iterable of str, optional
        Tables that somebody else saw before.
    """

    def __init__(self, root: str | Path, there: Iterable[str] = ()) -> None:
        super().__init__(root)
        self._there = set(there)
        self._newest: dict[str, tuple[int, StoredFile | None]] = {}

    def newest_file(self, table: str) -> StoredFile | None:
        """The data file that came last into the newest version; None of a table without any. Its path begins with the table.

        The files are not described one by one as :meth:`files` does: of ``samples`` there are very many.

        Raises
        ------
        MissingTableError
            The table was there and is gone.
        """
        with self._delta.looking():
            delta = self._open(table)
            if delta is None:
                return None
            version = delta.version()
            if self._newest.get(table, (None,))[0] != version:
                self._newest[table] = (version, _newest_of(delta, table))
            return self._newest[table][1]

    def _open(self, table: str, version: int | None = None) -> DeltaTable | None:
        delta = super()._open(table, version)
        if delta is not None:
            self._there.add(table)
        elif table in self._there:
            raise MissingTableError.of(table, self.root)
        return delta


def _newest_of(delta: DeltaTable, table: str) -> StoredFile | None:
    files = file_table(delta, table).select(["committed_ms", "relative_path", "size_bytes"])
    if not files.num_rows:
        return None
    last = files.sort_by([("committed_ms", "descending"), ("relative_path", "ascending")]).slice(0, 1)
    (row,) = last.to_pylist()
    return StoredFile(f"{table}/{row['relative_path']}", row["size_bytes"], row["committed_ms"])
