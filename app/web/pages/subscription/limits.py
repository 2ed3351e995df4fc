"""The limits of one subscription as of a window. In: limits. Out: components."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.parts import section


def limits_table(limits: list[KnownLimit], key: SubscriptionPartition) -> html.Section:
    """Every known limit with who set it, and the way to which record won and what the admin API said."""
    more = dcc.Link(
        "which record won",
        href=LimitsAddress(subject=key).href(),
        title="the ladder of policies, and what the admin API said",
    )
    if not limits or all(limit.set_by is None for limit in limits):
        return section(
            "Limits",
            [
                html.P(
                    "Not observed: no limit of this subscription was read from the admin API.",
                    className="quiet",
                ),
                html.P("Fix: give --pulsar-admin URL to throttlescope run.", className="facts"),
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
                        + (f" = {limit.speed()}" if limit.period_s not in (None, 1) else ""),
                    ]
                ),
                html.P(
                    f"set by {limit.who()}"
                    + (
                        ""
                        if limit.use_share_max is None
                        else f" · used up to {fmt.percent(limit.use_share_max)} here"
                    )
                    + (f" · lifted at {fmt.clock(limit.lifted_ms)}" if limit.lifted_ms is not None else "")
                    + (" · changed in this range" if limit.changed and limit.lifted_ms is None else ""),
                    className="facts",
                ),
                html.P(limit.proof(), className="facts" if limit.events_prove else "facts proves-nothing"),
            ]
        )
        for limit in known
    ]
    notes = []
    if without:
        notes.append(html.P(f"No limit set: {', '.join(without)}.", className="facts"))
    if unseen:
        notes.append(html.P(f"Not observed: {', '.join(unseen)}.", className="facts"))
    return section("Limits", [html.Ul(rows, className="limits"), *notes], tools=more)
