"""Anomalies: what was unusual, grouped by what began together; one of them opened with its chart.

In: the address. Out: components. It distinguishes nothing found, nothing judged yet, and nothing ever computed.
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
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import freshness_line, panel, skeleton
from throttlescope.app.web.data import anomalies as stored
from throttlescope.app.web.data import history, newest
from throttlescope.app.web.data.anomalies import Groups, JudgedAnomalies
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.anomalies import text as words
from throttlescope.app.web.pages.anomalies.details import not_found, opened, shown_range
from throttlescope.app.web.pages.anomalies.groups import groups
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.messages.catalogue import message, sentence

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
                [
                    html.H1(sentence("label.page.anomalies")),
                    html.Div(id="anomalies-freshness", className="freshness"),
                ],
                className="page-head",
            ),
            html.Div(
                [
                    search_box(
                        "anomalies",
                        address.search,
                        sentence("anomalies.search"),
                        label=sentence("anomalies.search.label"),
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
    newest_ms = stored.newest_end(reader) or freshness.data_up_to_ms
    if newest_ms is None:
        return never_computed(reader.lake_path, has_data=False), "", freshness_line(freshness)
    start_ms, end_ms, was_cut = chosen_range(
        address.start_ms, address.end_ms, newest_ms=newest_ms, default_ms=DAY_MS, longest_ms=_LONGEST_MS
    )
    judged = stored.judged(reader, start_ms, end_ms)
    if not judged.ever:
        return never_computed(reader.lake_path, has_data=True), "", freshness_line(freshness)
    found = stored.groups(reader, address, start_ms, end_ms)
    counted = stored.counts(reader, address, start_ms, end_ms)
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
        else nothing_found(address, judged, sum(counted["state"].values()), end_ms)
    )
    return html.Div([bar, summary(found, judged), body]), filters(address, counted), freshness_line(freshness)


def opened_part(reader: LakeReader, address: AnomaliesAddress) -> html.Section | None:
    """The anomaly that the address names, if it names one."""
    if address.opened is None:
        return None
    row = stored.one(reader, address.opened)
    if row is None:
        return not_found()
    start_ms, end_ms = shown_range(row)
    minutes = history.signals(reader, address.opened.subscription, start_ms, end_ms)
    return opened(row, minutes, stored.band(reader, row, address.opened, start_ms, end_ms), address)


def summary(found: Groups, judged: JudgedAnomalies) -> html.P:
    """How many there are, and how many subscriptions are not judged yet."""
    parts = [one for one in (_found_text(found), _learning_text(judged)) if one]
    accuracy = dcc.Link(sentence("anomalies.accuracy"), href=MethodAddress("anomalies").href())
    return html.P(
        [
            "".join(f"{part} " for part in parts),
            *sentence_parts(message("anomalies.summary.meaning", accuracy=accuracy)),
        ],
        className="anomalies-says",
    )


def _found_text(found: Groups) -> str:
    if not found.total:
        return ""
    if found.anomalies == 1:
        return sentence("anomalies.summary.one")
    if found.total == 1:
        return sentence("anomalies.summary.one_group", anomalies=fmt.exact(found.anomalies))
    return sentence(
        "anomalies.summary.groups", anomalies=fmt.exact(found.anomalies), groups=fmt.exact(found.total)
    )


def _learning_text(judged: JudgedAnomalies) -> str:
    if not judged.learning:
        return ""
    needed, partitions = fmt.duration(RULES.learning_ms), fmt.exact(judged.learning)
    if judged.learning_until_ms is None:
        if judged.learning == 1:
            return sentence("anomalies.learning.one", needed=needed)
        return sentence("anomalies.learning.many", partitions=partitions, needed=needed)
    until = fmt.moment(judged.learning_until_ms)
    if judged.learning == 1:
        return sentence("anomalies.learning.one_until", needed=needed, until=until)
    return sentence("anomalies.learning.many_until", partitions=partitions, needed=needed, until=until)


def never_computed(lake_path: str, *, has_data: bool) -> dmc.Alert:
    """Anomalies were never computed."""
    if not has_data:
        return panel(sentence("label.no_data_yet"), [sentence("anomalies.empty_lake", lake=lake_path)])
    return panel(
        sentence("anomalies.never"),
        [
            sentence("anomalies.never.compute"),
            sentence("anomalies.never.history", needed=fmt.duration(RULES.learning_ms), weeks=RULES.weeks),
        ],
    )


def nothing_found(
    address: AnomaliesAddress, judged: JudgedAnomalies, unfiltered: int, end_ms: int
) -> dmc.Alert:
    """Which kind of nothing this is."""
    if address.is_filtered:
        others = sentence("anomalies.filtered.maybe_others")
        if unfiltered:
            others = sentence("anomalies.filtered.other_states", anomalies=fmt.exact(unfiltered))
        everything = AnomaliesAddress(start_ms=address.start_ms, end_ms=address.end_ms)
        return panel(
            sentence("anomalies.filtered"),
            [others],
            next_step=dcc.Link(sentence("anomalies.show_all"), href=everything.href()),
        )
    if judged.learning:
        return _short_history(judged)
    if judged.oldest_ms is None:
        return panel(
            sentence("anomalies.not_stored"),
            [sentence("anomalies.not_stored.unknown"), sentence("anomalies.not_stored.compute")],
        )
    if end_ms <= judged.oldest_ms:
        oldest = sentence("anomalies.not_stored.oldest", oldest=fmt.moment(judged.oldest_ms))
        return panel(sentence("anomalies.not_stored"), [oldest, sentence("anomalies.not_stored.compute")])
    return panel(sentence("anomalies.nothing"), [sentence("anomalies.nothing.computed")], tone="green")


def _short_history(judged: JudgedAnomalies) -> dmc.Alert:
    """Some subscriptions cannot be judged yet, and nothing was unusual among the others."""
    first_judged = message("anomalies.short_history.no_day")
    if judged.learning_until_ms is not None:
        first_judged = message("anomalies.short_history.until", until=fmt.moment(judged.learning_until_ms))
    needed = fmt.duration(RULES.learning_ms)
    if judged.learning == 1:
        which = sentence("anomalies.short_history.one", needed=needed, first_judged=first_judged)
    else:
        which = sentence(
            "anomalies.short_history.many",
            partitions=fmt.exact(judged.learning),
            needed=needed,
            first_judged=first_judged,
        )
    return panel(sentence("anomalies.short_history"), [which, sentence("anomalies.short_history.others")])


def filters(address: AnomaliesAddress, counted: dict[str, dict[str, int]]) -> list:
    """Filters as links, each with the number of anomalies that it would show."""
    filtered = [
        _filter(sentence("label.signal"), [
            (words.signal_words()[signal], counted["signal"].get(signal, 0), address.toggled("signals", signal), signal in address.signals)
            for signal in words.signal_words()
        ]),
        _filter(sentence("label.direction"), [
            (f"{mark} {meaning}", counted["direction"].get(word, 0), address.toggled("directions", word), word in address.directions)
            for word, (mark, meaning) in words.direction_words().items()
        ]),
        _filter(sentence("label.state"), [
            (sentence("label.over") if state == "closed" else sentence("label.open"), counted["state"].get(state, 0),
             replace(address, state=None if address.state == state else state, page=1, opened=None), address.state == state)
            for state in STATES
        ]),
        *([_filter(sentence("label.cluster_heading"), [
            (fmt.name(cluster, 40), count, address.toggled("clusters", cluster), cluster in address.clusters)
            for cluster, count in list(counted["cluster"].items())[:8]
        ])] if len(counted["cluster"]) > 1 or address.clusters else []),
    ]  # fmt: skip
    return [group for group in filtered if group is not None]


def _filter(name: str, choices: list[tuple[str, int, AnomaliesAddress, bool]]) -> html.Nav | None:
    """Choices with what they would show; None where there is nothing to choose."""
    if not any(count or is_chosen for _, count, _, is_chosen in choices):
        return None
    select, unselect = sentence("anomalies.filter.choose"), sentence("anomalies.filter.chosen")
    return html.Nav(
        [
            html.Span(name, className="quiet"),
            *(
                dcc.Link(
                    [text, html.Span(f" {fmt.exact(count)}", className="quiet")],
                    href=target.href(),
                    className="filter chosen" if is_chosen else "filter",
                    title=unselect if is_chosen else select,
                )
                for text, count, target, is_chosen in choices
                if count or is_chosen
            ),
        ],
        className="filter-group",
        **{"aria-label": sentence("label.filter_label", name=name)},
    )


PAGE = WebPage(ANOMALIES_PATH, TITLE, AnomaliesAddress, layout, register)
