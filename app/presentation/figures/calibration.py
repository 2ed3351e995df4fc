"""Calibration: is a confidence of 0.85 correct in 85 of 100 cases? In: stated and measured shares. Out: a figure with intervals and the line where both are equal."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import ALL, FONT, OUT, PAGE_TEXT
from throttlescope.app.presentation.figures.traces import figure_of, scatter
from throttlescope.models.messages.catalogue import sentence


def calibration_figure(bins: Sequence[dict]) -> go.Figure:
    """Measured over stated confidence.

    Parameters
    ----------
    bins : sequence of dict
        ``name``, ``stated`` and ``right``: a share with ``count``, ``of``, ``value`` and ``wilson``.
    """
    shown = [one for one in bins if one["right"]["of"]]
    stated = [one["stated"] for one in shown]
    right = [one["right"] for one in shown]
    measured = [share["count"] / share["of"] for share in right]
    traces = [
        scatter(
            x=[0.5, 1], y=[0.5, 1], mode="lines", name=sentence("figures.calibration.ideal"),
            line={"color": ALL, "dash": "dash", "width": 1.5}, hoverinfo="skip",
        ),
        scatter(
            x=stated, y=measured, mode="markers+text", name=sentence("figures.calibration.measured"),
            text=[sentence("label.part_of", part=share["count"], whole=share["of"]) for share in right],
            # To the left: the windows with the highest confidence are at the right edge.
            textposition="middle left", textfont={"size": 11},
            error_y={
                "type": "data", "symmetric": False, "color": OUT, "thickness": 2, "width": 5,
                "array": [share["wilson"][1] - value for share, value in zip(right, measured, strict=True)],
                "arrayminus": [value - share["wilson"][0] for share, value in zip(right, measured, strict=True)],
            },
            marker={"color": OUT, "size": 9},
            customdata=[one["name"] for one in shown],
            hovertemplate=sentence("figures.calibration.hover"),
        ),
    ]  # fmt: skip
    low = min([0.5, *(share["wilson"][0] for share in right)])
    axis = {"tickformat": ".0%", "gridcolor": "rgba(128,128,128,0.18)", "zeroline": False, "fixedrange": True}
    layout = {
        "height": 330,
        "margin": {"l": 62, "r": 16, "t": 34, "b": 46},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": PAGE_TEXT},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": {
            **axis,
            "range": [0.5, 1.02],
            "title": {"text": sentence("figures.calibration.stated"), "standoff": 6},
        },
        "yaxis": {
            **axis,
            "range": [max(0, low - 0.03), 1.02],
            "title": {"text": sentence("label.right_heading"), "standoff": 6},
        },
    }
    return figure_of(traces, layout)
