"""Blocks as one self-contained HTML page. In: blocks and a figure. Out: the page, including Plotly's code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from throttlescope.app.incident.document import document
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import MOST_LETTERS, Block, plain
from throttlescope.models.messages.units import visible

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DRAW = """
var page = JSON.parse(document.getElementById("figure").textContent);
Plotly.newPlot("plots", page.figure.data, page.figure.layout, page.config);
"""
_FILTERS = {
    "cut": lambda name: fmt.name(name, MOST_LETTERS),
    "plain": plain,
    "visible_lines": lambda lines: "\n".join(visible(line) for line in lines.split("\n")),
}


def html(blocks: Iterable[Block], figure: go.Figure | None, *, title: str) -> str:
    """The whole page; without a figure it has no plots and no script."""
    from plotly.offline import get_plotlyjs

    values = {"blocks": list(blocks), "figure": None if figure is None else _data(figure)}
    scripts = [] if figure is None else [get_plotlyjs(), _DRAW]
    return document("incident", values, title=fmt.name(title), scripts=scripts, filters=_FILTERS)


def _data(figure: go.Figure) -> str:
    from throttlescope.app.presentation.figures.chart import CONFIG

    config = {**CONFIG, "toImageButtonOptions": {"filename": "throttlescope-incident"}}
    whole = f'{{"figure": {figure.to_json()}, "config": {json.dumps(config)}}}'
    # Inside a script element only these could end it or begin a comment.
    for letter in "<>&":
        whole = whole.replace(letter, f"\\u{ord(letter):04x}")
    return whole
