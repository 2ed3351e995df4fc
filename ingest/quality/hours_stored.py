"""What the lake has of each hour. In: the files of ``samples`` of some clusters. Out: one row per cluster, metric and hour.

Everything is read from the lake's log: a file holds one metric, cluster, hour and shard, and one row per series.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

import pyarrow as pa

from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import DataFile

#: An hour is compared with those of the day before it, so that every hour of the day is among them.
HOURS_BEFORE = 24
#: A restart of everything inside an hour gives each series a second name; more than that is a label that takes new values.
JUMP_TIMES = 3
#: Below it a jump costs nothing: series are read and evaluated a thousand at a time.
JUMP_SERIES = 1000
#: Less than this share of what was there before: whole brokers or namespaces are gone.
LOST_SHARE = 0.5
#: One topic that is no longer loaded takes a few series with it, and is no loss of the source.
LOST_SERIES = 10
#: PromQL takes a sample for current so long; then signals end.
LATE_MS = 5 * MINUTE_MS
#: A range that ended longer ago says nothing about how fresh the source is now.
RECENT_MS = BLOCK_MS

EVERY_METRIC = "(every metric)"
#: Consumers come and go, and their series with them.
_STEADY = frozenset(name for name, metric in METRICS.items() if metric.level != "consumer")

FAULTS = pa.schema(
    [
        ("cluster", pa.string()),
        ("metric_name", pa.string()),
        ("hour_ms", pa.int64()),
        ("surplus_series", pa.int64()),
        ("lost_series", pa.int64()),
        ("missing_hours", pa.int64()),
        ("late_minutes", pa.int64()),
        ("without_before", pa.int64()),  # 1: the lake holds no hour before this one to compare with
        ("not_recent", pa.int64()),  # 1: freshness is not judged
    ]
)


def hour_faults(
    files: Iterable[DataFile], newest_ms: Mapping[str, int], start_ms: int, end_ms: int, now_ms: int
) -> pa.Table:
    """Compare every hour of [start_ms, end_ms) with the hours before it.

    Parameters
    ----------
    files : iterable of DataFile
        Files of ``samples`` from :data:`HOURS_BEFORE` before the range on.
    newest_ms : mapping of str to int
        By cluster, the time of its newest sample.
    """
    first_ms = block_start(start_ms)
    series: dict[tuple[str, str], dict[int, int]] = {}
    for file in files:
        by_hour = series.setdefault((str(file.minimum["cluster"]), file.partition["metric_name"]), {})
        hour_ms = int(file.minimum["block_start_ms"])
        by_hour[hour_ms] = by_hour.get(hour_ms, 0) + file.rows
    rows = []
    hours_of: dict[str, set[int]] = {}
    for (cluster, metric_name), by_hour in sorted(series.items()):
        hours_of.setdefault(cluster, set()).update(by_hour)
        for hour_ms in sorted(hour for hour in by_hour if hour >= first_ms):
            before = [n for hour, n in by_hour.items() if hour_ms - HOURS_BEFORE * BLOCK_MS <= hour < hour_ms]
            rows.append(
                _row(cluster, metric_name, hour_ms)
                | {
                    "surplus_series": surplus(by_hour[hour_ms], before),
                    "lost_series": lost(by_hour[hour_ms], before) if metric_name in _STEADY else 0,
                    "without_before": int(not before),
                }
            )
    for cluster, hours in sorted(hours_of.items()):
        inside = sorted(hour for hour in hours if hour >= first_ms)
        if not inside:
            continue
        for hour_ms in range(inside[0], inside[-1], BLOCK_MS):
            if hour_ms not in hours:
                rows.append(_row(cluster, EVERY_METRIC, hour_ms) | {"missing_hours": 1})
        is_recent = min(end_ms, now_ms) > now_ms - RECENT_MS
        late = late_minutes(newest_ms.get(cluster, 0), min(end_ms, now_ms)) if is_recent else 0
        rows.append(
            _row(cluster, EVERY_METRIC, inside[-1]) | {"late_minutes": late, "not_recent": int(not is_recent)}
        )
    return pa.Table.from_pylist(rows, schema=FAULTS)


def surplus(series: int, before: list[int]) -> int:
    """Series beyond :data:`JUMP_TIMES` the most of the hours before, where they are enough to matter."""
    most = max(before, default=0)
    return series - most if before and series > JUMP_TIMES * most and series - most >= JUMP_SERIES else 0


def lost(series: int, before: list[int]) -> int:
    """Series that the middle one of the hours before had, where less than :data:`LOST_SHARE` are left."""
    usual = statistics.median_low(before) if before else 0
    return usual - series if series < LOST_SHARE * usual and usual - series >= LOST_SERIES else 0


def late_minutes(newest_ms: int, until_ms: int) -> int:
    """Minutes, rounded up, without a sample before a moment; 0 within the look-back."""
    late_ms = until_ms - newest_ms
    return -(-late_ms // MINUTE_MS) if late_ms > LATE_MS else 0


def _row(cluster: str, metric_name: str, hour_ms: int) -> dict:
    zeros = dict.fromkeys(FAULTS.names[3:], 0)
    return {"cluster": cluster, "metric_name": metric_name, "hour_ms": hour_ms} | zeros
