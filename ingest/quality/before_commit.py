"""Judged before anybody reads it. In: a lake, a table and a gate. Out: the same lake, whose commits of that table pass the gate first.

Whoever computes a table writes its files and then commits them. In between the gate is asked of the lake as it would be: the files
are there to be read, and no reader of the table knows of them. A gate that stops raises, and the files are left to ``lake vacuum``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from throttlescope.ingest.lake import DataFile, Lake, NewFile


class JudgedLake(Lake):
    """A lake that asks before it commits.

    Parameters
    ----------
    root : str or Path
    table : str
        Whose commits are judged; those of other tables are not.
    judge : callable
        Is given the lake as it would be after the commit. What it raises leaves the lake as it is.
    """

    def __init__(self, root: str | Path, table: str, judge: Callable[[Lake], None]) -> None:
        super().__init__(root)
        self._table, self._judge = table, judge

    def commit(
        self, table: str, add: Iterable[NewFile], remove: Iterable[DataFile] = (), **how: Any
    ) -> int | None:
        add, remove = list(add), list(remove)
        if table == self._table:
            self._judge(_AsIf(self.root, table, add, remove))
        return super().commit(table, add, remove, **how)


class _AsIf(Lake):
    """A lake as it would be after a commit that has not been made."""

    def __init__(
        self, root: str | Path, table: str, add: Sequence[NewFile], remove: Sequence[DataFile]
    ) -> None:
        super().__init__(root)
        self._table, self._gone = table, {file.relative_path for file in remove}
        self._new = [
            DataFile(
                self.storage.address(f"{table}/{file.relative_path}"), file.relative_path, file.partition,
                file.rows, file.size_bytes, file.minimum, file.maximum, committed_ms=0,
            )
            for file in add
        ]  # fmt: skip

    def files(
        self,
        table: str,
        *,
        partition: dict[str, Iterable[str]] | None = None,
        between: dict[str, tuple[int | str, int | str]] | None = None,
        version: int | None = None,
    ) -> list[DataFile]:
        found = super().files(table, partition=partition, between=between, version=version)
        if table != self._table:
            return found
        wanted = {name: set(values) for name, values in (partition or {}).items()}
        new = [
            file
            for file in self._new
            if all(file.partition[name] in values for name, values in wanted.items())
            and all(
                name not in file.minimum or (file.minimum[name] <= last and file.maximum[name] >= first)
                for name, (first, last) in (between or {}).items()
            )
        ]
        # By name: a file that stays is named on both sides of the commit.
        here = {file.relative_path: file for file in found if file.relative_path not in self._gone}
        return list((here | {file.relative_path: file for file in new}).values())
