"""A fault for every check, and next to it data that is barely valid. In: the name of a gate. Out: rows of the tables that it reads.

By gate and check: what makes the check fail, and a sound neighbour that no check of the gate may find fault with. Each lies in a
cluster of its own, so that one lake holds them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

from tests.ingest.quality.rows import (
    HOUR,
    OUT,
    answer,
    block,
    limit,
    limits,
    series_of,
    signal,
    stats,
    verdict,
)
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

#: The hours that each gate checks, from :data:`HOUR` on: the first, and the one behind the last.
HOURS = {"door": (1, 4), "samples": (0, 2), "policies": (0, 26), "signals": (0, 1), "verdicts": (0, 1)}
DOOR_END_MS = HOUR + HOURS["door"][1] * BLOCK_MS
PERMITS, UNACKED = "pulsar_consumer_available_permits", "pulsar_subscription_unacked_messages"
PAUSES = "pulsar_publish_rate_limit_times"
ACKED_AT = "pulsar_subscription_last_acked_timestamp"

Rows = dict[str, list[dict]]


def rows_of_gate(gate: str) -> Rows:
    """All that is planted for a gate: the fault in the cluster named as its check, the neighbour in ``CHECK-sound``."""
    held: Rows = {}
    for check, (fault, sound) in PLANTED[gate].items():
        for cluster, plant in ((check, fault), (f"{check}-sound", sound)):
            for table, rows in plant(cluster).items():
                held.setdefault(table, []).extend(row | {"cluster": cluster} for row in rows)
    return held


# -- ingest validation ------------------------------------------------------------------------------


def _series(metric="pulsar_subscription_back_log", also=None, **labels) -> Callable[[str], Rows]:
    """A series as ingest makes it, except for the values in ``also``."""
    return lambda cluster: {"series": [series_of(metric, cluster=cluster, **labels) | (also or {})]}


def _repeated_series(cluster: str) -> Rows:
    row = series_of(cluster=cluster)
    return {"series": [row, row | {"last_ms": HOUR + 2 * BLOCK_MS}]}


def _two_series(cluster: str) -> Rows:
    return {"series": [series_of(cluster=cluster, subscription=name) for name in "ab"]}


def _hours(*counts: int, metric="pulsar_subscription_back_log", late_ms=0) -> Callable[[str], Rows]:
    """So many series in the hours from the one before the range on, each with one sample."""

    def rows(cluster: str) -> Rows:
        newest = series_of(cluster=cluster) | {"last_ms": DOOR_END_MS - late_ms}
        blocks = [
            block("a", metric, hour=hour, ticks=range(1)) | {"series_id": f"{number:032x}"}
            for hour, count in enumerate(counts)
            for number in range(count)
        ]
        return {"series": [newest], "samples": blocks}

    return rows


# -- samples -------------------------------------------------------------------------------


def _blocks(*rows: dict, unknown=False) -> Callable[[str], Rows]:
    """Blocks, whose series are in the catalogue unless they are ``unknown``."""

    def placed(cluster: str) -> Rows:
        found = [
            row | {"series_id": hashlib.sha256(f"{cluster} {row['series_id']}".encode()).hexdigest()[:32]}
            for row in rows
        ]
        known = {row["series_id"]: row for row in found}
        series = [
            {
                "series_id": series_id, "metric_name": row["metric_name"], "cluster": cluster, "labels": INSTANCE, "shard": 0,
                "first_ms": HOUR, "last_ms": HOUR + BLOCK_MS,
            }
            for series_id, row in known.items()
        ]  # fmt: skip
        return {"samples": found} | ({} if unknown else {"series": series})

    return placed


#: The target that all planted series come from.
INSTANCE = [("instance", "b:8080"), ("job", "broker")]


def _timed(*offsets_ms: int, values=3) -> dict:
    return block("a", values=[1.0] * values) | {"timestamps_ms": [HOUR + one for one in offsets_ms]}


def _up(extra=0, hour=0, **changes) -> dict:
    """A target that was scraped every 15 s, and a few times more."""
    row = block("f", "up", hour=hour, values=[1.0] * (240 + extra))
    between = [row["timestamps_ms"][100 + number] + 7_000 for number in range(extra)]
    return row | {"timestamps_ms": sorted(row["timestamps_ms"] + between)} | changes


def _restarts(count: int) -> dict:
    """A counter that restarts so often."""
    return block(
        "a", OUT, values=[float(tick % 2) for tick in range(2 * count + 1)] + [9.0] * (239 - 2 * count)
    )


# -- the admin API, signals and verdicts ---------------------------------------------------


def _in(table: str, rows: Iterable[dict]) -> Callable[[str], Rows]:
    held = list(rows)
    return lambda cluster: {table: held}


def _minutes(*rows: dict) -> Callable[[str], Rows]:
    return _in("signals", [signal(30), *rows])


def _windows(*rows: dict) -> Callable[[str], Rows]:
    return _in("verdicts", [verdict(3), *rows])


def _flows(jump: float) -> Callable[[str], Rows]:
    """Nothing comes and nothing goes, and at half past the backlog jumps."""
    return _in(
        "signals",
        [
            signal(
                minute, backlog_entries=100.0 + (jump if minute >= 30 else 0.0), in_msg_delta=0.0, ack_msg_rate=0.0,
                expired_msg_delta=0.0, messages_per_entry=1.0, subscription_type="Shared",
            )
            for minute in range(60)
        ],
    )  # fmt: skip


def _judged_beside(minutes: int) -> Callable[[str], Rows]:
    """One subscription was judged, another has so many minutes and no verdict."""
    return lambda cluster: {
        "verdicts": [verdict(0)],
        "signals": [signal(minute, subscription="other") for minute in range(minutes)],
    }


HEALTHY = {"side": "neither", "cause": "healthy", "limiter": None, "evidence": []}
_ANSWERED_AT_ONCE = answer()

PLANTED: dict[str, dict[str, tuple[Callable[[str], Rows], Callable[[str], Rows]]]] = {
    "door": {
        "series_key_unique": (_repeated_series, _two_series),
        "series_named_by_hash": (_series(also={"series_id": "abc"}), _series()),
        "key_labels_present": (
            _series(also={"labels": [("namespace", "t/n"), ("partition", "-1"), ("topic", "persistent://t/n/x")]}),
            _series("pulsar_rate_in", subscription=""),
        ),
        "partition_is_number": (
            _series(also={"labels": [
                ("namespace", "t/n"), ("partition", "-2"), ("subscription", "s"), ("topic", "persistent://t/n/x"),
            ]}),
            _series(partition="3"),
        ),
        "series_in_its_shard": (_series(also={"shard": 16}), _series()),
        "topic_is_name": (_series(topic="orders"), _series(topic="non-persistent://t/n/x")),
        "namespace_of_topic": (
            _series(namespace="kube-system"), _series(topic="persistent://t/old/n/x", namespace="t/old/n"),
        ),
        "series_not_multiplied": (_hours(1, 1002, 1002, 1002), _hours(1, 1000, 1000, 1000)),
        "series_not_lost": (_hours(20, 20, 20, 9), _hours(20, 20, 20, 10)),
        "hours_present": (_hours(1, 1, 0, 1), _hours(1, 1, 1, 1)),
        "samples_fresh": (_hours(1, 1, 1, 1, late_ms=5 * MINUTE_MS + 1), _hours(1, 1, 1, 1, late_ms=5 * MINUTE_MS)),
    },
    "samples": {
        "block_key_unique": (_blocks(block("a"), block("a")), _blocks(block("a"), block("a", hour=1), block("b"))),
        "timestamp_key_unique": (_blocks(_timed(0, 1, 1)), _blocks(_timed(0, 1, 2))),
        "timestamps_rise": (_blocks(_timed(2, 1, 3)), _blocks(_timed(1, 2, 3))),
        "values_match_timestamps": (_blocks(_timed(0, 1)), _blocks(_timed(0, 1, values=2))),
        "block_holds_its_times": (
            _blocks(_timed(1, 2, BLOCK_MS)), _blocks(_timed(BLOCK_MS - 3, BLOCK_MS - 2, BLOCK_MS - 1)),
        ),
        "series_in_catalogue": (_blocks(block("a"), unknown=True), _blocks(block("a"))),
        "scrapes_complete": (
            _blocks(_timed(0, 15_000, 45_000, 60_000, 75_000, values=5)),
            _blocks(_timed(0, 15_000, 37_000, 45_000, 60_000, values=5)),
        ),
        # At every second scrape no distance tells what is missing. Who comes late or leaves early is no fault, and a few are none.
        "scrapes_as_up": (
            _blocks(block("a", ticks=range(0, 240, 2)), _up()),
            _blocks(block("a", ticks=range(60, 180)), block("b"), _up(extra=3)),
        ),
        "backlog_exposed": (
            _blocks(block("a", ticks=[*range(100), *range(110, 240)], stale=[100])),
            _blocks(block("a", PERMITS, ticks=[*range(100), *range(110, 240)], stale=[100])),
        ),
        "backlog_not_negative": (_blocks(block("a", values=[-1.0] * 240)), _blocks(block("a", values=[0.0] * 240))),
        "counters_not_negative": (
            _blocks(block("a", OUT, values=[-5.0] * 240)), _blocks(block("a", PERMITS, values=[-5.0] * 240)),
        ),
        "gauges_not_negative": (
            _blocks(block("a", UNACKED, values=[-1.0] * 240)),
            _blocks(
                block("a", UNACKED, values=[0.0] * 240),
                block("b", "pulsar_storage_backlog_age_seconds", values=[-1.0] * 240),
                block("c", PERMITS, values=[-5.0] * 240),
            ),
        ),
        # To more than half of what it was; to just the half is a restart, and a gauge may fall as it likes.
        "counters_only_rise": (
            _blocks(block("a", OUT, values=[100.0] * 100 + [51.0] * 140)),
            _blocks(
                block("a", OUT, values=[100.0] * 100 + [50.0] * 140), block("b", UNACKED, values=[100.0] * 100 + [51.0] * 140)
            ),
        ),
        "counters_seldom_restart": (
            _blocks(_restarts(13)),
            _blocks(
                _restarts(12),
                _restarts(13) | {"series_id": "b" * 32, "metric_name": UNACKED},
                # Set to 0 every minute by a broker that runs on.
                _restarts(60) | {"series_id": "c" * 32, "metric_name": PAUSES},
            ),
        ),
        "scrapes_succeed": (_blocks(block("a", "up", values=[0.0] * 240)), _blocks(block("a", "up", values=[1.0] * 240))),
        # 0 says never.
        "broker_clock": (
            _blocks(_timed(0, 15_000, 30_000) | {"metric_name": ACKED_AT, "values": [0.0, 0.0, HOUR + 90_001.0]}),
            _blocks(
                _timed(0, 15_000, 30_000) | {"metric_name": ACKED_AT, "values": [0.0, 0.0, HOUR + 90_000.0]},
                block("b", OUT, values=[2.0 * HOUR] * 240),
            ),
        ),
        "values_finite": (_blocks(block("a", values=[float("nan")] * 240)), _blocks(block("a", values=[1e300] * 240))),
    },
    "policies": {
        "answer_key_unique": (
            _in("policies", [answer(), answer(broker="other:8080")]), _in("policies", [answer(), answer(minute=1)]),
        ),
        "answers_readable": (
            _in("policies", [answer(body='"<html>"')]), _in("policies", [answer(body='{"dispatchThrottlingRateInMsg": 5}')]),
        ),
        "policy_age": (
            lambda cluster: {"policies": [_ANSWERED_AT_ONCE], "samples": [block("a", hour=24)]},
            lambda cluster: {"policies": [_ANSWERED_AT_ONCE], "samples": [block("a", hour=23)]},
        ),
        "limit_key_unique": (_in("limits", [*limits(), limit(rate_msg=7)]), _in("limits", limits())),
        "rates_above_zero": (_in("limits", limits(rate_msg=0)), _in("limits", limits(rate_msg=1))),
        "period_above_zero": (_in("limits", limits(period_s=0)), _in("limits", limits(period_s=1))),
        "set_by_sets": (_in("limits", limits(set_by="none")), _in("limits", limits(set_by="none", rate_msg=None))),
        "levels_complete": (_in("limits", limits()[:2]), _in("limits", limits())),
        "stats_key_unique": (
            _in("topic_stats", [stats(), stats(unacked_msg=3)]), _in("topic_stats", [stats(), stats(observed_ms=HOUR + 1)]),
        ),
        "stats_not_negative": (
            _in("topic_stats", [stats(backlog_entries=-2)]), _in("topic_stats", [stats(permits_min=-5)]),
        ),
        "permits_in_order": (
            _in("topic_stats", [stats(permits_min=3)]),
            _in("topic_stats", [stats(permits_min=2), stats(subscription="t", consumers=0, permits_min=None, permits_max=None)]),
        ),
    },
    "signals": {
        "minute_key_unique": (_minutes(signal(31), signal(31)), _minutes(signal(31), signal(31, subscription="t"))),
        "minute_on_grid": (_minutes(signal(minute_ms=HOUR + 31 * MINUTE_MS + 1)), _minutes(signal(31))),
        "deltas_not_negative": (_minutes(signal(31, out_msg_delta=-1.0)), _minutes(signal(31, out_msg_delta=0.0))),
        "counter_rates_not_negative": (_minutes(signal(31, in_msg_rate_5m=-0.5)), _minutes(signal(31, in_msg_rate_5m=0.0))),
        "use_not_negative": (_minutes(signal(31, rho_broker_bytes=-0.1)), _minutes(signal(31, rho_broker_bytes=7.5))),
        "limits_above_zero": (_minutes(signal(31, limit_topic_msg=0)), _minutes(signal(31, limit_topic_msg=1))),
        "minutes_complete": (_minutes(signal(32)), _minutes(signal(31), signal(32))),
        "coverage_is_share": (_minutes(signal(31, coverage_share=1.25)), _minutes(signal(31, coverage_share=0.0))),
        "shares_are_shares": (
            _minutes(signal(31, permits_exhausted_share=-0.5)), _minutes(signal(31, permits_exhausted_share=1.0)),
        ),
        "ages_not_negative": (_minutes(signal(31, last_ack_age_s=-30.0)), _minutes(signal(31, last_ack_age_s=0.0))),
        "flow_balance": (_flows(5.0), _flows(4.0)),
    },
    "verdicts": {
        "window_key_unique": (_windows(verdict(3, confidence=0.1)), _windows(verdict(4, confidence=0.1))),
        "window_on_grid": (_windows(verdict(4, window_end_ms=HOUR)), _windows(verdict(4))),
        "confidence_is_share": (_windows(verdict(4, confidence=1.01)), _windows(verdict(4, confidence=1.0))),
        "side_of_cause": (_windows(verdict(4, side="both")), _windows(verdict(4, side="both", cause="both"))),
        "limiter_where_throttled": (_windows(verdict(4, limiter=None)), _windows(verdict(4, side="both", cause="both"))),
        "evidence_given": (_windows(verdict(4, evidence=[])), _windows(verdict(4, **HEALTHY))),
        "one_rules_version": (
            _windows(verdict(4, rules_version="1")), _windows(verdict(4, subscription="t", rules_version="1")),
        ),
        "subscriptions_judged": (_judged_beside(60), _judged_beside(59)),
    },
}  # fmt: skip
