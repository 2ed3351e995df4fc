"""Rows and lakes for the gates' tests. In: what is to be special about a row. Out: the row, or a lake that holds some."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file

HOUR = 1_795_161_600_000
BACKLOG = "pulsar_subscription_back_log"
OUT = "pulsar_out_messages_total"
KEY = {
    "cluster": "c",
    "namespace": "t/n",
    "topic": "persistent://t/n/x",
    "partition": -1,
    "subscription": "s",
}


def block(series, metric=BACKLOG, hour=0, ticks=range(240), stale=(), values=None, cluster="c"):
    """A row of ``samples``: a scrape every 15 s."""
    start = HOUR + hour * BLOCK_MS
    times = [start + tick * 15_000 for tick in ticks]
    return {
        "series_id": series * 32, "metric_name": metric, "date": date_of(start), "cluster": cluster, "shard": 0,
        "block_start_ms": start, "timestamps_ms": times,
        "values": [float(i) for i in range(len(times))] if values is None else values,
        "stale_ms": [start + tick * 15_000 for tick in stale],
    }  # fmt: skip


def catalogue(blocks):
    """The series of some blocks."""
    rows = {
        row["series_id"]: {
            "series_id": row["series_id"], "metric_name": row["metric_name"], "cluster": row["cluster"],
            "labels": [("subscription", f"sub-{row['series_id'][0]}")], "shard": 0,
            "first_ms": row["block_start_ms"], "last_ms": row["block_start_ms"] + BLOCK_MS,
        }
        for row in blocks
    }  # fmt: skip
    return pa.Table.from_pylist(list(rows.values()), schema=TABLES["series"].schema)


def lake_of(folder, blocks, known=None):
    """A lake that holds these blocks, one file each, written as ingest writes them."""
    lake = Lake(folder)
    lake.upsert("series", catalogue(blocks if known is None else known), run_id="r")
    schema = TABLES["samples"].schema
    files = [
        write_data_file(lake.root, "samples", pa.Table.from_pylist([row], schema=schema)) for row in blocks
    ]
    lake.commit("samples", files, run_id="r")
    return lake


def series_of(metric=BACKLOG, **labels):
    """A row of ``series`` as ingest makes it."""
    named = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "subscription": "s"} | labels
    key = normalise(tuple(({"__name__": metric} | named).items()), LabelMapping())
    return {
        "series_id": key.series_id, "metric_name": metric, "cluster": key.cluster, "shard": key.shard,
        "labels": [pair for pair in key.labels if pair[0] != "__name__"], "first_ms": HOUR, "last_ms": HOUR + BLOCK_MS,
    }  # fmt: skip


def signal(minute=0, **changes):
    """A row of ``signals``."""
    row = dict.fromkeys((column.name for column in TABLES["signals"].columns), None) | KEY | {
        "minute_ms": HOUR + minute * MINUTE_MS, "coverage_share": 1.0, "counter_resets": 0, "broker_changed": False,
        "limits_observed": False, "limit_observed_later": False, "limits_changed": False, "date": date_of(HOUR),
    }  # fmt: skip
    return row | changes


def verdict(window=0, **changes):
    """A row of ``verdicts``: five minutes that were throttled."""
    start = HOUR + window * 5 * MINUTE_MS
    row = dict.fromkeys((column.name for column in TABLES["verdicts"].columns), None) | KEY | {
        "window_start_ms": start, "window_end_ms": start + 5 * MINUTE_MS, "side": "throttle", "cause": "throttled",
        "limiter": "topic.msg", "confidence": 0.9, "naive_side": "throttle", "rules_version": "2", "date": date_of(HOUR),
        "evidence": [{"symptom": "use", "weight": "for", "text": "at the limit"}], "missing_evidence": [],
    }  # fmt: skip
    return row | changes


def answer(scope="topic_dispatch_rate", body="null", key="persistent://t/n/x", minute=0, **changes):
    """A row of ``policies``."""
    observed_ms = HOUR + minute * MINUTE_MS
    row = {
        "cluster": "c", "scope": scope, "key": key, "body": body, "broker": "b:8080", "observed_ms": observed_ms,
        "date": date_of(observed_ms),
    }  # fmt: skip
    return row | changes


def limit(level="topic", **changes):
    """A row of ``limits``."""
    row = KEY | {
        "level": level, "rate_msg": 100, "rate_bytes": None, "period_s": 1, "counts": "messages", "relative_to_publish": False,
        "exempt_caught_up": False, "read_batch_entries": 100, "read_size_bytes": 5_242_880, "broker": None,
        "set_by": "topic_policy", "observed_ms": HOUR, "date": date_of(HOUR),
    }  # fmt: skip
    return row | changes


def limits(**changes):
    """The three levels of one subscription; what is special is the topic's."""
    none = {"rate_msg": None, "set_by": "none"}
    return [limit("broker", **none), limit("topic", **changes), limit("subscription", **none)]


def stats(**changes):
    """A row of ``topic_stats``."""
    row = {column.name: None if column.nullable else 0 for column in TABLES["topic_stats"].columns} | KEY | {
        "observed_ms": HOUR, "subscription_type": "Shared", "blocked_on_unacked": False, "consumers": 1, "permits_min": 1,
        "permits_max": 2, "messages_per_entry": 1.0, "owner_broker": "b:8080", "date": date_of(HOUR),
    }  # fmt: skip
    return row | changes


def hold(lake, table, rows):
    """Put rows into a table as they are, also those that ingest validation would refuse."""
    schema = TABLES[table].schema
    files = [write_data_file(lake.root, table, pa.Table.from_pylist([row], schema=schema)) for row in rows]
    lake.commit(table, files, run_id="r")
    return lake


def failures(result):
    """Rows that do not hold, by check."""
    return {row["check"]: row for row in result.failures()}
