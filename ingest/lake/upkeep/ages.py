"""Which times a file holds. In: a table's contract and a file of it. Out: whole hours, or the date, that its rows lie in.

Nothing is declared here: a table's time is the first time of its key, else its partition ``date``. A table that has neither
(the catalogue, what holds now) has no age.
"""

from __future__ import annotations

from datetime import UTC, datetime

from throttlescope.ingest.contracts import Table
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS, block_start
from throttlescope.ingest.lake.files import DataFile, NewFile, stats_columns


def time_column(contract: Table) -> str | None:
    """The column of the key that says when a row was; None where only the date says it, or nothing."""
    bounded = set(stats_columns(contract))
    return next((name for name in contract.key if name.endswith("_ms") and name in bounded), None)


def is_dated(contract: Table) -> bool:
    """Whether rows of the table have an age."""
    return time_column(contract) is not None or "date" in contract.partition_by


def span_of(contract: Table, file: DataFile | NewFile) -> tuple[int, int] | None:
    """The range [start, end) of whole UTC hours, or of the UTC date, that a file's rows lie in; None without an age."""
    column = time_column(contract)
    if column is not None and column in file.minimum:
        return block_start(int(file.minimum[column])), block_start(int(file.maximum[column])) + BLOCK_MS
    if "date" in file.partition:
        day = datetime.fromisoformat(file.partition["date"]).replace(tzinfo=UTC)
        start_ms = round(day.timestamp() * SECOND_MS)
        return start_ms, start_ms + DAY_MS
    return None


def span_of_all(contract: Table, files: list[DataFile]) -> tuple[int, int] | None:
    """The smallest range that holds the rows of all files."""
    spans = [span for span in (span_of(contract, file) for file in files) if span is not None]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
