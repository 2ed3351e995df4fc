"""The lake as a staged commit would leave it. In: a lake and a staged commit. Out: a lake to read, for quality gates.

The files are written and can be read here; readers of the lake do not see them before the commit.
"""

from __future__ import annotations

from collections.abc import Iterable

from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.staged import StagedCommit


class LakeAfterCommit(Lake):
    """A lake with one commit that has not been made."""

    def __init__(self, lake: Lake, staged: StagedCommit) -> None:
        super().__init__(lake.root)
        self._table, self._gone = staged.table, {file.relative_path for file in staged.remove}
        self._new = [
            DataFile(
                self.storage.address(f"{staged.table}/{file.relative_path}"), file.relative_path, file.partition,
                file.rows, file.size_bytes, file.minimum, file.maximum, committed_ms=0,
            )
            for file in staged.add
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
        # By path: a file that is both removed and added stays.
        here = {file.relative_path: file for file in found if file.relative_path not in self._gone}
        return list((here | {file.relative_path: file for file in new}).values())
