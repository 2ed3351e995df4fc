"""The slow twin of ``ingest/quality/flow_balance.py``: one subscription's hour at a time, minute by minute."""

import math


def naive_flow_balance(minutes):
    """Return (entries that nothing explains, reason not to judge or None) of rows of ``signals``, one per minute, as dicts."""
    minutes = sorted(minutes, key=lambda row: row["minute_ms"])
    first, later = minutes[0], minutes[1:]
    if len(minutes) < 15:
        return 0, "flow_not_judged_short"
    span = (minutes[-1]["minute_ms"] - first["minute_ms"]) // 60_000 + 1
    without = [row for row in minutes if row["backlog_entries"] is None or row["ack_msg_rate"] is None]
    if span != len(minutes) or without or sum(row["in_msg_delta"] is None for row in minutes) > 1:
        return 0, "flow_not_judged_holes"
    kinds = {row["subscription_type"] for row in minutes}
    is_shared = kinds & {"Shared", "Key_Shared"} or any((row["unacked_msg"] or 0) > 0 for row in minutes)
    if kinds & {"Exclusive", "Failover"} or not is_shared:
        return 0, "flow_not_judged_cumulative"
    if any(
        row["messages_per_entry"] is None or not 0.99 <= row["messages_per_entry"] <= 1.01 for row in minutes
    ):
        return 0, "flow_not_judged_batched"
    for row in minutes:
        moved = (row["counter_resets"] or 0) > 0 or row["broker_changed"]
        if moved or (row["quota_evictions_5m"] or 0) > 0 or (row["filter_rejected_entry_rate_5m"] or 0) > 0:
            return 0, "flow_not_judged_otherwise"
    gained = minutes[-1]["backlog_entries"] - first["backlog_entries"]
    explained = sum(
        (row["in_msg_delta"] or 0) - 60 * row["ack_msg_rate"] - (row["expired_msg_delta"] or 0)
        for row in later
    )
    peak = max(max(row["in_msg_delta"] or 0, 60 * row["ack_msg_rate"]) for row in minutes)
    apart = abs(gained - explained)
    return (0 if apart <= 3 * peak + 4 else math.ceil(apart)), None
