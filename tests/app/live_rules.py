"""The exported rules over recordings of a real broker. In: a recording. Out: its series with its limits, and which alerts fire when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tests.transforms.lakes import table_of
from tests.transforms.recorded import recording_folder, unmoved_series
from tests.transforms.rules_in_memory import results_of, scheduled
from throttlescope.app.rules_export.export import all_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.promql.limit_snapshots import limit_series
from throttlescope.transforms.promql.source import Series
from throttlescope.transforms.rules import RecordingRule

MINUTE_MS = 60_000


@dataclass(frozen=True)
class Recorded:
    """One recording on a grid that begins at 0.

    Attributes
    ----------
    series : list of Series
        Samples at multiples of ``step_ms``; limits among them.
    truth : list of dict
        Rows of its truth, their times moved as the samples were.
    """

    series: list[Series]
    truth: list[dict]
    step_ms: int
    end_ms: int


@cache
def metrics_read() -> frozenset[str]:
    """Metrics that the exported rules read; all of them are pulled, or are the limits."""
    rules = [RecordingRule("r", rule.expr) for rule in all_rules(ExportOptions())]
    read = {selector.metric_name for rule in rules for selector in rule.selectors}
    assert {name for name in read if name.startswith("pulsar_")} <= METRICS.keys()
    return frozenset(read)


@cache
def recorded(name: str) -> Recorded:
    """A recording, each sample at the latest grid point before it, so that promtool's notation can say it."""
    recording = read_recording(recording_folder(name))
    step_ms = 60_000 if name.startswith("default-") else 15_000
    start_ms = recording.start_ms // MINUTE_MS * MINUTE_MS
    read = metrics_read()
    series = [
        _on_grid(one, start_ms, step_ms) for one in unmoved_series(name) if one.labels["__name__"] in read
    ]
    rows = effective_limits(recording.policies.to_pylist(), recording.topic_stats.to_pylist())
    limits = limit_series(table_of("limits", rows))
    ids = limits.rows.column("series_id").to_pylist()
    labels = limits.rows.column("labels").to_pylist()
    (times_ms, values, bounds, stale_ms, stale_bounds), here = limits.cut(ids, start_ms, recording.end_ms)
    for n, pairs in enumerate(one for one, there in zip(labels, here, strict=True) if there):
        mine, stale = slice(bounds[n], bounds[n + 1]), slice(stale_bounds[n], stale_bounds[n + 1])
        named = {"__name__": LIMIT_METRIC, **dict(pairs)}
        series.append(
            _on_grid(Series(named, times_ms[mine], values[mine], stale_ms[stale]), start_ms, step_ms)
        )
    truth = [
        row | {"start_ms": row["start_ms"] - start_ms, "end_ms": row["end_ms"] - start_ms}
        for row in recording.truth.to_pylist()
    ]
    return Recorded(series, truth, step_ms, recording.end_ms - start_ms)


def _on_grid(series: Series, start_ms: int, step_ms: int) -> Series:
    def moved(times_ms: np.ndarray) -> np.ndarray:
        return (times_ms - start_ms) // step_ms * step_ms

    times_ms, stale_ms = moved(series.timestamps_ms), moved(series.stale_ms)
    # Of two samples that meet on the grid the later one stays; a marker gives way to a sample.
    last = np.r_[times_ms[1:] != times_ms[:-1], True] if len(times_ms) else np.zeros(0, bool)
    times_ms, values = times_ms[last], series.values[last]
    return Series(series.labels, times_ms, values, np.setdiff1d(stale_ms, times_ms))


def alerts_of(rules_file: Path, found: Recorded, interval_ms: int = MINUTE_MS) -> list[Series]:
    """Series of ``ALERTS`` that the rules write over a recording."""
    results, evaluation = results_of(scheduled(rules_file, interval_ms), found.series, 0, found.end_ms)
    failed = [rule for rule, outcome in evaluation.outcomes.items() if outcome.failures]
    assert not failed, failed
    return results


def firing(results: Sequence[Series], time_ms: int) -> set[tuple[str, str, str]]:
    """Alert, subscription and partition (empty where the alert is not about one) that fire at an evaluation."""
    return {
        (one.labels["alertname"], one.labels.get("subscription", ""), one.labels.get("partition", ""))
        for one in results
        if one.labels["__name__"] == "ALERTS"
        and one.labels["alertstate"] == "firing"
        and time_ms in one.timestamps_ms
    }
