"""What happened to a table. In: a lake and a table. Out: one entry a version, newest first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.lake.files import NewFile
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import span_of
from throttlescope.ingest.lake.upkeep.log import Commit, commits


@dataclass(frozen=True)
class TableChange:
    """One version of a table.

    Attributes
    ----------
    what : str
        created, added, replaced, removed, compacted, or ``columns or settings``.
    run_id : str or None
        The run that made it.
    rows_added : int or None
        Rows of the files that came; what went has no count in Delta's log.
    clusters : tuple of str
        Clusters of the files that came and are known to hold one.
    start_ms, end_ms : int or None
        Whole hours (or dates) of the rows that came, else of those that went where Delta says it.
    """

    version: int
    time_ms: int
    run_id: str | None
    what: str
    files_added: int
    files_removed: int
    rows_added: int | None
    bytes_added: int
    bytes_removed: int
    clusters: tuple[str, ...]
    start_ms: int | None
    end_ms: int | None

    def to_row(self) -> dict[str, Any]:
        return asdict(self) | {"clusters": list(self.clusters)}


def history(lake: Lake, table: str, *, limit: int | None = None) -> list[TableChange]:
    """Versions of a table that its log still knows, newest first.

    Raises
    ------
    InputError
        There is no such table.
    """
    lake.version(table)
    return list(islice(_changes(lake, table), limit))


def _changes(lake: Lake, table: str) -> Iterator[TableChange]:
    contract = TABLES[table]
    for commit in commits(lake, table):
        came = [_new_file(contract, action) for action in commit.add]
        spans = [span for file in came if (span := span_of(contract, file)) is not None]
        spans = spans or [span for one in commit.remove if (span := _span_of_removed(contract, one))]
        yield TableChange(
            commit.version,
            commit.time_ms,
            commit.run_id,
            _what(commit),
            len(came),
            len(commit.remove),
            sum(file.rows for file in came),
            sum(file.size_bytes for file in came),
            sum(action.get("size") or 0 for action in commit.remove),
            tuple(sorted({cluster for file in came if (cluster := _cluster(file)) is not None})),
            min((start for start, _ in spans), default=None),
            max((end for _, end in spans), default=None),
        )


def _what(commit: Commit) -> str:
    actions = (*commit.add, *commit.remove)
    if commit.version == 0:
        return "created"
    if actions and not any(action.get("dataChange", True) for action in actions):
        return "compacted"
    if commit.add:
        return "replaced" if commit.remove else "added"
    if commit.remove:
        return "removed"
    return "columns or settings" if commit.changes_table else (commit.operation or "nothing").lower()


def _new_file(contract: Table, action: dict[str, Any]) -> NewFile:
    stats = json.loads(action.get("stats") or "{}")
    partition = {name: value or "" for name, value in action["partitionValues"].items()}
    return NewFile(
        contract.name,
        action["path"],
        partition,
        stats.get("numRecords", 0),
        action["size"],
        stats.get("minValues", {}),
        stats.get("maxValues", {}),
    )


def _span_of_removed(contract: Table, action: dict[str, Any]) -> tuple[int, int] | None:
    date = (action.get("partitionValues") or {}).get("date")
    return span_of(contract, NewFile(contract.name, "", {"date": date}, 0, 0)) if date else None


def _cluster(file: NewFile) -> str | None:
    if "cluster" in file.partition:
        return file.partition["cluster"]
    low, high = file.minimum.get("cluster"), file.maximum.get("cluster")
    return str(low) if low is not None and low == high else None
