"""``throttlescope demo``: the shipped recordings, from samples to the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.options import Debug, Quiet
from throttlescope.app.cli.serve import DEFAULT_PORT, Port


def register(app: typer.Typer) -> None:
    app.command(short_help="See it work on shipped recordings of a real broker.")(demo)


def demo(
    lake: Annotated[
        Path | None,
        typer.Option("--lake", metavar="DIR", help="Folder of the demo's lake. Default: ./lake-demo."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Serve the web app afterwards, until Ctrl-C.")
    ] = True,
    port: Port = DEFAULT_PORT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show it on recordings of a real broker: no cluster, no Prometheus and no configuration needed.

    Ingests the recordings that are installed with the package, builds signals and verdicts on local Spark,
    prints a line per subscription, then serves the web app on this machine. Again: nothing is computed twice.
    """
    raise NotImplementedError
