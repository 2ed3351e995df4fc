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


def columns(view: str, zone: str = "UTC") -> list[dict]:
    """The table's columns; both views name the same things by the same fields."""
    names = [
        {
            "field": "subscription",
            "headerName": sentence("label.subscription"),
            "cellRenderer": "SubscriptionLink",
            "flex": 2,
            "minWidth": 112,
            "tooltipField": "subscription",
        },
        {
            "field": "topic",
            "headerName": sentence("label.topic_title"),
            "flex": 4,
            "minWidth": 164,
            "tooltipField": "topic",
        },
        {
            "field": "partition",
            "headerName": sentence("label.partition_short"),
            "headerTooltip": sentence("subscriptions.column.partition", none=NONE),
            "width": 50,
            "type": "rightAligned",
        },
        {
            "field": "cluster",
            "headerName": sentence("label.cluster"),
            "flex": 2,
            "minWidth": 92,
            "tooltipField": "cluster",
        },
    ]
    is_now, recent = view == NOW, fmt.duration(RECENT_MS)
    shown = "now" if is_now else "recent"
    cause = {
        "field": "cause",
        "headerName": sentence("label.cause_now")
        if is_now
        else sentence("label.main_cause_of", length=recent),
        "headerTooltip": sentence(f"subscriptions.column.cause.{shown}", length=recent),
        "cellRenderer": "CauseBadge",
        "width": 210,
        "tooltipField": "cause_tip",
    }
    confidence = {
        "field": "confidence",
        "headerName": sentence("label.confidence"),
        "headerTooltip": sentence(f"subscriptions.column.confidence.{shown}"),
        "width": 86,
        "type": "rightAligned",
    }
    backlog = {
        "field": "backlog",
        "headerName": sentence("label.backlog_entries_title")
        if is_now
        else sentence("label.largest_entries"),
        "headerTooltip": sentence("subscriptions.column.backlog"),
        "width": 120,
        "type": "rightAligned",
        "tooltipField": "backlog_exact",
    }
    trend = {
        "field": "trend",
        "headerName": sentence("label.backlog_of", length=recent),
        "headerTooltip": sentence("subscriptions.column.trend", length=recent),
        "cellRenderer": "Sparkline",
        "width": 112,
        "sortable": False,
        "tooltipField": "trend_words",
    }
    growth = {
        "field": "growth",
        "headerName": sentence("label.change_entries"),
        "headerTooltip": sentence("subscriptions.column.growth"),
        "width": 110,
        "type": "rightAligned",
        "tooltipField": "growth_exact",
    }
    duration = {
        "field": "held",
        "headerName": sentence("label.duration"),
        "headerTooltip": sentence(f"subscriptions.column.duration.{shown}"),
        "width": 76,
        "tooltipField": "held_tip",
    }
    when = {
        "field": "when",
        "headerName": sentence("label.between_zone", zone=zone),
        "width": 116,
        "tooltipField": "held_tip",
    }
    other = {
        "field": "other",
        "headerName": sentence("label.before_last", length=recent) if is_now else sentence("label.now_title"),
        "headerTooltip": sentence(f"subscriptions.column.other.{shown}", length=recent),
        "cellRenderer": "CauseBadge",
        "width": 140,
        "tooltipField": "other_tip",
    }
    naive = {
        "field": "naive",
        "headerName": sentence("label.naive_rule_says"),
        "headerTooltip": sentence("subscriptions.column.naive"),
        "width": 110,
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
    now = badge_cells(
        "cause",
        row["cause"],
        row["limiter"],
        sentence("subscriptions.cell.ended") if row["stale"] else "",
        ended,
    )
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
        between = sentence(
            "label.range_words", low=fmt.clock(row["main_from_ms"])[:5], high=fmt.clock(row["main_to_ms"])[:5]
        )
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
            "held_tip": sentence(
                "label.between", start=fmt.moment(row["main_from_ms"]), end=fmt.moment(row["main_to_ms"])
            ),
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
            "other": sentence(
                "label.cause_length", cause=other["other"], length=fmt.duration(row["main_held_ms"])
            ),
            "other_tip": sentence(
                "label.until_time", text=other["other_tip"], at=fmt.moment(row["main_to_ms"])
            ),
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
        "held_tip": sentence(
            f"subscriptions.cell.held.{'since_at_least' if at_least else 'since'}",
            at=fmt.moment(row["since_ms"]),
            ended=ended,
        ),
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
