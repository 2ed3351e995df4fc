"""The list: what began together. In: groups and their rows. Out: components; each anomaly opens, each subscription is reached at that time."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import cause_badge, hostile, plain_table, subscription_link
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.data.anomalies import PAGE_GROUPS, Groups
from throttlescope.app.web.pages.anomalies import text
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.messages.catalogue import Message, message, sentence


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
    return html.Section(
        [
            html.Div(
                [
                    html.H2(_title(group)),
                    html.Span(_span(group), className="section-note"),
                    html.Span(
                        sentence_parts(message("anomalies.group.cluster", cluster=hostile(group["cluster"]))),
                        className="section-note",
                    ),
                ],
                className="section-head",
            ),
            plain_table(
                (
                    sentence("label.what"),
                    sentence("label.subscription"),
                    sentence("label.started_zone", zone=fmt.zone_of(group["start_ms"])),
                    sentence("label.duration"),
                    sentence("label.value"),
                    sentence("label.usual"),
                    sentence("label.score_title"),
                    sentence("label.state_title"),
                    sentence("label.verdict_then"),
                ),
                [_row(row, address) for row in rows],
            ),
            *_hidden(group, group["anomalies"] - len(rows), address),
        ],
        className="section anomaly-group",
    )


def _hidden(group: dict, hidden: int, address: AnomaliesAddress) -> list[html.P]:
    """How many anomalies of a group are not listed, and the link that shows them."""
    if hidden <= 0:
        return []
    if address.group is not None:
        return [html.P(sentence("anomalies.group.hidden", anomalies=fmt.exact(hidden)), className="quiet")]
    show = dcc.Link(
        sentence("anomalies.group.show"), href=replace(address, group=group["group_id"], page=1).href()
    )
    words = sentence_parts(message("anomalies.group.hidden_show", anomalies=fmt.exact(hidden), show=show))
    return [html.P(words, className="quiet")]


def _title(group: dict) -> list:
    kinds = [
        sentence("label.silence") if signal == "samples" else text.signal_words()[signal]
        for signal in group["signals"]
    ]
    listed = kinds[0]
    if len(kinds) > 1:
        listed = sentence("anomalies.group.kinds", first=kinds[:-1], last=kinds[-1])
    return [
        listed[:1].upper() + listed[1:],
        html.Span([" ", *sentence_parts(_subscriptions(group))], className="quiet"),
    ]


def _subscriptions(group: dict) -> Message:
    """How many subscriptions and topics a group has, and what they share."""
    if group["subscriptions"] == 1:
        return message("anomalies.group.one")
    subscriptions, topics = fmt.exact(group["subscriptions"]), fmt.exact(group["topics"])
    several_topics = group["topics"] > 1
    if not group["shared_kind"]:
        if several_topics:
            return message("anomalies.group.topics", subscriptions=subscriptions, topics=topics)
        return message("anomalies.group.one_topic", subscriptions=subscriptions)
    kind, name = text.shared_words()[group["shared_kind"]], hostile(group["shared_with"] or "")
    if several_topics:
        return message(
            "anomalies.group.topics_shared", subscriptions=subscriptions, topics=topics, kind=kind, name=name
        )
    return message("anomalies.group.one_topic_shared", subscriptions=subscriptions, kind=kind, name=name)


def _span(group: dict) -> str:
    length = fmt.duration(group["end_ms"] - group["start_ms"])
    situation = "open" if group["is_open"] else "over"
    return sentence(
        f"anomalies.group.span.{situation}",
        range=fmt.between(group["start_ms"], group["end_ms"]),
        length=length,
    )


def subscription_then(row: dict) -> str:
    """The subscription's page around the time of an anomaly."""
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    start_ms, end_ms = row["start_ms"] - BLOCK_MS, row["end_ms"] + BLOCK_MS // 2
    return SubscriptionAddress(key, start_ms=max(start_ms, end_ms - 24 * BLOCK_MS), end_ms=end_ms).href()


def _row(row: dict, address: AnomaliesAddress) -> list:
    mark, meaning = text.direction_words()[row["direction"]]
    target = address.to_open(row)
    chosen = address.opened is not None and target.opened == address.opened
    return [
        dcc.Link(
            [html.Span(mark, className="anomaly-mark", title=meaning), text.what(row)],
            href=target.href() + "#opened",
            className="anomaly-link chosen" if chosen else "anomaly-link",
            title=sentence("anomalies.group.open_tip"),
        ),
        subscription_link(row, subscription_then(row)),
        fmt.day_clock(row["start_ms"]),
        fmt.duration(row["end_ms"] - row["start_ms"]),
        sentence("label.unknown_heading")
        if row["direction"] == "silence"
        else text.amount(row["value"], row["signal"]),
        text.usual(row),
        f"{row['score']:.1f}",
        text.state(row),
        cause_badge(row["verdict_cause"], row["verdict_limiter"])
        if row["verdict_cause"]
        else sentence("label.none_stored"),
    ]
