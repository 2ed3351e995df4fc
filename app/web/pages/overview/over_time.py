"""Subscriptions by cause over time. In: what was read. Out: components: a card per cause, which is the chart's legend and a filter, the chart, its numbers."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import figures
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, ORDER
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import plain_table, save_buttons, section
from throttlescope.app.web.data.overview import Overview
from throttlescope.app.web.data.timeline import Bin
from throttlescope.app.web.pages.overview.state import when
from throttlescope.models.messages import units
from throttlescope.models.messages.catalogue import sentence


def over_time(view: Overview) -> html.Section:
    """The chart with its legend; what it shows is there as a table too."""
    bins = view.timeline.bins
    words = [
        word
        for word in ORDER
        if word != "healthy" and (view.counts.causes.get(word) or any(one.causes.get(word) for one in bins))
    ]
    title, step = sentence("overview.timeline.title"), fmt.duration(view.timeline.step_ms)
    note = sentence("overview.timeline.note", step=step)
    if not all(one.was_judged for one in bins):
        note = f"{note}; {sentence('overview.timeline.unjudged')}"
    if not words:
        return section(title, [html.P(sentence("overview.timeline.none"), className="quiet")])
    figure = figures.timeline_figure(
        bins,
        view.timeline.step_ms,
        start_ms=view.start_ms,
        end_ms=view.end_ms,
        at_ms=None if view.is_now else view.at_ms,
        causes=view.address.causes,
    )
    graph = dcc.Graph(
        id="overview-timeline",
        figure=figure,
        config=graph_config(displayModeBar=False, toImageButtonOptions={"filename": "throttlescope-causes"}),
        style={"height": figure.layout.height},
    )
    return section(
        title,
        [_legend(view, words), ChartPlace(graph), _numbers(view, words)],
        note=note,
        tools=save_buttons("causes"),
    )


def _legend(view: Overview, words: list[str]) -> html.Nav:
    return html.Nav(
        [_card(view, word) for word in words],
        className="legend",
        **{"aria-label": sentence("overview.timeline.label", when=when(view))},
    )


def _card(view: Overview, word: str) -> dcc.Link:
    cause, number = CAUSES[word], view.counts.causes.get(word, 0)
    return dcc.Link(
        [
            html.Span(
                cause.mark, className="cause-mark", style={"color": cause.colour}, **{"aria-hidden": "true"}
            ),
            html.Span(cause.label),
            html.Strong(fmt.exact(number), className="" if number else "none"),
        ],
        href=view.address.toggled(word).href(),
        className="legend-card chosen" if word in view.address.causes else "legend-card",
        title=f"{cause.answer}\n{sentence('overview.timeline.filter')}",
    )


def _numbers(view: Overview, words: list[str]) -> html.Details:
    """The same as a table, for those who cannot see or point at bars; each time is a link to that moment."""
    bins = [one for one in reversed(view.timeline.bins) if one.at_ms is not None]
    return html.Details(
        [
            html.Summary(sentence("overview.timeline.numbers")),
            plain_table(
                (
                    sentence("label.time_in_zone", zone=fmt.zone_of(view.end_ms)),
                    sentence("label.subscription_partitions"),
                    sentence("label.backlog_entries_title"),
                ),
                [_row(view, one, words) for one in bins],
            ),
        ],
        className="heat-numbers",
    )


def _row(view: Overview, one: Bin, words: list[str]) -> list:
    return [
        dcc.Link(fmt.day_clock(one.at_ms), href=replace(view.address, at_ms=one.at_ms).href()),
        units.words().list_separator.join(
            f"{CAUSES[word].label} {fmt.exact(one.causes[word])}" for word in words if one.causes.get(word)
        ),
        fmt.short(round(one.backlog_entries)),
    ]
