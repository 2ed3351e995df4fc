"""Rows of one table for a file. In: a lake, a table's name, and the parameters of the address. Out: Arrow rows, in order of the key.

Rows come as they are stored: names end with their units, times are epoch milliseconds in UTC.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.presentation.links.query import one, range_of
from throttlescope.app.presentation.links.subscription import partition_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.table import Table
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake

#: More rows than this are a job for a notebook or for Spark.
MOST_ROWS = 1_000_000

_NAMES = ("cluster", "topic", "subscription", "broker")
#: Column that a range [from, to) is compared with, the first that a table has.
_TIMES = (
    "minute_ms",
    "window_end_ms",
    "made_at_ms",
    "observed_ms",
    "since_ms",
    "start_ms",
    "started_ms",
    "at_ms",
)


@dataclass(frozen=True)
class TableQuery:
    """Which rows of a table.

    Attributes
    ----------
    names : dict of str
        Equal to these; columns that the table does not have are errors.
    partition : int or None
    start_ms, end_ms : int or None
        Range [start, end) of the table's time column.
    """

    table: Table
    names: dict[str, str]
    partition: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None

    @classmethod
    def parse(cls, table: str, values: dict[str, list[str]]) -> TableQuery:
        """Parse an address.

        Raises
        ------
        InputError
            There is no such table, or it does not have a column of the address.
        """
        if table not in TABLES:
            raise InputError("There is no such table", got=table[:80], expected=", ".join(TABLES))
        contract = TABLES[table]
        columns = set(contract.schema.names)
        names = {name: text for name in _NAMES if (text := one(values, name))}
        partition = partition_of(values)
        surplus = [
            *(names.keys() - columns),
            *(["partition"] if partition is not None and "partition" not in columns else []),
        ]
        if surplus:
            raise InputError(f"The table {table} has no {surplus[0]}", expected=", ".join(sorted(columns)))
        start_ms, end_ms = range_of(values)
        if (start_ms, end_ms) != (None, None) and time_column(contract) is None:
            raise InputError(
                f"The table {table} has no time to compare a range with", fix="leave from and to out"
            )
        return cls(contract, names, partition, start_ms, end_ms)


def time_column(table: Table) -> str | None:
    """The column that a range is compared with; None where a table has no time."""
    return next((name for name in _TIMES if name in table.schema.names), None)


def read_rows(lake: Lake, query: TableQuery) -> pa.Table:
    """The selected rows.

    Raises
    ------
    InputError
        They are too many for one file.
    """
    table, between = query.table, {name: (text, text) for name, text in query.names.items()}
    where = [pc.field(name) == text for name, text in query.names.items()]
    if query.partition is not None:
        where.append(pc.field("partition") == query.partition)
    time = time_column(table)
    if time and (query.start_ms is not None or query.end_ms is not None):
        start_ms, end_ms = query.start_ms or 0, 2**62 if query.end_ms is None else query.end_ms
        between[time] = (start_ms, end_ms)
        where += [pc.field(time) >= start_ms, pc.field(time) < end_ms]
    condition = functools.reduce(operator.and_, where) if where else None
    if condition is None:
        _check_count(sum(file.rows for file in lake.files(table.name)), query)
    rows = lake.read(table.name, where=condition, between=between)
    _check_count(rows.num_rows, query)
    order = [name for name in table.key if not pa.types.is_nested(table.schema.field(name).type)]
    return rows.sort_by([(name, "ascending") for name in order]) if order else rows


def _check_count(rows: int, query: TableQuery) -> None:
    if rows > MOST_ROWS:
        raise InputError(
            f"Too many rows of {query.table.name} for one file",
            got=f"{rows:,}",
            expected=f"at most {MOST_ROWS:,}",
            fix="select one cluster, one topic, or a shorter range; a notebook can read the whole lake",
        )
