"""The list: what began together. In: groups and their rows. Out: components; each anomaly opens, each subscription is reached at that time."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import cause_badge, hostile, plain_table, subscription_link
from throttlescope.app.web.data.anomalies import PAGE_GROUPS, Groups
from throttlescope.app.web.pages.anomalies import text
from throttlescope.ingest.core.times import BLOCK_MS


def groups(found: Groups, address: AnomaliesAddress) -> html.Div:
    """Groups, newest first."""
    return html.Div(
        [
            *(
                _group(group, found.rows.get((group["cluster"], group["group_id"]), []), address)
                for group in found.groups
            ),
            pager(
                address.page,
                found.total,
                PAGE_GROUPS,
                lambda page: replace(address, page=page, opened=None).href(),
                noun="groups",
            ),
        ]
    )


def _group(group: dict, rows: list[dict], address: AnomaliesAddress) -> html.Section:
    hidden = group["anomalies"] - len(rows)
    more = (
        html.P(
            [
                f"and {fmt.exact(hidden)} more. ",
                *(
                    [
                        dcc.Link(
                            "Show all of this group",
                            href=replace(address, group=group["group_id"], page=1).href(),
                        )
                    ]
                    if address.group is None
                    else []
                ),
            ],
            className="quiet",
        )
        if hidden > 0
        else None
    )
    return html.Section(
        [
            html.Div(
                [
                    html.H2(_title(group)),
                    html.Span(_span(group), className="section-note"),
                    html.Span(["in ", hostile(group["cluster"])], className="section-note"),
                ],
                className="section-head",
            ),
            plain_table(
                (
                    "What",
                    "Subscription",
                    f"Began, {fmt.zone_of(group['start_ms'])}",
                    "For",
                    "Value",
                    "Usual",
                    "Score",
                    "State",
                    "Verdict then",
                ),
                [_row(row, address) for row in rows],
            ),
            *([more] if more is not None else []),
        ],
        className="section anomaly-group",
    )


def _title(group: dict) -> list:
    kinds = ["silence" if signal == "samples" else text.SIGNALS[signal] for signal in group["signals"]]
    listed = ", ".join(kinds[:-1]) + (" and " if len(kinds) > 1 else "") + kinds[-1]
    listed = listed[:1].upper() + listed[1:]
    subscriptions = group["subscriptions"]
    if subscriptions == 1:
        return [listed, html.Span(" of one subscription", className="quiet")]
    many = f" of {fmt.exact(subscriptions)} subscriptions"
    many += f" on {fmt.exact(group['topics'])} topics" if group["topics"] > 1 else ""
    shared = (
        [f", sharing {text.SHARED[group['shared_kind']]} ", hostile(group["shared_with"] or "")]
        if group["shared_kind"]
        else []
    )
    return [listed, html.Span([many, *shared], className="quiet")]


def _span(group: dict) -> str:
    length = fmt.duration(group["end_ms"] - group["start_ms"])
    return f"{fmt.between(group['start_ms'], group['end_ms'])} ({length}{', still open' if group['is_open'] else ''})"


def subscription_then(row: dict) -> str:
    """The subscription's page around the time of an anomaly."""
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    start_ms, end_ms = row["start_ms"] - BLOCK_MS, row["end_ms"] + BLOCK_MS // 2
    return SubscriptionAddress(key, start_ms=max(start_ms, end_ms - 24 * BLOCK_MS), end_ms=end_ms).href()


def _row(row: dict, address: AnomaliesAddress) -> list:
    mark, meaning = text.DIRECTIONS[row["direction"]]
    target = address.to_open(row)
    chosen = address.opened is not None and target.opened == address.opened
    return [
        dcc.Link(
            [html.Span(mark, className="anomaly-mark", title=meaning), text.what(row)],
            href=target.href() + "#opened",
            className="anomaly-link chosen" if chosen else "anomaly-link",
            title="value, baseline and band of this anomaly",
        ),
        subscription_link(row, subscription_then(row)),
        fmt.day_clock(row["start_ms"]),
        fmt.duration(row["end_ms"] - row["start_ms"]),
        "unknown" if row["direction"] == "silence" else text.amount(row["value"], row["signal"]),
        text.usual(row),
        f"{row['score']:.1f}",
        text.state(row),
        cause_badge(row["verdict_cause"], row["verdict_limiter"]) if row["verdict_cause"] else "none stored",
    ]
