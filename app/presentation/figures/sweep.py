"""A search over one lever. In: what was tried. Out: a figure of how long the backlog takes to go, by value."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import FONT, LEFT_PX, OUT, PAGE_TEXT, RIGHT_PX
from throttlescope.app.presentation.figures.traces import figure_of, scatter
from throttlescope.models.messages.catalogue import sentence

_LATE = "#D55E00"


def sweep_figure(
    points: Sequence[dict], *, title: str, target_s: int, look_s: int, now: float | None, enough: float | None
) -> go.Figure:
    """Minutes until the backlog is gone, over values of a lever; what did not drain is marked at the top.

    Parameters
    ----------
    points : sequence of dict
        ``value``, ``drain_s``, ``earliest_s``, ``latest_s`` (None: not within ``look_s``).
    title : str
        Of the value's axis, with its unit.
    """
    values = [point["value"] for point in points]
    most = look_s / 60

    def minutes(name: str) -> list[float]:
        return [most if point[name] is None else point[name] / 60 for point in points]

    drained = [point for point in points if point["drain_s"] is not None]
    never = [point["value"] for point in points if point["drain_s"] is None]
    thin = {"width": 0}
    traces = [
        scatter(x=values, y=minutes("earliest_s"), mode="lines", line=thin, showlegend=False, hoverinfo="skip"),
        scatter(
            x=values, y=minutes("latest_s"), mode="lines", line=thin, fill="tonexty", fillcolor="rgba(31,131,198,0.16)",
            name=sentence("label.best_to_worst_heading"), hoverinfo="skip",
        ),
        scatter(
            x=[point["value"] for point in drained], y=[point["drain_s"] / 60 for point in drained], mode="lines+markers",
            name=sentence("figures.sweep.gone"), line={"color": OUT, "width": 2}, hovertemplate=sentence("figures.sweep.gone.hover"),
        ),
        scatter(
            x=never, y=[most] * len(never), mode="markers", name=sentence("figures.sweep.never"),
            hovertemplate=sentence("figures.sweep.never.hover"),
            marker={"symbol": "x", "size": 8, "color": _LATE},
        ),
    ]  # fmt: skip
    shapes = [_line_at(sentence("figures.sweep.wanted", minutes=target_s / 60), "dash", y=target_s / 60)]
    for value, text, dash in (
        (now, sentence("figures.sweep.as_it_is"), "dot"),
        (enough, sentence("figures.sweep.enough"), "dashdot"),
    ):
        if value:
            shapes.append(_line_at(text, dash, x=value))
    axis = {"gridcolor": "rgba(128,128,128,0.18)", "zeroline": False}
    return figure_of(
        traces,
        {
            "height": 300,
            "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 34, "b": 44},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": FONT, "size": 12, "color": PAGE_TEXT},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "xaxis": {"type": "log", "title": {"text": title}, "tickformat": "~s", **axis},
            "yaxis": {"title": {"text": sentence("figures.sweep.axis")}, "range": [0, 1.08 * most], **axis},
            "shapes": shapes,
        },
    )


def _line_at(name: str, dash: str, *, x: float | None = None, y: float | None = None) -> dict:
    """A line through the chart; its name is in the legend, where it covers nothing."""
    place = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain"} if y is None else {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y}  # fmt: skip
    look = {"color": "#7A7F87", "width": 1.5, "dash": dash}
    return {"type": "line", "name": name, "showlegend": True, "line": look, **place}
