"""The demo. In: a folder. Out: a lake with shipped recordings and a synthetic history, and a summary of its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from throttlescope.app.config import load_settings
from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.pipeline.request import RunRequest
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER, STEPS, bring_history
from throttlescope.app.pipeline.spark_session import SparkIfNeeded
from throttlescope.app.queries.verdicts import VerdictFilter, read_summary
from throttlescope.app.services.whatif import warm
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.recording import list_demo

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: A verdict and a forecast a minute, because a recording is short.
_EVERY = {"every": "1m", "forecast_every": "1m"}


@dataclass(frozen=True)
class DemoLake:
    """What the demo made: rows of a summary of verdicts, and which clusters were recorded and which one is synthetic."""

    settings: Settings
    summary: list[dict[str, Any]]
    recorded: tuple[str, ...]
    synthetic: str = CLUSTER


def run_demo(lake: str | Path, progress: Progress = SILENT, *, debug: bool = False) -> DemoLake:
    """Make the demo's lake; a second time changes nothing.

    Raises
    ------
    InputError
        No recording is installed.
    """
    names = tuple(list_demo())
    if not names:
        raise InputError(
            "No recording is installed", fix="install the package again, or make lab to record some"
        )
    # Its first use is at the end, and on a new machine it takes longer to compile than all before that.
    simulator = warm.compile_beside()
    # No configuration is read: a demo is the same on every machine.
    settings = load_settings(None, {"lake": lake, **_EVERY})
    result = run_pipeline(RunRequest("demo", settings, None, None, names, debug=debug), progress=progress)
    progress.expect(STEPS)
    bring_history(SparkIfNeeded(settings, debug=debug), Lake(settings.lake.absolute()), settings, progress)
    if simulator is not None:
        simulator.wait()
    return DemoLake(settings, read_summary(Lake(settings.lake), VerdictFilter()), result.clusters)
