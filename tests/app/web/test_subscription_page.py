"""The subscription page as a whole: its order, its links, its size over a week, and what its address may hold."""

from __future__ import annotations

import dataclasses
import json
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from plotly.utils import PlotlyJSONEncoder

from tests.app.web.components import find
from tests.app.web.sample_lake import END_MS, START_MS
from tests.app.web.test_limits import minutes as signal_minutes
from tests.app.web.test_pages import address, read
from throttlescope.app.presentation import figures
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription.content import LONGEST_MS, read_view
from throttlescope.app.web.pages.subscription.page_state import PageState, state_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

MOST_BYTES = 1_500_000


@pytest.fixture
def billing_view(reader):
    return read_view(reader, address("billing"))


@pytest.mark.long
def test_most_important_sections_come_first(billing_view):
    said = read(subscription.page(billing_view))
    order = [
        "Throttled 93 % confidence",
        "First:",
        "Deadlines, if nothing changes",
        "Find the smallest change",
        "Verdict over time",
        "Messages in, out",
        "Evidence",
        "This backlog",
        "Limits",
        "Windows",
    ]
    assert [said.index(words) for words in order] == sorted(said.index(words) for words in order)


@pytest.mark.long
def test_links_lead_to_same_times(billing_view):
    """Of the What-if page and of roll-ups."""
    links = {read(link): link.href for link in find(subscription.page(billing_view), "Link")}
    lab = WhatIfAddress.parse(urlsplit(links["What-if lab"]).query)
    assert lab.subscription == billing_view.address.subscription
    assert (lab.start_ms, lab.end_ms) == (END_MS - 30 * MINUTE_MS, END_MS)
    for by, name in (
        ("topic", "persistent://shop/checkout/orders"),
        ("namespace", "shop/checkout"),
        ("broker", "127.0.0.1:8080"),
    ):
        place = RollupsAddress.parse(urlsplit(links[f"its {by}"]).query)
        assert (place.by, place.name, place.cluster) == (by, name, "sample-east")
        assert (place.start_ms, place.end_ms) == (START_MS, END_MS)
    past = DataAddress.parse(urlsplit(links["inputs"]).query)
    assert (past.tab, past.subscription, past.at_ms) == ("verdict", billing_view.address.subscription, END_MS)
    won = LimitsAddress.parse(urlsplit(links["which policy applies"]).query)
    assert won.subject == billing_view.address.subscription


@pytest.mark.long
def test_value_between_gaps_has_marker(billing_view):
    ages = [-1.0] * len(billing_view.minutes)
    ages[7] = 90.0
    figure = figures.age_figure(
        billing_view.minutes.assign(backlog_age_s=ages), start_ms=START_MS, end_ms=END_MS
    )
    assert figure.data[0].mode == "lines+markers"


@pytest.mark.long
def test_age_of_oldest_message_has_own_chart(billing_view):
    """Or one sentence where it was not measured."""
    said = read(subscription.page(billing_view))
    assert said.count("Age of the oldest message: not measured.") == 1
    minutes = billing_view.minutes.assign(backlog_age_s=[-1.0, *range(1, len(billing_view.minutes))])
    tree = subscription.page(dataclasses.replace(billing_view, minutes=minutes))
    assert "age" in [graph.id["panel"] for graph in find(tree, "Graph")]
    assert "Age of the oldest message: not measured." not in read(tree)


def test_unknown_age_is_a_gap():
    frame = signal_minutes({"backlog_age_s": -1.0}, {"backlog_age_s": 90.0}, {}, {"backlog_age_s": 7200.0})
    figure = figures.age_figure(frame, start_ms=0, end_ms=4 * MINUTE_MS)
    (trace,) = figure.data
    assert list(trace.y) == [None, 90.0, None, 7200.0]
    assert trace.customdata[1].replace("\N{NO-BREAK SPACE}", " ") == "1 m 30 s"
    assert figure.layout.yaxis.ticktext[0] == "0"
    assert figures.age_figure(signal_minutes({"backlog_age_s": -1.0}), start_ms=0, end_ms=MINUTE_MS) is None


def week_of(billing_view):
    """The same view with a week of minutes and a verdict each minute, which is the most that a page shows."""
    count = LONGEST_MS // MINUTE_MS
    minutes = pd.concat([billing_view.minutes] * (count // len(billing_view.minutes)), ignore_index=True)
    start_ms = END_MS - count * MINUTE_MS
    minutes["minute_ms"] = start_ms + np.arange(len(minutes)) * MINUTE_MS
    random = np.random.default_rng(7)
    for name in (
        "in_msg_rate_5m",
        "out_msg_rate_5m",
        "ack_msg_rate",
        "backlog_entries",
        "unacked_msg",
        "backlog_age_s",
    ):
        minutes[name] = random.random(len(minutes)) * 1234.5678
    verdicts = [
        billing_view.verdicts[-1] | {"window_start_ms": at - 5 * MINUTE_MS, "window_end_ms": at}
        for at in range(start_ms + 5 * MINUTE_MS, END_MS + 1, MINUTE_MS)
    ]
    return dataclasses.replace(
        billing_view, start_ms=start_ms, minutes=minutes, verdicts=verdicts, history=verdicts[-1440:]
    )


@pytest.mark.long
def test_page_of_week_is_small_enough(billing_view):
    sent = len(json.dumps(subscription.page(week_of(billing_view)), cls=PlotlyJSONEncoder))
    assert 100_000 < sent < MOST_BYTES


@pytest.mark.long
def test_zoom_is_read_written_and_validated(billing_view):
    zoomed = dataclasses.replace(billing_view.address, zoom_ms=(START_MS, START_MS + BLOCK_MS))
    assert SubscriptionAddress.parse(urlsplit(zoomed.href()).query) == zoomed
    assert "zoom=2026-11-20T00%3A00%3A00Z..2026-11-20T01%3A00%3A00Z" in zoomed.href()
    query = urlsplit(billing_view.address.href()).query
    for bad in ("x", "2026-11-20T00:00:00Z", "2026-11-20T01:00:00Z..2026-11-20T00:00:00Z", "now..now", ".."):
        with pytest.raises(InputError):
            SubscriptionAddress.parse(f"{query}&zoom={bad}")


@pytest.mark.long
def test_server_draws_whole_range_when_zoomed(reader):
    zoomed = read_view(reader, address("billing", zoom_ms=(START_MS, START_MS + BLOCK_MS)))
    graph = find(subscription.page(zoomed), "Graph")[1]
    assert tuple(graph.figure.layout.xaxis.range) == (START_MS, END_MS)
    assert graph.figure.layout.meta == {"zone_offset_ms": 0, "start_ms": START_MS, "end_ms": END_MS}


@pytest.mark.long
def test_links_of_page_drop_the_zoom(reader):
    zoomed = read_view(reader, address("recommendations", zoom_ms=(START_MS, START_MS + BLOCK_MS)))
    for link in find(subscription.page(zoomed), "Link"):
        assert "zoom=" not in link.href


@pytest.mark.long
def test_page_state_round_trip(billing_view):
    page = PageState.of(json.loads(json.dumps(state_of(billing_view))))
    assert (page.address, page.start_ms, page.end_ms) == (
        billing_view.address,
        billing_view.start_ms,
        billing_view.end_ms,
    )
    assert page.window_ms == (END_MS - 5 * MINUTE_MS, END_MS)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        {"start_ms": 0},
        {"end_ms": None},
        {"window_ms": [1]},
        {"window_ms": "x"},
        {"start_ms": 1e300},
        {"href": 5},
    ],
)
def test_invalid_page_state_is_refused(billing_view, change):
    with pytest.raises(InputError):
        PageState.of(state_of(billing_view) | change)
