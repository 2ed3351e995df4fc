"""``throttlescope sql``: read the tables of a lake in SQL."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, LakeFolder, RowFormat, RowFormatOption
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.times import SECOND_MS

Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY", help="One SELECT in quotes, as DuckDB understands it.", show_default=False
    ),
]
Timeout = Annotated[str, typer.Option("--timeout", metavar="DURATION", help="How long the query may take.")]
MemoryMb = Annotated[
    int,
    typer.Option("--memory-mb", min=50, metavar="N", help="Memory that the query may take (MB)."),
]
MaxRows = Annotated[
    int,
    typer.Option("--max-rows", min=1, metavar="N", help="Rows that the result may have; more is an error."),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Read the tables of a lake in SQL.")(sql)


def sql(
    context: typer.Context,
    query: Query,
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    timeout: Timeout = "1m",
    memory_mb: MemoryMb = 1000,
    max_rows: MaxRows = 1_000_000,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Run one SELECT over the tables of a lake, each under its name: SHOW TABLES, DESCRIBE verdicts, SELECT ... FROM verdicts.

    The query reads the lake as it was when it started, and nothing else: other files, and every statement that writes, are refused.
    Ctrl-C stops it. JSON and CSV have all rows; a table is cut to what can be read.
    """
    from throttlescope.app.cli.tables.sql import write_sql
    from throttlescope.app.queries.sql import SqlBounds, run_sql

    options = CommandOptions(context)
    timeout_ms = options.duration_ms("timeout", "--timeout must be more than 0")
    bounds = SqlBounds(timeout_ms / SECOND_MS, memory_mb, max_rows)
    write_sql(run_sql(options.lake(absolute=False), query, bounds), options)
