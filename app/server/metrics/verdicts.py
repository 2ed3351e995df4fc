"""Newest verdicts for a scrape. In: the table ``verdicts``. Out: one verdict per subscription partition, unless it is old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from throttlescope.app.server.metrics.families import Family, Sample, described, key_text, label_text
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.causes import CAUSES

#: A verdict is dropped when its window ended longer ago than this: it may no longer be true.
FRESH_MS = 5 * MINUTE_MS

#: Causes under which more consumers would take more. Everything else has a cause that consumers do not
#: change, or an unknown one.
CONSUMERS_HELP = frozenset(cause.name for cause in CAUSES if cause.more_consumers_help)

_COLUMNS = [
    *SUBSCRIPTION_KEY_NAMES,
    "window_start_ms",
    "window_end_ms",
    "side",
    "cause",
    "limiter",
    "confidence",
    "backlog_entries",
]


def verdict_families(lake: Lake, now_ms: int) -> Sequence[Family]:
    """Families of the newest verdict of every subscription partition, the largest backlog first."""
    rows = _newest(lake, now_ms)
    keys = [key_text(row) for row in rows]
    return (
        described(
            "throttlescope_verdict",
            [(f"{key},{_verdict_text(row)}", 1.0) for key, row in zip(keys, rows, strict=True)],
        ),
        described(
            "throttlescope_verdict_confidence",
            [(key, row["confidence"]) for key, row in zip(keys, rows, strict=True)],
        ),
        described(
            "throttlescope_verdict_timestamp_seconds",
            [(key, row["window_end_ms"] / 1000) for key, row in zip(keys, rows, strict=True)],
        ),
        described(
            "throttlescope_backlog_consumers_could_drain_entries",
            [
                (key, drainable)
                for key, row in zip(keys, rows, strict=True)
                if (drainable := consumers_could_drain_entries(row)) is not None
            ],
        ),
        described(
            "throttlescope_verdicts_newest_timestamp_seconds",
            _newest_of_clusters(lake),
        ),
    )


def consumers_could_drain_entries(verdict: Mapping) -> float | None:
    """The backlog that more consumers could drain.

    A healthy backlog counts whole: nothing but consumers drains it, and an autoscaler that saw 0 the moment its new
    consumers began to drain would remove them again.

    Returns
    -------
    float or None
        None where consumers would help and the backlog was not measured.
    """
    if verdict["cause"] not in CONSUMERS_HELP:
        return 0.0
    return None if verdict["backlog_entries"] is None else max(0.0, float(verdict["backlog_entries"]))


def _newest(lake: Lake, now_ms: int) -> list[dict]:
    # A clock may be ahead by as much as a verdict may be old.
    low, high = now_ms - FRESH_MS, now_ms + FRESH_MS
    rows = lake.read(
        "verdicts",
        columns=_COLUMNS,
        between={"window_end_ms": (low, high)},
        where=(pc.field("window_end_ms") >= low) & (pc.field("window_end_ms") <= high),
    )
    newest: dict[tuple, dict] = {}
    for row in rows.to_pylist():
        key = tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)
        there = newest.get(key)
        if there is None or _recency(row) > _recency(there):
            newest[key] = row
    return sorted(
        newest.values(),
        key=lambda row: (-(row["backlog_entries"] or 0.0), *(row[name] for name in SUBSCRIPTION_KEY_NAMES)),
    )


def _recency(row: Mapping) -> tuple[int, int]:
    return row["window_end_ms"], row["window_start_ms"]


def _verdict_text(row: Mapping) -> str:
    return label_text({name: row[name] for name in ("cause", "side", "limiter") if row[name]})


def _newest_of_clusters(lake: Lake) -> list[Sample]:
    newest: dict[str, int] = {}
    for file in lake.files("verdicts"):
        cluster = file.partition["cluster"]
        newest[cluster] = max(newest.get(cluster, 0), file.maximum["window_end_ms"])
    return [(label_text({"cluster": cluster}), end_ms / 1000) for cluster, end_ms in sorted(newest.items())]
