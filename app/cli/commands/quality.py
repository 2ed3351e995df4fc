"""``throttlescope quality``: what the gates found; ``check`` runs them now, ``page`` writes what they found as one page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    End,
    LakeFolder,
    Master,
    Quiet,
    RowFormat,
    RowFormatOption,
    Start,
)


class GateName(StrEnum):
    door = "door"
    samples = "samples"
    policies = "policies"
    signals = "signals"
    verdicts = "verdicts"


Gates = Annotated[
    list[GateName] | None,
    typer.Option(
        "--gate", help="Only this gate; repeatable. Default: all, in the order in which data passes."
    ),
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        rich_markup_mode=None,
        help="Print the quality rows of a lake: what a gate checked, what it saw and what it expected. An error stopped its run at "
        "the gate; a warning did not. Times are UTC.",
    )
    family.callback(invoke_without_command=True)(quality)
    family.command("check", short_help="Check what a lake holds of a range, now.")(check)
    family.command("page", short_help="Write what the gates found as one page, to read offline.")(page)
    app.add_typer(family, name="quality", short_help="Print what the quality gates found.")


def quality(
    context: typer.Context,
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only findings of this run. Default: every run.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed/--all", help="Only what did not hold, or every check.")
    ] = True,
    config: Config = None,
    debug: Debug = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.quality import print_findings
    from throttlescope.app.queries.quality import read_findings
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    rows = read_findings(Lake(settings.lake), run_id=run, failed=failed)
    title = f"{len(rows)} finding{'' if len(rows) == 1 else 's'}" + (" that did not hold" if failed else "")
    print_findings(rows, format.value, title)


def check(
    start: Start = None,
    end: End = None,
    gate: Gates = None,
    lake: LakeFolder = None,
    cluster: ClusterFilter = None,
    master: Master = None,
    format: RowFormatOption = RowFormat.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check what a lake holds of a range now, write what was found to its table quality, and print it.

    Gates are those of a run: door (series and hours), samples, policies (admin API, limits), signals, verdicts. All that are asked
    for are checked, also behind one that stops. Exit code 3 where one finds an error: nothing may be computed from what it names.
    A range without data is no fault; it is said. Spark is started only where a table is too large for this process.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.quality import print_findings
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.gates import check_gates
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import check_range, format_time, parse_time

    settings = settings_with(config, {"lake": lake, "spark": {"master": master}})
    now_ms = int(time.time() * 1000)
    if start is None:
        raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
    start_ms, end_ms = (now_ms if text is None else parse_time(text, now_ms=now_ms) for text in (start, end))
    check_range(start_ms, end_ms)
    names = [one.value for one in gate] if gate else [one.value for one in GateName]
    progress = TerminalProgress(len(names), quiet=quiet)
    result = check_gates(settings, names, start_ms, end_ms, cluster=cluster, progress=progress, debug=debug)
    title = f"{format_time(start_ms)} to {format_time(end_ms)}: {result.words}"
    print_findings(result.failures(), format.value, title)
    if result.stopped:
        raise result.error()


def page(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page.", show_default=False)],
    lake: LakeFolder = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="ID", help="Only findings of this run. Default: the newest ones of every gate."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page if it is there.")] = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Write what the gates found as one HTML page that needs nothing else: no server, no network, no script.

    Per gate and table every check of its suite: whether it held, what was seen and expected, why it matters, and the keys of up to
    twenty rows that did not hold. Below, what was refused at the door. Light and dark follow the reader's system.
    """
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.incident.quality_page.page import write_page
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.messages.units import visible

    settings = settings_with(config, {"lake": lake})
    told = write_page(Lake(settings.lake), out, run_id=run, force=force)
    print(visible(f"{out}: {told}"))
