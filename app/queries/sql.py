"""SQL over a lake. In: a lake, one SELECT, and what it may take. Out: its rows as plain values.

DuckDB runs it, on a connection that can open the files of the lake's tables and nothing else.
"""

from __future__ import annotations

import base64
import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

T = TypeVar("T")

_BATCH_ROWS = 10_000
_INTERRUPT_EVERY_S = 0.1


@dataclass(frozen=True)
class SqlBounds:
    """What a query may take.

    Attributes
    ----------
    timeout_s : float
        Until its last row was read.
    memory_mb : int
        What DuckDB may hold (MB of 1,000,000 bytes).
    rows : int
        Rows of the result. One more is an error, not a shorter result.
    """

    timeout_s: float = 60.0
    memory_mb: int = 1000
    rows: int = 1_000_000


@dataclass(frozen=True)
class SqlResult:
    """The rows of a query.

    Attributes
    ----------
    columns : tuple of str
        Names, each once: a second ``topic`` is ``topic_1``.
    rows : list of tuple
        Plain values, as JSON has them; times that SQL made are RFC 3339 in UTC, bytes are base64.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(repr=False)


def run_sql(lake: Lake, query: str, bounds: SqlBounds = SqlBounds()) -> SqlResult:
    """Run one SELECT over the tables of a lake, as they were when it started.

    Raises
    ------
    InputError
        The lake has no tables, the query is not one SELECT, it is not valid, it opens a file or takes more than its bounds.
    KeyboardInterrupt
        It was cancelled; DuckDB has stopped then.
    """
    _check_reads(query)
    if all(lake.version(table) is None for table in TABLES):
        raise InputError(
            "There are no tables in this lake", got=lake.root, fix="throttlescope run --lake DIR writes them"
        )
    with lake.confined_duckdb(memory_limit_mb=bounds.memory_mb) as connection:
        return _stoppable(connection, lambda: _result(connection, query, bounds), bounds)


def _check_reads(query: str) -> None:
    """Refuse everything but one SELECT, before anything runs.

    ``FROM ...``, ``VALUES``, ``DESCRIBE``, ``SUMMARIZE`` and ``SHOW TABLES`` are SELECTs to DuckDB. EXPLAIN is none: with ANALYZE it runs
    whatever follows it.
    """
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _invalid(error) from None
    kinds = [statement.type.name for statement in statements]
    if kinds != ["SELECT"]:
        raise InputError(
            "The lake is only read: it takes one SELECT",
            got=", ".join(kinds) or "no statement",
            expected="SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE or SHOW TABLES",
            fix="to write, save the result: throttlescope sql '...' --format csv > FILE",
        )


def _stoppable(connection: duckdb.DuckDBPyConnection, run: Callable[[], T], bounds: SqlBounds) -> T:
    """Run it so that Ctrl-C and the deadline stop DuckDB, which would otherwise go on until it has a row."""
    with ThreadPoolExecutor(1, thread_name_prefix="sql") as thread:
        running = thread.submit(run)
        try:
            return running.result(bounds.timeout_s)
        except TimeoutError:
            raise InputError(
                "The query took too long",
                got=f"no result after {bounds.timeout_s:g} s",
                fix="read fewer columns or rows, or raise --timeout",
            ) from None
        finally:
            # Again and again: DuckDB forgets an interrupt that came before the query began.
            while not running.done():
                connection.interrupt()
                wait([running], _INTERRUPT_EVERY_S)


def _result(connection: duckdb.DuckDBPyConnection, query: str, bounds: SqlBounds) -> SqlResult:
    try:
        cursor = connection.execute(query)
        columns = _distinct([name for name, *_ in cursor.description])
        rows: list[tuple[Any, ...]] = []
        for row in _rows(cursor):
            if len(rows) == bounds.rows:
                raise InputError(
                    "The query has too many rows for one result",
                    got=f"more than {bounds.rows:,}",
                    fix="aggregate, add LIMIT, or raise --max-rows",
                )
            rows.append(tuple(map(_plain, row)))
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            "The query needs more memory than it may take",
            got=f"more than {bounds.memory_mb:,} MB",
            fix="read fewer columns or rows, or raise --memory-mb",
        ) from error
    except duckdb.PermissionException as error:
        raise InputError(
            "A query reads the lake's tables and no other files",
            got=_first_line(error),
            fix="throttlescope sql 'SHOW TABLES' lists the tables",
        ) from None
    except (duckdb.IOException, duckdb.InternalException, duckdb.FatalException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        raise _invalid(error) from None
    return SqlResult(columns, rows)


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := cursor.fetchmany(_BATCH_ROWS):
        yield from batch


def _invalid(error: duckdb.Error) -> InputError:
    return InputError(
        "The query is not valid",
        got=_first_line(error),
        fix="throttlescope sql 'SHOW TABLES' lists tables, 'DESCRIBE verdicts' the columns of one",
    )


def _first_line(error: duckdb.Error) -> str:
    """What DuckDB says, and what it suggests; without the query with its marks under it."""
    return " ".join(str(error).split("\n\nLINE ", 1)[0].split())


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Names as DuckDB makes them distinct within a query: in JSON a second column would replace the first."""
    distinct: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return tuple(distinct)


def _plain(value: Any) -> Any:
    """A value of DuckDB as JSON has it."""
    if isinstance(value, dt.datetime):
        return (
            value.astimezone(dt.UTC).isoformat().replace("+00:00", "Z") if value.tzinfo else value.isoformat()
        )
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
