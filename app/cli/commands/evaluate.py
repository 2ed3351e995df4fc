"""``throttlescope evaluate``: how often the verdicts are right, with the naive rule beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder, Quiet, Window


def register(app: typer.Typer) -> None:
    app.command(short_help="Judge the verdicts by the truth of recordings.")(evaluate)


def evaluate(
    lake: LakeFolder = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            "--truth",
            metavar="FILE",
            help="Truth to judge by (truth.json). Default: that of the lake's recordings.",
        ),
    ] = None,
    window: Window = None,
    measured: Annotated[
        bool,
        typer.Option(
            "--measured", help="Print what was measured on the project's own recordings; reads no lake."
        ),
    ] = False,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Judge the verdicts by the truth of recordings: confusion matrix, precision and recall with intervals,
    calibration, time to a right verdict, flips, and simpler rules beside.

    Counts settled windows only: those that lie whole inside one truth range. Windows slide by 1 minute and are
    computed here from the lake's signals; the verdicts in the lake are not touched.
    """
    if measured:
        _print_measured(format)
        return
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.cli.tables.evaluation import print_evaluation
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.services.evaluate import evaluate_lake
    from throttlescope.ingest.lake import Lake

    settings = settings_with(config, {"lake": lake, "window": window})
    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Judging the windows"):
        found = evaluate_lake(Lake(settings.lake), truth, window_ms=settings.window, note=progress.note)
        progress.note(f"{found.all.windows:,} settled windows of {found.all.recordings} recordings")
    if format is Format.json:
        write_json(found.to_json())
    else:
        print_evaluation(found)


def _print_measured(format: Format) -> None:
    from throttlescope.app.cli.tables.measured import print_measured
    from throttlescope.app.presentation.output import write_json
    from throttlescope.models.evaluation.measured import measured

    found = measured()
    if format is Format.json:
        write_json(found)
    else:
        print_measured(found)
