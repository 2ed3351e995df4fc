"""Anomalies: what was unusual, grouped by what began together; one of them opened with its chart.

In: the address. Out: components. It says whether nothing was found, nothing was judged yet, or nothing was ever asked.
"""

from __future__ import annotations

from dataclasses import replace

import dash_mantine_components as dmc
from dash import Dash, Output, dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.paths import ANOMALIES_PATH
from throttlescope.app.web.address.anomalies import STATES, AnomaliesAddress
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, search_box
from throttlescope.app.web.components.range_bar import chosen_range, range_bar
from throttlescope.app.web.components.shell import freshness_line, panel, skeleton
from throttlescope.app.web.data import anomalies as asked
from throttlescope.app.web.data import history, newest
from throttlescope.app.web.data.anomalies import Groups, JudgedAnomalies
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.anomalies import text as words
from throttlescope.app.web.pages.anomalies.details import gone, opened, shown_range
from throttlescope.app.web.pages.anomalies.groups import groups
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.models.anomaly.rules import RULES

TITLE = "Anomalies"

_INPUTS = AddressInputs("anomalies", AnomaliesAddress, ("search",))
_LENGTHS_MS = (6 * BLOCK_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS)
_LONGEST_MS = 92 * DAY_MS


def layout(address: AnomaliesAddress | None, _query: str | None) -> html.Div:
    """The frame of the page; its parts are filled by callbacks."""
    address = address or AnomaliesAddress()
    return html.Div(
        [
            html.Div(
                [html.H1(TITLE), html.Div(id="anomalies-freshness", className="freshness")],
                className="page-head",
            ),
            html.Div(
                [
                    search_box(
                        "anomalies",
                        address.search,
                        "search subscription, topic, cluster",
                        label="search anomalies by subscription, topic, cluster",
                    ),
                    html.Div(id="anomalies-filters", className="anomaly-filters"),
                ],
                className="toolbar anomalies-bar",
            ),
            html.Div(id="anomalies-opened"),
            html.Div(skeleton(), id="anomalies-content"),
            *_INPUTS.stores(),
        ],
        className="anomalies",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the list, the anomaly that is opened, and the search."""
    PAGE.fill(
        app,
        lambda address: page_parts(reader, address),
        Output("anomalies-content", "children"),
        Output("anomalies-filters", "children"),
        Output("anomalies-freshness", "children"),
        on_fault=("", ""),
    )
    PAGE.fill_quietly(
        app, lambda address: opened_part(reader, address), Output("anomalies-opened", "children")
    )
    _INPUTS.register(app)


def page_parts(reader: LakeReader, address: AnomaliesAddress) -> tuple:
    """The list, the filters, and how fresh the data is."""
    freshness = newest.freshness(reader)
    newest_ms = asked.newest_end(reader) or freshness.data_up_to_ms
    if newest_ms is None:
        return never(reader.lake_path, has_data=False), "", freshness_line(freshness)
    start_ms, end_ms, was_cut = chosen_range(
        address.start_ms, address.end_ms, newest_ms=newest_ms, default_ms=DAY_MS, longest_ms=_LONGEST_MS
    )
    there = asked.judged(reader, start_ms, end_ms)
    if not there.ever:
        return never(reader.lake_path, has_data=True), "", freshness_line(freshness)
    found = asked.groups(reader, address, start_ms, end_ms)
    counted = asked.counts(reader, address, start_ms, end_ms)
    bar = range_bar(
        start_ms,
        end_ms,
        lambda first, last: replace(address, start_ms=first, end_ms=last, page=1, opened=None).href(),
        data_up_to_ms=newest_ms,
        lengths_ms=_LENGTHS_MS,
        cut_to_ms=_LONGEST_MS if was_cut else None,
    )
    body = (
        groups(found, address)
        if found.total
        else nothing(address, there, sum(counted["state"].values()), end_ms)
    )
    return html.Div([bar, summary(found, there), body]), filters(address, counted), freshness_line(freshness)


def opened_part(reader: LakeReader, address: AnomaliesAddress) -> html.Section | None:
    """The anomaly that the address names, if it names one."""
    if address.opened is None:
        return None
    row = asked.one(reader, address.opened)
    if row is None:
        return gone()
    start_ms, end_ms = shown_range(row)
    minutes = history.signals(reader, address.opened.subscription, start_ms, end_ms)
    return opened(row, minutes, asked.band(reader, row, address.opened, start_ms, end_ms), address)


def summary(found: Groups, there: JudgedAnomalies) -> html.P:
    """How many, and who is not judged yet."""
    parts: list = []
    if found.total:
        parts.append(
            f"{fmt.exact(found.anomalies)} {'anomaly' if found.anomalies == 1 else 'anomalies'} in {fmt.exact(found.total)} "
            f"{'group' if found.total == 1 else 'groups'}: those that overlap in one subscription, or began together and share something. "
        )
    if there.learning:
        until = (
            f", the first until {fmt.moment(there.learning_until_ms)}"
            if there.learning_until_ms is not None
            else ""
        )
        parts.append(
            f"{fmt.exact(there.learning)} subscription {'partition is' if there.learning == 1 else 'partitions are'} still being learned{until}. "
        )
    parts += [
        "An anomaly is a deviation from this subscription's usual pattern at this hour; it is not a diagnosis. ",
        dcc.Link("How well they are found", href=MethodAddress("anomalies").href()),
    ]
    return html.P(parts, className="anomalies-says")


def never(lake_path: str, *, has_data: bool) -> dmc.Alert:
    """Anomalies were never computed."""
    if not has_data:
        return panel(
            "No data yet.",
            [
                f"The lake {lake_path} holds nothing. Fill it: throttlescope run --prometheus URL --lake DIR, or throttlescope demo."
            ],
        )
    return panel(
        "Anomalies were never computed in this lake.",
        [
            "They are made by the next run, or by throttlescope anomalies --store --lake DIR.",
            f"A subscription is judged once it has {fmt.duration(RULES.learning_ms)} of history; up to {RULES.weeks} weeks are compared.",
        ],
    )


def nothing(address: AnomaliesAddress, there: JudgedAnomalies, unfiltered: int, end_ms: int) -> dmc.Alert:
    """Which kind of nothing this is."""
    everything = dcc.Link(
        "Show all of this range",
        href=AnomaliesAddress(start_ms=address.start_ms, end_ms=address.end_ms).href(),
    )
    if address.is_filtered:
        return panel(
            "No anomaly matches these filters.",
            [
                "There may be anomalies of other subscriptions, signals or states in this range."
                if unfiltered == 0
                else f"{fmt.exact(unfiltered)} of other states are there."
            ],
            next_step=everything,
        )
    if there.learning:
        until = (
            f"The first of them are judged from {fmt.moment(there.learning_until_ms)} on."
            if there.learning_until_ms is not None
            else "None of them has a whole day of samples yet."
        )
        return panel(
            "More history is needed.",
            [
                f"{fmt.exact(there.learning)} subscription {'partition has' if there.learning == 1 else 'partitions have'} less than "
                f"{fmt.duration(RULES.learning_ms)} of history in this range and cannot be judged yet. {until}",
                "Nothing was unusual among those that can be judged.",
            ],
        )
    if there.oldest_ms is None or end_ms <= there.oldest_ms:
        since = f"The oldest row is of {fmt.moment(there.oldest_ms)}. " if there.oldest_ms is not None else ""
        return panel(
            "Nothing is stored of this range.",
            [
                f"{since}Whether anything was judged before, the lake does not say.",
                "Judge it: throttlescope anomalies --store --start T --end T.",
            ],
        )
    return panel(
        "Nothing was unusual.", ["Anomalies were computed, and none touches this range."], tone="green"
    )


def filters(address: AnomaliesAddress, counted: dict[str, dict[str, int]]) -> list:
    """What is let through, as links with their counts."""
    filtered = [
        _filter("signal", [
            (words.SIGNALS[signal], counted["signal"].get(signal, 0), address.toggled("signals", signal), signal in address.signals)
            for signal in words.SIGNALS
        ]),
        _filter("direction", [
            (f"{mark} {meaning}", counted["direction"].get(word, 0), address.toggled("directions", word), word in address.directions)
            for word, (mark, meaning) in words.DIRECTIONS.items()
        ]),
        _filter("state", [
            ("over" if state == "closed" else state, counted["state"].get(state, 0),
             replace(address, state=None if address.state == state else state, page=1, opened=None), address.state == state)
            for state in STATES
        ]),
        *([_filter("cluster", [
            (fmt.name(cluster, 40), count, address.toggled("clusters", cluster), cluster in address.clusters)
            for cluster, count in list(counted["cluster"].items())[:8]
        ])] if len(counted["cluster"]) > 1 or address.clusters else []),
    ]  # fmt: skip
    return [group for group in filtered if group is not None]


def _filter(name: str, choices: list[tuple[str, int, AnomaliesAddress, bool]]) -> html.Nav | None:
    """Choices with what they would show; where there is nothing to choose, no word of it."""
    if not any(count or chosen for _, count, _, chosen in choices):
        return None
    return html.Nav(
        [
            html.Span(name, className="quiet"),
            *(
                dcc.Link(
                    [text, html.Span(f" {fmt.exact(count)}", className="quiet")],
                    href=target.href(),
                    className="filter chosen" if chosen else "filter",
                    title="chosen: a click lets all through again" if chosen else "a click shows these alone",
                )
                for text, count, target, chosen in choices
                if count or chosen
            ),
        ],
        className="filter-group",
        **{"aria-label": f"{name} filter"},
    )


PAGE = WebPage(ANOMALIES_PATH, TITLE, AnomaliesAddress, layout, register)
