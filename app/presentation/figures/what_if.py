"""Runs of the What-if lab over their window. In: the recorded backlog, its replay, and curves of runs. Out: a figure.

Only what a screen can show is sent: every curve keeps the extremes of a few hundred buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import ALL, LEFT_PX, OUT, chart
from throttlescope.app.presentation.figures.downsampling import kept
from throttlescope.app.presentation.figures.traces import scatter
from throttlescope.models.messages.catalogue import sentence

#: One colour and one dash a run: each alone distinguishes them, and the letter is at the curve's end.
RUN_LOOKS = (("#009E73", "solid"), ("#D55E00", "dash"), ("#B5527F", "dot"), ("#9A7B00", "dashdot"))
AS_IS_LOOK = (ALL, "dash")
_BUCKETS = 160
#: A simulated future is a few straight lines: so many corners, and a point stays that is further off than this share of the largest.
_MOST_CORNERS, _OFF_SHARE = 40, 0.0005
_ROOM = 1.12
_HEIGHT_PX, _TOP_PX, _BOTTOM_PX = 430, 28, 38
#: Names of runs are right of the chart, next to where their curves end, and so far apart.
_NAMES_PX, _APART_PX = 62, 16


@dataclass(frozen=True, eq=False)
class Curve:
    """A simulated backlog with what the samples leave open, in entries.

    Attributes
    ----------
    name : str
        Fit to be shown: ``as it is``, ``A``.
    times_ms : ndarray
    likely : ndarray or None
        None where the consumers were never seen at their limit: the band is all that is known.
    low, high : ndarray
    colour, dash : str
    """

    name: str
    times_ms: np.ndarray
    likely: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    colour: str
    dash: str


def what_if_figure(
    recorded: tuple[np.ndarray, np.ndarray],
    replayed: tuple[np.ndarray, np.ndarray],
    curves: Sequence[Curve],
    *,
    start_ms: int,
    end_ms: int,
    changed_ms: int,
) -> go.Figure:
    """Recorded and replayed backlog, and every run with its band.

    Parameters
    ----------
    recorded, replayed : (ndarray, ndarray)
        Times and entries.
    changed_ms : int
        From when on the runs differ.
    """
    traces: list = []
    for curve in curves:
        traces += _band(curve)
    traces.append(_line(*_thinned(*recorded), sentence("figures.what_if.recorded"), OUT, "solid"))
    traces.append(_line(*_thinned(*replayed), sentence("figures.what_if.replayed"), ALL, "dot"))
    for curve in curves:
        if curve.likely is not None:
            traces.append(
                _line(*_thinned(curve.times_ms, curve.likely), curve.name, curve.colour, curve.dash)
            )
    highest = max((value for trace in traces for value in trace.y if value is not None), default=0)
    top = _ROOM * max(highest, 1)
    is_late = changed_ms > start_ms + 0.7 * (end_ms - start_ms)
    more = {
        "shapes": [
            {
                "type": "line", "x0": changed_ms, "x1": changed_ms, "y0": 0, "y1": 1, "yref": "y domain",
                "line": {"color": ALL, "width": 1.5, "dash": "dash"},
            }
        ],
        "annotations": [
            {
                "x": changed_ms, "y": 1, "yref": "y domain", "text": sentence("figures.what_if.changed_at", time=fmt.clock(changed_ms)),
                "showarrow": False, "xanchor": "right" if is_late else "left", "yanchor": "top", "xshift": -4 if is_late else 4,
            },
            *_names(curves, top),
        ],
        "margin": {"l": LEFT_PX, "r": _NAMES_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
        "hovermode": "x",
        "uirevision": f"{start_ms}-{changed_ms}",
    }  # fmt: skip
    axis = {"range": [0, top]} | ({"dtick": 1} if highest < 5 else {})
    return chart(
        traces, y_title=sentence("figures.axis.backlog"), start_ms=start_ms, end_ms=end_ms, height_px=_HEIGHT_PX, y_axis=axis, more=more
    )  # fmt: skip


def _thinned(times_ms: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = corners(times_ms, values)
    if at is None:
        at = kept(np.asarray(values, float), buckets=_BUCKETS, most=2 * _BUCKETS)
    return times_ms[at], values[at]


def corners(times_ms: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Positions between which a curve is straight as far as a screen shows; None where it has more than a few of them."""
    values = np.asarray(values, float)
    if len(values) < 3 or np.isnan(values).any():
        return None
    within = _OFF_SHARE * max(1.0, float(values.max()))
    found, open_ = [0, len(values) - 1], [(0, len(values) - 1)]
    while open_:
        first, last = open_.pop()
        inside = slice(first + 1, last)
        straight = np.interp(times_ms[inside], times_ms[[first, last]], values[[first, last]])
        off = np.abs(values[inside] - straight)
        if len(off) and off.max() > within:
            middle = first + 1 + int(off.argmax())
            found.append(middle)
            open_ += [(first, middle), (middle, last)]
            if len(found) > _MOST_CORNERS:
                return None
    return np.array(sorted(found))


def bounds(
    times_ms: np.ndarray, low: np.ndarray, high: np.ndarray, buckets: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A band of at most so many buckets that holds the whole one: least of the low edge, greatest of the high one."""
    times_ms, low, high = np.asarray(times_ms), np.asarray(low, float), np.asarray(high, float)
    if len(low) <= buckets:
        return times_ms, low, high
    starts = np.linspace(0, len(low), buckets + 1).astype(int)[:-1]
    middle = (starts + np.r_[starts[1:], len(low)] - 1) // 2
    middle[0], middle[-1] = 0, len(low) - 1
    return times_ms[middle], np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def _band(curve: Curve) -> list[go.Scatter]:
    edges = [corners(curve.times_ms, edge) for edge in (curve.low, curve.high)]
    if any(edge is None for edge in edges):
        times_ms, low, high = bounds(curve.times_ms, curve.low, curve.high, _BUCKETS)
        below, above = (times_ms, low), (times_ms, high)
    else:
        below, above = (
            (curve.times_ms[at], edge[at]) for at, edge in zip(edges, (curve.low, curve.high), strict=True)
        )
    edge = (
        {"width": 0} if curve.likely is not None else {"width": 1, "color": curve.colour, "dash": curve.dash}
    )
    common = {"mode": "lines", "line": edge, "legendgroup": curve.name, "hoverinfo": "skip"}
    return [
        scatter(x=below[0].tolist(), y=_whole(below[1]), showlegend=False, **common),
        scatter(
            x=above[0].tolist(), y=_whole(above[1]), fill="tonexty", fillcolor=_faint(curve.colour),
            name=curve.name, showlegend=curve.likely is None, **common,
        ),
    ]  # fmt: skip


def _line(times_ms: np.ndarray, values: np.ndarray, name: str, colour: str, dash: str) -> go.Scatter:
    return scatter(
        x=[int(at) for at in times_ms], y=_whole(values), name=name, mode="lines", line={"color": colour, "width": 2, "dash": dash},
        legendgroup=name, connectgaps=False, hovertemplate=sentence("figures.hover.entries"),
    )  # fmt: skip


def _whole(values: np.ndarray) -> list[int | None]:
    """Entries: there is no part of one, and a number is shorter without it; None where nothing is known."""
    return [None if value != value else round(value) for value in np.asarray(values, float).tolist()]


def _names(curves: Sequence[Curve], top: float) -> list[dict]:
    """The name of each run right of the chart, at the height of its curve's end or as near as the others leave room."""
    inner_px = _HEIGHT_PX - _TOP_PX - _BOTTOM_PX
    ends = [
        (float((curve.low if curve.likely is None else curve.likely)[-1]), curve)
        for curve in curves
        if len(curve.low)
    ]
    marks, free_px = [], 0.0
    # From below upwards: each keeps its distance from the one under it.
    for value, curve in sorted(ends, key=lambda end: end[0]):
        at_px = max(free_px, inner_px * value / top)
        free_px = at_px + _APART_PX
        marks.append(
            {
                "x": 1, "xref": "paper", "y": min(at_px / inner_px, 1.0), "yref": "paper", "text": f"<b>{curve.name}</b>",
                "showarrow": False, "xanchor": "left", "yanchor": "middle", "xshift": 5, "font": {"color": curve.colour},
            }
        )  # fmt: skip
    return marks


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
