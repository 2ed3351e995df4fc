"""Comparison of throttle counts from two sources. In: ``topic_stats`` and the six throttle series. Out: rows of ``quality``.

The broker shows the counts of throttled read plans in its metrics and in the admin API's stats. A count that was read
between two scrapes lies between what they show, unless the counter restarted. Where it does not, one of the two is not what
we take it for: a warning, with the widest disagreement as its example.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.selector import EQUAL, Matcher, metric_selector
from throttlescope.ingest.core.times import BLOCK_MS, block_start, date_of, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.source import SampleSource, Series

CHECK = "throttle_counts_agree"
#: An answer is as old as its way to us: scrapes nearer than this to it do not bound it.
_SLACK_MS = 5_000
#: Scrapes further away than this say nothing about an answer.
_NEAR_MS = 300_000

_METRICS = {unit: f"pulsar_subscription_dispatch_throttled_{unit}_events" for unit in UNITS}
_COUNTS = [f"throttled_{unit}_events_{level}" for unit in UNITS for level in LEVELS]


def check_throttle_counts(
    lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, *, run_id: str, now_ms: int
) -> pa.Table:
    """Compare the stats that were read in [start_ms, end_ms) with the series around them.

    Parameters
    ----------
    now_ms : int
        Time of the check, for its rows.

    Returns
    -------
    pyarrow.Table
        Rows of ``quality``, one per cluster that has stats with scrapes on both sides.
    """
    rows = []
    for cluster in sorted(set(clusters)):
        stats = lake.read(
            "topic_stats",
            where=(pc.field("cluster") == cluster)
            & (pc.field("observed_ms") >= start_ms)
            & (pc.field("observed_ms") < end_ms),
        ).to_pylist()
        if not stats:
            continue
        compared, apart = disagreements(stats, _source(lake, cluster, stats))
        if compared:
            rows.append(_row(cluster, compared, apart, run_id, now_ms))
    contract = TABLES["quality"]
    return contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))


def disagreements(stats: Sequence[Mapping], source: SampleSource) -> tuple[int, list[dict]]:
    """How many counts had scrapes on both sides, and those that do not lie between them, the widest apart first.

    Parameters
    ----------
    stats : sequence of mappings
        Rows of ``topic_stats`` of one cluster.
    """
    if not stats:
        return 0, []
    first_ms = min(row["observed_ms"] for row in stats) - _NEAR_MS
    last_ms = max(row["observed_ms"] for row in stats) + _NEAR_MS + 1
    series: dict[tuple, list[Series]] = {}
    for unit in UNITS:
        for level in LEVELS:
            selector = metric_selector(_METRICS[unit], [Matcher("reason", EQUAL, level)])
            for one in source.select(selector, first_ms, last_ms):
                key = tuple(one.labels.get(name) for name in SUBSCRIPTION_KEY_NAMES)
                series.setdefault((f"throttled_{unit}_events_{level}", *key), []).append(one)
    compared, apart = 0, []
    for row in stats:
        key = tuple(str(row[name]) for name in SUBSCRIPTION_KEY_NAMES)
        for count in _COUNTS:
            bounds = [
                found for one in series.get((count, *key), ()) if (found := _around(one, row["observed_ms"]))
            ]
            if not bounds:
                continue
            compared += 1
            # A topic that moved is shown by two instances for a while: one of them has to agree.
            distance = min(max(low - row[count], row[count] - high, 0) for low, high in bounds)
            if distance > 0:
                low, high = bounds[0]
                apart.append(
                    {name: row[name] for name in SUBSCRIPTION_KEY_NAMES}
                    | {
                        "observed": format_time(row["observed_ms"]),
                        "count": count,
                        "admin_api": row[count],
                        "scrape_before": low,
                        "scrape_after": high,
                        "apart": distance,
                    }
                )
    return compared, sorted(apart, key=lambda found: -found["apart"])


def _around(series: Series, at_ms: int) -> tuple[float, float] | None:
    """Values of the scrapes before and after a moment; None where one is missing or the counter restarted."""
    before = np.searchsorted(series.timestamps_ms, at_ms - _SLACK_MS, side="right") - 1
    after = np.searchsorted(series.timestamps_ms, at_ms + _SLACK_MS, side="left")
    if before < 0 or after >= len(series.timestamps_ms):
        return None
    if series.timestamps_ms[after] - series.timestamps_ms[before] > _NEAR_MS:
        return None
    values = series.values[before : after + 1]
    if (np.diff(values) < 0).any():
        return None
    return float(values[0]), float(values[-1])


def _source(lake: Lake, cluster: str, stats: Sequence[Mapping]) -> LakeSampleSource:
    """The six series of the requested topics, in the hours around the answers."""
    blocks = {block_start(row["observed_ms"] + shift) for row in stats for shift in (-_NEAR_MS, _NEAR_MS)}
    files = [
        file
        for file in lake.files(
            "samples",
            partition={"metric_name": set(_METRICS.values()), "date": {date_of(block) for block in blocks}},
            between={
                "block_start_ms": (min(blocks), max(blocks) + BLOCK_MS - 1),
                "cluster": (cluster, cluster),
            },
        )
        if file.minimum["block_start_ms"] in blocks
    ]
    catalogue = lake.read(
        "series",
        columns=["series_id", "metric_name", "labels"],
        where=(pc.field("cluster") == cluster)
        & pc.field("metric_name").isin(sorted(_METRICS.values()))
        # Only the requested topics of a fleet.
        & pc.map_lookup(pc.field("labels"), "topic", "first").isin(sorted({row["topic"] for row in stats})),
    )
    return LakeSampleSource(files, catalogue)


def _row(cluster: str, compared: int, apart: list[dict], run_id: str, now_ms: int) -> dict:
    return {
        "run_id": run_id,
        "cluster": cluster,
        "gate": "signals",
        "check": CHECK,
        "table": "topic_stats",
        "severity": "warning",
        "success": not apart,
        "observed": f"{len(apart)} of {compared} counts of the admin API lie outside the scrapes around them"
        if apart
        else f"{compared} counts of the admin API lie between the scrapes around them",
        "expected": "each count between the values of the scrape before and the scrape after it",
        "rows": len(apart),
        "example": json.dumps(apart[0], sort_keys=True) if apart else None,
        "observed_ms": now_ms,
        "date": date_of(now_ms),
    }
