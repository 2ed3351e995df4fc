"""What a lake holds. In: a lake. Out: per table its rows, files, bytes, versions and the times that its rows lie in."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.formats import MissingFilesError, stored_format
from throttlescope.ingest.lake.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import span_of_all
from throttlescope.ingest.lake.upkeep.log import commit_files

#: Samples are counted in this many files at most, taken evenly over the table: some 100 MB are read for it.
_COUNTED_FILES = 2_000
_READ_AT_ONCE = 8


@dataclass(frozen=True)
class TableFacts:
    """The current state of one table.

    Attributes
    ----------
    version, oldest_version : int
        The newest version, and the oldest one that is still in the log.
    start_ms, end_ms : int or None
        The range [start, end) of whole UTC hours (or dates) that rows lie in; None where a table has no age.
    samples, bytes_per_sample : int and float, or None
        Of the table ``samples`` alone: samples in ``counted_files`` of its files, and bytes of these files by samples.
    """

    table: str
    format_version: int
    version: int
    oldest_version: int
    rows: int
    files: int
    size_bytes: int
    start_ms: int | None
    end_ms: int | None
    samples: int | None = None
    bytes_per_sample: float | None = None
    counted_files: int | None = None

    def to_row(self) -> dict[str, Any]:
        return asdict(self)


def show(lake: Lake, tables: Iterable[str] | None = None) -> list[TableFacts]:
    """Facts of the tables that are there, in the contracts' order.

    Raises
    ------
    InputError
        There is no such table, or one was written by a newer version.
    """
    return [facts for table in tables or TABLES if (facts := _facts(lake, table)) is not None]


def _facts(lake: Lake, table: str) -> TableFacts | None:
    with lake._delta.looking():
        delta = lake._open(table)
        if delta is None:
            return None
        version, format_version = delta.version(), stored_format(delta)
    files = lake.files(table, version=version)
    span = span_of_all(TABLES[table], files)
    kept = commit_files(lake, table)
    counted = _counted(lake, files) if table == "samples" and files else {}
    return TableFacts(
        table,
        format_version,
        version,
        kept[0][0] if kept else version,
        sum(file.rows for file in files),
        len(files),
        sum(file.size_bytes for file in files),
        *(span or (None, None)),
        **counted,
    )


def _counted(lake: Lake, files: list[DataFile]) -> dict[str, Any]:
    files = sorted(files, key=lambda file: file.relative_path)
    some = files[:: -(-len(files) // _COUNTED_FILES)]
    with ThreadPoolExecutor(_READ_AT_ONCE) as reading:
        samples = sum(reading.map(lambda file: count_samples(lake, file), some))
    size_bytes = sum(file.size_bytes for file in some)
    return {
        "samples": samples,
        "bytes_per_sample": size_bytes / samples if samples else None,
        "counted_files": len(some),
    }


def count_samples(lake: Lake, file: DataFile) -> int:
    """Samples in a file of ``samples``.

    Raises
    ------
    MissingFilesError
        The file is not there.
    """
    content = lake.storage.read(f"samples/{file.relative_path}")
    if content is None:
        raise MissingFilesError.of("samples", [file.relative_path])
    times = pq.read_table(pa.BufferReader(content), columns=["timestamps_ms"]).column("timestamps_ms")
    return sum(len(chunk.flatten()) for chunk in times.chunks)
