"""The table of limiters: its columns, its rows in words, its filters as links. In: rows and an address. Out: plain values and links."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import set_by_words
from throttlescope.app.presentation.limits import KnownLimit, planned_read
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import view_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.limiters import LOOSE_SHARE, NEAR_SHARE, Known
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import level_words

_NEAR, _LOOSE = f"{NEAR_SHARE * 100:.0f} %", f"{LOOSE_SHARE * 100:.0f} %"


def set_by_short() -> dict:
    """Short forms for a column and for links; the full names are in :func:`set_by_words`."""
    return {
        "subscription_policy": sentence("label.subscription_policy"),
        "topic_policy": sentence("label.topic_policy"),
        "global_topic_policy": sentence("label.global_topic_policy"),
        "namespace_policy": sentence("label.namespace_policy"),
        "broker_dynamic": sentence("label.broker_dynamic"),
        "broker_file": sentence("label.broker_file"),
        "none": sentence("label.not_set"),
    }


def columns(known: Known, zone: str = "UTC") -> list[dict]:
    """The table's columns; use is over the range that was read."""
    length = fmt.duration(known.use_ms)
    return [
        {
            "field": "owner",
            "headerName": sentence("label.limit_of"),
            "cellRenderer": "SubscriptionLink",
            "flex": 4,
            "minWidth": 190,
            "tooltipField": "owner",
        },
        {
            "field": "limiter",
            "headerName": sentence("label.limiter"),
            "width": 152,
            "tooltipField": "limiter_tip",
        },
        {
            "field": "rate",
            "headerName": sentence("label.limit"),
            "headerTooltip": sentence("limits.column.rate"),
            "width": 200,
            "tooltipField": "rate_tip",
        },
        {
            "field": "set_by",
            "headerName": sentence("label.set_by"),
            "headerTooltip": sentence("limits.column.set_by"),
            "width": 145,
            "tooltipField": "set_by_tip",
        },
        {
            "field": "share",
            "headerName": sentence("label.highest_use"),
            "headerTooltip": sentence("limits.column.share", length=length),
            "width": 105,
            "type": "rightAligned",
        },
        {
            "field": "near",
            "headerName": sentence("limits.column.near_head", near=_NEAR),
            "headerTooltip": sentence("limits.column.near", near=_NEAR, length=length),
            "width": 150,
            "type": "rightAligned",
        },
        {
            "field": "proof",
            "headerName": sentence("label.throttle_events_title"),
            "headerTooltip": sentence("limits.column.proof"),
            "width": 120,
            "tooltipField": "proof_tip",
            "sortable": False,
        },
        {
            "field": "shared_by",
            "headerName": sentence("label.shared_by"),
            "headerTooltip": sentence("limits.column.shared_by"),
            "width": 95,
            "type": "rightAligned",
        },
        {
            "field": "observed",
            "headerName": sentence("label.last_read_zone", zone=zone),
            "headerTooltip": sentence("limits.column.observed"),
            "width": 125,
            "tooltipField": "observed_tip",
        },
        {
            "field": "cluster",
            "headerName": sentence("label.cluster"),
            "flex": 2,
            "minWidth": 100,
            "tooltipField": "cluster",
        },
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
        return fmt.name(row["broker"], 80) if row["broker"] else sentence("limits.cell.broker_unknown")
    topic = fmt.topic_name(row["topic"], row["partition"])
    if row["subscription"] is None:
        return topic
    subscription = fmt.name(row["subscription"], 80)
    return sentence("limits.cell.subscription_on_topic", subscription=subscription, topic=topic)


def grid_row(row: dict) -> dict:
    """One row of the table, in words; the browser only draws it."""
    limit = limit_of(row)
    member = SubscriptionPartition(**row["member"])
    known = row["minutes"]
    rate, rate_tip = limit.amount(), limit.speed() if limit.rate is not None else sentence("label.no_limit")
    if limit.rate and row["r"]["relative"]:
        rate, rate_tip = f"{rate}+", sentence("limits.cell.relative", speed=rate_tip)
    return {
        "id": f"{row['cluster']} {row['limiter']} {row['owner']}",
        "href": LimitsAddress(subject=member).href(),
        "owner": owner_words(row),
        "limiter": row["limiter"],
        "limiter_tip": limit.name,
        "rate": rate,
        "rate_tip": rate_tip,
        "set_by": set_by_short()[row["r"]["set_by"]],
        "set_by_tip": set_by_words(row["r"]["set_by"]),
        "share": NONE if row["share"] is None else fmt.percent(row["share"]),
        "near": sentence("label.minutes_of", part=fmt.exact(row["near_minutes"]), whole=fmt.exact(known))
        if known
        else NONE,
        "proof": NONE
        if limit.rate is None
        else (sentence("label.marked_evidence") if limit.events_prove else sentence("label.prove_nothing")),
        "proof_tip": limit.proof(),
        "shared_by": fmt.exact(row["shared_by"]),
        "observed": fmt.day_clock(row["observed_ms"]),
        "observed_tip": sentence("limits.cell.read_at", at=fmt.moment(row["observed_ms"])),
        "cluster": fmt.name(row["cluster"]),
    }


def uses(address: LimitsAddress, known: Known) -> list[dcc.Link]:
    """All, those that are nearly used up, those that are not half used; filters are kept."""
    length = fmt.duration(known.use_ms)
    return [
        view_link(
            label,
            replace(address, use=use).href(),
            chosen=use == address.use,
            title=sentence(f"limits.use.{use or 'all'}", near=_NEAR, loose=_LOOSE, length=length),
        )
        for use, label in (
            (None, sentence("label.all")),
            ("often", sentence("label.often_reached")),
            ("never", sentence("label.never_above_50_percent")),
        )
    ]


def toggles(address: LimitsAddress) -> list:
    """Levels and who set them, as links that add one to the filter or remove it."""
    return [
        html.Span(sentence("label.level"), className="quiet"),
        *(_toggle(address, "levels", level, level_words(level)) for level in LEVELS),
        html.Span(sentence("label.set_by_heading"), className="quiet"),
        *(
            _toggle(address, "set_by", word, label)
            for word, label in set_by_short().items()
            if word != "none" or address.without
        ),
        dcc.Link(
            sentence("limits.without"),
            href=replace(address, without=not address.without, set_by=()).href(),
            className="toggle chosen" if address.without else "toggle",
            title=sentence("limits.without_hint"),
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
            sentence("limits.not_read.title"),
            [sentence("limits.not_read.why"), sentence("limits.not_read.fix")],
        )
    if not total and not known.limiters and not address.without:
        return panel(
            sentence("limits.none_set.title"),
            [sentence("limits.none_set.why")],
            next_step=dcc.Link(sentence("limits.none_set.link"), href=LimitsAddress(without=True).href()),
        )
    if not total:
        return panel(
            sentence("limits.no_match.title"),
            [sentence(f"limits.no_match.use.{address.use or 'all'}", known=fmt.exact(known.limiters))],
            next_step=dcc.Link(sentence("limits.no_match.link"), href=LimitsAddress().href()),
        )
    if total == 1:
        return [sentence("limits.status.one")]
    return [sentence("limits.status.many", number=fmt.exact(total))]


def not_known(known: Known) -> list:
    """Of how many subscriptions a limit is not known, in words."""
    missing = [(level, count) for level, count in known.unknown.items() if count > 0]
    if known.observed_ms is None or not missing:
        return []
    levels = [
        sentence("limits.unknown.level", level=level_words(level), number=fmt.exact(count))
        for level, count in missing
    ]
    text = sentence("limits.unknown", levels=levels, subscriptions=fmt.exact(known.subscriptions))
    return [html.P(text, className="facts")]
