"""The range of the page in words and the links to others. In: a view. Out: components; every link carries absolute times."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.pages.subscription.content import LONGEST_MS, AnsweredWindow
from throttlescope.app.web.pages.subscription.links import download_links
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

_LENGTHS_MS = (30 * MINUTE_MS, BLOCK_MS, 3 * BLOCK_MS, 6 * BLOCK_MS, 24 * BLOCK_MS)


def range_of_page(view: AnsweredWindow) -> html.Div:
    """The range in words, links to others, and files of it; all of them absolute, so that they can be shared."""

    def to(start_ms: int, end_ms: int) -> str:
        return replace(view.address, start_ms=start_ms, end_ms=end_ms, at_ms=None, zoom_ms=None).href()

    # Shown by the browser while the charts are zoomed: the same range with every minute.
    zoomed = html.A(
        "open the zoom",
        id="subscription-zoom-open",
        href="/subscription",
        className="range-link",
        hidden=True,
    )
    return range_bar(
        view.start_ms,
        view.end_ms,
        to,
        data_up_to_ms=view.span_ms[1],
        lengths_ms=_LENGTHS_MS,
        cut_to_ms=LONGEST_MS if view.was_cut else None,
        links=[dcc.Link("all", href=to(*view.span_ms), className="range-link"), zoomed],
        tools=[download_links(view)],
    )
