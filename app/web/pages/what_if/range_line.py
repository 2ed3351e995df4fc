"""Which window, and from when on the runs differ. In: a view. Out: links; every one carries the runs."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.web.address.what_if import AHEADS_S
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.pages.what_if.replayed_runs import LabView
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import exact_duration

_LENGTHS_MS = (30 * MINUTE_MS, BLOCK_MS, 6 * BLOCK_MS, 24 * BLOCK_MS)


def range_line(view: LabView) -> html.Div:
    """The window's bar, and below it when the change is made."""
    address, window = view.address, view.window

    def to(start_ms: int, end_ms: int) -> str:
        return replace(address, start_ms=start_ms, end_ms=end_ms, job=None).href()

    bar = range_bar(
        window.start_ms, window.end_ms, to, data_up_to_ms=window.newest_ms, lengths_ms=_LENGTHS_MS
    )
    begin = [
        _choice(
            sentence("what_if_page.changed_from.end"),
            replace(address, when="end").href(),
            address.when == "end",
        ),
        _choice(
            sentence("what_if_page.changed_from.start"),
            replace(address, when="start").href(),
            address.when == "start",
        ),
    ]
    ahead = [
        _choice(exact_duration(length_s), replace(address, ahead=word).href(), word == address.ahead)
        for word, length_s in AHEADS_S.items()
    ]
    far = (
        [html.Span(sentence("label.look_ahead"), className="quiet"), *ahead] if address.when == "end" else []
    )
    return html.Div(
        [
            bar,
            html.Div(
                [html.Span(sentence("label.changed"), className="quiet"), *begin, *far],
                className="range-bar what-if-when",
                role="navigation",
                **{"aria-label": sentence("what_if_page.changed_from.label")},
            ),
        ]
    )


def _choice(text: str, href: str, is_chosen: bool) -> dcc.Link:
    return dcc.Link(
        text, href=href, className="range-link chosen" if is_chosen else "range-link",
    )  # fmt: skip
