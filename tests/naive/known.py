"""What was known in an hour, the slow way: minute by minute, key by key. In: snapshots and an hour. Out: the snapshots that speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.as_of import KNOWN_FOR_MS


def spoken(rows: Iterable[Mapping[str, Any]], key: tuple[str, ...], hour_ms: int) -> set[str]:
    """Every snapshot that speaks at the end of a minute of the hour: the newest before it, or else the first behind it."""
    rows = list(rows)
    found = set()
    for at_ms in range(hour_ms + MINUTE_MS, hour_ms + BLOCK_MS + 1, MINUTE_MS):
        for name in {tuple(row[part] for part in key) for row in rows}:
            mine = [row for row in rows if tuple(row[part] for part in key) == name]
            before = [row for row in mine if row["observed_ms"] <= at_ms]
            one = (
                max(before, key=lambda row: row["observed_ms"])
                if before
                else min(mine, key=lambda row: row["observed_ms"])
            )
            if abs(one["observed_ms"] - at_ms) <= KNOWN_FOR_MS:
                found.add(f"{at_ms} {sorted(one.items())}")
    return found
