"""Series of a PromQL answer as lines. In: labels, times and values of each. Out: a figure, and how each line looks.

Names of series are in the page's table, not in the chart: here they are numbers, so that no hostile text reaches Plotly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import chart, has_lone_points
from throttlescope.app.presentation.figures.downsampling import kept
from throttlescope.app.presentation.figures.traces import scatter
from throttlescope.models.messages.catalogue import sentence

#: After Okabe and Ito, toned so that lines keep 3:1 on white and on dark grey. Beyond ten lines the dashes tell them apart.
COLOURS = (
    "#1F83C6",
    "#D55E00",
    "#009E73",
    "#B5527F",
    "#9A7B00",
    "#7A7F87",
    "#5B7FD4",
    "#B2652F",
    "#3F8F8A",
    "#8C6BB1",
)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MOST_LINES = len(COLOURS) * len(DASHES)
#: Points of all lines together: what a browser draws and a page carries without delay.
_MOST_POINTS = 24_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """One series to draw.

    Attributes
    ----------
    times_ms : ndarray of int64
        All steps of the query.
    values : ndarray of float64
        NaN where the series has no value.
    """

    times_ms: np.ndarray
    values: np.ndarray


def look(number: int) -> tuple[str, str]:
    """Colour and dash of a line, counted from 0."""
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def series_figure(lines: Sequence[Drawn], *, start_ms: int, end_ms: int) -> tuple[go.Figure, bool]:
    """A line per series, at most :data:`MOST_LINES`, and whether points were left out.

    Infinite values cannot be drawn; they are gaps.
    """
    most = _MOST_POINTS // max(12, len(lines))
    traces, is_short = [], False
    for number, line in enumerate(lines[:MOST_LINES]):
        values = np.where(np.isfinite(line.values), line.values, np.nan)
        at, mode = kept(values, buckets=most // 2, most=most), None
        if len(at) > 2 * most:
            # Gaps at every other step: too many to draw, so that the line becomes points.
            here = np.flatnonzero(~np.isnan(values))
            at, mode = here[kept(values[here], buckets=most // 2, most=most)], "markers"
        is_short |= len(at) < len(values)
        colour, dash = look(number)
        traces.append(
            scatter(
                x=line.times_ms[at].tolist(),
                y=[None if np.isnan(value) else float(f"{value:.7g}") for value in values[at].tolist()],
                name=str(number + 1),
                # A lone point between two gaps is no line.
                mode=mode or ("lines+markers" if has_lone_points(values[at]) else "lines"),
                marker={"size": 4},
                line={"color": colour, "width": 1.6, "dash": dash},
                connectgaps=False,
                hovertemplate=f"{sentence('figures.hover.series', number=number + 1)}: %{{y:.6~g}}<br>%{{x|%Y-%m-%d %H:%M:%S}}<extra></extra>",
            )
        )
    figure = chart(
        traces,
        y_title=sentence("label.value_heading"),
        start_ms=start_ms,
        end_ms=max(end_ms, start_ms + 1000),
        height_px=400,
        y_axis={"rangemode": "normal"},
        more={"showlegend": False, "hovermode": "closest"},
    )
    return figure, is_short
