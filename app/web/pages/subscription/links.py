"""Links from a subscription to other ranges, pages and files. In: a view. Out: links with absolute times, so that they can be shared."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation.links.paths import SUBSCRIPTIONS_PATH
from throttlescope.app.web.address.promql import PromqlAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.components.parts import downloads
from throttlescope.app.web.components.range_bar import range_bar
from throttlescope.app.web.pages.subscription.content import LONGEST_MS, AnsweredWindow, SelectedWindow
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.core.topic_name import namespace_of
from throttlescope.models.messages.catalogue import sentence

#: As far before the selected window's end as a replay begins by default.
REPLAYED_MS = 30 * MINUTE_MS
_LENGTHS_MS = (30 * MINUTE_MS, BLOCK_MS, 3 * BLOCK_MS, 6 * BLOCK_MS, 24 * BLOCK_MS)


def crumbs(view: AnsweredWindow) -> html.Nav:
    """The table of all, and the roll-ups of the topic, its namespace and its broker."""
    key = view.address.subscription
    places = [
        ("topic", key.topic),
        ("namespace", namespace_of(key.topic)),
        ("broker", _broker(view.verdict_minutes)),
    ]
    return html.Nav(
        [
            dcc.Link(sentence("label.marked_all_subscriptions"), href=SUBSCRIPTIONS_PATH),
            html.Span(
                [
                    html.Span([sentence("subscription.compare_with"), " "], className="quiet"),
                    *(
                        dcc.Link(
                            sentence(f"label.its.{by}"),
                            href=RollupsAddress(
                                by,
                                clusters=(key.cluster,),
                                name=name,
                                start_ms=view.start_ms,
                                end_ms=view.end_ms,
                            ).href(),
                            className="crumb",
                        )
                        for by, name in places
                        if name
                    ),
                ]
            ),
        ],
        className="crumbs",
        **{"aria-label": sentence("subscription.crumbs")},
    )


def what_if_href(view: SelectedWindow) -> str:
    """The what-if lab on the half hour up to the end of the selected window."""
    end_ms = view.verdict["window_end_ms"] if view.verdict else view.end_ms
    return WhatIfAddress(view.address.subscription, start_ms=end_ms - REPLAYED_MS, end_ms=end_ms).href()


def download_links(view: SelectedWindow) -> html.Span:
    """Files of this subscription and range, with the incident bundle of the selected window."""

    def query(**parts) -> str:
        return replace(view.address, zoom_ms=None, **parts).href().split("?", 1)[1]

    ranged = query(start_ms=view.start_ms, end_ms=view.end_ms, at_ms=None)
    window = {
        "at_ms": view.verdict["window_end_ms"] if view.verdict else None,
        "start_ms": None,
        "end_ms": None,
    }
    links = [
        (sentence("label.incident_bundle"), f"/export/incident.zip?{query(**window)}"),
        (sentence("label.minutes_csv"), f"/export/table/signals.csv?{ranged}"),
        (sentence("label.minutes_parquet"), f"/export/table/signals.parquet?{ranged}"),
        (sentence("label.verdicts_csv"), f"/export/table/verdicts.csv?{ranged}"),
        (sentence("label.notebook"), f"/export/notebook.ipynb?{ranged}"),
    ]
    if view.verdict:
        links.insert(1, (sentence("label.verdict_json"), f"/export/verdict.json?{query(**window)}"))
    return downloads(links)


def range_of_page(view: SelectedWindow) -> html.Div:
    """The range in words, links to others, and files of it; all of them absolute, so that they can be shared."""

    def to(start_ms: int, end_ms: int) -> str:
        return replace(view.address, start_ms=start_ms, end_ms=end_ms, at_ms=None, zoom_ms=None).href()

    # Shown by the browser while the charts are zoomed: the same range with every minute.
    zoomed = html.A(
        sentence("label.open_the_zoom"),
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
        links=[dcc.Link(sentence("label.all"), href=to(*view.span_ms), className="range-link"), zoomed],
        tools=[download_links(view)],
    )


def promql_href(query: str, view: SelectedWindow) -> str:
    """A query in the PromQL console: its graph over the range of the page, an hour at least."""
    start_ms = min(view.start_ms, view.end_ms - BLOCK_MS)
    return PromqlAddress(query, start_ms, view.end_ms, tab="graph").href()


def _broker(minutes: pd.DataFrame) -> str | None:
    known = minutes["broker"].dropna() if "broker" in minutes else ()
    return str(known.iloc[-1]) if len(known) else None
