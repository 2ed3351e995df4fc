"""A small lake with answers of the admin API and the limits that they give. In: a folder. Out: the lake."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from tests.app.web.sample_lake import END_MS, START_MS, Phase, Sample, write_sample_lake
from tests.transforms.test_limits import CLUSTER, SUB, TOPIC, rate, runtime, snapshot
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.limits import resolve_limits

OTHER = "tail"
_NAMESPACE = {
    "replication_clusters": ["pulsar-prod"],
    "subscriptionDispatchRate": {"pulsar-prod": rate(size=9_000)},
}
_RUNTIME = runtime(dispatchThrottlingRateInMsg="5000")
_TOPIC_60 = {"topic": (60, None, 1, "topic_policy")}


def answers(at_ms: int, topic_msg: int) -> list[dict]:
    """A broker limit, one of the topic, one of the subscription by its topic, and one of the namespace that this hides."""
    return snapshot(
        at_ms=at_ms,
        subscriptions=(SUB, OTHER),
        broker_configuration_runtime=_RUNTIME,
        namespace=_NAMESPACE,
        topic_dispatch_rate=rate(msg=topic_msg),
        topic_subscription_dispatch_rate=rate(msg=500, period=10),
    )


def write_lake_of_limits(root: Path) -> Lake:
    """Two subscriptions of one topic; its limit was raised from 60 to 120 two hours in."""
    samples = (
        Sample(TOPIC, SUB, (Phase(0, in_msg=59.0, out_msg=59.0, limits=_TOPIC_60),
                            Phase(120, in_msg=20.0, limits={"topic": (120, None, 1, "topic_policy")})), cluster=CLUSTER),
        Sample(TOPIC, OTHER, (Phase(0, in_msg=1.0, limits=_TOPIC_60),), cluster=CLUSTER),
    )  # fmt: skip
    lake = write_sample_lake(root, samples, truth=False)
    rows = answers(START_MS + BLOCK_MS, 60) + answers(START_MS + 2 * BLOCK_MS, 120)
    rows = [{**row, "body": row["body"] or "null", "date": date_of(row["observed_ms"])} for row in rows]
    lake.upsert("policies", pa.Table.from_pylist(rows, schema=TABLES["policies"].loose_schema), run_id="r")
    resolve_limits(lake, [CLUSTER], START_MS, END_MS, run_id="r")
    return lake
