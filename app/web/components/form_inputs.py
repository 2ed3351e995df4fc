"""Inputs that several pages share. In: ids. Out: boxes for times, and a button and a status while a request runs.

The script ``assets/typed.js`` reads times as the reader's zone has them and writes them into addresses as UTC.
"""

from __future__ import annotations

from collections.abc import Callable

import dash_mantine_components as dmc
from dash import Dash, Input, Output, dcc, html, no_update
from dash.development.base_component import Component

from throttlescope.app.presentation import time_zone
from throttlescope.app.presentation.links.fields import PageAddress
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

#: What a page shows and, for its form, the range [start, end) that it chose, or None.
PageAnswer = tuple[Component, tuple[int, int] | None]


def stores(page: str) -> list[dcc.Store]:
    """Times as the page shows them, for the form; a trigger that evaluates the same address again; and the user's time zone."""
    return [
        dcc.Store(id=f"{page}-shown"),
        dcc.Store(id=f"{page}-again"),
        dcc.Store(id=f"{page}-filled"),
        dcc.Store(id=f"{page}-zone", data=time_zone.name()),
    ]


def register_answer(app: Dash, id: str, page: WebPage, answer: Callable[[PageAddress], PageAnswer]) -> None:
    """One callback: the answer to the address, in ``ID-content``."""

    def content(address: PageAddress, _again: object) -> tuple:
        found, range_ms = answer(address)
        if range_ms is None:
            return found, no_update
        return found, dict(zip(("from", "to"), map(format_time, range_ms), strict=True))

    page.fill(
        app,
        content,
        Output(f"{id}-content", "children"),
        Output(f"{id}-shown", "data"),
        also=(Input(f"{id}-again", "data"),),
        on_fault=(no_update,),
    )


def no_samples(lake_path: str, consequence: str = "") -> dmc.Alert:
    """A lake that holds nothing to evaluate; ``consequence`` says what that means, after a comma."""
    return panel(
        sentence("page.no_samples.title"),
        [
            sentence("page.no_samples.lake", path=lake_path, consequence=consequence),
            sentence("page.no_samples.fix"),
        ],
    )


def time_box(id: str, label: str) -> dmc.TextInput:
    """A box for one moment, in the reader's zone; its value is written by the script."""
    return dmc.TextInput(
        id=id,
        label=f"{label}, {time_zone.name()}",
        placeholder="2026-11-20 02:58:30",
        value="",
        className="time-box",
    )


def running_words(content: str) -> list:
    """A button that cancels the request, and how long it has run; both are visible only while ``content`` is being built."""
    return [
        html.Button(
            sentence("label.cancel"),
            className="cancel-button",
            type="button",
            hidden=True,
            **{"data-of": content},
        ),
        html.Span(className="running-words", role="status", **{"data-of": content}),
    ]
