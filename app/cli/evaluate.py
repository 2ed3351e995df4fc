"""``throttlescope evaluate``: how often the verdicts are right, with the naive rule beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Config, Debug, Format, FormatOption, LakeFolder


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
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Judge the verdicts by the truth of recordings: confusion matrix, precision and recall with intervals.

    Counts settled windows only: those that lie whole inside one truth range. Windows slide by 1 minute and are
    computed here from the lake's signals; the verdicts in the lake are not touched.
    """
    raise NotImplementedError
