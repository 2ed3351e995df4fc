"""A staged commit. In: files that were written for a table and those that they replace. Out: one record, to be validated and committed."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.lake.files import DataFile, NewFile


@dataclass(frozen=True)
class StagedCommit:
    """What a commit would change; until :meth:`Lake.commit_staged` no reader sees it, and left alone it is removed by ``lake vacuum``.

    Attributes
    ----------
    read_version : int or None
        The version from which ``remove`` was taken; None where the table was not there yet.
    """

    table: str
    add: tuple[NewFile, ...]
    remove: tuple[DataFile, ...]
    run_id: str
    read_version: int | None

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.add)
