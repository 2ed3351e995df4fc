"""Computed results. In: nothing. Out: the tables ``signals`` (one subscription partition in one minute) and ``verdicts`` (in one window)."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import DATE, SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LEVELS, LIMITERS, SET_BY, SIDES, UNITS, VARIANTS

_F = pa.float64()


def _opt(name: str, doc: str, type_: pa.DataType = _F, words: tuple[str, ...] | None = None) -> Column:
    return Column(name, type_, doc, True, words)


# Values of the recording rules at the minute's end. The rule throttlescope:<name> gives column <name>.
_FROM_RULES = (
    _opt("backlog_entries", "undelivered plus unacked entries"),
    _opt("backlog_ready_entries", "backlog without delayed entries"),
    _opt("backlog_ready_low_entries", "least backlog without delayed entries of the minute's scrapes"),
    _opt("backlog_ready_peak_entries", "greatest backlog without delayed entries of the minute's scrapes"),
    _opt("delayed_entries", "entries in the delayed tracker"),
    _opt("replay_entries", "entries in the redelivery queue"),
    _opt("unacked_msg", "unacked messages; only measured for Shared and Key_Shared"),
    _opt("blocked_on_unacked", "1 while the subscription's unacked limit blocks it"),
    _opt("consumers", "connected consumers"),
    _opt("permits_min", "fewest permits of a consumer at the minute's end"),
    _opt("permits_max", "most permits of a consumer at the minute's end"),
    _opt("consumers_without_permits", "consumers with permits <= 0 at the minute's end"),
    _opt("consumers_blocked_on_unacked", "consumers that reached their own limit of unacked messages"),
    _opt("consumer_unacked_msg_max", "unacked messages of the consumer with most"),
    _opt("consumer_ack_msg_rate_min", "messages/s that the slowest consumer acknowledged (60 s gauge)"),
    _opt("consumer_ack_msg_rate_max", "messages/s that the fastest consumer acknowledged (60 s gauge)"),
    _opt("in_msg_rate_5m", "messages/s published to the topic partition"),
    _opt("in_bytes_rate_5m", "bytes/s published to the topic partition"),
    _opt("out_msg_rate_5m", "messages/s dispatched to the subscription"),
    _opt("out_bytes_rate_5m", "bytes/s dispatched to the subscription"),
    _opt("ack_msg_rate", "messages/s acknowledged (the broker's 60 s gauge)"),
    _opt("redeliver_msg_rate", "messages/s redelivered (60 s gauge)"),
    _opt("expired_msg_rate", "messages/s expired (60 s gauge)"),
    _opt("filter_processed_entry_rate_5m", "entries/s that went through entry filters"),
    _opt("filter_rejected_entry_rate_5m", "entries/s that entry filters rejected"),
    _opt("filter_rescheduled_entry_rate_5m", "entries/s that entry filters rescheduled"),
    _opt("quota_evictions_5m", "times in 5 minutes that the topic partition's backlog quota evicted"),
    _opt("write_entry_rate", "entries/s written to the topic partition (60 s gauge)"),
    _opt("read_cache_miss_entry_rate", "entries/s read past the cache (60 s gauge)"),
    _opt("storage_backlog_bytes", "bytes from the slowest subscription's position to the end"),
    _opt("backlog_age_s", "age of the topic partition's oldest backlog; NULL: unknown"),
    _opt(
        "subscription_backlog_age_s",
        "age of the subscription's oldest backlog; NULL: unknown, not exposed, or all of it in the open ledger",
    ),
    _opt("last_flow_age_s", "time since a consumer last requested messages"),
    _opt("last_ack_age_s", "time since the last ack"),
    _opt("mark_delete_age_s", "time since the mark-delete position moved"),
    _opt("broker_out_msg_rate", "messages/s that the whole broker dispatched (60 s gauge)"),
    _opt("reads_inflight_bytes", "bytes of reads in the broker's memory"),
    _opt("reads_available_inflight_bytes", "bytes that it may still read before reads wait"),
    _opt(
        "replication_entry_rate",
        "entries/s that a replicator handed to its producer, resends again (60 s gauge)",
    ),
    _opt(
        "replication_bytes_rate",
        "bytes/s that a replicator handed to its producer, resends again (60 s gauge)",
    ),
    _opt("replication_connected", "1 while a replicator's producer is connected to the remote cluster"),
    _opt(
        "remote_publish_pauses",
        "pauses of connections that publish to the topic in the remote cluster (60 s count); NULL: not seen",
    ),
    _opt(
        "remote_quota_used_share",
        "the topic's backlog in the remote cluster / its quota there, in bytes; NULL: not seen, or no quota",
    ),
    _opt(
        "replication_delay_s",
        "age of a replicator's oldest send without an answer; 0 also while it is limited or stuck",
    ),
)

# Exact, reset-corrected counter differences: they add up over minutes.
_DELTAS = (
    _opt("in_msg_delta", "messages published", _F),
    _opt("in_bytes_delta", "bytes published", _F),
    _opt("out_msg_delta", "messages dispatched", _F),
    _opt("out_bytes_delta", "bytes dispatched", _F),
    _opt("expired_msg_delta", "messages expired by TTL", _F),
    *(
        _opt(f"throttled_{unit}_events_{level}_delta", f"reads that the {level} {unit} limit throttled")
        for unit in UNITS
        for level in LEVELS
    ),
)

_DUTIES = tuple(
    _opt(f"throttled_{unit}_duty_{level}_share", f"share of scrape intervals with a {level} {unit} event")
    for unit in UNITS
    for level in LEVELS
)

_SCRAPES = (
    _opt("permits_exhausted_share", "share of consumer samples in the minute with permits <= 0"),
    Column("coverage_share", _F, "samples of the backlog seen / expected in the minute"),
    _opt("scrape_interval_ms", "median distance of the backlog's samples", pa.int64()),
    _opt("delta_span_ms", "time that out_msg_delta covers; NULL: not known, as after a restart", pa.int64()),
    _opt("in_span_ms", "time that in_msg_delta covers; NULL: not known", pa.int64()),
    _opt("events_span_ms", "time that the differences of throttle events cover; NULL: not known", pa.int64()),
    Column(
        "counter_resets",
        pa.int32(),
        "counters that restarted in the minute (unload, restart, new dispatcher)",
    ),
    _opt("broker", "instance that served the topic partition at the minute's end", pa.string()),
    Column("broker_changed", pa.bool_(), "another instance than in the minute before"),
    _opt(
        "parent_backlog_entries",
        "backlog of the segments that a scalable topic's segment came from and that have consumers; 0 for 15 minutes after their "
        "end; NULL: none is known",
    ),
    _opt(
        "successor_consumers",
        "consumers of the subscription on the segments that came from a scalable topic's segment; NULL: none is known",
    ),
    _opt("brokers_serving", "instances that show the subscription at the same time", pa.int32()),
)

_LIMITS = tuple(
    column
    for level in LEVELS
    for column in (
        _opt(
            f"limit_{level}_msg",
            f"{level} limit, messages (or entries) per period; NULL: none or unknown",
            pa.int64(),
        ),
        _opt(f"limit_{level}_bytes", f"{level} limit, bytes per period; NULL: none or unknown", pa.int64()),
        _opt(f"limit_{level}_period_s", f"period of the {level} limit", pa.int32()),
        _opt(
            f"limit_{level}_set_by",
            f"which record set the {level} limit; NULL: not observed",
            pa.string(),
            SET_BY,
        ),
        _opt(f"rho_{level}_msg", f"use / ({level} msg limit / period), use summed over all that share it"),
        _opt(
            f"rho_{level}_bytes", f"use / ({level} bytes limit / period), use summed over all that share it"
        ),
    )
)

_LIMIT_FACTS = (
    _opt(
        "broker_read_share",
        "dispatched by the broker's subscriptions that were read / by the broker; NULL: not known, or no broker limit",
    ),
    _opt(
        "topic_read_share",
        "subscriptions of the topic partition that were read / that it has; NULL: no topic limit",
    ),
    Column("limits_observed", pa.bool_(), "the limits were read from the admin API"),
    _opt(
        "limits_observed_ms",
        "when they were read: time of the oldest answer that they are based on",
        pa.int64(),
    ),
    Column(
        "limit_observed_later", pa.bool_(), "they were read after this minute, and not the same before it"
    ),
    Column("limits_changed", pa.bool_(), "a limit differs from the minute before"),
    _opt("limit_counts", "what message limits count", pa.string(), ("messages", "entries")),
    _opt("exempt_caught_up", "caught-up subscriptions are not throttled", pa.bool_()),
    _opt("relative_to_publish", "a limit moves with the publish rate", pa.bool_()),
    _opt("read_batch_entries", "entries that one read plans for; NULL: not known", pa.int32()),
    _opt("read_size_bytes", "bytes that one read plans for", pa.int64()),
    _opt("subscription_type", "from the admin API's stats", pa.string()),
    _opt("messages_per_entry", "from the admin API's stats, else published messages / written entries"),
)

# What snapshots of the admin API's stats showed that were taken around the minute's end; NULL: none was.
_STATS = (
    _opt("stats_samples", "snapshots of the admin API's stats around the minute's end", pa.int32()),
    _opt("stats_newest_ms", "when the newest of them was taken", pa.int64()),
    _opt(
        "stats_starved_share",
        "share of them without permits: of the active consumer, of all (Shared); of Key_Shared the share of consumers",
    ),
    _opt("stats_fill_share", "unacked / (unacked + permits), mean of them"),
    _opt("stats_uneven_share", "share of them in which some consumers had no permits and others had some"),
    _opt(
        "stats_blocked_share",
        "share of them in which every consumer had reached its limit of unacked messages",
    ),
    _opt("stats_draining_share", "share of them with draining hashes (Key_Shared)"),
    _opt("stats_ack_msg_rate_min", "messages/s that the slowest consumer acknowledged, newest of them"),
    _opt("stats_ack_msg_rate_max", "messages/s that the fastest consumer acknowledged, newest of them"),
    _opt("stats_backlog_age_s", "age of the subscription's oldest backlog, newest of them"),
    _opt("stats_replicated", "the subscription is replicated", pa.bool_()),
    _opt(
        "stats_paused_share",
        "share of the consumers whose connection the broker paused because of what is published through it, mean of them",
    ),
    _opt("stats_connection_pauses", "most pauses of such a connection in a minute, newest of them"),
    _opt(
        "stats_pausing_topic", "the topic to which most is published through it, newest of them", pa.string()
    ),
)

SIGNALS = Table(
    "signals",
    "One subscription of one topic partition in one minute [minute_ms, minute_ms + 60 000).",
    (
        *SUBSCRIPTION_KEY,
        Column("minute_ms", pa.int64(), "start of the minute"),
        *_FROM_RULES,
        *_DELTAS,
        *_DUTIES,
        *_SCRAPES,
        *_LIMITS,
        *_LIMIT_FACTS,
        *_STATS,
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "minute_ms"),
    partition_by=("cluster", "date"),
)

#: What :mod:`~throttlescope.transforms.stats_samples` makes of snapshots.
STATS_COLUMNS = tuple(column.name for column in _STATS)

RULE_COLUMNS = tuple(column.name for column in _FROM_RULES)

EVIDENCE = pa.struct(
    [
        pa.field("symptom", pa.string(), False),  # name of the measurable symptom
        pa.field("weight", pa.string(), False),  # for | against | neutral
        pa.field("text", pa.string(), False),  # one sentence in words
        pa.field("value", pa.float64()),
        pa.field("threshold", pa.float64()),
        pa.field("unit", pa.string()),
        pa.field("at_ms", pa.int64()),  # when it was strongest
        pa.field("promql", pa.string()),  # shows it in Prometheus; NULL where no query can
    ]
)

MISSING_EVIDENCE = pa.struct(
    [
        pa.field("what", pa.string(), False),
        pa.field("fix", pa.string(), False),  # the switch or flag that would supply it
    ]
)

CONTRIBUTING = pa.struct(
    [
        pa.field("cause", pa.string(), False),
        pa.field("side", pa.string(), False),
        pa.field("limiter", pa.string()),
        pa.field("confidence", pa.float64(), False),  # that this cause applies too
        pa.field("why", pa.string(), False),
    ]
)

#: Key and values of each sentence of a verdict as JSON, by column and in its order; of missing evidence what and fix in turn. Values are rounded as
#: the sentence shows them.
VERDICT_MESSAGES = pa.struct(
    [
        pa.field("evidence", pa.list_(pa.string())),
        pa.field("missing_evidence", pa.list_(pa.string())),
        pa.field("contributing", pa.list_(pa.string())),
        pa.field("why", pa.string()),
    ]
)

VERDICTS = Table(
    "verdicts",
    "One subscription partition in one window.",
    (
        *SUBSCRIPTION_KEY,
        Column("window_start_ms", pa.int64(), "start of the window"),
        Column("window_end_ms", pa.int64(), "its end, exclusive"),
        Column("side", pa.string(), "which side causes the backlog", words=SIDES),
        Column("cause", pa.string(), "the cause", words=CAUSES),
        _opt("limiter", "the limiter that binds; NULL: none", pa.string(), LIMITERS),
        Column("confidence", _F, "0 to 1: the probability that cause is right"),
        Column("evidence", pa.list_(EVIDENCE), "for and against, strongest first"),
        Column("missing_evidence", pa.list_(MISSING_EVIDENCE), "what would raise the confidence"),
        Column(
            "naive_side", pa.string(), "what backlog > 1000 with any throttle event would say", words=SIDES
        ),
        Column("rules_version", pa.string(), "version of the rules"),
        _opt("backlog_entries", "ready backlog at the window's end"),
        _opt("backlog_growth_entries", "its trend: median slope of its samples times the window's length"),
        _opt("variant", "which form of the cause", pa.string(), VARIANTS),
        _opt("why", "the rule that named the cause, in words", pa.string()),
        _opt("contributing", "further causes that apply, most urgent first", pa.list_(CONTRIBUTING)),
        _opt("capacity_msg_rate", "messages/s of the consumers when last seen at their capacity"),
        _opt("capacity_seen_ms", "when that was", pa.int64()),
        _opt(
            "messages",
            "key and values, rounded as shown, of each sentence of evidence, missing_evidence (what, fix), contributing and why as JSON, "
            "for other languages; NULL: older rows",
            VERDICT_MESSAGES,
        ),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms"),
    partition_by=("cluster", "date"),
)
