"""A column of minutes as a picture in a line of text. In: values over time. Out: an SVG as a ``data:`` address, and the same in words.

Only numbers get into the picture: no name, no text, so that nothing from a cluster can be markup in it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import pandas as pd

from throttlescope.app.presentation.figures.downsampling import kept
from throttlescope.models.messages.catalogue import sentence

WIDTH_PX, HEIGHT_PX = 132, 26
_PAD_PX = 2.5
#: Legible as graphics on white and on dark grey.
_LINE, _THRESHOLD, _WINDOW = "#1F83C6", "#D55E00", "#7A7F87"


def sparkline(
    times_ms: np.ndarray,
    values: np.ndarray,
    *,
    start_ms: int,
    end_ms: int,
    window_ms: tuple[int, int],
    threshold: float | None = None,
) -> str | None:
    """The picture; None where no value is known.

    Parameters
    ----------
    times_ms, values : ndarray
        Minute by minute, without gaps in time; NaN where nothing is known.
    window_ms : (int, int)
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

    def across(time_ms: float) -> float:
        return round(WIDTH_PX * (time_ms - start_ms) / (end_ms - start_ms), 1)

    def up(value: float) -> float:
        return round(HEIGHT_PX - _PAD_PX - (HEIGHT_PX - 2 * _PAD_PX) * (value - low) / (high - low), 1)

    at = kept(np.where(np.isfinite(values), values, np.nan), buckets=WIDTH_PX // 2, most=WIDTH_PX)
    path, pen = [], "M"
    for time_ms, value in zip(times_ms[at], values[at], strict=True):
        if not np.isfinite(value):
            pen = "M"
            continue
        path.append(f"{pen}{across(time_ms):g} {up(value):g}")
        pen = "L"
    left, right = (min(max(across(time_ms), 0), WIDTH_PX) for time_ms in window_ms)
    limit = ""
    if threshold is not None:
        y = up(threshold)
        limit = f'<path d="M0 {y:g}H{WIDTH_PX}" stroke="{_THRESHOLD}" stroke-dasharray="3 2"/>'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{HEIGHT_PX}" fill="none">'
        f'<path d="M{left:g} 0H{max(right, left + 1.5):g}V{HEIGHT_PX}H{left:g}Z" fill="{_WINDOW}" fill-opacity=".28"/>{limit}'
        f'<path d="{"".join(path)}" stroke="{_LINE}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></svg>'
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
