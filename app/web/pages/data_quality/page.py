"""Data quality and runs: what came in, what was refused, how fresh it is, what is not seen, and any past verdict with its inputs.

In: the address. Out: components; each part reads only what it shows.
"""

from __future__ import annotations

from dash import Dash, Output, html

from throttlescope.app.presentation.links.paths import DATA_PATH
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, search_box
from throttlescope.app.web.components.shell import explained, fault, freshness_line, skeleton
from throttlescope.app.web.components.tabs import tabs
from throttlescope.app.web.data import blind_spots, newest, past_verdict, quality
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.data_quality import blind_spots as blind
from throttlescope.app.web.pages.data_quality import past_verdict as past
from throttlescope.app.web.pages.data_quality.gates import gates
from throttlescope.app.web.pages.data_quality.quarantine import refused
from throttlescope.app.web.pages.data_quality.runs import runs
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence

TITLE = "Data"


def _tabs() -> tuple:
    return (
        ("runs", sentence("label.runs")),
        ("gates", sentence("label.gates")),
        ("quarantine", sentence("label.refused")),
        ("freshness", sentence("label.freshness")),
        ("blind", sentence("label.blind_spots")),
        ("verdict", sentence("label.a_past_verdict")),
    )


_INPUTS = AddressInputs("data", DataAddress, ("search",))
#: Subscriptions that a search offers.
_OFFERED = 20


def layout(address: DataAddress | None, _query: str | None) -> html.Div:
    """The frame of the page; its content is filled by a callback."""
    address = address or DataAddress()
    return html.Div(
        [
            html.Div(
                [
                    html.H1(sentence("data_quality.title")),
                    html.Div(id="data-freshness", className="freshness"),
                ],
                className="page-head",
            ),
            html.Div(id="data-tabs"),
            html.Div(
                search_box(
                    "data",
                    address.search,
                    sentence("data_quality.search"),
                    label=sentence("data_quality.search.label"),
                ),
                id="data-search-bar",
                hidden=True,
                className="toolbar",
            ),
            html.Div(skeleton(), id="data-content"),
            *_INPUTS.stores(),
        ],
        className="data-quality",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the parts of the page, and the search."""
    PAGE.fill(
        app,
        lambda address: _parts(reader, address),
        Output("data-content", "children"),
        Output("data-tabs", "children"),
        Output("data-freshness", "children"),
        Output("data-search-bar", "hidden"),
        on_fault=(links(DataAddress()), "", True),
    )
    _INPUTS.register(app)


def _parts(reader: LakeReader, address: DataAddress) -> tuple:
    freshness = newest.freshness(reader)
    offers = address.tab == "verdict" and address.subscription is None
    content = explained(lambda: html.Div(content_of(reader, address, recordings=freshness.is_recording)))()
    return content, links(address), freshness_line(freshness), not offers


def links(address: DataAddress) -> html.Nav:
    """The parts of the page."""
    return tabs(
        [(word, title, DataAddress(word).href()) for word, title in _tabs()],
        address.tab,
        label=sentence("data_quality.parts"),
    )


def content_of(reader: LakeReader, address: DataAddress, *, recordings: bool = False) -> list:
    """One part of the page."""
    if address.tab == "gates":
        found = quality.findings(reader, run_id=address.run, everything=address.everything, page=address.page)
        return gates(found, quality.checked(reader, address.run), address)
    if address.tab == "quarantine":
        rows = quality.refused(reader, run_id=address.run, reason=address.reason, page=address.page)
        return refused(quality.refused_by_reason(reader, address.run), rows, address)
    if address.tab == "freshness":
        return blind.freshness(blind_spots.fresh(reader), recordings=recordings)
    if address.tab == "blind":
        return blind.blind(blind_spots.blind_spots(reader))
    if address.tab == "verdict":
        return _past(reader, address)
    opened = None if address.run is None else quality.run(reader, address.run)
    return runs(quality.runs(reader, address.page), address, opened, reader.lake_path)


def _past(reader: LakeReader, address: DataAddress) -> list:
    key = address.subscription
    if key is None:
        wanted = SubscriptionsAddress(search=address.search, own_topics=True, view=newest.NOW)
        rows, total = newest.subscriptions(reader, wanted, end=_OFFERED)
        return [past.chooser(rows, total, address)]
    rows = past_verdict.windows(reader, key, address.at_ms)
    chosen = None
    if address.at_ms is not None:
        # The window that ends there, else the newest before it: an address may name any moment.
        chosen = next((row for row in rows if row["window_end_ms"] <= address.at_ms), None)
    parts: list = [past.identity(key, address.at_ms)]
    if chosen is not None:
        try:
            found = past_verdict.opened(reader, key, chosen["namespace"], chosen["window_start_ms"])
            parts += past.opened(found, key)
        except InputError as error:
            parts.append(fault(error))
    parts.append(past.windows(rows, key, address.at_ms, chosen))
    return parts


PAGE = WebPage(DATA_PATH, TITLE, DataAddress, layout, register)
