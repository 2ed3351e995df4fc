"""From samples to a verdict where consumer metrics are off: what two brokers with their defaults showed, and the admin API's stats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.lakes import limit_row, stats_row, table_of
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource, Series

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS
TOPIC = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "partition": "-1"}
KEY = {**TOPIC, "partition": -1, "subscription": "s"}
LASTED_S = 1200


def series(name, value, **labels):
    """A sample every 15 s for 20 minutes; ``value`` of the seconds since the start."""
    seconds = np.arange(0, LASTED_S, 15)
    values = np.array([float(value(s)) for s in seconds])
    return Series({"__name__": name, "instance": "b:1", **TOPIC, **labels}, START_MS + seconds * 1000, values)


def samples(out, published, consumers):
    """A subscription that takes ``out`` of ``published`` msg/s, every entry read from storage."""
    sub = {"subscription": "s"}
    backlog = [
        series(name, lambda s: 5000 + (published - out) * s, **sub)
        for name in ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed")
    ]
    events = [
        series(f"pulsar_subscription_dispatch_throttled_{unit}_events", lambda s: 0, reason=reason, **sub)
        for unit in ("msg", "bytes")
        for reason in ("subscription", "topic", "broker")
    ]
    return [
        *backlog,
        *events,
        series("pulsar_in_messages_total", lambda s: published * s),
        series("pulsar_out_messages_total", lambda s: out * s, **sub),
        series("pulsar_out_bytes_total", lambda s: 1000 * out * s, **sub),
        series("pulsar_subscription_consumers_count", lambda s: consumers, **sub),
        series("pulsar_subscription_unacked_messages", lambda s: 0, **sub),
        series("pulsar_subscription_msg_ack_rate", lambda s: out, **sub),
        series("pulsar_storage_write_rate", lambda s: published),
        series("pulsar_storage_read_cache_misses_rate", lambda s: out),
    ]


def snapshots(**more):
    """One before the end of each of the last ten minutes."""
    seconds = range(LASTED_S - 560, LASTED_S, 60)
    return [stats_row(at_ms=START_MS + at_s * 1000, **KEY, **more) for at_s in seconds]


NO_LIMITS = [
    limit_row(level, at_ms=START_MS + 60_000, set_by="none", **KEY)
    for level in ("broker", "topic", "subscription")
]


def last_verdict(data, *, stats=(), limits=NO_LIMITS):
    minutes = minute_rows(
        MemorySource(data),
        table_of("limits", limits),
        table_of("topic_stats", stats),
        START_MS,
        START_MS + HOUR_MS,
        {"c": START_MS + (LASTED_S - 15) * 1000},
    )
    end_ms = START_MS + LASTED_S * 1000
    (verdict,) = verdicts_of(signals_of(minutes), end_ms - 300_000, end_ms).to_pylist()
    return verdict


FAILOVER = {
    "subscription_type": "Failover", "consumers": 3, "active_permits": 0, "permits_min": 0, "permits_max": 1000,
    "consumers_without_permits": 1, "messages_per_entry": 1.0,
}  # fmt: skip
SHARED = {
    "subscription_type": "Shared", "consumers": 2, "permits_min": -3, "permits_max": 0, "unacked_msg": 900,
    "consumers_without_permits": 2, "messages_per_entry": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "stats"),
    [(samples(40, 60, 3), FAILOVER), (samples(60, 80, 2), SHARED), (samples(400, 600, 3), FAILOVER)],
    ids=["failover", "shared", "fast"],
)
def test_stats_name_slow_consumers(data, stats):
    verdict = last_verdict(data, stats=snapshots(**stats))
    assert (verdict["cause"], verdict["confidence"]) == ("slow_consumers", 0.95)
    texts = {row["symptom"]: row["text"] for row in verdict["evidence"]}
    assert "admin API, 5 samples, newest 20 s before the window's end" in texts["consumer_queue_full"]


def test_standby_permits_are_no_spare_capacity():
    """Without the name of the active consumer the permits of those that stand by must not pass for room."""
    stats = snapshots(**FAILOVER | {"active_permits": None})
    verdict = last_verdict(samples(400, 600, 3), stats=stats)
    assert verdict["cause"] == "unknown"


def test_active_consumer_with_room_is_not_slow():
    stats = snapshots(**FAILOVER | {"active_permits": 700, "consumers_without_permits": 0})
    assert last_verdict(samples(400, 600, 3), stats=stats)["cause"] == "cold_reads"


@pytest.mark.parametrize("limits", [NO_LIMITS, ()], ids=["limits read", "no admin API"])
def test_without_stats_storage_is_excluded_or_named(limits):
    assert last_verdict(samples(40, 60, 3), limits=limits)["side"] in ("consumer_capacity", "unknown")
    fast = last_verdict(samples(400, 600, 3), limits=limits)
    assert fast["cause"] == "unknown"
    fixes = " ".join(row["fix"] for row in fast["missing_evidence"])
    assert "exposeConsumerLevelMetricsInPrometheus" in fixes
    assert "--pulsar-admin" in fixes
