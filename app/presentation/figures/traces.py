"""Traces and figures that are not checked as they are made: checking took a fourth of a page's time. In: their properties. Out: Plotly's objects.

``tests/app/web/test_figures_checked.py`` has Plotly check every figure of every page.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import plotly.graph_objects as go
import plotly.io
from plotly.basedatatypes import BaseTraceType

# Of Plotly's own look, what charts with two axes can use: the rest would be a third of what a page sends.
_LAYOUT = (
    "annotationdefaults", "autotypenumbers", "colorscale", "colorway", "font", "hoverlabel", "hovermode", "shapedefaults", "title",
    "xaxis", "yaxis",
)  # fmt: skip
_TRACES = ("bar", "heatmap", "scatter")


def scatter(**properties: object) -> go.Scatter:
    return go.Scatter(properties, _validate=False)


def bar(**properties: object) -> go.Bar:
    return go.Bar(properties, _validate=False)


def heatmap(**properties: object) -> go.Heatmap:
    return go.Heatmap(properties, _validate=False)


def figure_of(traces: Sequence[BaseTraceType], layout: dict) -> go.Figure:
    """The traces in Plotly's own look, where the layout says nothing else."""
    return go.Figure(list(traces), {"template": _template(), **layout}, _validate=False)


@functools.cache
def _template() -> dict:
    whole = plotly.io.templates["plotly"].to_plotly_json()
    return {
        "layout": {name: whole["layout"][name] for name in _LAYOUT if name in whole["layout"]},
        "data": {name: whole["data"][name] for name in _TRACES if name in whole["data"]},
    }
