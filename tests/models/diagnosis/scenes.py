"""Windows to judge. In: what differs from a healthy Shared subscription. Out: a window of five minutes.

A value is the same in every minute, or a list with one value per minute. Rates are given per second; the counters'
differences are made from them.
"""

from __future__ import annotations

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey, Window

START_MS = 1_795_000_200_000  # a multiple of five minutes
KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 3, "billing")

HEALTHY = {
    "backlog": 4.0,  # entries, ready and not
    "low": None,  # entries, at the lowest and the highest scrape of a minute; None: as at its end
    "peak": None,
    "delayed": 0.0,
    "in_rate": 100.0,  # msg/s
    "out_rate": 100.0,
    "ack_rate": 100.0,
    "message_bytes": 1000.0,
    "redeliver_rate": 0.0,
    "expired": 0.0,  # entries per minute
    "consumers": 2.0,
    "unacked": 0.0,
    "blocked": 0.0,
    "permits": 900.0,  # of each consumer
    "starved": 0.0,  # share of samples without permits
    # Snapshots of the admin API's stats in each minute, and the shares of them that their columns are named for.
    "stats": None,
    "stats_starved": None,
    "stats_fill": None,
    "stats_uneven": None,
    "stats_blocked": None,
    "stats_draining": None,
    "replicated": None,
    "kind": "Shared",
    "per_entry": 1.0,
    "coverage": 1.0,
    "flow_age_s": 1.0,
    "ack_age_s": 1.0,
    "resets": 0,
    "moved": False,
    "brokers": 1,  # that show it at the same time
    "limits_observed": True,
    "observed_later": False,
    "limits_age_s": 60.0,  # at the window's end
    "read_batch": 100,  # entries; None: not read
    "exempt": False,
    "broker_read": 1.0,  # share of what uses a limit that was read
    "topic_read": 1.0,
    "limit_changed": False,
    "counts": "messages",
    "relative": False,
    "misses": 0.0,
    "written": None,  # entries/s
    "parents": None,  # entries of the segments that it came from
    "successors": None,  # consumers of the segments that came from it
    "replay": 0.0,  # entries
    # Of the consumers: how many without permits, blocked; messages/s that the slowest and fastest acknowledge.
    "without_permits": 0.0,
    "consumers_blocked": 0.0,
    "slowest_acks": 50.0,
    "fastest_acks": 50.0,
    "filtered": (0.0, 0.0, 0.0),  # entries/s that filters processed, rejected, put off
    "evictions": 0.0,
    "reads_inflight": 0.0,  # bytes
    "reads_free": 0.0,
    "mark_delete_age_s": 1.0,
    "topic_age_s": None,  # of the topic's oldest message, and of the subscription's
    "own_age_s": None,
    # Share of the consumers on a paused connection, as the admin API's stats show; None: not read.
    "paused": None,
    "stats_age_s": None,  # of the latter, in the admin API
    # Minutes before the window, oldest first: each says what differs from a healthy minute.
    "before": (),
    # Of each limiter that is named below: limit per period, period, rho, events per second, duty.
    "limits": {},
    "counters": True,
}


def scene(minutes: int = 5, **changes) -> Window:
    """A window that is healthy but for ``changes``.

    Parameters
    ----------
    before : sequence of dict
        Minutes before the window, each what differs from a healthy one.
    limits : dict
        ``{"subscription.msg": {"limit": 50, "rho": 0.99, "events": 2.0}}``; ``events`` are per second, ``period_s``
        is 1 and ``duty`` 1 where there are events, unless given.
    """
    given = HEALTHY | changes
    unknown = set(given) - set(HEALTHY)
    assert not unknown, f"no such thing in a scene: {unknown}"
    rows = [_row(i, given) for i in range(minutes)]
    window = Window.of_rows(KEY, START_MS, START_MS + 5 * MINUTE_MS, rows)
    if not given["before"]:
        return window
    earlier = [_row(i - len(given["before"]), HEALTHY | one) for i, one in enumerate(given["before"])]
    columns = {
        name: [*(row.get(name) for row in earlier), *values] for name, values in window.columns.items()
    }
    return Window(KEY, window.start_ms, window.end_ms, columns, len(earlier), len(earlier) + window.high)


def _row(i: int, given: dict) -> dict:
    def at(value):
        return value[i] if isinstance(value, list) else value

    def per_minute(rate):
        return None if rate is None else rate * 60.0

    now = {name: at(value) for name, value in given.items() if name not in ("limits", "before")}
    ready = None if None in (now["backlog"], now["delayed"]) else now["backlog"] - now["delayed"]
    size = now["message_bytes"]
    row = {
        **KEY._asdict(),
        "minute_ms": START_MS + i * MINUTE_MS,
        "backlog_entries": now["backlog"],
        "backlog_ready_entries": ready,
        "backlog_ready_low_entries": ready if now["low"] is None else now["low"],
        "backlog_ready_peak_entries": ready if now["peak"] is None else now["peak"],
        "delayed_entries": now["delayed"],
        "unacked_msg": now["unacked"],
        "blocked_on_unacked": now["blocked"],
        "consumers": now["consumers"],
        "parent_backlog_entries": now["parents"],
        "successor_consumers": now["successors"],
        "replay_entries": now["replay"],
        "consumers_without_permits": now["without_permits"],
        "consumers_blocked_on_unacked": now["consumers_blocked"],
        "consumer_ack_msg_rate_min": now["slowest_acks"],
        "consumer_ack_msg_rate_max": now["fastest_acks"],
        "filter_processed_entry_rate_5m": now["filtered"][0],
        "filter_rejected_entry_rate_5m": now["filtered"][1],
        "filter_rescheduled_entry_rate_5m": now["filtered"][2],
        "quota_evictions_5m": now["evictions"],
        "reads_inflight_bytes": now["reads_inflight"],
        "reads_available_inflight_bytes": now["reads_free"],
        "mark_delete_age_s": now["mark_delete_age_s"],
        "backlog_age_s": now["topic_age_s"],
        "subscription_backlog_age_s": now["own_age_s"],
        "stats_backlog_age_s": now["stats_age_s"],
        "stats_paused_share": now["paused"],
        "stats_connection_pauses": 240.0 if now["paused"] else now["paused"],
        "stats_pausing_topic": "persistent://acme/shop/imports" if now["paused"] else None,
        "permits_min": now["permits"],
        "permits_max": now["permits"],
        "permits_exhausted_share": now["starved"],
        "stats_samples": now["stats"],
        "stats_replicated": now["replicated"],
        "stats_newest_ms": START_MS + (i + 1) * MINUTE_MS - 20_000 if now["stats"] else None,
        **{
            f"stats_{name}_share": now[f"stats_{name}"]
            for name in ("starved", "fill", "uneven", "blocked", "draining")
        },
        "in_msg_rate_5m": now["in_rate"],
        "out_msg_rate_5m": now["out_rate"],
        "in_msg_delta": per_minute(now["in_rate"]),
        "out_msg_delta": per_minute(now["out_rate"]),
        "in_bytes_delta": None if now["in_rate"] is None else now["in_rate"] * 60 * size,
        "out_bytes_delta": None if now["out_rate"] is None else now["out_rate"] * 60 * size,
        "ack_msg_rate": now["ack_rate"],
        "redeliver_msg_rate": now["redeliver_rate"],
        "expired_msg_delta": now["expired"],
        "read_cache_miss_entry_rate": now["misses"],
        "write_entry_rate": now["written"],
        "last_flow_age_s": now["flow_age_s"],
        "last_ack_age_s": now["ack_age_s"],
        "coverage_share": now["coverage"],
        "scrape_interval_ms": 15_000,
        "delta_span_ms": 60_000,
        "in_span_ms": 60_000,
        "events_span_ms": 60_000,
        "counter_resets": now["resets"],
        "broker": "broker-0:8080",
        "broker_changed": now["moved"],
        "brokers_serving": now["brokers"],
        "limits_observed": now["limits_observed"],
        "limits_observed_ms": (
            START_MS + 5 * MINUTE_MS - round(now["limits_age_s"] * 1000) if now["limits_observed"] else None
        ),
        "limit_observed_later": now["observed_later"],
        "limits_changed": now["limit_changed"],
        "limit_counts": now["counts"],
        "exempt_caught_up": now["exempt"],
        "broker_read_share": now["broker_read"],
        "topic_read_share": now["topic_read"],
        "relative_to_publish": now["relative"],
        "read_batch_entries": now["read_batch"],
        "read_size_bytes": 5_242_880,
        "subscription_type": now["kind"],
        "messages_per_entry": now["per_entry"],
    }
    for level in LEVELS:
        row[f"limit_{level}_set_by"] = "none" if now["limits_observed"] else None
        for unit in UNITS:
            row[f"throttled_{unit}_events_{level}_delta"] = 0.0 if now["counters"] else None
            row[f"throttled_{unit}_duty_{level}_share"] = 0.0 if now["counters"] else None
    for name, limiter in given["limits"].items():
        level, unit = name.split(".")
        limiter = {key: at(value) for key, value in limiter.items()}
        events = limiter.get("events", 0.0)
        row[f"throttled_{unit}_events_{level}_delta"] = per_minute(events)
        row[f"throttled_{unit}_duty_{level}_share"] = limiter.get("duty", 1.0 if events else 0.0)
        if "limit" in limiter and now["limits_observed"]:
            row[f"limit_{level}_{unit}"] = limiter["limit"]
            row[f"limit_{level}_period_s"] = limiter.get("period_s", 1)
            row[f"limit_{level}_set_by"] = "topic_policy"
            row[f"rho_{level}_{unit}"] = limiter.get("rho")
    return row


def growing(start: float, per_s: float, minutes: int = 5) -> list[float]:
    """A backlog that grows evenly, at the ends of the minutes."""
    return [start + per_s * 60 * (i + 1) for i in range(minutes)]
