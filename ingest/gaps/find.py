"""What is missing of a range that was read. In: ``samples`` of the lake. Out: stretches without a sample, by cluster and metric.

Two kinds. A stretch of :data:`SHORTEST_MS` or more without any sample of a cluster's backlog metric: nothing was scraped, or the
server was down. And whole UTC hours without a metric that the hours before and after have, while its cluster was scraped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from throttlescope.ingest.contracts.incremental import ALL
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start, date_of
from throttlescope.ingest.lake import DataFile, Lake, read_files

#: Every subscription has it at every scrape: where it is missing, nothing was scraped.
SIGN_OF_LIFE = "pulsar_subscription_back_log"
#: What Prometheus' look-back does not bridge.
SHORTEST_MS = 5 * MINUTE_MS


@dataclass(frozen=True, order=True)
class MissingStretch:
    """A stretch [start, end) without samples; ``metric_name`` is ``*`` where it is all of them."""

    cluster: str
    metric_name: str
    start_ms: int
    end_ms: int


def find_missing(
    lake: Lake, clusters: Iterable[str], metrics: Iterable[str], start_ms: int, end_ms: int
) -> list[MissingStretch]:
    """What is missing in [start, end).

    Parameters
    ----------
    metrics : iterable of str
        Metrics that were requested.

    Returns
    -------
    list of Missing
        Sorted. A cluster or metric that was never there before the range is missing from its first sample on, not before.
    """
    clusters, metrics = set(clusters), set(metrics)
    sign = SIGN_OF_LIFE if SIGN_OF_LIFE in metrics else min(metrics, default=SIGN_OF_LIFE)
    low_ms, high_ms = block_start(start_ms) - 2 * BLOCK_MS, end_ms + BLOCK_MS
    dates = {date_of(at_ms) for at_ms in range(low_ms, high_ms, BLOCK_MS)}
    files = lake.files(
        "samples", partition={"date": dates}, between={"block_start_ms": (low_ms, high_ms - 1)}
    )
    files = [file for file in files if file.minimum["cluster"] in clusters]
    found: list[MissingStretch] = []
    for cluster in sorted(clusters):
        own = [file for file in files if file.minimum["cluster"] == cluster]
        began = any(_begins_before(lake, cluster, sign, start_ms))
        signs = [file for file in own if file.partition["metric_name"] == sign]
        silent = _silent(signs, start_ms, end_ms, began)
        found += [MissingStretch(cluster, ALL, *stretch) for stretch in silent]
        found += _metrics_missing(cluster, own, metrics - {sign}, start_ms, end_ms)
    return sorted(found)


def _begins_before(lake: Lake, cluster: str, metric_name: str, start_ms: int) -> Iterable[bool]:
    """Whether the cluster was there before, one answer per file of the metric."""
    for file in lake.files("samples", partition={"metric_name": [metric_name]}):
        if file.minimum["cluster"] == cluster:
            yield file.minimum["block_start_ms"] < block_start(start_ms)


def _silent(files: list[DataFile], start_ms: int, end_ms: int, began: bool) -> list[tuple[int, int]]:
    """Stretches without a sample of any series of these files."""
    found = [np.empty(0, np.int64)]
    for file in files:
        rows = read_files("samples", [file], columns=["timestamps_ms"])
        times_ms = pc.list_flatten(rows["timestamps_ms"]).to_numpy()
        found.append(np.unique(times_ms[(times_ms >= start_ms) & (times_ms < end_ms)]))
    times_ms = np.unique(np.concatenate(found))
    first_ms = start_ms if began else (int(times_ms[0]) if len(times_ms) else end_ms)
    edges = np.concatenate([[first_ms], times_ms, [end_ms]])
    at = np.flatnonzero(np.diff(edges) >= SHORTEST_MS)
    # Behind the sample that was there, not on it.
    return [(int(edges[i]) + (i > 0), int(edges[i + 1])) for i in at.tolist()]


def _metrics_missing(
    cluster: str, files: list[DataFile], metrics: set[str], start_ms: int, end_ms: int
) -> list[MissingStretch]:
    """Whole hours without a metric between two that have it."""
    hours_of: dict[str, set[int]] = {}
    for file in files:
        hours_of.setdefault(file.partition["metric_name"], set()).add(int(file.minimum["block_start_ms"]))
    there = set().union(*hours_of.values()) if hours_of else set()
    found = []
    for metric in sorted(metrics & hours_of.keys()):
        has = hours_of[metric]
        # Of the hour before the range it is known only now that it lies between two.
        for hour_ms in range(block_start(start_ms) - BLOCK_MS, end_ms - BLOCK_MS + 1, BLOCK_MS):
            between = {hour_ms - BLOCK_MS, hour_ms + BLOCK_MS} <= has
            if between and hour_ms in there and hour_ms not in has:
                found.append(MissingStretch(cluster, metric, hour_ms, hour_ms + BLOCK_MS))
    return found
