"""The metrics that are pulled by default: the useful cut of what a broker exposes.

In: nothing. Out: :data:`METRICS`, each with its level, unit and kind. A broker calls everything a gauge
(``# TYPE ... gauge``), also what only rises; ``kind`` says what it is:

``counter``
    only rises, restarts at 0 on unload, move and broker restart
``gauge``
    read at scrape time
``gauge_60s``
    recomputed by the broker every 60 s (``statsUpdateFrequencyInSecs``); repeats in between are no new evidence
``count_60s``
    counts up and is set to 0 by the broker every 60 s (the same setting): a value above 0 says that something happened
    since then, a difference of two values says nothing
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["subscription", "consumer", "replicator", "topic", "broker", "target"]
Kind = Literal["counter", "gauge", "gauge_60s", "count_60s"]


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    level : str
        What one series is about. ``target`` is a scrape target of Prometheus.
    unit : str
        ``entries`` and ``msg`` (messages) are never mixed; ``1`` has no unit.
    """

    name: str
    level: Level
    unit: str
    kind: Kind
    doc: str


def _s(name: str, unit: str, kind: Kind, doc: str) -> Metric:
    return Metric(f"pulsar_subscription_{name}", "subscription", unit, kind, doc)


def _r(name: str, unit: str, kind: Kind, doc: str) -> Metric:
    return Metric(f"pulsar_replication_{name}", "replicator", unit, kind, doc)


_DEFAULT = (
    _s("back_log", "entries", "gauge", "undelivered plus delivered and not acknowledged"),
    _s("back_log_no_delayed", "entries", "gauge", "backlog without delayed entries"),
    _s("delayed", "entries", "gauge", "in the delayed delivery tracker; Shared and Key_Shared only"),
    _s("in_replay", "entries", "gauge", "in the redelivery queue"),
    _s("msg_rate_out", "msg/s", "gauge_60s", "dispatched, redeliveries included"),
    _s("msg_throughput_out", "B/s", "gauge_60s", "dispatched"),
    _s("msg_ack_rate", "msg/s", "gauge_60s", "acknowledged"),
    _s("msg_rate_redeliver", "msg/s", "gauge_60s", "redelivered"),
    _s("unacked_messages", "msg", "gauge", "delivered and not acknowledged; Shared and Key_Shared only"),
    _s("blocked_on_unacked_messages", "1", "gauge", "the subscription's own limit of unacked messages is reached"),
    _s("consumers_count", "consumers", "gauge", "connected consumers"),
    _s("last_consumed_flow_timestamp", "epoch_ms", "gauge", "last permit request; 0: never"),
    _s("last_consumed_timestamp", "epoch_ms", "gauge", "last dispatch; 0: never"),
    _s("last_acked_timestamp", "epoch_ms", "gauge", "last acknowledgement; 0: never"),
    _s("last_mark_delete_advanced_timestamp", "epoch_ms", "gauge", "mark-delete position moved; 0: never"),
    _s("total_msg_expired", "entries", "counter", "expired by TTL"),
    _s("msg_rate_expired", "entries/s", "gauge_60s", "expired by TTL"),
    _s("filter_processed_msg_count", "entries", "counter", "went through entry filters"),
    _s("filter_rejected_msg_count", "entries", "counter", "rejected by entry filters"),
    _s("filter_rescheduled_msg_count", "entries", "counter", "rescheduled by entry filters"),
    _s("dispatch_throttled_msg_events", "events", "counter", "reads that a message limit throttled, by reason"),
    _s("dispatch_throttled_bytes_events", "events", "counter", "reads that a byte limit throttled, by reason"),
    _s("storage_backlog_age_seconds", "s", "gauge", "age of its oldest backlog (from 4.0.14, 4.2.5, 5.0); -1: unknown"),
    # The same two names also come per consumer where consumer metrics are on: those have a label consumer_name or
    # consumer_id and are counted in the subscription's own series already.
    Metric("pulsar_out_messages_total", "subscription", "msg", "counter", "dispatched; also per consumer"),
    Metric("pulsar_out_bytes_total", "subscription", "B", "counter", "dispatched; also per consumer"),
    Metric("pulsar_consumer_available_permits", "consumer", "msg", "gauge", "room the client granted; may be negative"),
    Metric("pulsar_consumer_unacked_messages", "consumer", "msg", "gauge", "delivered and not acknowledged"),
    Metric("pulsar_consumer_blocked_on_unacked_messages", "consumer", "1", "gauge", "the consumer's limit is reached"),
    Metric("pulsar_consumer_msg_ack_rate", "consumer", "msg/s", "gauge_60s", "acknowledged"),
    Metric("pulsar_rate_in", "topic", "msg/s", "gauge_60s", "published by local producers"),
    Metric("pulsar_throughput_in", "topic", "B/s", "gauge_60s", "published by local producers"),
    Metric("pulsar_in_messages_total", "topic", "msg", "counter", "published"),
    Metric("pulsar_in_bytes_total", "topic", "B", "counter", "published"),
    Metric("pulsar_publish_rate_limit_times", "topic", "events", "count_60s", "pauses of its producers' connections in this minute, for any reason"),
    Metric("pulsar_storage_write_rate", "topic", "entries/s", "gauge_60s", "written; rate_in over this is messages per entry"),
    Metric("pulsar_storage_read_rate", "topic", "entries/s", "gauge_60s", "read"),
    Metric("pulsar_storage_read_cache_misses_rate", "topic", "entries/s", "gauge_60s", "read from storage"),
    Metric("pulsar_storage_backlog_size", "topic", "B", "gauge", "estimate for the slowest subscription"),
    Metric("pulsar_storage_backlog_age_seconds", "topic", "s", "gauge", "age of the oldest backlog; -1: unknown"),
    Metric("pulsar_storage_backlog_quota_limit", "topic", "B", "gauge", "-1: none"),
    Metric("pulsar_storage_backlog_quota_limit_time", "topic", "s", "gauge", "-1: none"),
    Metric("pulsar_storage_backlog_quota_exceeded_evictions_total", "topic", "events", "counter", "evictions, by quota_type"),
    Metric("pulsar_entry_size_count", "topic", "entries", "gauge_60s", "entries of the last whole minute"),
    Metric("pulsar_entry_size_sum", "topic", "B", "gauge_60s", "their bytes"),
    # Docs write the label remoteCluster, brokers remote_cluster. Resends count again in both rates.
    _r("backlog", "entries", "gauge", "not sent to the remote cluster, or sent and not acknowledged by it"),
    _r("rate_out", "entries/s", "gauge_60s", "handed to the producer of the remote cluster"),
    _r("throughput_out", "B/s", "gauge_60s", "handed to the producer of the remote cluster"),
    _r("rate_expired", "entries/s", "gauge_60s", "expired by TTL before they were sent"),
    _r("connected_count", "1", "gauge", "1: the producer of the remote cluster is connected"),
    _r("delay_in_seconds", "s", "gauge", "age of the oldest send without an answer; 0 also while limited or stuck"),
    Metric("pulsar_broker_rate_out", "broker", "msg/s", "gauge_60s", "dispatched: what a broker limit is compared with"),
    Metric("pulsar_broker_throughput_out", "broker", "B/s", "gauge_60s", "dispatched"),
    Metric("pulsar_ml_reads_inflight_bytes", "broker", "B", "gauge", "of reads in the broker's memory; -1 or 0: there is no limit"),
    Metric("pulsar_ml_reads_available_inflight_bytes", "broker", "B", "gauge", "that it may still read before reads wait; -1 or 0: there is no limit"),
    Metric("pulsar_version_info", "broker", "1", "gauge", "version and commit as labels"),
    Metric("up", "target", "1", "gauge", "1: the scrape succeeded"),
    Metric("scrape_duration_seconds", "target", "s", "gauge", "how long the scrape took"),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _DEFAULT}

#: What says that a subscription is there, and a replicator.
BACKLOG, REPLICATION_BACKLOG = "pulsar_subscription_back_log", "pulsar_replication_backlog"
BACKLOG_METRICS = (BACKLOG, REPLICATION_BACKLOG)
#: What says that a topic's producers are paused.
PUBLISH_PAUSES = "pulsar_publish_rate_limit_times"

#: Metrics that say whether a source knows Pulsar at all: a broker has them whatever its switches.
BROKER_MARKS = ("pulsar_broker_rate_out", "pulsar_version_info")

_NEEDS: dict[Level, tuple[str, ...]] = {
    "subscription": ("namespace", "topic", "subscription"),
    "consumer": ("namespace", "topic", "subscription"),
    "replicator": ("namespace", "topic", "remote_cluster"),
    "topic": ("namespace", "topic"),
    "broker": (),
    "target": (),
}


def needs_labels(metric_name: str) -> tuple[str, ...]:
    """Labels without which a series of this metric says nothing about a subscription or topic.

    Only for metrics that are known here: a metric that a user names needs no label.
    """
    metric = METRICS.get(metric_name)
    return _NEEDS[metric.level] if metric else ()
