"""Data files. In: rows of one partition of one table. Out: a Parquet file that no reader sees before a commit.

A file is named by the hash of its own bytes. The same rows therefore give the same file: a run
that is repeated adds nothing, and a killed run leaves files that its repetition finds again.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake.open_storage import storage_of

# Rows are sorted by key, so that a reader of one subscription decodes one of these groups of a file and not all of it. Smaller
# ones cost more to name, in every file that is opened, than they save.
GROUP_ROWS = 20_000

# Samples are long lists of numbers. In a small file times are packed differences. Values stay plain under zstd: on the shipped
# recordings 5 % smaller than as split bytes (BYTE_STREAM_SPLIT) and 6 % smaller than as a dictionary, because most repeat or count.
_LIST_ENCODINGS = {
    "timestamps_ms.list.element": "DELTA_BINARY_PACKED",
    "stale_ms.list.element": "DELTA_BINARY_PACKED",
    "values.list.element": "PLAIN",
}

# From so many series on, others of the same scrapes are in the file: their times repeat, and zstd finds that where they are plain
# and not where they are packed. Names of series are no dictionary, every one is there once. Half the size (decision 82).
_MANY_ROWS = 64
_MANY_ROWS_LEVEL = 3


@dataclass(frozen=True)
class NewFile:
    """A file that was written and is not committed yet.

    Attributes
    ----------
    relative_path : str
        Path below the table's folder.
    partition : dict
        Values of the partition columns, as text.
    minimum, maximum : dict
        Of the whole-number and text columns of the key; they prune and they find conflicts.
    """

    table: str
    relative_path: str
    partition: dict[str, str]
    rows: int
    size_bytes: int
    minimum: dict[str, int | str] = field(default_factory=dict)
    maximum: dict[str, int | str] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> NewFile:
        return cls(**json.loads(text))

    def overlaps(self, other: NewFile | DataFile) -> bool:
        """Whether the two may hold rows of the same key."""
        return self.partition == other.partition and all(
            self.minimum[name] <= other.maximum[name] and other.minimum[name] <= self.maximum[name]
            for name in self.minimum.keys() & other.minimum.keys()
        )


@dataclass(frozen=True)
class DataFile:
    """A committed file of a snapshot. Fields as in :class:`NewFile`; ``path`` is whole, of a folder or a URI, ``committed_ms`` when it came."""

    path: str
    relative_path: str
    partition: dict[str, str]
    rows: int
    size_bytes: int
    minimum: dict[str, int | str]
    maximum: dict[str, int | str]
    committed_ms: int


def stats_columns(table: Table) -> list[str]:
    """Columns that get a minimum and a maximum: those of the key, and what files are cut by."""
    cut_by = {"cluster", "shard", "block_start_ms"}
    return [
        column.name
        for column in table.columns
        if (column.name in table.key or column.name in cut_by)
        and (pa.types.is_integer(column.type) or pa.types.is_string(column.type))
        and not column.nullable
    ]


def write_data_file(root: str, table_name: str, rows: pa.Table) -> NewFile:
    """Write one file below the table's folder and describe it.

    Parameters
    ----------
    root : str
        The lake's folder or URI.
    rows : pyarrow.Table
        All columns of the contract; at least one row; one partition only.

    Raises
    ------
    InputError
        The rows do not keep the table's contract, are none, or belong to several partitions.
    """
    table = TABLES[table_name]
    rows = table.conform(rows)
    if rows.num_rows == 0:
        raise InputError(f"A file of {table_name} without rows is not written")
    partition = {}
    for name in table.partition_by:
        values = rows.column(name).unique().to_pylist()
        if len(values) != 1:
            raise InputError(
                f"A file of {table_name} holds one {name}", got=f"{len(values)} values, such as {values[:3]}"
            )
        partition[name] = str(values[0])
    sink = pa.BufferOutputStream()
    options = _parquet_options(table_name, rows.num_rows >= _MANY_ROWS)
    pq.write_table(rows, sink, row_group_size=GROUP_ROWS, **options)
    content = sink.getvalue()
    digest = xxhash.xxh3_128_hexdigest(content)
    relative_path = f"data/{digest[:2]}/{digest}.parquet"
    storage_of(root).put_content(f"{table_name}/{relative_path}", content)
    minimum, maximum = {}, {}
    for name in _stats_columns(table_name):
        bounds = pc.min_max(rows.column(name)).as_py()
        minimum[name], maximum[name] = bounds["min"], bounds["max"]
    return NewFile(table_name, relative_path, partition, rows.num_rows, content.size, minimum, maximum)


@functools.cache
def _stats_columns(table_name: str) -> list[str]:
    return stats_columns(TABLES[table_name])


@functools.cache
def _parquet_options(table_name: str, many_rows: bool = False) -> dict:
    table = TABLES[table_name]
    lists = {
        f"{column.name}.list.element"
        for column in table.columns
        if pa.types.is_list(column.type) and not pa.types.is_struct(column.type.value_type)
    }
    encodings = {path: _LIST_ENCODINGS[path] for path in sorted(lists & _LIST_ENCODINGS.keys())}
    options = {"compression": "zstd", "compression_level": 1}
    if encodings:
        # pyarrow takes dictionaries by name; a column with an encoding of its own may not have one.
        options |= {
            "use_dictionary": [c.name for c in table.columns if pa.types.is_string(c.type)],
            "column_encoding": encodings,
            "write_statistics": [c.name for c in table.columns if not pa.types.is_nested(c.type)],
            # Only where it pays: a small file's other columns cost a third of its writing and save 4 % of its size.
            "compression": dict.fromkeys(sorted(encodings.keys() - {"stale_ms.list.element"}), "zstd"),
            "compression_level": None,
        }
        if many_rows and table_name == "samples":
            options = _of_many_rows(options)
    return options


def _of_many_rows(options: dict) -> dict:
    """The options of a file of many series."""
    compressed = [*options["compression"], "series_id"]
    return options | {
        "use_dictionary": ["metric_name", "date", "cluster", "shard", "block_start_ms"],
        "column_encoding": options["column_encoding"] | {"timestamps_ms.list.element": "PLAIN"},
        "compression": dict.fromkeys(compressed, "zstd"),
        "compression_level": dict.fromkeys(compressed, _MANY_ROWS_LEVEL),
    }
