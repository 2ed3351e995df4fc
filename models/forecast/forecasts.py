"""All forecasts of a topic at a time. In: views of its subscription partitions, its deadlines. Out: rows of ``forecasts``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from throttlescope.ingest.core.times import SECOND_MS, date_of
from throttlescope.models.forecast.calibration import ForecastCalibration
from throttlescope.models.forecast.consequences import drained, in_words, lost
from throttlescope.models.forecast.drain import LEAST_POINTS, Drain, time_to_drain
from throttlescope.models.forecast.loss import MessageLoss, losses
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.models.forecast.subscription_history import SubscriptionHistory, slowest_marked
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.transforms.deadlines import Deadlines

#: Raised when a forecast of the same data would differ; the calibration has a version of its own.
METHOD = "1"


def forecasts_at(
    views: Sequence[SubscriptionHistory],
    deadlines: Deadlines | None,
    at_ms: int,
    calibration: ForecastCalibration = SHIPPED,
) -> list[dict[str, Any]]:
    """Forecast every subscription partition of one topic.

    Parameters
    ----------
    views : sequence of SubscriptionHistory
        All subscription partitions of the topic; what is later than ``at_ms`` in them is not looked at.
    deadlines : Deadlines or None
        The policies of the topic at that time; None where they are not known.
    at_ms : int
        When the forecasts are made.

    Returns
    -------
    list of dict
        Rows of ``forecasts``. A subscription whose backlog counts as drained has none, unless even so little will be lost.
    """
    rows = []
    for view in slowest_marked([view.until(at_ms) for view in views]):
        drain = time_to_drain(view.trace, at_ms, calibration)
        if drain is not None:
            rows.append(_row(view, at_ms, calibration, _of_drain(drain, calibration)))
        if deadlines is not None:
            rows += [
                _row(view, at_ms, calibration, _of_loss(loss, drain, deadlines, calibration))
                for loss in losses(view, deadlines, calibration)
                # A short backlog that comes and goes needs no forecast that nothing happens to it.
                if drain is not None or loss.state != "never"
            ]
    return rows


def _row(
    view: SubscriptionHistory, at_ms: int, calibration: ForecastCalibration, found: dict[str, Any]
) -> dict[str, Any]:
    seconds = {name: found.pop(name) for name in ("predicted_s", "low_s", "high_s")}
    return {
        **view.key._asdict(),
        "made_at_ms": at_ms,
        "method": "trend",
        **{
            f"{name[:-2]}_ms": None if after_s is None else at_ms + round(after_s * SECOND_MS)
            for name, after_s in seconds.items()
        },
        **found,
        "method_version": f"{METHOD}.{calibration.version}",
        "date": date_of(at_ms),
    }


def _of_drain(drain: Drain, calibration: ForecastCalibration) -> dict[str, Any]:
    times, line = drain.times, drain.line
    return {
        "kind": "drain",
        "state": drain.state,
        "predicted_s": times and (drain.predicted_s if times.median_s is None else times.median_s),
        "low_s": times and times.low_s,
        "high_s": times and times.high_s,
        "probability": times and times.came_true_share,
        "now": drain.now_entries,
        "threshold": float(drain.below_entries),
        "unit": "entries",
        "change_per_s": line and line.slope_per_s,
        "window_start_ms": drain.line_start_ms,
        "points": line and line.points,
        "check_interval_ms": None,
        "set_by": None,
        **in_words([drained(drain.state)], _basis(drain, calibration)),
    }


def _basis(drain: Drain, calibration: ForecastCalibration) -> Iterator[Message]:
    if drain.line is None:
        yield message("forecast.basis.too_few", least=LEAST_POINTS)
        return
    yield message("forecast.basis.line", points=drain.line.points, span_s=drain.line.span_s)
    if drain.state == "unknown":
        yield message("forecast.basis.not_straight")
    if drain.state != "expected":
        return
    band = calibration.band(drain.reach)
    yield message("forecast.basis.interval", forecasts=band.forecasts, recordings=band.recordings)
    if drain.times.high_s is None:
        farthest = calibration.farthest_reach
        yield message("forecast.basis.open_end", reach=drain.reach, farthest_reach=farthest)


def _of_loss(
    loss: MessageLoss, drain: Drain | None, deadlines: Deadlines, calibration: ForecastCalibration
) -> dict[str, Any]:
    before_drain = None
    if loss.median_s is not None and drain is not None and drain.predicted_s is not None:
        before_drain = calibration.share_after(loss.median_s, drain.predicted_s, drain.step_s, drain.reach)
    basis = [loss.basis]
    if deadlines.observed_later:
        basis.append(message("forecast.basis.policies_later"))
    happens = lost(loss, deadlines.retention, precise_age=deadlines.precise_age)
    return {
        "kind": loss.kind,
        "state": loss.state,
        "predicted_s": loss.median_s,
        "low_s": loss.low_s,
        "high_s": loss.high_s,
        "probability": before_drain,
        "now": loss.now,
        "threshold": loss.threshold,
        "unit": loss.unit,
        "change_per_s": loss.change_per_s,
        "window_start_ms": loss.line_start_ms,
        "points": loss.line and loss.line.points,
        "check_interval_ms": loss.check_ms,
        "set_by": loss.limit.set_by,
        **in_words(happens, basis),
    }
