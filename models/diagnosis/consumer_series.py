"""Series of single consumers in a lake. In: a subscription partition and a range. Out: what :mod:`slowest` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.selector import EQUAL, NOT_EQUAL, Matcher, metric_selector
from throttlescope.ingest.core.times import block_start
from throttlescope.models.diagnosis.slowest import METRICS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.source import Series

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


def consumer_series(lake: Lake, key: SubscriptionKey, start_ms: int, end_ms: int) -> list[Series]:
    """What single consumers of a subscription partition showed in [start_ms, end_ms); nothing where they are not scraped."""
    shard = shard_of(key.cluster, key.namespace, key.topic)
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": METRICS},
            between={"block_start_ms": (block_start(start_ms), end_ms - 1)},
        )
        if file.minimum["shard"] == shard and file.minimum["cluster"] == key.cluster
    ]
    if not files:
        return []
    where = (pc.field("cluster") == key.cluster) & pc.field("metric_name").isin(METRICS)
    series = lake.read(
        "series",
        columns=["series_id", "metric_name", "labels"],
        where=where,
        partition={"shard": [str(shard)]},
    )
    source = LakeSampleSource(files, _of(series, key))
    of_consumer = (
        *(Matcher(name, EQUAL, str(value)) for name, value in key._asdict().items()),
        Matcher("consumer_id", NOT_EQUAL, ""),
    )
    return [
        one
        for metric in METRICS
        for one in source.select(metric_selector(metric, of_consumer), start_ms, end_ms)
    ]


def _of(series: pa.Table, key: SubscriptionKey) -> pa.Table:
    """The rows of one subscription: others would only be matched and thrown away."""
    named = [dict(labels).get("subscription") == key.subscription for labels in series["labels"].to_pylist()]
    return series.filter(pa.array(named, pa.bool_()))
