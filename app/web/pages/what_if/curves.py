"""The curves of a view. In: a view. Out: the figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.what_if import AS_IS_LOOK, RUN_LOOKS, Curve, what_if_figure
from throttlescope.app.web.pages.what_if.replayed_runs import LabView
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.throttling.replay import Forecast, Observed, Outlook

#: What is drawn of a future: beyond the latest drain, and of the window's length where nothing drains.
_BEYOND, _AHEAD = 1.3, 0.75
#: Lengths that a future is drawn in: the axis stays while a slider moves.
_LENGTHS_S = (60, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400)
_POINTS = 1_500


def figure(view: LabView) -> go.Figure:
    """Recorded, replayed, and every run."""
    observed = view.as_is.observed
    first_ms, last_ms = int(observed.times_ms[0]), int(observed.times_ms[-1])
    replayed = view.window.replayed
    changed_ms = first_ms if view.address.when == "start" else last_ms
    ahead_s = 0 if view.address.when == "start" else drawn_s(view)
    curves = []
    if view.address.when == "end":
        curves.append(
            _curve(
                view, sentence("what_if_page.runs.as_is"), view.as_is.changed, AS_IS_LOOK, changed_ms, ahead_s
            )
        )
    for run, look in zip(view.runs, RUN_LOOKS, strict=False):
        if run.answer is not None and run.has_change:
            curves.append(_curve(view, run.letter, run.answer.changed, look, changed_ms, ahead_s))
    return what_if_figure(
        with_gaps(observed),
        (
            first_ms + 1000 * replayed.every_s * np.arange(1, len(replayed.backlog_entries) + 1),
            replayed.backlog_entries,
        ),
        curves,
        start_ms=first_ms,
        end_ms=last_ms + 1000 * ahead_s,
        changed_ms=changed_ms,
    )


def with_gaps(observed: Observed) -> tuple[np.ndarray, np.ndarray]:
    """The recorded backlog, broken where nothing was scraped for long."""
    begins = [begin_ms for begin_ms, _ in observed.gaps]
    at = np.searchsorted(observed.times_ms, begins, side="right")
    times_ms = np.insert(observed.times_ms, at, np.array(begins, np.int64) + 1)
    return times_ms, np.insert(observed.backlog_entries.astype(float), at, np.nan)


def drawn_s(view: LabView) -> int:
    """How much of the future is drawn: all drains, in one of a few lengths."""
    answers = [view.as_is, *(run.answer for run in view.runs if run.answer is not None)]
    drains = [one.drain_s for answer in answers for one in answer.changed.all if one.drain_s is not None]
    wanted = max(_BEYOND * max(drains, default=0.0), _AHEAD * view.as_is.observed.elapsed_s, _LENGTHS_S[0])
    return min(view.ahead_s, next((one for one in _LENGTHS_S if one >= wanted), view.ahead_s))


def _curve(
    view: LabView, name: str, forecast: Forecast, look: tuple[str, str], from_ms: int, ahead_s: int
) -> Curve:
    past = view.address.when == "start"
    length_s = view.as_is.observed.elapsed_s if past else ahead_s
    begins = int(view.as_is.observed.backlog_entries[0 if past else -1])
    at_s = np.linspace(0, length_s, _POINTS)
    best, worst = (_at(outlook, at_s, begins) for outlook in (forecast.best, forecast.worst))
    likely = None if forecast.fitted is None else _at(forecast.fitted, at_s, begins)
    low, high = np.minimum(best, worst), np.maximum(best, worst)
    if likely is not None:
        low, high = np.minimum(low, likely), np.maximum(high, likely)
    return Curve(name, from_ms + np.round(1000 * at_s).astype(np.int64), likely, low, high, *look)


def _at(outlook: Outlook, at_s: np.ndarray, begins: int) -> np.ndarray:
    """The backlog at some seconds; beyond the simulated time it is not known."""
    values = np.r_[begins, outlook.backlog_entries]
    ends_s = outlook.every_s * np.arange(len(values))
    return np.interp(at_s, ends_s, values, right=float(values[-1]))
