"""Samples of topics. In: files of ``samples`` and rows of ``series``; out: the series that a window is made of.

A fleet is read shard by shard: the files of a metric are opened once for all selected topics.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.metrics import BACKLOG, REPLICATION_BACKLOG
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.lake import DataFile
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.source import Series

DELAYED = "pulsar_subscription_delayed"
UNACKED = "pulsar_subscription_unacked_messages"
BLOCKED = "pulsar_subscription_blocked_on_unacked_messages"
CONSUMERS = "pulsar_subscription_consumers_count"
EXPIRED = "pulsar_subscription_total_msg_expired"
REDELIVERED_PER_S = "pulsar_subscription_msg_rate_redeliver"
EVENTS = {unit: f"pulsar_subscription_dispatch_throttled_{unit}_events" for unit in UNITS}
PERMITS = "pulsar_consumer_available_permits"
DISPATCHED_AT = "pulsar_subscription_last_consumed_timestamp"
ACKED_AT = "pulsar_subscription_last_acked_timestamp"
OUT = {"msg": "pulsar_out_messages_total", "bytes": "pulsar_out_bytes_total"}
IN = {"msg": "pulsar_in_messages_total", "bytes": "pulsar_in_bytes_total"}
ENTRIES_PER_S = "pulsar_storage_write_rate"
PUBLISH_LIMITED = "pulsar_publish_rate_limit_times"
#: Of a replicator: what was sent and what came from the remote cluster, in a second as a mean of the last minute; messages are entries in what was sent.
REPLICATED_OUT = {"msg": "pulsar_replication_rate_out", "bytes": "pulsar_replication_throughput_out"}
REPLICATED_IN = {"msg": "pulsar_replication_rate_in", "bytes": "pulsar_replication_throughput_in"}
REPLICATOR_CONNECTED = "pulsar_replication_connected_count"
BROKER_OUT = {"msg": "pulsar_broker_rate_out", "bytes": "pulsar_broker_throughput_out"}
#: What a window is made of: the topic's, and the brokers'.
METRICS = (
    BACKLOG, DELAYED, UNACKED, BLOCKED, CONSUMERS, EXPIRED, REDELIVERED_PER_S, *EVENTS.values(), PERMITS,
    DISPATCHED_AT, ACKED_AT,
    *OUT.values(), *IN.values(), ENTRIES_PER_S, PUBLISH_LIMITED, *BROKER_OUT.values(),
    REPLICATION_BACKLOG, *REPLICATED_OUT.values(), *REPLICATED_IN.values(), REPLICATOR_CONNECTED,
)  # fmt: skip
BROKER_METRICS = tuple(BROKER_OUT.values())


def series_of(files: Sequence[DataFile], catalogue: pa.Table, start_ms: int, end_ms: int) -> list[Series]:
    """Samples of [start_ms, end_ms) of all series of a catalogue, metric by metric: of a file no more than that is kept.

    Parameters
    ----------
    files
        Files of ``samples`` that may hold them.
    catalogue : pyarrow.Table
        Rows of ``series``.
    """
    found = []
    for metric in METRICS:
        source = LakeSampleSource(
            [file for file in files if file.partition["metric_name"] == metric], catalogue
        )
        found += source.select(metric_selector(metric), start_ms, end_ms)
    return [item for item in found if len(item.timestamps_ms)]


def of_topics(catalogue: pa.Table, topics: Collection[str]) -> pa.Table:
    """Rows of ``series`` of some topics; row by row in Python a fleet's catalogue would take seconds."""
    mine = np.zeros(catalogue.num_rows, bool)
    first = 0
    for labels in catalogue.column("labels").chunks:
        named = pc.and_(
            pc.equal(labels.keys, "topic"),
            pc.is_in(labels.items, value_set=pa.array(sorted(topics), pa.string())),
        )
        # A slice shares the keys of the whole: rows before it belong to no series here.
        offsets = labels.offsets.to_numpy()
        at = np.flatnonzero(named.to_numpy(zero_copy_only=False))
        at = at[(at >= offsets[0]) & (at < offsets[-1])]
        mine[first + np.searchsorted(offsets, at, side="right") - 1] = True
        first += len(labels)
    return catalogue.filter(pa.array(mine))
