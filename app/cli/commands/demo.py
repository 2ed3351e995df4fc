"""``throttlescope demo``: a recorded cluster and a synthetic history, from samples to the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.commands.serve import DEFAULT_PORT, Port
from throttlescope.app.cli.options import Debug, Quiet
from throttlescope.app.cli.settings import CommandOptions

DEFAULT_LAKE = Path(".demo")


def register(app: typer.Typer) -> None:
    app.command(short_help="See it work on shipped recordings of a real broker.")(demo)


def demo(
    context: typer.Context,
    lake: Annotated[
        str | None,
        typer.Option(
            "--lake", metavar="DIR|URI", help="The demo's lake, as of the other commands. Default: ./.demo."
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Serve the web app afterwards, until Ctrl-C.")
    ] = True,
    port: Port = DEFAULT_PORT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the product on recordings of a real broker: no cluster, no Prometheus and no configuration needed.

    Ingests the recordings of the demo, builds signals and verdicts, then episodes, forecasts and anomalies, prints a
    line per subscription, then serves the web app on this machine. A second time changes nothing. What needs weeks of history is
    shown on the cluster synthetic-history, which the simulator made: nothing of it was measured.
    """
    from throttlescope.app.cli.serving import serve_in_place
    from throttlescope.app.cli.tables.verdicts import write_demo, write_next
    from throttlescope.app.services.demo import run_demo

    options = CommandOptions(context)
    found = run_demo(lake or DEFAULT_LAKE, options.progress(), debug=debug)
    write_demo(found, now_ms=options.now_ms)
    if serve:
        serve_in_place(found.settings.lake, port=port)
    write_next(found)
