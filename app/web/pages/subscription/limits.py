"""The limits of one subscription as of a window. In: limits. Out: components."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.parts import section
from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.models.messages.catalogue import sentence


def limits_table(limits: list[KnownLimit], key: SubscriptionPartition) -> html.Section:
    """Every known limit with who set it, and a link to which policy applies and the answers of the admin API."""
    more = dcc.Link(
        sentence("subscription.limits.which"),
        href=LimitsAddress(subject=key).href(),
        title=sentence("subscription.limits.which_hint"),
    )
    if not limits or all(limit.set_by is None for limit in limits):
        return section(
            sentence("label.limits"),
            [
                html.P(sentence("subscription.limits.unread"), className="quiet"),
                html.P(sentence("subscription.limits.unread_fix"), className="facts"),
            ],
            tools=more,
        )
    known = [limit for limit in limits if limit.rate is not None]
    without = [limit.name for limit in limits if limit.rate is None and limit.set_by is not None]
    unseen = [limit.name for limit in limits if limit.rate is None and limit.set_by is None]
    rows = [
        html.Li(
            [
                html.P(
                    [
                        html.Strong(limit.name),
                        f": {limit.amount()}"
                        + (
                            sentence("label.per_segment")
                            if is_scalable(key.topic) and limit.level != "broker"
                            else ""
                        )
                        + (f" = {limit.speed()}" if limit.period_s not in (None, 1) else ""),
                    ]
                ),
                html.P(" · ".join(_facts(limit)), className="facts"),
                html.P(limit.proof(), className="facts" if limit.events_prove else "facts proves-nothing"),
            ]
        )
        for limit in known
    ]
    notes = []
    if without:
        notes.append(html.P(sentence("subscription.limits.without", names=without), className="facts"))
    if unseen:
        notes.append(html.P(sentence("subscription.limits.unseen", names=unseen), className="facts"))
    return section(sentence("label.limits"), [html.Ul(rows, className="limits"), *notes], tools=more)


def _facts(limit: KnownLimit) -> list[str]:
    facts = [sentence("subscription.limits.set_by", who=limit.who())]
    if limit.use_share_max is not None:
        facts.append(sentence("subscription.limits.used", share=fmt.percent(limit.use_share_max)))
    if limit.lifted_ms is not None:
        facts.append(sentence("subscription.limits.lifted", at=fmt.clock(limit.lifted_ms)))
    elif limit.changed:
        facts.append(sentence("subscription.limits.changed"))
    return facts
