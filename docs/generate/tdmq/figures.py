"""Figures of a run: in, its tables; out, what a console shows (seconds, minute means, throttle counts) and what clients feel."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow.compute as pc

from throttlescope.models.throttling.tdmq.scenario import WINDOW_US
from throttlescope.models.throttling.tdmq.tables import Tables

#: The Java client's default: a send call that was not answered for so long fails.
SEND_TIMEOUT_MS = 30_000


class Second(NamedTuple):
    """One quota in one window of the run, all nodes (partitions) together; waits in ms, None where nothing was accepted."""

    start_s: int
    requests: int
    processed: int
    processed_after_close: int
    throttle_count: int
    delayed_requests: int
    waiting: int
    wait_ms_max: float | None


def seconds(tables: Tables, quota: str) -> list[Second]:
    """The run, second by second."""
    sums = ("requests", "processed", "processed_after_close", "throttle_count", "delayed_requests", "waiting")
    rows = (
        tables.windows.filter(pc.field("quota") == quota)
        .group_by("window_start_us")
        .aggregate([*((name, "sum") for name in sums), ("wait_ms_max", "max")])
        .sort_by("window_start_us")
        .to_pylist()
    )
    return [
        Second(row["window_start_us"] // WINDOW_US, *(row[f"{name}_sum"] for name in sums), row["wait_ms_max_max"])
        for row in rows
    ]  # fmt: skip


def peak(tables: Tables, quota: str) -> int:
    """Most messages that were processed in one window, all nodes (partitions) together."""
    return max(second.processed for second in seconds(tables, quota))


def throttle_count(tables: Tables, quota: str) -> int:
    """How often channels were closed because of the quota, as the console counts it."""
    return sum(second.throttle_count for second in seconds(tables, quota))


def console_means(tables: Tables, quota: str) -> list[float]:
    """What the console shows: messages within a minute / 60, for every whole minute of the run.

    Source: TDMQ's page, question 1.
    """
    processed = [second.processed for second in seconds(tables, quota)]
    return [sum(processed[i : i + 60]) / 60 for i in range(0, len(processed) - 59, 60)]


def mean_per_s(tables: Tables, quota: str) -> float:
    """Messages processed per second, over the whole run."""
    processed = [second.processed for second in seconds(tables, quota)]
    return sum(processed) / len(processed)


def longest_wait_ms(tables: Tables, quota: str) -> float:
    """The longest wait of what was accepted; 0 where nothing was."""
    return max((second.wait_ms_max or 0.0 for second in seconds(tables, quota)), default=0.0)


def thresholds_msg(tables: Tables, quota: str, second: int) -> set[int | None]:
    """The different thresholds that nodes (partitions) had in a window."""
    chosen = (pc.field("quota") == quota) & (pc.field("window_start_us") == second * WINDOW_US)
    return set(tables.windows.filter(chosen).column("threshold_msg").to_pylist())


def used_before(tables: Tables, at_ms: int) -> list[int]:
    """Messages that each node (partition) had processed before ``at_ms`` of the run, in the order of their numbers."""
    rows = (
        tables.requests.filter(pc.field("processed_us") < at_ms * 1000)
        .group_by("place")
        .aggregate([([], "count_all")])
    )
    counts = dict(zip(rows["place"].to_pylist(), rows["count_all"].to_pylist(), strict=True))
    return [counts.get(place, 0) for place in sorted(set(tables.windows.column("place").to_pylist()))]


def first_over_ms(tables: Tables, wait_ms: int) -> float | None:
    """The send call, in ms of the run, of the first request that waited longer; None where none did."""
    late = tables.requests.filter(pc.field("wait_us") > wait_ms * 1000)
    return pc.min(late.column("sent_us")).as_py() / 1000 if late.num_rows else None


def percent(share: float) -> str:
    """A share in words of the page.

    >>> percent(0.15)
    '15 %'
    """
    return f"{share * 100:.0f} %"
