"""The largest backlogs with a problem. In: what was read. Out: a table with a picture of each backlog; a row leads to its cause."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, GROUPS
from throttlescope.app.presentation.figures.sparkline import backlog_path, picture
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, subscription_link
from throttlescope.app.web.data.limit_use import NOW_MS
from throttlescope.app.web.data.newest import NOW
from throttlescope.app.web.data.overview import Overview
from throttlescope.app.web.pages.overview.state import when
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import words


def worst(view: Overview) -> html.Section:
    """The table, or that there is nothing in it."""
    address = view.address
    title = sentence("overview.worst.title")
    if address.causes:
        title = sentence("overview.worst.filtered", causes=_filter_words(address.causes))
    if not view.worst:
        if address.causes:
            text = sentence("overview.worst.none_filtered", when=when(view))
        else:
            text = sentence("overview.worst.none", when=when(view))
        body = html.P(text, className="quiet")
        note = None
    else:
        body = plain_table(
            (
                sentence("label.subscription"),
                sentence("label.cause"),
                sentence("label.backlog_entries_title"),
                sentence("label.in_past_title", length=fmt.duration(NOW_MS)),
                sentence("label.started_title"),
                sentence("overview.worst.trend"),
            ),
            [_row(view, row) for row in view.worst],
            keys=[
                f"{row['cluster']} {row['topic']} {row['partition']} {row['subscription']}"
                for row in view.worst
            ],
        )
        shown, number = len(view.worst), fmt.exact(view.worst_total)
        if view.worst_total > shown:
            note = sentence("overview.worst.note", shown=shown, number=number, when=when(view))
        else:
            note = sentence("overview.worst.note_all", number=number, when=when(view))
    table = SubscriptionsAddress(clusters=address.clusters, causes=address.causes, view=NOW)
    links = [dcc.Link(sentence("overview.worst.all"), href=table.href(), className="range-link")]
    if address.causes:
        clear = replace(address, causes=())
        links.insert(0, dcc.Link(sentence("overview.worst.clear"), href=clear.href(), className="range-link"))
    return section(title, [body], note=note, tools=links, id="overview-worst")


def _filter_words(causes: tuple[str, ...]) -> str:
    group = next((name for name, words in GROUPS.items() if set(words) == set(causes)), None)
    if group is not None:
        return sentence(f"overview.group.{group}").lower()
    return words().list_separator.join(CAUSES[word].label for word in causes)


def _row(view: Overview, row: dict) -> list:
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    growth = row["backlog_growth_entries"]
    since_ms = row["since_ms"]
    return [
        subscription_link(row, SubscriptionAddress(key, at_ms=None if view.is_now else view.at_ms).href()),
        cause_badge(row["cause"], row["limiter"]),
        html.Span(
            NONE if fmt.is_missing(row["backlog_entries"]) else fmt.short(round(row["backlog_entries"])),
            className="number",
        ),
        html.Span(
            NONE if fmt.is_missing(growth) else fmt.signed(round(growth)),
            className="number grows" if growth and growth > 0 else "number quiet",
        ),
        NONE
        if since_ms is None
        else html.Span(
            sentence("label.ago", length=fmt.duration(max(0, view.at_ms - since_ms))),
            title=sentence("label.since", at=fmt.moment(since_ms)),
        ),
        _spark(view, row),
    ]


def _spark(view: Overview, row: dict) -> html.Img | str:
    found = backlog_path(row["episodes"], start_ms=view.start_ms, end_ms=view.end_ms)
    if found is None:
        return NONE
    path, high = found
    words = sentence("overview.worst.spark", high=fmt.short(round(high)))
    return html.Img(src=picture(path), alt=words, title=words, className="sparkline")
