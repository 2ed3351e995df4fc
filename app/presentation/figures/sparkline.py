"""A column of minutes as a picture in a line of text. In: values over time. Out: an SVG as a ``data:`` address, and the same in words.

Only numbers get into the picture: no name, no text, so that nothing from a cluster can be markup in it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from throttlescope.app.presentation.figures.downsampling import kept
from throttlescope.models.messages.catalogue import sentence

WIDTH_PX, HEIGHT_PX = 132, 26
#: Of a backlog in a table: so many points at most, since a table has many.
_MOST_POINTS = 48
_PAD_PX = 2.5
#: Legible as graphics on white and on dark grey.
_LINE, _THRESHOLD, _WINDOW = "#1F83C6", "#D55E00", "#7A7F87"


def sparkline(
    times_ms: np.ndarray,
    values: np.ndarray,
    *,
    start_ms: int,
    end_ms: int,
    window_ms: tuple[int, int] | None = None,
    threshold: float | None = None,
) -> str | None:
    """The picture; None where no value is known.

    Parameters
    ----------
    times_ms, values : ndarray
        Minute by minute, without gaps in time; NaN where nothing is known.
    window_ms : (int, int), optional
        The selected window: a band behind the line.
    threshold : float, optional
        A dashed line, where it is not so far away that it would press the line flat.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max()))
    if threshold is not None and 0 < threshold <= 4 * high:
        high = max(high, threshold)
    else:
        threshold = None
    high = high if high > low else low + 1.0

    at = kept(np.where(np.isfinite(values), values, np.nan), buckets=WIDTH_PX // 2, most=WIDTH_PX)
    path = _path(times_ms[at], values[at], start_ms, end_ms, low, high)
    band = ""
    if window_ms is not None:
        left, right = (min(max(_across(time_ms, start_ms, end_ms), 0), WIDTH_PX) for time_ms in window_ms)
        band = f'<path d="M{left:g} 0H{max(right, left + 1.5):g}V{HEIGHT_PX}H{left:g}Z" fill="{_WINDOW}" fill-opacity=".28"/>'
    limit = ""
    if threshold is not None:
        y = _up(threshold, low, high)
        limit = f'<path d="M0 {y:g}H{WIDTH_PX}" stroke="{_THRESHOLD}" stroke-dasharray="3 2"/>'
    return picture(path, behind=band + limit)


def backlog_path(episodes: Sequence[dict], *, start_ms: int, end_ms: int) -> tuple[str, float] | None:
    """The backlog of one subscription as the ``d`` of an SVG path of :data:`WIDTH_PX` by :data:`HEIGHT_PX`, and its largest value, in entries; None where it has none in (start_ms, end_ms].

    Parameters
    ----------
    episodes : sequence of dict
        ``backlog`` (points ``at_ms``, ``entries``), ``backlog_step_ms``, ``known_until_ms``; oldest first. Between two of them the
        backlog was at its floor, which is no part of them: the line ends there.
    """
    lines = [line for one in episodes if (line := _line_of(one, start_ms, end_ms))]
    if not lines:
        return None
    high = max(entries for line in lines for _, entries in line)
    most = max(4, _MOST_POINTS // len(lines))
    parts = []
    for line in lines[-(_MOST_POINTS // 4) :]:
        times, values = np.array([at for at, _ in line]), np.array([entries for _, entries in line], float)
        at = kept(values, buckets=most // 2, most=most)
        parts.append(_path(times[at], values[at], start_ms, end_ms, 0.0, max(1.0, high)))
    return "".join(parts), high


def _line_of(episode: dict, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
    """Times and entries of one episode in the range; a point is the largest of its step, at the step's end as far as it is known."""
    step_ms, until_ms = episode["backlog_step_ms"], episode["known_until_ms"]
    points = [(min(point["at_ms"] + step_ms, until_ms), point["entries"]) for point in episode["backlog"]]
    return [(at, entries) for at, entries in points if start_ms < at <= end_ms]


def trend_path(values: Sequence[float | None]) -> str | None:
    """Evenly spaced values from zero up as the ``d`` of a path; None where fewer than two are known. A missing value is a gap."""
    numbers = np.array([np.nan if value is None else value for value in values], float)
    known = numbers[np.isfinite(numbers)]
    if len(known) < 2:
        return None
    return _path(np.arange(len(numbers)), numbers, 0, len(numbers) - 1, 0.0, max(1.0, float(known.max())))


def _path(
    times_ms: np.ndarray, values: np.ndarray, start_ms: int, end_ms: int, low: float, high: float
) -> str:
    path, pen = [], "M"
    for time_ms, value in zip(times_ms, values, strict=True):
        if not np.isfinite(value):
            pen = "M"
            continue
        path.append(f"{pen}{_across(time_ms, start_ms, end_ms):g} {_up(value, low, high):g}")
        pen = "L"
    # A lone point is a dot: a line of no length with round ends.
    return "".join(path) + ("h0" if len(path) == 1 else "")


def _across(time_ms: float, start_ms: int, end_ms: int) -> float:
    return round(WIDTH_PX * (time_ms - start_ms) / (end_ms - start_ms), 1)


def _up(value: float, low: float, high: float) -> float:
    return round(HEIGHT_PX - _PAD_PX - (HEIGHT_PX - 2 * _PAD_PX) * (value - low) / (high - low), 1)


def picture(path: str, *, behind: str = "") -> str:
    """A path as an image, in form of a ``data:`` address; ``behind`` are other elements."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{HEIGHT_PX}" fill="none">{behind}'
        f'<path d="{path}" stroke="{_LINE}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def in_words(values: pd.Series, show: Callable[[float], str]) -> str:
    """What the picture shows, for screen readers: least, greatest and newest."""
    known = values.dropna()
    if known.empty:
        return sentence("figures.sparkline.none")
    low, high = show(float(known.min())), show(float(known.max()))
    newest = show(float(known.iloc[-1]))
    if low == high:
        return sentence("figures.sparkline.constant", value=high, newest=newest)
    return sentence("figures.sparkline.range", low=low, high=high, newest=newest)
