"""Lakes to try things on. In: recordings of a real broker that are installed with the package. Out: an open lake."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.app.config import load_settings
from throttlescope.app.notebook.lake import OpenLake
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.recording import list_shipped

if TYPE_CHECKING:
    from throttlescope.app.notebook.month import Visit

#: One recording of each kind of trouble, and of none: ``throttlescope recordings list`` names all.
A_FEW = (
    "broker-msg-large", "healthy-msg-50", "no-consumers-leave", "slow-limit-queue", "sub-msg-1000", "topic-greedy-small",
)  # fmt: skip


def demo_lake(folder: str | Path = ".demo", recordings: Sequence[str] = A_FEW) -> OpenLake:
    """A lake of shipped recordings, as ``throttlescope demo`` makes it: from samples to verdicts, episodes and forecasts.

    Parameters
    ----------
    folder : str or Path
        Folder of the lake; by default the demo's. An existing lake is reused.
    recordings : sequence of str
        Names of installed recordings. Each is a cluster of its own name.

    Raises
    ------
    InputError
        There is no such recording.
    """
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.pipeline.run import run_pipeline

    settings = load_settings(None, {"lake": folder})
    shipped = list_shipped()
    unknown = [name for name in recordings if name not in shipped]
    if unknown:
        raise InputError("There is no such recording", got=unknown[0], expected=", ".join(shipped))
    done = _done(Lake(settings.lake))
    missing = [name for name in recordings if name not in done]
    if missing:
        from throttlescope.app.presentation.progress import TerminalProgress

        run_pipeline(RunRequest("demo", settings, None, None, tuple(missing)), progress=TerminalProgress())
    return OpenLake(settings)


def month_lake(folder: str | Path = ".month", timetable: Sequence[Visit] | None = None) -> OpenLake:
    """A lake of 30 days, laid out from shipped recordings by a timetable. It contains only samples, for PromQL queries.

    No recording is a month long. Every value in this lake was measured on a real broker; its time comes from the
    timetable: see :mod:`throttlescope.app.notebook.month`.

    Parameters
    ----------
    folder : str or Path
        Folder of the lake. An existing lake is reused.
    timetable : sequence of Visit, optional
        :func:`throttlescope.app.notebook.month.timetable` by default.
    """
    from throttlescope.app.notebook import month
    from throttlescope.app.pipeline.spark_session import start_spark

    settings = load_settings(None, {"lake": folder})
    there = Path(settings.lake)
    if not there.exists():
        # Written next to its place, then renamed: an existing lake is complete, however the first attempt ended.
        part = there.with_name(f"{there.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        month.fill(start_spark(settings), Lake(part), month.timetable() if timetable is None else timetable)
        part.rename(there)
    return OpenLake(settings)


def _done(lake: Lake) -> set[str]:
    """Recordings that a complete run has ingested."""
    rows = lake.read("ingest_runs", columns=["status", "details"]).to_pylist()
    details = [json.loads(row["details"]) for row in rows if row["status"] == "done"]
    return {
        name for one in details for source in one.get("sources", ()) for name in source.get("recordings", ())
    }
