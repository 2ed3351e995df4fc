"""``throttlescope review``: how forecasts, verdicts and limits of a week did."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    ClusterFilter,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
)
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Review a week: forecasts, flips, counterfactuals, limits.")(review)


def review(
    context: typer.Context,
    lake: LakeFolder = None,
    start: Annotated[
        str, typer.Option("--start", metavar="T", help="Start of the range, included (UTC).")
    ] = "-7d",
    end: Annotated[str, typer.Option("--end", metavar="T", help="End of the range, excluded (UTC).")] = "now",
    cluster: ClusterFilter = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, max=1000, help="Rows of each list.")
    ] = 10,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look back at a range: stored forecasts against what came, how often verdicts changed their mind, how often verdict and
    counterfactual agree, and the limits that bind most and never.

    Nothing is written and nothing is judged again. A range without verdicts is no error: its counts are 0.
    """
    from throttlescope.app.cli.tables.review import write_review
    from throttlescope.app.services.review.review import review_in_step

    options = CommandOptions(context)
    stored, times = options.lake(absolute=False), options.times_ms().values()
    write_review(
        review_in_step(stored, *times, cluster=cluster, most=most, progress=options.progress(1)), options
    )
