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
    Force,
    LakeFolder,
    Master,
    Quiet,
    RowFormat,
    RowFormatOption,
    Start,
)
from throttlescope.app.cli.settings import CommandOptions


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
    family.command("check", short_help="Check a range of a lake now.")(check)
    family.command("page", short_help="Write the findings of the gates as one page, to read offline.")(page)
    app.add_typer(family, name="quality", short_help="Print what the quality gates found.")


def quality(
    context: typer.Context,
    lake: LakeFolder = None,
    format: RowFormatOption = RowFormat.table,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only findings of this run. Default: every run.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed/--all", help="Only failed checks, or every check.")
    ] = True,
    config: Config = None,
    debug: Debug = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from throttlescope.app.cli.tables.quality import write_findings
    from throttlescope.app.queries.quality import read_findings

    options = CommandOptions(context)
    rows = read_findings(options.lake(absolute=False), run_id=run, failed=failed)
    write_findings(rows, options, after=" that failed" if failed else "")


def check(
    context: typer.Context,
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
    """Check a range of a lake now, write the findings to its table quality, and print them.

    Gates are those of a run: door (series and hours), samples, policies (admin API, limits), signals, verdicts. All that are
    selected are checked, also after one that stops. Exit code 3 where one finds an error: nothing may be computed from what it names.
    A range without data is no fault; the command says so. Spark is started only where a table is too large for this process.
    """
    from throttlescope.app.cli.tables.quality import write_checked
    from throttlescope.app.services.gates import check_gates

    options = CommandOptions(context)
    names, span = [str(one) for one in gate or GateName], options.range_ms()
    run = {"cluster": cluster, "progress": options.progress(len(names)), "debug": debug}
    result = check_gates(options.settings(), names, *span, **run)
    write_checked(result, span, options)
    if result.stopped:
        raise result.error()


def page(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page.", show_default=False)],
    lake: LakeFolder = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="ID", help="Only findings of this run. Default: the newest ones of every gate."
        ),
    ] = None,
    force: Force = False,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Write what the gates found as one HTML page that needs nothing else: no server, no network, no script.

    Per gate and table every check of its suite: whether it passed, what was seen and expected, why it matters, and the keys of up to
    twenty rows that failed it. Below, what ingest validation refused. Light and dark follow the reader's system.
    """
    from throttlescope.app.incident.quality_page.page import write_page
    from throttlescope.models.messages.units import visible

    lake_ = CommandOptions(context).lake(absolute=False)
    print(visible(f"{out}: {write_page(lake_, out, run_id=run, force=force)}"))
