"""``throttlescope evaluate``: how often the verdicts are right, compared with the naive rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder, Quiet, Window
from throttlescope.app.cli.settings import CommandOptions


def register(app: typer.Typer) -> None:
    app.command(short_help="Compare verdicts with the ground truth of recordings.")(evaluate)


def evaluate(
    context: typer.Context,
    lake: LakeFolder = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            "--truth",
            metavar="FILE",
            help="Ground truth to compare with (truth.json). Default: that of the lake's recordings.",
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
    """Compare verdicts with the ground truth of recordings: confusion matrix, precision and recall with intervals,
    calibration, time to a right verdict, flips, and simpler rules for comparison.

    Counts settled windows only: those that lie whole inside one truth range. Windows slide by 1 minute and are
    computed here from the lake's signals; the verdicts in the lake are not touched.
    """
    from throttlescope.app.cli.tables.evaluation import write_evaluation, write_measured
    from throttlescope.app.services.evaluate import evaluate_in_step

    options = CommandOptions(context)
    if measured:
        return write_measured(options)
    lake_, window_ms = options.lake(absolute=False), options.settings("window").window
    write_evaluation(evaluate_in_step(lake_, truth, window_ms, options.progress(1)), options)
