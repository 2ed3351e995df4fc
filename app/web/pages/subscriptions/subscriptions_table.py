"""The table of subscriptions: its columns and its rows in words. In: rows and a view. Out: plain values; the browser only draws them."""

from __future__ import annotations

from collections.abc import Sequence

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.answer import cause_is_open
from throttlescope.app.presentation.causes import SIDES
from throttlescope.app.presentation.figures.sparkline import backlog_path
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.components.grid import NONE, badge_cells, or_none
from throttlescope.app.web.data.latest import RECENT_MS
from throttlescope.app.web.data.newest import NOW, RECENT
from throttlescope.models.messages.catalogue import sentence

_RECENT = fmt.duration(RECENT_MS)


def columns(view: str, zone: str = "UTC") -> list[dict]:
    """The table's columns; both views name the same things by the same fields."""
    names = [
        {
            "field": "subscription",
            "headerName": "Subscription",
            "cellRenderer": "SubscriptionLink",
            "flex": 2,
            "minWidth": 120,
            "tooltipField": "subscription",
        },
        {"field": "topic", "headerName": "Topic", "flex": 4, "minWidth": 170, "tooltipField": "topic"},
        {
            "field": "partition",
            "headerName": "Part.",
            "headerTooltip": sentence("subscriptions.column.partition", none=NONE),
            "width": 56,
            "type": "rightAligned",
        },
        {"field": "cluster", "headerName": "Cluster", "flex": 2, "minWidth": 105, "tooltipField": "cluster"},
    ]
    is_now = view == NOW
    shown = "now" if is_now else "recent"
    cause = {
        "field": "cause",
        "headerName": "Cause now" if is_now else f"Main cause, {_RECENT}",
        "headerTooltip": sentence(f"subscriptions.column.cause.{shown}", length=_RECENT),
        "cellRenderer": "CauseBadge",
        "width": 218,
        "tooltipField": "cause_tip",
    }
    confidence = {
        "field": "confidence",
        "headerName": "Confidence",
        "headerTooltip": sentence(f"subscriptions.column.confidence.{shown}"),
        "width": 92,
        "type": "rightAligned",
    }
    backlog = {
        "field": "backlog",
        "headerName": "Backlog, entries" if is_now else "Largest, entries",
        "headerTooltip": sentence("subscriptions.column.backlog"),
        "width": 120,
        "type": "rightAligned",
        "tooltipField": "backlog_exact",
    }
    trend = {
        "field": "trend",
        "headerName": f"Backlog, {_RECENT}",
        "headerTooltip": sentence("subscriptions.column.trend", length=_RECENT),
        "cellRenderer": "Sparkline",
        "width": 152,
        "sortable": False,
        "tooltipField": "trend_words",
    }
    growth = {
        "field": "growth",
        "headerName": "Change, entries",
        "headerTooltip": sentence("subscriptions.column.growth"),
        "width": 118,
        "type": "rightAligned",
        "tooltipField": "growth_exact",
    }
    duration = {
        "field": "held",
        "headerName": "Duration",
        "headerTooltip": sentence(f"subscriptions.column.duration.{shown}"),
        "width": 82,
        "tooltipField": "held_tip",
    }
    when = {"field": "when", "headerName": f"Between, {zone}", "width": 124, "tooltipField": "held_tip"}
    other = {
        "field": "other",
        "headerName": f"Before, last {_RECENT}" if is_now else "Now",
        "headerTooltip": sentence(f"subscriptions.column.other.{shown}", length=_RECENT),
        "cellRenderer": "CauseBadge",
        "width": 172 if is_now else 112,
        "tooltipField": "other_tip",
    }
    naive = {
        "field": "naive",
        "headerName": "Naive rule says",
        "headerTooltip": sentence("subscriptions.column.naive"),
        "width": 118,
    }
    numbers = [backlog, trend, growth, duration] if is_now else [backlog, trend, duration, when]
    return [cause, confidence, *names, *numbers, other, naive]


def grid_row(row: dict, view: str, backlog: tuple[Sequence[dict], int, int] = ((), 0, 0)) -> dict:
    """One row of the table, in words; the browser only draws it.

    Parameters
    ----------
    backlog : (sequence of dict, int, int)
        Its episodes and the range [start, end) of the sparkline.
    """
    subscription = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    ended = ""
    if row["stale"]:
        ended = sentence("subscriptions.cell.last_seen", at=fmt.moment(row["window_end_ms"]))
    now = badge_cells("cause", row["cause"], row["limiter"], " (ended)" if row["stale"] else "", ended)
    shared = {
        "subscription": fmt.name(row["subscription"]),
        "topic": fmt.topic_name(row["topic"], -1),
        "partition": NONE if row["partition"] < 0 else str(row["partition"]),
        "cluster": fmt.name(row["cluster"]),
        **_trend(*backlog),
    }
    plain = SubscriptionAddress(subscription).href()
    of_main_cause = SubscriptionAddress(subscription, at_ms=row["main_to_ms"]).href()
    differs = row["main_cause"] is not None and row["main_cause"] != row["cause"]
    if view == RECENT and row["main_cause"] is not None:
        between = f"{fmt.clock(row['main_from_ms'])[:5]} to {fmt.clock(row['main_to_ms'])[:5]}"
        return {
            **shared,
            "id": plain,
            # A click opens the window that the row is about.
            "href": of_main_cause if differs else plain,
            **badge_cells("cause", row["main_cause"], row["main_limiter"]),
            "confidence": _sure(row["main_cause"], row["main_confidence"]),
            "backlog": or_none(row["main_peak_entries"], _whole),
            "backlog_exact": fmt.exact(row["main_peak_entries"]),
            "held": fmt.duration(row["main_held_ms"]),
            "held_tip": f"between {fmt.moment(row['main_from_ms'])} and {fmt.moment(row['main_to_ms'])}",
            "when": between,
            **{key.replace("cause", "other", 1): value for key, value in now.items()},
            "other_extra": "",
            "other_href": plain if differs else "",
            "naive": _naive(row["main_naive_side"], row["main_side"]),
        }
    at_least = "≥ " if row["since_at_least"] else ""
    other = (
        badge_cells("other", row["main_cause"], None)
        if differs and row["main_cause"] != "healthy"
        else {"other": ""}
    )
    if other["other"]:
        other |= {
            "other": f"{other['other']}, {fmt.duration(row['main_held_ms'])}",
            "other_tip": f"{other['other_tip']}, until {fmt.moment(row['main_to_ms'])}",
            "other_href": of_main_cause,
        }
    return {
        **shared,
        "id": plain,
        "href": plain,
        **now,
        "confidence": _sure(row["cause"], row["confidence"]),
        "backlog": or_none(row["backlog_entries"], _whole),
        "backlog_exact": fmt.exact(row["backlog_entries"]),
        "growth": or_none(row["backlog_growth_entries"], _whole_change),
        "growth_exact": fmt.exact(row["backlog_growth_entries"]),
        "held": at_least + fmt.duration(row["window_end_ms"] - row["since_ms"]),
        "held_tip": f"since {at_least}{fmt.moment(row['since_ms'])}{ended}",
        **other,
        "naive": _naive(row["naive_side"], row["side"]),
    }


def _trend(episodes: Sequence[dict], start_ms: int, end_ms: int) -> dict[str, str]:
    found = backlog_path(episodes, start_ms=start_ms, end_ms=end_ms)
    if found is None:
        return {"trend": "", "trend_words": sentence("subscriptions.cell.no_backlog")}
    path, high = found
    words = sentence("subscriptions.cell.backlog", high=fmt.short(round(high)), start=fmt.moment(start_ms))
    return {"trend": path, "trend_words": words}


def _sure(cause: str, confidence: float) -> str:
    return NONE if cause_is_open(cause, confidence) else fmt.percent(confidence)


def _naive(naive_side: str, side: str) -> str:
    naive = SIDES[naive_side]
    return "" if naive_side == side else f"{naive.mark} {naive.label}"


def _whole(entries: float) -> str:
    return fmt.short(round(entries))


def _whole_change(entries: float) -> str:
    return fmt.signed(round(entries))
