"""How many scrapes a series should have. In: the blocks of ``up``. Out: of each target the times of its scrapes that succeeded.

A series' own distances show a hole, and nothing of a series that is read at every second scrape throughout. The target's ``up``
is written by the same scrape, so what it has and the series has not is missing, wherever the series was there before and after.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.lake.parquet import read_parquet

#: Scrapes that a block may have less than ``up``: samples and ``up`` may lie on either side of an end that is read, and a scrape that
#: comes within a target's last one may repeat its times.
FEW_SCRAPES = 3

#: What names a target: job and instance.
Target = tuple[str | None, str]


@functools.lru_cache(maxsize=2)
def scrapes_of(blocks: tuple[str, ...], catalogue: tuple[str, ...]) -> dict[Target, list[list[int]]]:
    """Rising times of scrapes that succeeded, by target; several where several servers scrape it under different labels.

    Parameters
    ----------
    blocks, catalogue : tuple of str
        Paths of files of ``samples`` of the metric ``up`` of one cluster, and of ``series`` that hold their shards.
    """
    targets: dict[str, Target | None] = {}
    for path in catalogue:
        targets |= targets_of(
            read_parquet(path, ["series_id", "metric_name", "labels"], use_threads=False), "up"
        )
    times: dict[str, list[int]] = {}
    for path in blocks:
        rows = read_parquet(path, ["series_id", "timestamps_ms", "values"], use_threads=False)
        for row in rows.to_pylist():
            # A block of unequal lengths is the fault of another check, which stops the run.
            pairs = zip(row["timestamps_ms"], row["values"], strict=False)
            at_ms = [time_ms for time_ms, value in pairs if value == 1]
            times.setdefault(row["series_id"], []).extend(at_ms)
    found: dict[Target, list[list[int]]] = {}
    for series_id, at_ms in sorted(times.items()):
        if (target := targets.get(series_id)) is not None:
            found.setdefault(target, []).append(sorted(at_ms))
    return found


def targets_of(series: pa.Table, metric_name: str | None = None) -> dict[str, Target | None]:
    """Target by series; None where the series has no instance.

    Parameters
    ----------
    series : pyarrow.Table
        Rows of ``series`` with ``series_id``, ``metric_name`` and ``labels``.
    metric_name : str, optional
        Only series of this metric.
    """
    if metric_name is not None:
        series = series.filter(pc.equal(series["metric_name"], metric_name))
    job, instance = (
        pc.map_lookup(series["labels"], query_key=pa.scalar(name), occurrence="first").to_pylist()
        for name in ("job", "instance")
    )
    return {
        series_id: (its_job, its_instance) if its_instance else None
        for series_id, its_job, its_instance in zip(
            series["series_id"].to_pylist(), job, instance, strict=True
        )
    }


def unread_scrapes(
    scrapes: list[list[int]], after_ms: int | None, first_ms: int, last_ms: int, samples: int
) -> int:
    """Scrapes of its target's ``up`` that a block lacks; 0 where they are few.

    Parameters
    ----------
    after_ms : int, optional
        Time of the series' last sample before the block; without one, scrapes count from the block's first sample on.
    """
    expected = min(
        # Lists and not arrays: of so few times a search of numpy's takes ten times as long.
        bisect_right(at_ms, last_ms)
        - (bisect_left(at_ms, first_ms) if after_ms is None else bisect_right(at_ms, after_ms))
        for at_ms in scrapes
    )
    lacking = expected - samples
    return lacking if lacking > FEW_SCRAPES else 0
