"""Figures are made without Plotly's checks, so that a page is quick: here each of a page is checked. And no column is missing that a page shows."""

from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest

from tests.app.web.components import find
from tests.app.web.sample_lake import SAMPLES, START_MS
from throttlescope.app.presentation import figures
from throttlescope.app.presentation.figures.lanes import Cell, Lane
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.data import history
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.page import page
from throttlescope.ingest.core.times import MINUTE_MS


def view_of(reader, name: str):
    sample = next(one for one in SAMPLES if one.subscription == name)
    key = SubscriptionPartition(sample.cluster, sample.topic, sample.partition, name)
    return read_view(reader, SubscriptionAddress(key))


@pytest.mark.long
@pytest.mark.parametrize("name", ["billing", "recommendations", "features"])
def test_page_figures_pass_plotly_validation(reader, name):
    graphs = find(page(view_of(reader, name)), "Graph")
    assert len(graphs) >= 3
    for graph in graphs:
        # It raises where a property does not exist or has a value that it cannot have.
        checked = go.Figure(graph.figure.to_dict())
        assert checked.layout.template.layout.hoverlabel.align == "left", "the look of Plotly's own template"


def test_lanes_figure_passes_plotly_validation():
    cells = (Cell(START_MS, 0.7, 0), Cell(START_MS + 5 * MINUTE_MS, 1.0, 2))
    lane = Lane("topic.msg", None, "persistent://a/b/c", -1, None, cells)
    figure = figures.lanes_figure([lane], 5 * MINUTE_MS, start_ms=START_MS, end_ms=START_MS + 10 * MINUTE_MS)
    assert len(go.Figure(figure.to_dict()).data) == 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["billing", "recommendations"])
def test_columns_read_suffice_for_the_page(reader, name):
    view = view_of(reader, name)
    whole = history.signals(reader, view.address.subscription, view.start_ms, view.end_ms)
    assert len(view.minutes.columns) < len(whole.columns)
    assert str(page(view)) == str(page(replace(view, minutes=whole)))
