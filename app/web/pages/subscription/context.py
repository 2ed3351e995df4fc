"""Sections that come after the page: who shares the limit, which consumers are slow, what a policy change did. In: a page that is open. Out: components.

Each is there only where it has something to say. They come by a request of their own, so that the answer never waits for them.
"""

from __future__ import annotations

from dash import Dash, Input, Output, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import limiter_words, set_by_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.components.grid import or_none
from throttlescope.app.web.components.parts import (
    cause_badge,
    hostile_sentence,
    plain_table,
    section,
    subscription_link,
)
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.data import context, history
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription.page_state import PageState
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.neighbours import QuotaUse
from throttlescope.models.diagnosis.slowest import SlowConsumers
from throttlescope.models.episodes.before_after import Compared, Side
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.limiting import kind_words, level_words

MOST_ROWS = 12


def register(app: Dash, reader: LakeReader) -> None:
    """One callback."""

    @app.callback(
        Output("subscription-more", "children"),
        Input("subscription-shown", "data"),
        prevent_initial_call=True,
    )
    def show(data):
        return explained(lambda: more(reader, PageState.of(data)))() if data else None


def more(reader: LakeReader, page: PageState) -> list:
    """All sections that have something to say."""
    key, parts = page.address.subscription, []
    if page.window_ms is not None:
        verdict = history.verdict(reader, key, *page.window_ms)
        if verdict is not None:
            parts += neighbours(
                context.neighbours(reader, key, verdict["limiter"], *page.window_ms), verdict, page
            )
            parts += consumers(
                context.consumers(reader, key, verdict["cause"], *page.window_ms),
                are_blamed=verdict["side"] != "throttle",
            )
    parts += changes(context.changes(reader, key, page.start_ms, page.end_ms))
    return parts


def neighbours(uses: list[QuotaUse], verdict: dict, page: PageState) -> list[html.Section]:
    """Who used the shared limit in the selected window."""
    if len(uses) < 2:
        return []
    unit = "bytes/s" if verdict["limiter"].endswith(".bytes") else sentence("label.per_second_heading")
    show = fmt.size_rate if unit == "bytes/s" else fmt.short
    rows = [
        [
            html.Span(
                [
                    html.Strong(f"{sentence('subscription.neighbours.this')} ") if one.is_selected else "",
                    _link(one, page),
                ]
            ),
            or_none(one.use_per_s, show),
            or_none(one.share, fmt.percent),
        ]
        for one in uses[:MOST_ROWS]
    ]
    table = plain_table(
        (
            sentence("label.subscription"),
            sentence("label.use_unit", unit=unit),
            sentence("subscription.neighbours.share"),
        ),
        rows,
    )
    foot = _more(len(uses) - len(rows))
    return [
        section(
            sentence("subscription.neighbours.title"),
            [table, *foot],
            note=sentence(
                "subscription.neighbours.note",
                limiter=limiter_words(verdict["limiter"]),
                number=fmt.exact(len(uses)),
            ),
        )
    ]


def _link(one: QuotaUse, page: PageState):
    # To the same moment of theirs.
    key = SubscriptionPartition(one.key.cluster, one.key.topic, one.key.partition, one.key.subscription)
    link = subscription_link(one.key._asdict())
    link.href = SubscriptionAddress(key, page.start_ms, page.end_ms, page.window_ms[1]).href()
    return link


def consumers(found: SlowConsumers | None, *, are_blamed: bool = True) -> list[html.Section]:
    """The consumers of the selected window, slow ones first; missing measurements are only mentioned where they matter."""
    if found is None or not (found.consumers or are_blamed):
        return []
    summary = html.P(hostile_sentence(found.text), className=None if found.consumers else "quiet")
    if not found.consumers:
        return [section(sentence("label.consumers"), [summary])]
    rows = [
        [
            html.Bdi(fmt.name(one.called, 60)),
            {
                True: sentence("label.marked_slow"),
                False: sentence("label.no"),
                None: sentence("label.unknown_heading"),
            }[one.slow],
            or_none(one.ack_msg_rate, fmt.short),
            or_none(one.out_msg_rate, fmt.short),
            or_none(one.unacked_msg, fmt.short),
            or_none(one.permits, fmt.short),
            or_none(one.permits_exhausted_share, fmt.percent),
        ]
        for one in found.consumers[:MOST_ROWS]
    ]
    heads = (
        sentence("label.consumer"),
        sentence("label.slow"),
        sentence("label.acked_msg_per_s_title"),
        sentence("label.dispatched_msg_per_s"),
        sentence("label.unacked_msg_title"),
        sentence("label.permits_msg"),
        sentence("label.no_permits_title"),
    )
    foot = _more(found.of - len(rows))
    note = sentence("subscription.consumers.note")
    return [section(sentence("label.consumers"), [summary, plain_table(heads, rows), *foot], note=note)]


def _more(left_out: int) -> list[html.P]:
    if left_out <= 0:
        return []
    return [html.P(sentence("subscription.left_out", number=fmt.exact(left_out)), className="facts")]


def changes(found: list[Compared]) -> list[html.Section]:
    """What each change of a limit did: the same figures before and after."""
    if not found:
        return []
    shown = found[:MOST_ROWS]
    left_out = len(found) - len(shown)
    foot = (
        [html.P(sentence("subscription.changes.left_out", number=fmt.exact(left_out)), className="facts")]
        if left_out
        else []
    )
    return [
        section(
            sentence("subscription.changes.title"),
            [html.Ul([_change(one) for one in shown], className="changes"), *foot],
            note=sentence("subscription.changes.note"),
        )
    ]


def _change(one: Compared) -> html.Li:
    change = one.change
    rows = [
        [sentence("subscription.changes.use"), *_both(one, "rho", fmt.percent)],
        [sentence("subscription.changes.events"), *_both(one, "events_per_min", fmt.short)],
        [sentence("subscription.changes.backlog"), *_both(one, "backlog_end_entries", fmt.short)],
        [sentence("subscription.changes.slope"), *_both(one, "backlog_slope_entries_per_s", fmt.signed)],
        [sentence("label.published_msg_per_s"), *_both(one, "in_msg_per_s", fmt.short)],
        [sentence("label.cause"), _cause(one.before), _cause(one.after)],
    ]
    what = sentence(
        f"subscription.changes.what.{change.kind}",
        level=level_words(change.level),
        unit=kind_words(change.unit),
    )
    text = message(
        "subscription.changes.change",
        what=html.Strong(what),
        old=change.old.text(change.unit),
        new=change.new.text(change.unit),
        set_by=set_by_words(change.new.set_by),
        seen=fmt.moment(change.new_from_ms),
        since=fmt.clock(change.old_until_ms),
    )
    return html.Li(
        [
            html.P(sentence_parts(text)),
            plain_table(("", _head("before", one.before), _head("after", one.after)), rows),
        ]
    )


def _head(side: str, found: Side) -> str:
    assumed = "_assumed" if found.assumed else ""
    return sentence(
        f"subscription.changes.side.{side}{assumed}", length=fmt.duration(found.minutes * MINUTE_MS)
    )


def _both(one: Compared, name: str, show) -> list[str]:
    return [or_none(getattr(side, name), show) for side in (one.before, one.after)]


def _cause(side: Side):
    return or_none(None, str) if side.cause is None else cause_badge(side.cause, side.limiter)
