"""Forecasts and back-tests from a request. In: a lake and a request. Out: rows of ``forecasts``, or a `BackTest`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.services.forecast.back_test import BackTest, back_test_lake
from throttlescope.app.services.forecast.forecasts import forecast_lake, with_replays
from throttlescope.app.services.simulate.scenario import note_compilation
from throttlescope.ingest.core.times import check_range
from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class ForecastRequest:
    """Which forecasts; ``at_ms`` None is the newest minute, ``replay`` adds a replay to every drain."""

    cluster: str | None = None
    subscription: str | None = None
    at_ms: int | None = None
    replay: bool = False


@dataclass(frozen=True)
class BackTestRequest:
    """Which forecasts are compared with what came; ``every_ms`` None: those that the lake holds."""

    cluster: str | None = None
    every_ms: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True)
class MadeForecasts:
    """Rows of ``forecasts``, and the newest time at which they were made."""

    rows: list[dict[str, Any]]
    made_ms: int


def run_forecasts(lake: Lake, request: ForecastRequest, progress: Progress = SILENT) -> MadeForecasts:
    """Forecast what is in a lake.

    Raises
    ------
    InputError
        As :func:`~throttlescope.app.services.forecast.forecasts.forecast_lake`.
    """
    rows, made_ms = forecast_lake(
        lake, cluster=request.cluster, subscription=request.subscription, at_ms=request.at_ms
    )
    if request.replay:
        with progress.step("Replaying"):
            note_compilation(progress, "Replaying")
            rows = with_replays(lake, rows, note=progress.note)
    return MadeForecasts(rows, made_ms)


def run_back_test(lake: Lake, request: BackTestRequest, progress: Progress = SILENT) -> BackTest:
    """Compare forecasts with what came.

    Raises
    ------
    InputError
        The range is empty, or there is no forecast in it.
    """
    if request.start_ms is not None and request.end_ms is not None:
        check_range(request.start_ms, request.end_ms)
    with progress.step("Forecasting the past"):
        found = back_test_lake(
            lake,
            every_ms=request.every_ms,
            cluster=request.cluster,
            start_ms=request.start_ms,
            end_ms=request.end_ms,
            note=progress.note,
        )
        progress.note(f"{found.made:,} forecasts")
    return found
