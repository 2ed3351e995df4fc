"""``throttlescope demo``: a recorded cluster and a synthetic history, from samples to the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from throttlescope.app.cli.commands.serve import DEFAULT_PORT, Port
from throttlescope.app.cli.options import Debug, Quiet

_DEFAULT_LAKE = Path(".demo")
#: A verdict and a forecast a minute, because a recording is short.
_EVERY = {"every": "1m", "forecast_every": "1m"}


def register(app: typer.Typer) -> None:
    app.command(short_help="See it work on shipped recordings of a real broker.")(demo)


def demo(
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
    """Show it on recordings of a real broker: no cluster, no Prometheus and no configuration needed.

    Ingests the recordings of the demo, builds signals and verdicts on local Spark, then
    episodes, forecasts and anomalies, prints a line per subscription, then serves the web app on this machine. A second time changes nothing.
    What needs weeks of history is shown on the cluster synthetic-history, which the simulator made: nothing of it was measured.
    """
    import time

    from throttlescope.app.cli.commands.serve import serve_in_place
    from throttlescope.app.config import load_settings
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.pipeline.run import run_pipeline
    from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER, STEPS, bring_history
    from throttlescope.app.pipeline.spark_session import start_spark
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.app.presentation.verdicts import print_summary
    from throttlescope.app.queries.verdicts import VerdictFilter, read_summary
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.sources.recording import list_demo

    names = tuple(list_demo())
    if not names:
        raise InputError(
            "No recording is installed", fix="install the package again, or make lab to record some"
        )
    # No configuration is read: a demo is the same on every machine.
    settings = load_settings(None, {"lake": lake or _DEFAULT_LAKE, **_EVERY})
    result = run_pipeline(
        RunRequest("demo", settings, None, None, names, debug=debug), progress=TerminalProgress(quiet=quiet)
    )
    session = start_spark(settings, debug=debug)
    bring_history(session, Lake(settings.lake.absolute()), settings, TerminalProgress(STEPS, quiet=quiet))
    print_summary(
        read_summary(Lake(settings.lake), VerdictFilter()),
        settings.objectives,
        now_ms=int(time.time() * 1000),
    )
    print(
        f"Recorded on real brokers: {', '.join(result.clusters)}. Made by the simulator, for what needs weeks: {CLUSTER}."
    )
    if serve:
        serve_in_place(settings.lake, port=port)
    print(f"Next: throttlescope serve --lake {settings.lake}")
