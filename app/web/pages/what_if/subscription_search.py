"""The search box, where the address names no subscription. In: words. Out: subscriptions that have them, as links."""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.components.parts import cause_badge, plain_table, subscription_link
from throttlescope.app.web.components.shell import no_verdicts, panel
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.models.messages.catalogue import sentence

_MOST = 20


def find_box(search: str) -> html.Div:
    """The head of the page without a subscription; its list is filled by a callback."""
    return html.Div(
        [
            html.H1(sentence("label.what_if")),
            html.P(
                sentence("what_if_page.find.about"),
                className="identity",
            ),
            html.Div(
                dmc.TextInput(
                    id="what-if-search",
                    label=sentence("label.which_subscription"),
                    placeholder=sentence("what_if_page.find.words"),
                    value=search,
                    debounce=250,
                    spellCheck=False,
                ),
                className="search-box",
            ),
            html.Div(id="what-if-found"),
        ],
        className="what-if-find",
    )


def found(reader: LakeReader, search: str):
    """Subscriptions with a backlog first; an empty lake says so."""
    rows, count = newest.subscriptions(reader, SubscriptionsAddress(search=search or ""), end=_MOST)
    if not rows:
        if newest.freshness(reader).subscriptions:
            return panel(sentence("what_if_page.find.none"), [sentence("what_if_page.find.none_fix")])
        return no_verdicts(reader.lake_path)
    table = plain_table(
        (
            sentence("label.subscription"),
            sentence("label.now_title"),
            sentence("label.backlog_entries_title"),
        ),
        [
            [
                subscription_link(row, _lab(row)),
                cause_badge(row["cause"], row["limiter"]),
                fmt.missing()
                if fmt.is_missing(row["backlog_entries"])
                else fmt.short(round(row["backlog_entries"])),
            ]
            for row in rows
        ],
    )
    more = ""
    if count > len(rows):
        more = sentence("what_if_page.find.first", shown=len(rows), number=fmt.exact(count))
    return html.Div([table, html.P(more, className="quiet")])


def _lab(row: dict) -> str:
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    return WhatIfAddress(key).href()
