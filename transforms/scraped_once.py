"""Check that each broker is scraped once. In: a lake's catalogue and counters. Out: rows of ``quality`` that name brokers that are scraped twice.

Duplicate targets are counted once here (:mod:`read_once`), but take twice the storage, and rules in Prometheus itself add them
up, so the operator should know. Some topics of the newest hour are enough: duplicate jobs scrape whole brokers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, block_start, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.duck import from_files
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.read_once import BACKLOG, COUNTERS, REPLICATORS, ReadTwice, read_twice

CHECK = "brokers_scraped_once"
#: Topics of a cluster that are checked.
_TOPICS = 20


def check_scraped_once(
    lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, *, run_id: str, now_ms: int
) -> pa.Table:
    """Look for brokers that are scraped twice at the end of [start_ms, end_ms).

    Parameters
    ----------
    now_ms : int
        Time of the check, for its rows.

    Returns
    -------
    pyarrow.Table
        Rows of ``quality``, one per cluster in which there is one.
    """
    start_ms = max(start_ms, block_start(end_ms - 1)) - BLOCK_MS
    found = [
        _row(cluster, twice, run_id, now_ms)
        for cluster in sorted(set(clusters))
        if (topics := _shown_twice(lake, cluster, start_ms, end_ms))
        and (twice := _read_twice(lake, cluster, topics, start_ms, end_ms)) is not None
    ]
    contract = TABLES["quality"]
    return contract.conform(pa.Table.from_pylist(found, schema=contract.loose_schema))


def _shown_twice(lake: Lake, cluster: str, start_ms: int, end_ms: int) -> list[str]:
    """Some topics with a subscription that has several series at the same time."""
    files = lake.files("series")
    if not files:
        return []
    # Counted by DuckDB: the catalogue has a row for every series of the fleet. Series that were there one after the other
    # are together as long as from the first one's beginning to the last one's end.
    query = f"""
        SELECT DISTINCT topic FROM (
            SELECT labels['topic'] AS topic, count(*) AS targets, sum(last_ms - first_ms) AS together_ms,
                max(last_ms) - min(first_ms) AS whole_ms
            FROM {from_files(files)}
            WHERE cluster = ? AND metric_name = ? AND last_ms >= ? AND first_ms < ?
            GROUP BY labels['topic'], labels['partition'], labels['subscription']
        ) WHERE targets > 1 AND together_ms > whole_ms ORDER BY topic LIMIT {_TOPICS}"""  # noqa: S608
    with lake.counting("series", files) as connection:
        rows = connection.execute(query, [cluster, BACKLOG.metric_name, start_ms, end_ms]).fetchall()
    return [topic for (topic,) in rows]


def _read_twice(lake: Lake, cluster: str, topics: list[str], start_ms: int, end_ms: int) -> ReadTwice | None:
    metrics = {selector.metric_name for selector in (BACKLOG, *COUNTERS, REPLICATORS)}
    catalogue = lake.read(
        "series",
        columns=["series_id", "metric_name", "labels"],
        where=(pc.field("cluster") == cluster)
        & pc.field("metric_name").isin(sorted(metrics))
        & pc.map_lookup(pc.field("labels"), "topic", "first").isin(topics),
    )
    first_ms = block_start(start_ms)
    files = lake.files(
        "samples",
        partition={
            "metric_name": metrics,
            "date": {date_of(at_ms) for at_ms in range(first_ms, end_ms, BLOCK_MS)},
        },
        between={"block_start_ms": (first_ms, end_ms - 1), "cluster": (cluster, cluster)},
    )
    source = LakeSampleSource(files, catalogue)
    return read_twice(source, source.select(BACKLOG, start_ms, end_ms), start_ms, end_ms)


def _row(cluster: str, twice: ReadTwice, run_id: str, now_ms: int) -> dict:
    pairs = twice.pairs()
    (kept, repeating), others = pairs[0], len(pairs) - 1
    differ = [name for name in kept if kept[name] != repeating[name]]
    named = [
        " and ".join(f'{name}="{target[name]}"' for name in differ if target[name])
        for target in (kept, repeating)
    ]
    more = f", and {others} more" if others else ""
    return {
        "run_id": run_id,
        "cluster": cluster,
        "gate": "signals",
        "check": CHECK,
        "table": "samples",
        "severity": "warning",
        "success": False,
        "observed": f"{named[0]} is the same broker as {named[1]}{more}: it is scraped twice, and counted once",
        "expected": "each broker scraped by one job of one server",
        "rows": len(pairs),
        "example": json.dumps({"read": kept, "left_out": repeating}, sort_keys=True),
        "observed_ms": now_ms,
        "date": date_of(now_ms),
    }
