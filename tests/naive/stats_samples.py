"""Snapshots by the minute the slow way: one subscription, one minute, one snapshot after the other.

In: rows of ``topic_stats`` as dicts. Out: the ``stats_*`` columns of one row of ``signals``, None where nothing is known.
"""

from __future__ import annotations

MINUTE_MS = 60_000
NEAR_MS = 300_000


def minute_stats(rows: list[dict], minute_ms: int, newest_ms: int, consumers: int | None = None) -> dict:
    """What the snapshots of one subscription partition say of the minute that starts at ``minute_ms``.

    Those with another number of consumers than was scraped at its end are left out.
    """
    mine = sorted(
        (
            row
            for row in rows
            if counts_for(row["observed_ms"], newest_ms) == minute_ms
            and consumers in (None, row["consumers"])
        ),
        key=lambda row: row["observed_ms"],
    )
    if not mine:
        return {}
    newest = mine[-1]
    return {
        "stats_samples": len(mine),
        "stats_newest_ms": newest["observed_ms"],
        "stats_starved_share": mean([starved(row) for row in mine]),
        "stats_fill_share": mean([fill(row) for row in mine]),
        "stats_uneven_share": mean([uneven(row) for row in mine]),
        "stats_blocked_share": mean([blocked(row) for row in mine]),
        "stats_draining_share": mean([row["draining_hashes"] > 0 for row in mine]),
        "stats_ack_msg_rate_min": newest.get("ack_msg_rate_min"),
        "stats_ack_msg_rate_max": newest.get("ack_msg_rate_max"),
        "stats_backlog_age_s": newest.get("backlog_age_s"),
        "stats_replicated": newest.get("replicated"),
        "stats_paused_share": mean([paused(row) for row in mine]),
        "stats_connection_pauses": newest.get("connection_pauses"),
        "stats_pausing_topic": newest.get("pausing_topic"),
    }


def counts_for(observed_ms: int, newest_ms: int) -> int | None:
    """Start of the minute that a snapshot counts for."""
    newest_minute_ms = newest_ms - newest_ms % MINUTE_MS
    before = observed_ms - observed_ms % MINUTE_MS
    if observed_ms <= newest_ms:
        # The minute that ended last, or the one that is under way, whichever end is nearer.
        return before - MINUTE_MS if observed_ms - before < MINUTE_MS // 2 else before
    if observed_ms > newest_minute_ms + MINUTE_MS + NEAR_MS:
        return None
    return min(before - MINUTE_MS, newest_minute_ms)


def starved(row: dict) -> float | None:
    if row["consumers"] == 0:
        return None
    if one_active(row):
        permits = row.get("active_permits")
        return None if permits is None else float(permits <= 0)
    if row["subscription_type"] == "Key_Shared":
        without = row.get("consumers_without_permits")
        return None if without is None else without / row["consumers"]
    return None if row.get("permits_max") is None else float(row["permits_max"] <= 0)


def fill(row: dict) -> float | None:
    if row["consumers"] == 0 or one_active(row) or row.get("permits_max") is None:
        return None
    room = row["consumers"] * max(0.0, (row["permits_min"] + row["permits_max"]) / 2)
    held = row["unacked_msg"] + room
    return row["unacked_msg"] / held if held > 0 else None


def uneven(row: dict) -> float | None:
    without = row.get("consumers_without_permits")
    if row["consumers"] == 0 or one_active(row) or without is None:
        return None
    return float(0 < without < row["consumers"])


def blocked(row: dict) -> float | None:
    found = row.get("consumers_blocked")
    if row["consumers"] == 0 or one_active(row) or found is None:
        return None
    return float(found >= row["consumers"])


def paused(row: dict) -> float | None:
    found = row.get("consumers_paused")
    return None if row["consumers"] == 0 or found is None else found / row["consumers"]


def one_active(row: dict) -> bool:
    return row["subscription_type"] in ("Exclusive", "Failover")


def mean(values: list) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
