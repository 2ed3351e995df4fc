"""``throttlescope lake``: what a lake holds, and its upkeep."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.commands.lake_repair import repair
from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder, Quiet, known_tables

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="NAME", help="Only this table. Repeatable. Default: every table."),
]
TableName = Annotated[str, typer.Argument(metavar="TABLE", help="Name of a table, such as verdicts.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it. Without it is only shown what would go.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(help="Show what a lake holds, and keep it small and quick.", no_args_is_help=True)
    family.command("show", short_help="Print the tables: rows, files, bytes, versions, times.")(show)
    family.command("history", short_help="Print the versions of a table: when, which run, what changed.")(
        history
    )
    family.command("check", short_help="Hold every table against its contract, its log and its files.")(check)
    family.command("repair", short_help="Read again and compute again what is missing or damaged.")(repair)
    family.command("compact", short_help="Put small files together.")(compact)
    family.command("expire", short_help="Remove hours that are older than an age.")(expire)
    family.command("vacuum", short_help="Delete files that no version names any more.")(vacuum)
    app.add_typer(family, name="lake")


def show(
    lake: LakeFolder = None,
    table: Tables = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Print what is in a lake: per table its rows, files and bytes, its versions, and the hours that its rows lie in.

    Bytes per sample are counted in the files of samples, in 2,000 of them at most. Times are UTC.
    """
    from throttlescope.app.cli.tables.lake import print_show
    from throttlescope.app.presentation.output import write_json
    from throttlescope.ingest.lake.upkeep.show import show as facts_of

    opened = _opened(config, lake)
    facts = facts_of(opened, table)
    if format is Format.json:
        write_json({"lake": opened.root, "tables": [one.to_row() for one in facts]})
    else:
        print_show(opened.root, facts)


def history(
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
    from throttlescope.app.cli.tables.lake import print_history
    from throttlescope.app.presentation.output import write_json
    from throttlescope.ingest.lake.upkeep.history import history as changes_of

    changes = changes_of(_opened(config, lake), table, limit=limit)
    if format is Format.json:
        write_json({"table": table, "versions": [one.to_row() for one in changes]})
    else:
        print_history(table, changes)


def check(
    lake: LakeFolder = None,
    table: Tables = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Compare names and sizes alone: no file is opened.")
    ] = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Hold the newest version of every table against its contract, its log and its files.

    Every file that it names is read whole and its bytes are held against its name, which is their hash; rows, columns, bounds and
    partitions against what the log says; keys against each other. Commits and checkpoints of the logs are read. Nothing is changed. Exit
    code 1 where something is wrong; throttlescope lake repair mends what can be mended.
    """
    from throttlescope.app.cli.tables.lake import print_faults
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.core.errors import EXIT_FAILED
    from throttlescope.ingest.lake.upkeep.check import check as faults_of

    opened, tables, faults = _opened(config, lake), known_tables(table) or list(TABLES), []
    progress = TerminalProgress(len(tables), quiet=quiet or quick)
    for name in tables:
        with progress.step(f"checking {name}") as step:
            faults += faults_of(
                opened,
                [name],
                quick=quick,
                progress=lambda files, total, step=step: step.note(f"{files} of {total} files"),
            )
    if format is Format.json:
        write_json({"lake": opened.root, "faults": [one.to_row() for one in faults]})
    else:
        print_faults(opened.root, faults, quick=quick)
    if faults:
        raise typer.Exit(EXIT_FAILED)


def compact(
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
        bool, typer.Option("--dry-run", help="Say which files would be put together; write nothing.")
    ] = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Put small files of the same hour, cluster and shard together; the rows stay the same, and no file spans two hours.

    Commands may run beside it: an hour that one of them is changing is left for the next time. The old files stay until the
    vacuum.
    """
    from throttlescope.app.cli.tables.lake import print_compacted
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.core.times import parse_duration, parse_time
    from throttlescope.ingest.lake.upkeep.compact import compact as put_together

    opened, now_ms = _opened(config, lake), _now_ms()
    tables = known_tables(table) or list(TABLES)
    progress, done = TerminalProgress(len(tables), quiet=quiet or dry_run), []
    for name in tables:
        with progress.step(f"compacting {name}") as step:
            one = put_together(
                opened,
                name,
                run_id=_run_id("compact", now_ms),
                now_ms=now_ms,
                settled_ms=parse_duration(settled),
                start_ms=None if start is None else parse_time(start, now_ms=now_ms),
                end_ms=None if end is None else parse_time(end, now_ms=now_ms),
                dry_run=dry_run,
                progress=lambda files, total, step=step: step.note(f"{files} of {total} files"),
            )
            done.append(one)
    if format is Format.json:
        write_json({"lake": opened.root, "dry_run": dry_run, "tables": [vars(one) for one in done]})
    else:
        print_compacted(done, dry_run=dry_run)


def expire(
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
    """Remove whole hours (dates, where a file holds one) that are older than an age: one transaction a table.

    Tables may have ages of their own: samples take most room and may go before verdicts. Series without samples leave the catalogue
    with them. What has not ended stays, and so does the newest snapshot of limits before the age. The files go with the next
    vacuum; until then --as-of reads what was.
    """
    from throttlescope.app.cli.tables.lake import print_expired
    from throttlescope.app.presentation.output import write_json
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import DAY_MS, parse_duration
    from throttlescope.ingest.lake.upkeep.expire import expire as remove_older

    age_ms, now_ms = parse_duration(older_than), _now_ms()
    if age_ms < 2 * DAY_MS:
        # Rules look back a day, and windows of yesterday may still be judged again.
        raise InputError("--older-than is too short", got=older_than, expected="2d or more")
    opened = _opened(config, lake)
    gone = remove_older(
        opened, now_ms - age_ms, run_id=_run_id("expire", now_ms), tables=known_tables(table), dry_run=not yes
    )
    if format is Format.json:
        write_json({"lake": opened.root, "done": yes, "tables": [vars(one) for one in gone]})
    else:
        print_expired(gone, done=yes)


def vacuum(
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
            help="Allow less than 24h, and take what a stopped ingest would go on from. Only where nothing else runs.",
        ),
    ] = False,
    yes: Yes = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Delete files that no version within the age names, and what killed commands left; then shorten the tables' logs.

    A file that was written less than a day before that age stays as well, since a stopped ingest may go on from it. --as-of reaches as
    far back as the age. Readers and writers may run beside it.
    """
    from throttlescope.app.cli.tables.lake import print_vacuumed, vacuumed_rows
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.core.times import parse_duration
    from throttlescope.ingest.lake.upkeep import vacuum as upkeep

    opened, now_ms = _opened(config, lake), _now_ms()
    keep_ms, tables = parse_duration(older_than), known_tables(table)
    progress = TerminalProgress(3 if yes else 1, quiet=quiet)
    with progress.step("looking for files that nothing names") as step:
        found = upkeep.unnamed(opened, keep_ms, now_ms=now_ms, tables=tables, anyway=even_if_in_use)
        step.note(f"{len(found)} files")
    deleted, commits = None, 0
    if yes:
        with progress.step("deleting") as step:
            deleted = upkeep.delete(
                opened, found, progress=lambda files, total: step.note(f"{files} of {total} files")
            )
        with progress.step("shortening logs") as step:
            commits = sum(upkeep.clean_log(opened, name) for name in tables or TABLES)
            step.note(f"{commits} commits went")
    if format is Format.json:
        write_json(
            {
                "lake": opened.root,
                "done": yes,
                "kept_ms": keep_ms,
                "tables": vacuumed_rows(found),
                "deleted_files": deleted and deleted[0],
                "deleted_bytes": deleted and deleted[1],
                "log_commits_removed": commits,
            }
        )
    else:
        print_vacuumed(found, deleted, commits)


def _opened(config, lake):
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.ingest.lake import Lake

    return Lake(settings_with(config, {"lake": lake}).lake)


def _now_ms() -> int:
    import time

    return time.time_ns() // 1_000_000


def _run_id(what: str, now_ms: int) -> str:
    from throttlescope.ingest.core.times import format_time

    return f"{what}-{format_time(now_ms)}"
