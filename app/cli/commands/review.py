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


def register(app: typer.Typer) -> None:
    app.command(short_help="Look back at a week: forecasts, flips, counterfactuals, limits.")(review)


def review(
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
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.review import print_review
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.review import review_lake
    from throttlescope.ingest.core.times import parse_time
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    start_ms, end_ms = (parse_time(text, now_ms=now_ms) for text in (start, end))
    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Looking back"):
        found = review_lake(
            Lake(settings.lake), start_ms, end_ms, cluster=cluster, most=most, note=progress.note
        )
        progress.note(f"{found.flips.windows:,} windows")
    if format is Format.json:
        write_json(found.to_json())
    else:
        print_review(found)
