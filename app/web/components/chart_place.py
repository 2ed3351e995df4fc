"""The place of a chart. In: a chart with its height. Out: a component that keeps the height, and draws charts one after the other, those in sight first.

Plotly's script comes later than the page, and draws all charts at once: the page moved when they came, and did not answer before the last one was there.
"""

from __future__ import annotations

from typing import ClassVar

from dash import dcc
from dash.development.base_component import Component


class ChartPlace(Component):
    """Drawn by ``assets/chart_place.js``."""

    _children_props: ClassVar[list[str]] = []
    _base_nodes: ClassVar[list[str]] = ["children"]
    _namespace = "throttlescope"
    _type = "ChartPlace"

    def __init__(self, graph: dcc.Graph) -> None:
        self._prop_names = self.available_properties = ["children", "height"]
        self._valid_wildcard_attributes = self.available_wildcard_properties = []
        super().__init__(children=graph, height=graph.style["height"])
