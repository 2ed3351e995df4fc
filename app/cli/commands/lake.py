"""``throttlescope lake``: what a lake holds, and its upkeep."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.commands.lake_repair import repair
from throttlescope.app.cli.options import (
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
    Tables,
    Yes,
    known_tables,
)
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.errors import EXIT_FAILED
from throttlescope.ingest.core.times import DAY_MS

TableName = Annotated[str, typer.Argument(metavar="TABLE", help="Name of a table, such as verdicts.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(help="Show the content of a lake, and keep it small and fast.", no_args_is_help=True)
    family.command("show", short_help="Print the tables: rows, files, bytes, versions, times.")(show)
    family.command("history", short_help="Print the versions of a table: when, which run, what changed.")(
        history
    )
    family.command("check", short_help="Compare every table with its contract, its log and its files.")(check)
    family.command("repair", short_help="Restore what is missing or damaged: read it again or recompute it.")(
        repair
    )
    family.command("compact", short_help="Merge small files.")(compact)
    family.command("expire", short_help="Remove hours that are older than an age.")(expire)
    family.command("vacuum", short_help="Delete files that no version references.")(vacuum)
    app.add_typer(family, name="lake")


def show(
    context: typer.Context,
    lake: LakeFolder = None,
    table: Tables = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print what is in a lake: per table its rows, files and bytes, its versions, and the hours that its rows lie in.

    Bytes per sample are counted in the files of samples, in 2,000 of them at most. Times are UTC.
    """
    from throttlescope.app.cli.tables.lake import write_show
    from throttlescope.ingest.lake.upkeep.show import show as facts_of

    options = CommandOptions(context)
    stored = options.lake(absolute=False)
    write_show(stored.root, facts_of(stored, table), options)


def history(
    context: typer.Context,
    table: TableName,
    lake: LakeFolder = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="The newest N versions.")] = 20,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print the versions of a table, the newest first: when it was committed, by which run, and what changed.

    A version, or a time, can be read again: see --as-of of verdicts and promql. Times are UTC.
    """
    from throttlescope.app.cli.tables.lake import write_history
    from throttlescope.ingest.lake.upkeep.history import history as changes_of

    options = CommandOptions(context)
    write_history(table, changes_of(options.lake(absolute=False), table, limit=limit), options)


def check(
    context: typer.Context,
    lake: LakeFolder = None,
    table: Tables = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Compare names and sizes only: no file is opened.")
    ] = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Compare the newest version of every table with its contract, its log and its files.

    Every file that it names is read whole and its bytes are compared with its name, which is their hash; rows, columns, bounds and
    partitions with what the log says; keys with each other. Commits and checkpoints of the logs are read. Nothing is changed. Exit
    code 1 where something is wrong; throttlescope lake repair restores what can be restored.
    """
    from throttlescope.app.cli.tables.lake import write_faults
    from throttlescope.app.services.lake_upkeep import check_tables

    options, tables = CommandOptions(context), known_tables(table)
    stored = options.lake(absolute=False)
    faults = check_tables(stored, tables, quick=quick, progress=options.progress(quiet=quick))
    write_faults(stored.root, faults, options)
    if faults:
        raise typer.Exit(EXIT_FAILED)


def compact(
    context: typer.Context,
    lake: LakeFolder = None,
    table: Tables = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="T", help="Only hours that start at T (UTC) or later.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="T", help="Only hours that end at T (UTC) or before.")
    ] = None,
    settled: Annotated[
        str,
        typer.Option(
            "--settled",
            metavar="DURATION",
            help="Leave hours alone that ended, or got a file, less than this ago.",
        ),
    ] = "2h",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print which files would be merged; write nothing.")
    ] = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Merge small files of the same hour, cluster and shard; the rows stay the same, and no file spans two hours.

    Other commands may run at the same time: an hour that one of them is changing is left for the next time. The old files stay until the
    vacuum.
    """
    from throttlescope.app.cli.tables.lake import write_compacted
    from throttlescope.app.services.lake_upkeep import Moment, compact_tables

    options, tables = CommandOptions(context), known_tables(table)
    stored, moment = options.lake(absolute=False), Moment(options.now_ms, dry_run)
    which = {"settled_ms": options.duration_ms("settled"), **options.times_ms()}
    write_compacted(
        stored.root, compact_tables(stored, tables, moment, which, options.progress(quiet=dry_run)), options
    )


def expire(
    context: typer.Context,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="DURATION", help="The age, such as 90d; 2d at least.")
    ],
    lake: LakeFolder = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="Only this table. Repeatable. Default: every table whose rows have an age.",
        ),
    ] = None,
    yes: Yes = False,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Remove whole hours (dates, where a file holds one) that are older than an age: one transaction per table.

    Each table may have its own age (--table): samples take the most space and can be removed before verdicts. Series without samples leave the catalogue
    with them. Episodes and other rows that have not ended stay, and so does the newest snapshot of limits before the age. The next vacuum deletes the
    files; until then --as-of reads the old state.
    """
    from throttlescope.app.cli.tables.lake import write_expired
    from throttlescope.app.services.lake_upkeep import Moment, expire_tables

    options, tables = CommandOptions(context), known_tables(table)
    # Rules look back a day, and windows of yesterday may still be judged again.
    age_ms = options.duration_ms(
        "older_than", "--older-than is too short", expected="2d or more", least_ms=2 * DAY_MS
    )
    stored = options.lake(absolute=False)
    write_expired(
        stored.root, expire_tables(stored, tables, Moment(options.now_ms, not yes), age_ms), options
    )


def vacuum(
    context: typer.Context,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="How long the files of a version stay after it was replaced; 24h at least.",
        ),
    ] = "7d",
    lake: LakeFolder = None,
    table: Tables = None,
    even_if_in_use: Annotated[
        bool,
        typer.Option(
            "--even-if-in-use",
            help="Allow less than 24h, and delete what a stopped ingest would continue from. Only where nothing else runs.",
        ),
    ] = False,
    yes: Yes = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Delete files that no version within the age references, and files that killed commands left; then shorten the tables' logs.

    A file that was written less than a day before that age stays as well, since a stopped ingest may continue from it. --as-of reaches as
    far back as the age. Readers and writers may run at the same time.
    """
    from throttlescope.app.cli.tables.lake import write_vacuumed
    from throttlescope.app.services.lake_upkeep import Moment, vacuum_tables

    options, tables = CommandOptions(context), known_tables(table)
    stored, keep_ms = options.lake(absolute=False), options.duration_ms("older_than")
    moment, progress = Moment(options.now_ms, not yes), options.progress()
    write_vacuumed(
        stored.root, vacuum_tables(stored, tables, moment, keep_ms, progress, anyway=even_if_in_use), options
    )
