"""Dispatch limits for a scrape. In: the table ``limits``. Out: the series that PromQL over the lake reads, as they are now."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import pyarrow as pa

from throttlescope.app.metrics.families import Family
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.limit_series import LIMIT_HELP, LIMIT_METRIC, STEP_MS, LimitSeries
from throttlescope.transforms.promql.limit_snapshots import limit_series, read_snapshots


class LimitFamilies:
    """The source of limits; what was read is kept as long as the table does not change. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: tuple[int | None, LimitSeries, list] | None = None

    def __call__(self, lake: Lake, now_ms: int) -> Sequence[Family]:
        version = lake.version("limits")
        with self._lock:
            if self._read is None or self._read[0] != version:
                snapshots = read_snapshots(lake, version)
                self._read = (version, limit_series(snapshots), _observed(snapshots))
            _, series, observed = self._read
        # As a server sees it that has scraped on the minute.
        found = series.at(now_ms - now_ms % STEP_MS)
        # A limit that is set matters more than the word that there is none.
        found.sort(key=lambda sample: math.isinf(sample[1]))
        return (
            Family(LIMIT_METRIC, LIMIT_HELP, found),
            Family(
                "throttlescope_limits_observed_timestamp_seconds",
                "When the limits of a cluster were last read from its admin API",
                observed,
            ),
        )


def _observed(snapshots: pa.Table) -> list:
    newest = snapshots.group_by("cluster").aggregate([("observed_ms", "max")]).sort_by("cluster")
    return [({"cluster": row["cluster"]}, row["observed_ms_max"] / 1000) for row in newest.to_pylist()]
