"""Small lakes made by hand. In: hours and causes. Out: rows and committed files of ``verdicts``, ``samples``, ``limits``."""

from __future__ import annotations

import pyarrow as pa

from tests.app.lake_of_verdicts import FIVE, HOUR, verdict
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake, NewFile, write_data_file

__all__ = ["BLOCK_MS", "FIVE", "HOUR", "add", "limit", "rows_of", "sample", "table_of", "verdict"]


def table_of(table: str, rows: list[dict]) -> pa.Table:
    return TABLES[table].conform(pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema))


def add(lake: Lake, table: str, *files: list[dict], run_id: str = "made") -> list[NewFile]:
    """Commit one file for each list of rows, all in one version."""
    new = [write_data_file(lake.root, table, table_of(table, rows)) for rows in files]
    lake.commit(table, new, run_id=run_id)
    return new


def rows_of(lake: Lake, table: str, **reading: object) -> list[str]:
    """All rows as text, sorted: equal lists are equal tables."""
    return sorted(map(repr, lake.read(table, **reading).to_pylist()))


def sample(
    series: str = "a" * 32, block: int = HOUR, values: tuple = (1.0, 2.0), cluster: str = "c", shard: int = 3
):
    times = [block + 15_000 * i for i in range(len(values))]
    return {
        "series_id": series, "metric_name": "up", "date": date_of(block), "cluster": cluster, "shard": shard,
        "block_start_ms": block, "timestamps_ms": times, "values": list(values), "stale_ms": [],
    }  # fmt: skip


def limit(observed_ms: int, cluster: str = "c", rate_msg: int | None = 100) -> dict:
    return {
        "cluster": cluster, "namespace": "t/n", "topic": "persistent://t/n/x", "partition": -1, "subscription": "s",
        "level": "topic", "rate_msg": rate_msg, "rate_bytes": None, "period_s": 1, "counts": "messages",
        "relative_to_publish": False, "exempt_caught_up": False, "read_batch_entries": 100,
        "read_size_bytes": 5_242_880, "broker": None, "set_by": "namespace_policy", "observed_ms": observed_ms,
        "date": date_of(observed_ms),
    }  # fmt: skip
