"""Small lakes for tests. In: series, limits and stats in memory. Out: a lake that holds them as ingest would have written them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping, Labels, SeriesKey, normalise
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.transforms.promql.source import Series


def lake_of(
    root: Path,
    series: Sequence[Series],
    *,
    limits: Sequence[dict] = (),
    stats: Sequence[dict] = (),
    key_of: Callable[[Labels], SeriesKey] = lambda labels: normalise(labels, LabelMapping()),
) -> Lake:
    """Write a lake: one file per metric, cluster, block and shard; ``key_of`` is ingest's normalisation, or another."""
    lake = Lake(root)
    catalogue, blocks = [], {}
    for one in series:
        key = key_of(tuple(one.labels.items()))
        times = np.concatenate([one.timestamps_ms, one.stale_ms])
        seen = one.timestamps_ms if len(one.timestamps_ms) else times
        catalogue.append(
            {
                "series_id": key.series_id,
                "metric_name": key.metric_name,
                "cluster": key.cluster,
                "labels": [pair for pair in key.labels if pair[0] != "__name__"],
                "shard": key.shard,
                "first_ms": int(seen[0]),
                "last_ms": int(seen[-1]),
            }
        )
        for block_ms in np.unique(times - times % BLOCK_MS).tolist():
            inside = (one.timestamps_ms >= block_ms) & (one.timestamps_ms < block_ms + BLOCK_MS)
            stale = (one.stale_ms >= block_ms) & (one.stale_ms < block_ms + BLOCK_MS)
            blocks.setdefault((key.metric_name, key.cluster, block_ms, key.shard), []).append(
                {
                    "series_id": key.series_id,
                    "metric_name": key.metric_name,
                    "date": date_of(block_ms),
                    "cluster": key.cluster,
                    "shard": key.shard,
                    "block_start_ms": block_ms,
                    "timestamps_ms": one.timestamps_ms[inside].tolist(),
                    "values": one.values[inside].tolist(),
                    "stale_ms": one.stale_ms[stale].tolist(),
                }
            )
    lake.upsert("series", table_of("series", catalogue), run_id="test")
    files = [
        write_data_file(lake.root, "samples", table_of("samples", sorted(rows, key=lambda r: r["series_id"])))
        for rows in blocks.values()
    ]
    lake.commit("samples", files, run_id="test")
    for name, rows in (("limits", limits), ("topic_stats", stats)):
        if rows:
            lake.upsert(name, table_of(name, rows), run_id="test")
    return lake


def table_of(name: str, rows: Sequence[dict]) -> pa.Table:
    """Rows as a table of a contract; columns that a row leaves out are NULL."""
    return pa.Table.from_pylist(list(rows), schema=TABLES[name].loose_schema)


def limit_row(
    level: str, *, at_ms: int, msg=None, size=None, set_by="topic_policy", period_s=1, **more
) -> dict:
    """A row of ``limits``; ``more`` holds the key and whatever differs from a plain limit."""
    return {
        "level": level,
        "rate_msg": msg,
        "rate_bytes": size,
        "period_s": period_s,
        "counts": "messages",
        "relative_to_publish": False,
        "exempt_caught_up": False,
        "read_batch_entries": 100,
        "read_size_bytes": 5_242_880,
        "broker": None,
        "set_by": set_by,
        "observed_ms": at_ms,
        "date": date_of(at_ms),
        **more,
    }


def stats_row(*, at_ms: int, **more) -> dict:
    """A row of ``topic_stats``."""
    zeros = {
        f"throttled_{unit}_events_{level}": 0
        for unit in ("msg", "bytes")
        for level in ("broker", "topic", "subscription")
    }
    return {
        **zeros,
        "observed_ms": at_ms,
        "subscription_type": None,
        "backlog_entries": 0,
        "delayed_entries": 0,
        "unacked_msg": 0,
        "blocked_on_unacked": False,
        "consumers": 0,
        "draining_hashes": 0,
        "out_msg_total": 0,
        "out_bytes_total": 0,
        "date": date_of(at_ms),
        **more,
    }
