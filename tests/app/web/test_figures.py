"""Figures are pure functions of tables; what a person must be able to read off them is in them."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from tests.app.web.components import text_of
from tests.app.web.sample_lake import END_MS, SAMPLES, START_MS
from tests.app.web.test_format import plain
from tests.app.web.test_limits import minutes as signal_minutes
from tests.app.web.test_runs import verdict
from throttlescope.app.presentation import figures
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.app.presentation.figures.what_if import Curve, what_if_figure
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.components.chart_key import PageKey
from throttlescope.app.web.data import history

BOUNDS = {"start_ms": START_MS, "end_ms": END_MS}


def subscription(name: str) -> SubscriptionPartition:
    sample = next(sample for sample in SAMPLES if sample.subscription == name)
    return SubscriptionPartition(sample.cluster, sample.topic, sample.partition, name)


@pytest.fixture
def minutes_of(reader):
    return lambda name: history.signals(reader, subscription(name), START_MS, END_MS)


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


def limits(figure) -> dict[str, object]:
    """Lines of limits by their names in the legend; no words are inside of a chart."""
    assert not figure.layout.annotations
    return {
        plain(trace.name): trace
        for trace in figure.data
        if " limit " in trace.name and "share" not in trace.name
    }


@pytest.mark.long
def test_every_chart_has_units_and_its_zone(minutes_of, reader):
    minutes = minutes_of("billing")
    verdicts = history.verdicts(reader, subscription("billing"), START_MS, END_MS)
    made = [
        figures.backlog_figure(minutes, **BOUNDS),
        figures.msg_rates_figure(minutes, **BOUNDS),
        figures.byte_rates_figure(minutes, **BOUNDS),
        figures.events_figure(minutes, **BOUNDS),
        figures.holding_figure(minutes, **BOUNDS),
    ]
    assert [figure.layout.yaxis.title.text for figure in made] == [
        "backlog, entries",
        "messages per second",
        "bytes per second",
        "events per minute",
        "messages",
    ]
    for figure in [*made, figures.ribbon_figure(verdicts, minutes, **BOUNDS)]:
        assert figure.layout.xaxis.title.text == "UTC, 2026-11-20"
        assert tuple(figure.layout.xaxis.range) == (START_MS, END_MS)
        assert figure.layout.margin.l == made[0].layout.margin.l, "one left edge for all"


def test_charts_have_no_cloud_button():
    assert CONFIG["showSendToCloud"] is False


@pytest.mark.long
def test_limit_line_names_its_source(minutes_of):
    figure = figures.msg_rates_figure(minutes_of("billing"), **BOUNDS)
    drawn = limits(figure)
    assert list(drawn) == ["subscription limit 50 msg/s, subscription policy"]
    assert set(drawn["subscription limit 50 msg/s, subscription policy"].y) == {50.0}
    assert figure.layout.showlegend


@pytest.mark.long
def test_far_limit_does_not_flatten_rates(minutes_of):
    """It is named, and not drawn."""
    figure = figures.msg_rates_figure(minutes_of("search-index"), **BOUNDS)
    far = limits(figure)["↑ broker limit 20 k msg/s, broker's configuration file (above this chart)"]
    assert list(far.y) == [None]
    assert figure.layout.yaxis.range[1] < 1000


@pytest.mark.long
def test_shared_limit_shows_total_use(minutes_of):
    figure = figures.msg_rates_figure(minutes_of("search-index"), **BOUNDS)
    assert max(trace(figure, "out, all that share the topic limit").y) == pytest.approx(500)
    assert max(trace(figure, "out (dispatched)").y) < 70


@pytest.mark.long
def test_removed_limit_line_ends_at_removal(minutes_of):
    figure = figures.msg_rates_figure(minutes_of("recommendations"), **BOUNDS)
    drawn = limits(figure)["subscription limit 50 msg/s, subscription policy, until 01:50:00 UTC"]
    assert [x for x, y in zip(drawn.x, drawn.y, strict=True) if y is not None][-1] == START_MS + 110 * 60_000


@pytest.mark.long
def test_byte_axes_have_binary_steps(minutes_of):
    figure = figures.byte_rates_figure(minutes_of("thumbnails"), **BOUNDS)
    assert [plain(text) for text in figure.layout.yaxis.ticktext] == [
        "0 B",
        "512 KiB",
        "1 MiB",
        "1.5 MiB",
        "2 MiB",
    ]
    assert list(limits(figure)) == ["subscription limit 1 MiB/s, namespace policy"]


@pytest.mark.long
def test_events_without_proof_are_marked(minutes_of):
    figure = figures.events_figure(minutes_of("billing"), **BOUNDS)
    assert [trace.name for trace in figure.data] == ["subscription message limit: proves nothing"]
    assert figure.data[0].marker.pattern.shape == "x"
    assert figure.layout.showlegend


@pytest.mark.long
def test_large_limit_events_keep_their_colour(minutes_of):
    figure = figures.events_figure(minutes_of("search-index"), **BOUNDS)
    assert [trace.name for trace in figure.data] == ["topic message limit"]


def test_unknown_limit_events_are_unproven():
    frame = signal_minutes({"throttled_msg_events_topic_delta": 5.0})
    figure = figures.events_figure(frame, start_ms=0, end_ms=60_000)
    assert [trace.name for trace in figure.data] == ["topic message limit is not known: unproven"]


def test_raised_limit_splits_its_events():
    base = {"throttled_msg_events_topic_delta": 5.0, "limit_topic_period_s": 1}
    frame = signal_minutes(base | {"limit_topic_msg": 50}, base | {"limit_topic_msg": 500})
    figure = figures.events_figure(frame, start_ms=0, end_ms=120_000)
    assert {trace.name: list(trace.y) for trace in figure.data} == {
        "topic message limit": [None, 5.0],
        "topic message limit: proves nothing": [5.0, None],
    }


@pytest.mark.long
def test_no_events_no_figure(minutes_of):
    assert figures.events_figure(minutes_of("ledger"), **BOUNDS) is None


@pytest.mark.long
def test_missing_values_are_gaps(minutes_of):
    minutes = minutes_of("billing").drop(index=range(20, 30))
    minutes.loc[50, "in_msg_rate_5m"] = None
    for figure, name in (
        (figures.backlog_figure(minutes, **BOUNDS), "backlog"),
        (figures.msg_rates_figure(minutes, **BOUNDS), "in (published)"),
    ):
        drawn = trace(figure, name)
        assert not drawn.connectgaps
        assert list(drawn.y[20:30]) == [None] * 10
    assert trace(figure, "in (published)").y[50] is None


@pytest.mark.long
def test_backlog_is_drawn_at_minute_end(minutes_of):
    figure = figures.backlog_figure(minutes_of("billing"), **BOUNDS)
    assert figure.data[0].x[0] == START_MS + 60_000


def test_blocked_stretches_are_bands():
    frame = signal_minutes(
        *({"unacked_msg": 9.0, "blocked_on_unacked": float(i in (1, 2, 4))} for i in range(6))
    )
    figure = figures.holding_figure(frame, start_ms=0, end_ms=360_000)
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(60_000, 180_000), (240_000, 300_000)]


def test_unmeasured_zero_is_not_drawn():
    """Pulsar reports zero for some subscription types where nothing is counted."""
    rows = [{"unacked_msg": 0.0, "ack_msg_rate": 0.0, "out_msg_rate_5m": 5.0, "in_msg_rate_5m": 5.0}] * 3
    for kind, drawn in (("Exclusive", False), ("Failover", False), ("Shared", True), (None, True)):
        frame = signal_minutes(*(row | {"subscription_type": kind} for row in rows))
        holding = figures.holding_figure(frame, start_ms=0, end_ms=180_000)
        rates = figures.msg_rates_figure(frame, start_ms=0, end_ms=180_000)
        assert (holding is not None) is drawn, kind
        assert ("acknowledged" in [trace.name for trace in rates.data]) is drawn, kind
    counted = signal_minutes(*(row | {"subscription_type": "Exclusive", "ack_msg_rate": 4.0} for row in rows))
    assert "acknowledged" in [
        trace.name for trace in figures.msg_rates_figure(counted, start_ms=0, end_ms=180_000).data
    ]


def test_small_counts_have_whole_steps():
    frame = signal_minutes({"backlog_entries": 0.0}, {"backlog_entries": 2.0})
    figure = figures.backlog_figure(frame, start_ms=0, end_ms=120_000)
    assert figure.layout.yaxis.dtick == 1
    assert figure.layout.yaxis.range[1] > 2


def test_events_at_removal_belong_to_limit():
    limited = {"limit_topic_msg": 50, "limit_topic_period_s": 1, "limit_topic_set_by": "topic_policy"}
    event = {"throttled_msg_events_topic_delta": 5.0}
    frame = signal_minutes(limited | event, event | {"limit_topic_set_by": "none"})
    figure = figures.events_figure(frame, start_ms=0, end_ms=120_000)
    assert [trace.name for trace in figure.data] == ["topic message limit: proves nothing"]


@pytest.mark.long
def test_no_unacked_or_permits_no_figure(minutes_of):
    assert figures.holding_figure(minutes_of("features"), **BOUNDS) is None


@pytest.mark.long
def test_ribbon_shows_causes_naive_rule_truth(reader):
    key = subscription("recommendations")
    verdicts = history.verdicts(reader, key, START_MS, END_MS)
    figure = figures.ribbon_figure(
        verdicts,
        history.signals(reader, key, START_MS, END_MS),
        truth=history.truth(reader, key, START_MS, END_MS),
        at_ms=END_MS,
        **BOUNDS,
    )
    assert list(figure.layout.yaxis.categoryarray) == ["changes", "script (truth)", "naive rule", "verdict"]
    throttled = next(bar for bar in figure.data if "verdict" in bar.y and "Throttled" in bar.hovertext[0])
    assert throttled.base[0] + throttled.x[0] <= END_MS
    assert throttled.text[0] == "▲ Throttled: subscription message limit"
    assert throttled.customdata[0].endswith("Z")
    assert figure.layout.shapes[0].x0 == END_MS


@pytest.mark.long
def test_stretches_never_overlap(reader):
    key = subscription("billing")
    figure = figures.ribbon_figure(
        history.verdicts(reader, key, START_MS, END_MS), signal_minutes(), **BOUNDS
    )
    spans = sorted(
        (base, base + length)
        for bar in figure.data
        if bar.y[0] == "verdict"
        for base, length in zip(bar.base, bar.x, strict=True)
    )
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert sum(end - start for start, end in spans) == END_MS - START_MS


def test_every_cause_has_its_own_look():
    from throttlescope.app.presentation.causes import CAUSES

    looks = [(cause.colour, cause.pattern) for cause in CAUSES.values()]
    assert len({cause.mark for cause in CAUSES.values()}) == len(CAUSES)
    assert len({cause.label for cause in CAUSES.values()}) == len(CAUSES)
    assert len(set(looks)) == len(looks)


@pytest.mark.long
def test_cluster_names_are_escaped_in_figures(reader):
    key = subscription("recommendations")
    figure = figures.ribbon_figure(
        history.verdicts(reader, key, START_MS, END_MS),
        history.signals(reader, key, START_MS, END_MS),
        **BOUNDS,
    )
    text = json.dumps(figure.to_plotly_json(), default=str)
    assert "&lt;b&gt;127.0.0.1:8081" in text
    assert "<b>127.0.0.1" not in text


@pytest.mark.long
def test_figures_do_not_change_their_input(minutes_of):
    minutes = minutes_of("billing")
    before = minutes.copy(deep=True)
    figures.msg_rates_figure(minutes, **BOUNDS)
    figures.events_figure(minutes, **BOUNDS)
    pd.testing.assert_frame_equal(minutes, before)


def test_single_window_makes_a_ribbon():
    figure = figures.ribbon_figure([verdict(0, 5, "unknown")], signal_minutes(), start_ms=0, end_ms=300_000)
    assert [bar.text[0] for bar in figure.data] == ["? Unknown", "✓ neither"]


@pytest.mark.long
def test_page_names_each_look_once(minutes_of):
    """The second chart's key has only what the first one's has not."""
    key = PageKey()
    first, second = (
        figures.msg_rates_figure(minutes_of("thumbnails"), **BOUNDS),
        figures.byte_rates_figure(minutes_of("thumbnails"), **BOUNDS),
    )
    before = first.layout.height
    names = [plain(text_of(part)) for figure in (first, second) for part in key.take(figure)]
    assert [" ".join(name.split()) for name in names] == [
        "in (published) out (dispatched) acknowledged",
        "subscription limit 1 MiB/s, namespace policy",
    ]
    assert not first.layout.showlegend
    assert first.layout.height < before
    assert key.take(figures.byte_rates_figure(minutes_of("thumbnails"), **BOUNDS)) == []


def test_names_of_runs_keep_apart():
    """Three runs that end at zero, and one that ends high."""
    times = np.arange(4) * 60_000
    flat = np.zeros(4)
    curves = [
        Curve(name, times, ends, ends, ends, "#009E73", "solid")
        for name, ends in (("A", flat), ("B", flat), ("C", flat + 1), ("as it is", flat + 90))
    ]
    line = (times, flat + 100)
    figure = what_if_figure(line, line, curves, start_ms=0, end_ms=180_000, changed_ms=150_000)
    changed, *names = figure.layout.annotations
    assert changed.xanchor == "right"
    heights = sorted(name.y for name in names)
    assert {name.text for name in names} == {"<b>A</b>", "<b>B</b>", "<b>C</b>", "<b>as it is</b>"}
    assert all(high - low > 0.04 for low, high in itertools.pairwise(heights))
    assert min(heights) >= 0
    assert max(heights) <= 1
    assert all((name.xref, name.xanchor) == ("paper", "left") for name in names)
