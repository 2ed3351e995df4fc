"""Observations. In: nothing. Out: the tables of series and samples, policies and the limits resolved from them, admin stats, truth."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import (
    CLUSTER,
    DATE,
    SUBSCRIPTION_KEY,
    SUBSCRIPTION_KEY_NAMES,
)
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LEVELS, LIMITERS, SET_BY, SIDES

_SERIES_ID = Column("series_id", pa.string(), "32 hex digits: 128-bit hash of the sorted labels")
_SHARD = Column("shard", pa.int32(), "0 to 15: hash of cluster, namespace and topic")
_METRIC = Column("metric_name", pa.string(), "the label __name__")
_OBSERVED_MS = Column("observed_ms", pa.int64(), "when the admin API answered")

SERIES = Table(
    "series",
    "One series: the catalogue that matchers, labels and search run on. Committed before its samples.",
    (
        _SERIES_ID,
        _METRIC,
        CLUSTER,
        Column(
            "labels",
            pa.map_(pa.string(), pa.string()),
            "all labels but __name__, as normalised by ingest validation",
        ),
        _SHARD,
        Column("first_ms", pa.int64(), "time of the oldest sample seen"),
        Column("last_ms", pa.int64(), "time of the newest sample seen"),
    ),
    key=("series_id",),
    partition_by=("shard",),
)

SAMPLES = Table(
    "samples",
    "One series in one block (a UTC hour). A file holds one metric, cluster, block and shard, sorted by series. "
    "Results of rules are series like any other; where they have no label cluster, the column is empty.",
    (
        _SERIES_ID,
        _METRIC,
        DATE,
        CLUSTER,
        _SHARD,
        Column("block_start_ms", pa.int64(), "start of the UTC hour"),
        Column("timestamps_ms", pa.list_(pa.int64()), "sample times, rising"),
        Column("values", pa.list_(pa.float64()), "sample values, as many as timestamps_ms"),
        Column("stale_ms", pa.list_(pa.int64()), "times of staleness markers, rising"),
    ),
    key=("series_id", "block_start_ms"),
    partition_by=("metric_name", "date"),
)

POLICIES = Table(
    "policies",
    "One raw answer of the admin API. Limits are resolved from these, never from an applied view.",
    (
        CLUSTER,
        Column(
            "scope",
            pa.string(),
            "which request was made",
            words=(
                "broker_configuration_runtime",
                "broker_dynamic_configuration",
                "broker_version",
                "brokers",
                "namespace",
                "topic_dispatch_rate",
                "topic_subscription_dispatch_rate",
                "subscription_dispatch_rate",
                "global_topic_dispatch_rate",
                "global_topic_subscription_dispatch_rate",
                "topic_message_ttl",
                "global_topic_message_ttl",
                "topic_backlog_quotas",
                "global_topic_backlog_quotas",
                "topic_retention",
                "global_topic_retention",
                "topic_replicator_dispatch_rate",
                "global_topic_replicator_dispatch_rate",
                "topic_publish_rate",
                "global_topic_publish_rate",
                "resource_group",
                "partition_count",
                "scalable_layout",
                "scalable_stats",
                "topic_owner",
                "topic_subscriptions",
            ),
        ),
        Column("key", pa.string(), "broker host:port, tenant/ns, topic, or topic#subscription"),
        Column("body", pa.string(), "the answer as JSON text; null where nothing is set"),
        Column("broker", pa.string(), "the broker that answered, host:port", nullable=True),
        _OBSERVED_MS,
        DATE,
    ),
    key=("cluster", "scope", "key", "observed_ms"),
    partition_by=("date",),
)

LIMITS = Table(
    "limits",
    "One limiter level of one subscription partition, as observed. A row without rates says: observed, no limit. "
    "No row says: not observed.",
    (
        *SUBSCRIPTION_KEY,
        Column("level", pa.string(), "which limiter", words=LEVELS),
        Column("rate_msg", pa.int64(), "messages (or entries, see counts) per period; NULL: no limit", True),
        Column("rate_bytes", pa.int64(), "bytes per period; NULL: no limit", True),
        Column("period_s", pa.int32(), "period that the rates are for"),
        Column("counts", pa.string(), "what the message limit counts", words=("messages", "entries")),
        Column("relative_to_publish", pa.bool_(), "the publish rate is added to the rates"),
        Column("exempt_caught_up", pa.bool_(), "dispatchThrottlingOnNonBacklogConsumerEnabled is false"),
        Column(
            "read_batch_entries",
            pa.int32(),
            "dispatcherMaxReadBatchSize: entries that one read plans for; NULL: the broker's configuration was not readable",
            True,
        ),
        Column("read_size_bytes", pa.int64(), "dispatcherMaxReadSizeBytes: bytes that one read plans for"),
        Column("broker", pa.string(), "owner broker, as the scrape's instance label names it", True),
        Column("set_by", pa.string(), "the policy that applies; it applies as a whole", words=SET_BY),
        _OBSERVED_MS,
        Column(
            "answered_ms",
            pa.int64(),
            "time of the oldest answer that the level is based on; NULL: not recorded",
            True,
        ),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "level", "observed_ms"),
    partition_by=("date",),
)

_COUNTS = tuple(
    Column(f"throttled_{unit}_events_{level}", pa.int64(), f"reads that the {level} {unit} limit throttled")
    for unit in ("msg", "bytes")
    for level in LEVELS
)

TOPIC_STATS = Table(
    "topic_stats",
    "One subscription partition in one snapshot of the admin API's per-partition stats.",
    (
        *SUBSCRIPTION_KEY,
        _OBSERVED_MS,
        Column(
            "subscription_type",
            pa.string(),
            "Exclusive, Failover, Shared, Key_Shared; NULL: no dispatcher yet",
            True,
        ),
        *_COUNTS,
        Column("backlog_entries", pa.int64(), "msgBacklog: entries, precise"),
        Column("delayed_entries", pa.int64(), "msgDelayed"),
        Column("unacked_msg", pa.int64(), "unackedMessages"),
        Column("blocked_on_unacked", pa.bool_(), "blockedSubscriptionOnUnackedMsgs"),
        Column("consumers", pa.int32(), "connected consumers"),
        Column("permits_min", pa.int64(), "fewest permits of a consumer; NULL: no consumer", True),
        Column("permits_max", pa.int64(), "most permits of a consumer; NULL: no consumer", True),
        Column(
            "messages_per_entry",
            pa.float64(),
            "mean of the consumers' avgMessagesPerEntry; NULL: unknown",
            True,
        ),
        Column("draining_hashes", pa.int64(), "drainingHashesCount of Key_Shared"),
        Column("out_msg_total", pa.int64(), "msgOutCounter"),
        Column("out_bytes_total", pa.int64(), "bytesOutCounter"),
        Column("owner_broker", pa.string(), "ownerBroker", True),
        Column(
            "active_permits",
            pa.int64(),
            "permits of the active consumer (activeConsumerName); NULL: not Exclusive or Failover, or none is active",
            True,
        ),
        Column("consumers_without_permits", pa.int32(), "consumers with availablePermits <= 0", True),
        Column("consumers_blocked", pa.int32(), "consumers with blockedConsumerOnUnackedMsgs", True),
        Column("replay_entries", pa.int64(), "msgInReplay: entries in the redelivery queue", True),
        Column(
            "ack_msg_rate_min",
            pa.float64(),
            "messages/s that the slowest consumer acknowledged (messageAckRate, 60 s)",
            True,
        ),
        Column("ack_msg_rate_max", pa.float64(), "messages/s that the fastest consumer acknowledged", True),
        Column("replicated", pa.bool_(), "isReplicated: snapshot markers are entries of its backlog", True),
        Column(
            "backlog_age_s",
            pa.float64(),
            "age of its oldest entry (earliestMsgPublishTimeInBacklog); else oldestBacklogMessageAgeSeconds, of the subscription, or of the "
            "topic where oldestBacklogMessageSubscriptionName names it; NULL: unknown",
            True,
        ),
        Column(
            "consumers_paused",
            pa.int32(),
            "consumers on a connection that the broker paused in the last minute because of what is published through it; NULL: unknown",
            True,
        ),
        Column(
            "connection_pauses",
            pa.int64(),
            "pauses since the broker's last stats update (publishRateLimitedTimes, at most a minute); NULL: unknown",
            True,
        ),
        Column(
            "pausing_topic",
            pa.string(),
            "the topic to which most is published through such a connection; NULL: none",
            True,
        ),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "observed_ms"),
    partition_by=("date",),
)

TRUTH = Table(
    "truth",
    "What was made to happen to a recorded subscription, from the scenario's script and confirmed by its intervention.",
    (
        *SUBSCRIPTION_KEY,
        Column("start_ms", pa.int64(), "start of the range in which this is true"),
        Column("end_ms", pa.int64(), "its end, exclusive"),
        Column("side", pa.string(), "side", words=SIDES),
        Column("cause", pa.string(), "cause", words=CAUSES),
        Column("limiter", pa.string(), "limiter, NULL where none binds", True, LIMITERS),
        Column("family", pa.string(), "family of scenarios"),
        Column("recording", pa.string(), "name of the recording"),
        Column("kept_aside", pa.bool_(), "not looked at while rules were made"),
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "start_ms"),
)
