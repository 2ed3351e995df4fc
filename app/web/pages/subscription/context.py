"""Sections that come after the page: who shares the limit, which consumers are slow, what a policy change did. In: a page that is open. Out: components.

Each is there only where it has something to say. They come by a request of their own, so that the answer never waits for them.
"""

from __future__ import annotations

from dash import Dash, Input, Output, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LEVEL_WORDS, SET_BY_WORDS, UNIT_WORDS, limiter_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.components.grid import or_none
from throttlescope.app.web.components.parts import (
    cause_badge,
    hostile_sentence,
    plain_table,
    section,
    subscription_link,
)
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.data import context, history
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.pages.subscription.selection import Shown
from throttlescope.models.diagnosis.neighbours import QuotaUse
from throttlescope.models.diagnosis.slowest import SlowConsumers
from throttlescope.models.episodes.before_after import Compared, Side

MOST_ROWS = 12
_KINDS = {
    "set": "was set",
    "removed": "was removed",
    "raised": "was raised",
    "lowered": "was lowered",
    "redefined": "was redefined",
}


def register(app: Dash, reader: LakeReader) -> None:
    """One callback."""

    @app.callback(
        Output("subscription-more", "children"),
        Input("subscription-shown", "data"),
        prevent_initial_call=True,
    )
    def show(data):
        return explained(lambda: more(reader, Shown.of(data)))() if data else None


def more(reader: LakeReader, page: Shown) -> list:
    """All sections that have something to say."""
    key, parts = page.address.subscription, []
    if page.window_ms is not None:
        told = history.verdict(reader, key, *page.window_ms)
        if told is not None:
            parts += neighbours(context.neighbours(reader, key, told["limiter"], *page.window_ms), told, page)
            parts += consumers(
                context.consumers(reader, key, told["cause"], *page.window_ms),
                are_blamed=told["side"] != "throttle",
            )
    parts += changes(context.changes(reader, key, page.start_ms, page.end_ms))
    return parts


def neighbours(uses: list[QuotaUse], told: dict, page: Shown) -> list[html.Section]:
    """Who used the shared limit in the selected window."""
    if len(uses) < 2:
        return []
    unit = "bytes/s" if told["limiter"].endswith(".bytes") else "per second"
    show = fmt.size_rate if unit == "bytes/s" else fmt.short
    rows = [
        [
            html.Span([html.Strong("this one ") if one.asked else "", _link(one, page)]),
            or_none(one.use_per_s, show),
            or_none(one.share, fmt.percent),
        ]
        for one in uses[:MOST_ROWS]
    ]
    left_out = len(uses) - len(rows)
    table = plain_table(("Subscription", f"Use, {unit}", "Share of all use"), rows)
    foot = [html.P(f"And {fmt.exact(left_out)} more.", className="facts")] if left_out else []
    return [
        section(
            "Who shares the limit",
            [table, *foot],
            note=f"the {limiter_words(told['limiter'])} in the selected window: {fmt.exact(len(uses))} subscriptions, most first",
        )
    ]


def _link(one: QuotaUse, page: Shown):
    # To the same moment of theirs.
    key = SubscriptionPartition(one.key.cluster, one.key.topic, one.key.partition, one.key.subscription)
    link = subscription_link(one.key._asdict())
    link.href = SubscriptionAddress(key, page.start_ms, page.end_ms, page.window_ms[1]).href()
    return link


def consumers(found: SlowConsumers | None, *, are_blamed: bool = True) -> list[html.Section]:
    """The consumers of the selected window, slow ones first; missing measurements are only mentioned where they matter."""
    if found is None or not (found.consumers or are_blamed):
        return []
    words = html.P(hostile_sentence(found.text), className=None if found.consumers else "quiet")
    if not found.consumers:
        return [section("Consumers", [words])]
    rows = [
        [
            html.Bdi(fmt.name(one.called, 60)),
            {True: "▲ slow", False: "no", None: "unknown"}[one.slow],
            or_none(one.ack_msg_rate, fmt.short),
            or_none(one.out_msg_rate, fmt.short),
            or_none(one.unacked_msg, fmt.short),
            or_none(one.permits, fmt.short),
            or_none(one.permits_exhausted_share, fmt.percent),
        ]
        for one in found.consumers[:MOST_ROWS]
    ]
    heads = (
        "Consumer",
        "Slow",
        "Acked, msg/s",
        "Dispatched, msg/s",
        "Unacked, msg",
        "Permits, msg",
        "No permits",
    )
    left_out = found.of - len(rows)
    foot = [html.P(f"And {fmt.exact(left_out)} more.", className="facts")] if left_out > 0 else []
    return [section("Consumers", [words, plain_table(heads, rows), *foot], note="in the selected window")]


def changes(found: list[Compared]) -> list[html.Section]:
    """What each change of a limit did: the same figures before and after."""
    if not found:
        return []
    shown = found[:MOST_ROWS]
    left_out = len(found) - len(shown)
    foot = (
        [html.P(f"And {fmt.exact(left_out)} earlier ones in this range.", className="facts")]
        if left_out
        else []
    )
    return [
        section(
            "What a policy change did",
            [html.Ul([_change(one) for one in shown], className="changes"), *foot],
            note="up to 15 minutes before and after; traffic may have changed too",
        )
    ]


def _change(one: Compared) -> html.Li:
    change = one.change
    name = f"{LEVEL_WORDS[change.level]} {UNIT_WORDS[change.unit]} limit"
    rows = [
        ["Use of the limit", *_both(one, "rho", fmt.percent)],
        ["Throttle events per minute", *_both(one, "events_per_min", fmt.short)],
        ["Backlog at the end, entries", *_both(one, "backlog_end_entries", fmt.short)],
        ["Backlog per second, entries", *_both(one, "backlog_slope_entries_per_s", fmt.signed)],
        ["Published, msg/s", *_both(one, "in_msg_per_s", fmt.short)],
        ["Cause", _cause(one.before), _cause(one.after)],
    ]
    return html.Li(
        [
            html.P(
                [
                    html.Strong(f"The {name} {_KINDS.get(change.kind, change.kind)}"),
                    f": {change.old.text(change.unit)} to {change.new.text(change.unit)}, "
                    f"{SET_BY_WORDS.get(change.new.set_by, change.new.set_by)}. "
                    f"Seen at {fmt.moment(change.new_from_ms)}, changed since {fmt.clock(change.old_until_ms)}.",
                ]
            ),
            plain_table(("", _head("before", one.before), _head("after", one.after)), rows),
        ]
    )


def _head(side: str, found: Side) -> str:
    return f"{side} ({found.minutes}\N{NO-BREAK SPACE}m{', limit assumed' if found.assumed else ''})"


def _both(one: Compared, name: str, show) -> list[str]:
    return [or_none(getattr(side, name), show) for side in (one.before, one.after)]


def _cause(side: Side):
    return or_none(None, str) if side.cause is None else cause_badge(side.cause, side.limiter)
