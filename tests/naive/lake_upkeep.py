"""Upkeep of a lake, the slow and obvious way: whole tables are read, every version is opened."""

from __future__ import annotations

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import time_column


def named_since(lake: Lake, table: str, since_ms: int) -> set[str]:
    """Paths of every version that was the newest at ``since_ms`` or later: each is opened."""
    newest = lake.version(table)
    first = lake.version_at(table, since_ms)
    named: set[str] = set()
    for version in range(first if first is not None else 0, newest + 1):
        named |= {file.relative_path for file in lake.files(table, version=version)}
    return named


def rows_since(rows: list[dict], table: str, before_ms: int) -> list[dict]:
    """Rows whose hour does not lie wholly before ``before_ms``."""
    column = time_column(TABLES[table])
    return [row for row in rows if row[column] - row[column] % BLOCK_MS + BLOCK_MS > before_ms]
