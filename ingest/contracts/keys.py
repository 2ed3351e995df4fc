"""Key columns. In: nothing. Out: the columns that name a cluster, a subscription partition and a date, the same in every table."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.table import Column

DATE = Column("date", pa.string(), "UTC date of the row, YYYY-MM-DD")

CLUSTER = Column("cluster", pa.string(), "Pulsar cluster, or the name of a recording")

TOPIC_KEY = (
    CLUSTER,
    Column("namespace", pa.string(), "tenant/namespace"),
    Column(
        "topic",
        pa.string(),
        "persistent://tenant/namespace/name, without the partition suffix; topic://tenant/namespace/name where it is scalable",
    ),
    Column(
        "partition",
        pa.int32(),
        "partition number, or the id of a scalable topic's segment; -1 where the topic is not partitioned",
    ),
)

SUBSCRIPTION_KEY = (*TOPIC_KEY, Column("subscription", pa.string(), "subscription name"))

SUBSCRIPTION_KEY_NAMES = tuple(column.name for column in SUBSCRIPTION_KEY)
TOPIC_KEY_NAMES = tuple(column.name for column in TOPIC_KEY)
