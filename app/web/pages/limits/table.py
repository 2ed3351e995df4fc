"""The table of limiters: its columns, its rows in words, its filters as links. In: rows and an address. Out: plain values and links."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LEVEL_WORDS, SET_BY_WORDS
from throttlescope.app.presentation.limits import KnownLimit, planned_read
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import view_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.limiters import LOOSE_SHARE, NEAR_SHARE, Known
from throttlescope.ingest.contracts.vocabulary import LEVELS

#: Short forms for a column and for links; the full names are in :data:`SET_BY_WORDS`.
SET_BY_SHORT = {
    "subscription_policy": "subscription policy",
    "topic_policy": "topic policy",
    "global_topic_policy": "global topic policy",
    "namespace_policy": "namespace policy",
    "broker_dynamic": "broker, dynamic",
    "broker_file": "broker, file",
    "none": "not set",
}


def columns(known: Known, zone: str = "UTC") -> list[dict]:
    """The table's columns; use is over the range that was read."""
    over = f"in the newest {fmt.duration(known.use_ms)}"
    return [
        {
            "field": "owner",
            "headerName": "Limit of",
            "cellRenderer": "SubscriptionLink",
            "flex": 4,
            "minWidth": 190,
            "tooltipField": "owner",
        },
        {"field": "limiter", "headerName": "Limiter", "width": 152, "tooltipField": "limiter_tip"},
        {
            "field": "rate",
            "headerName": "Limit",
            "headerTooltip": "as configured, per period; sorted per second",
            "width": 200,
            "tooltipField": "rate_tip",
        },
        {
            "field": "set_by",
            "headerName": "Set by",
            "headerTooltip": "which record won; it wins whole",
            "width": 145,
            "tooltipField": "set_by_tip",
        },
        {
            "field": "share",
            "headerName": "Fullest",
            "headerTooltip": f"largest use / limit of a minute {over}, use summed over all that share it",
            "width": 90,
            "type": "rightAligned",
        },
        {
            "field": "near",
            "headerName": f"At {NEAR_SHARE * 100:.0f} % or more",
            "headerTooltip": f"minutes with at least {NEAR_SHARE * 100:.0f} % of it used, of those that are known, {over}",
            "width": 125,
            "type": "rightAligned",
        },
        {
            "field": "proof",
            "headerName": "Its events",
            "headerTooltip": "whether throttle events of this limit prove that it was exhausted",
            "width": 120,
            "tooltipField": "proof_tip",
            "sortable": False,
        },
        {
            "field": "shared_by",
            "headerName": "Shared by",
            "headerTooltip": "subscription partitions that share it",
            "width": 95,
            "type": "rightAligned",
        },
        {
            "field": "observed",
            "headerName": f"Read, {zone}",
            "headerTooltip": "when the admin API answered last",
            "width": 115,
            "tooltipField": "observed_tip",
        },
        {"field": "cluster", "headerName": "Cluster", "flex": 2, "minWidth": 100, "tooltipField": "cluster"},
    ]


def limit_of(row: dict) -> KnownLimit:
    """A row as a limit in words."""
    level, unit = row["limiter"].split(".")
    r = row["r"]
    planned = planned_read(r["read_size_bytes"], r["read_batch_entries"], unit)
    return KnownLimit(
        level, unit, r["rate"], r["period_s"], r["counts"], r["set_by"], planned, row["share"], changed=False
    )


def owner_words(row: dict) -> str:
    """Who has the limiter."""
    if row["topic"] is None:
        return fmt.name(row["broker"], 80) if row["broker"] else "a broker that is not known"
    topic = fmt.topic_name(row["topic"], row["partition"])
    return topic if row["subscription"] is None else f"{fmt.name(row['subscription'], 80)} on {topic}"


def grid_row(row: dict) -> dict:
    """One row of the table, in words; the browser only draws it."""
    limit = limit_of(row)
    member = SubscriptionPartition(**row["member"])
    known = row["minutes"]
    relative = ", relative to the publish rate" if row["r"]["relative"] else ""
    return {
        "id": f"{row['cluster']} {row['limiter']} {row['owner']}",
        "href": LimitsAddress(subject=member).href(),
        "owner": owner_words(row),
        "limiter": row["limiter"],
        "limiter_tip": limit.name,
        "rate": limit.amount() + ("+" if relative and limit.rate else ""),
        "rate_tip": "no limit" if limit.rate is None else f"{limit.speed()}{relative}",
        "set_by": SET_BY_SHORT[row["r"]["set_by"]],
        "set_by_tip": SET_BY_WORDS[row["r"]["set_by"]],
        "share": NONE if row["share"] is None else fmt.percent(row["share"]),
        "near": f"{fmt.exact(row['near_minutes'])} of {fmt.exact(known)} m" if known else NONE,
        "proof": NONE if limit.rate is None else ("✓ evidence" if limit.events_prove else "prove nothing"),
        "proof_tip": limit.proof(),
        "shared_by": fmt.exact(row["shared_by"]),
        "observed": fmt.day_clock(row["observed_ms"]),
        "observed_tip": f"read at {fmt.moment(row['observed_ms'])}",
        "cluster": fmt.name(row["cluster"]),
    }


def uses(address: LimitsAddress, known: Known) -> list[dcc.Link]:
    """All, those that are nearly used up, those that are not half used; filters are kept."""
    over = f"in the newest {fmt.duration(known.use_ms)}"
    return [
        view_link(label, replace(address, use=use).href(), chosen=use == address.use, title=title)
        for use, label, title in (
            (None, "all", "every limit that is known"),
            (
                "often",
                "often reached",
                f"{NEAR_SHARE * 100:.0f} % or more used in a minute {over}, most minutes first",
            ),
            (
                "never",
                "never half used",
                f"below {LOOSE_SHARE * 100:.0f} % in every minute that is known {over}",
            ),
        )
    ]


def toggles(address: LimitsAddress) -> list:
    """Levels and who set them, as links that add one to the filter or remove it."""
    return [
        html.Span("level", className="quiet"),
        *(_toggle(address, "levels", level, LEVEL_WORDS[level]) for level in LEVELS),
        html.Span("set by", className="quiet"),
        *(
            _toggle(address, "set_by", word, label)
            for word, label in SET_BY_SHORT.items()
            if word != "none" or address.without
        ),
        dcc.Link(
            "levels without a limit too",
            href=replace(address, without=not address.without, set_by=()).href(),
            className="toggle chosen" if address.without else "toggle",
            title="levels that were read and have no limit",
        ),
    ]


def _toggle(address: LimitsAddress, part: str, word: str, label: str) -> dcc.Link:
    chosen = word in getattr(address, part)
    return dcc.Link(
        [html.Span("✓ " if chosen else "", **{"aria-hidden": "true"}), label],
        href=address.toggled(part, word).href(),
        className="toggle chosen" if chosen else "toggle",
    )


def status(address: LimitsAddress, known: Known, total: int):
    """How many there are, or why there are none."""
    if known.observed_ms is None:
        return panel(
            "No limits were read yet.",
            [
                "No metric carries a limit: they are resolved from what the admin API answers.",
                "Give it to a run: throttlescope run --prometheus URL --pulsar-admin URL --lake DIR.",
            ],
        )
    if not total and not known.limiters and not address.without:
        return panel(
            "No dispatch limit is in force.",
            ["The admin API was read, and no limit is set on any level."],
            next_step=dcc.Link("Show the levels that were read", href=LimitsAddress(without=True).href()),
        )
    if not total:
        words = {
            "often": "No limit that matches these filters was nearly used up in the range that was read.",
            "never": "Every limit that matches these filters and whose use is known was at least half used.",
            None: f"{fmt.exact(known.limiters)} limits are known; none matches the search and the filters.",
        }
        return panel(
            "No limit matches these filters.",
            [words[address.use]],
            next_step=dcc.Link("Show all limits", href=LimitsAddress().href()),
        )
    noun = "limiter" if total == 1 else "limiters"
    return [f"{fmt.exact(total)} {noun}. Enter or a click shows which record won, and what was read."]


def not_known(known: Known) -> list:
    """Of how many subscriptions a limit is not known, in words."""
    missing = [(level, count) for level, count in known.unknown.items() if count > 0]
    if known.observed_ms is None or not missing:
        return []
    words = ", ".join(f"the {LEVEL_WORDS[level]} limit of {fmt.exact(count)}" for level, count in missing)
    return [
        html.P(
            f"Not known: {words} of {fmt.exact(known.subscriptions)} subscription partitions. Either the admin API was not "
            "queried for them, or an answer that they depend on is missing (a broker's runtime configuration, a policy that "
            "may not be read). An unknown limit is not the absence of one. Limits of replicators, publishing and resource groups are not resolved.",
            className="facts",
        )
    ]
