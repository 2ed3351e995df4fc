"""Dispatch limits for a scrape. In: the table ``limits``. Out: the series that PromQL over the lake reads, as they are now."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from throttlescope.app.server.metrics.families import Family, Sample, described, label_text
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.limit_series import LIMIT_HELP, LIMIT_METRIC, STEP_MS, LimitSeries
from throttlescope.transforms.promql.limit_snapshots import limit_series, read_snapshots


class LimitFamilies:
    """The source of limits; cached as long as the table does not change. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: tuple[int | None, LimitSeries, dict[int, str], list[Sample]] | None = None

    def __call__(self, lake: Lake, now_ms: int) -> Sequence[Family]:
        version = lake.version("limits")
        with self._lock:
            if self._read is None or self._read[0] != version:
                snapshots = read_snapshots(lake, version)
                series = limit_series(snapshots)
                self._read = (version, series, {}, _observed(snapshots))
            _, series, texts, observed = self._read
        # As seen by a server that scrapes on the minute.
        rows, values = series.at(now_ms - now_ms % STEP_MS)
        # A limit that is set matters more than a level without one.
        new = [row for row in rows.tolist() if row not in texts]
        labels = series.rows.column("labels").take(pa.array(new, pa.int64())).to_pylist()
        texts |= {row: label_text(dict(pairs)) for row, pairs in zip(new, labels, strict=True)}
        order = np.argsort(np.isinf(values), kind="stable")
        found = [
            (texts[row], value)
            for row, value in zip(rows[order].tolist(), values[order].tolist(), strict=True)
        ]
        return (
            Family(LIMIT_METRIC, LIMIT_HELP, found),
            described(
                "throttlescope_limits_observed_timestamp_seconds",
                observed,
            ),
        )


def _observed(snapshots: pa.Table) -> list[Sample]:
    newest = snapshots.group_by("cluster").aggregate([("observed_ms", "max")]).sort_by("cluster")
    return [
        (label_text({"cluster": row["cluster"]}), row["observed_ms_max"] / 1000) for row in newest.to_pylist()
    ]
