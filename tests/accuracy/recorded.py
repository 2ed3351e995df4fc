"""Recordings of the repository. In: a folder. Out: its series as the lake would name them, limits, admin stats and truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.lab.sets import HELD_OUT, ScenarioSet
from tests.lab.sets import SETS as LAB
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelError, LabelMapping, normalise
from throttlescope.ingest.core.metrics import BACKLOG, METRICS
from throttlescope.ingest.core.selector import metric_selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.transforms.limits import effective_limits, segment_keys
from throttlescope.transforms.promql.source import Series

#: Name in the figures to the lab's set. The first one is the held-out set: no rule was developed with it.
SETS: dict[str, ScenarioSet] = {
    HELD_OUT: LAB["kept-aside"],
    "development": LAB["diagnosis"],
    "shipped": LAB["default"],
}
#: Name in the figures to the list of the attempts that did not count.
DROPPED_FILES: dict[str, Path] = {name: each.dropped_file for name, each in SETS.items()}


@dataclass(frozen=True, eq=False)
class Recorded:
    """One recording, or what a script made of it.

    Attributes
    ----------
    series : tuple of Series
        Only metrics that a pull takes, labels as the lake has them.
    limits, topic_stats, truth : pyarrow.Table
        Rows as their contracts want them.
    about : dict
        ``recording.json``.
    """

    name: str
    scrape_interval_s: float
    series: tuple[Series, ...]
    limits: pa.Table
    topic_stats: pa.Table
    truth: pa.Table
    about: dict[str, Any] = field(default_factory=dict)


def folders(set_name: str) -> list[Path]:
    """Folders of a set's recordings; none where it has not been recorded yet."""
    return SETS[set_name].folders


def read(folder: Path) -> Recorded:
    """Read a recording with the ingest validation of ``throttlescope run``."""
    found = read_recording(folder)
    policies, stats = found.policies.to_pylist(), found.topic_stats.to_pylist()
    series = tuple(
        one
        for metric in found.metric_names
        if metric in METRICS
        for batch in found.source.read(metric_selector(metric), found.start_ms, found.end_ms, Meter())
        for decoded in batch
        if (one := _series(decoded)) is not None
    )
    return Recorded(
        name=found.name,
        scrape_interval_s=found.about["scrape_interval_s"],
        series=series,
        limits=pa.Table.from_pylist(
            [
                row
                for cluster in found.clusters
                for row in effective_limits(
                    _of(cluster, policies),
                    _of(cluster, stats),
                    segment_keys(
                        one.labels
                        for one in series
                        if one.labels["cluster"] == cluster and one.labels["__name__"] == BACKLOG
                    ),
                )
            ],
            schema=TABLES["limits"].loose_schema,
        ),
        topic_stats=found.topic_stats,
        truth=found.truth,
        about=found.about,
    )


def _of(cluster: str, rows: list[dict]) -> list[dict]:
    return [row for row in rows if row["cluster"] == cluster]


def _series(decoded) -> Series | None:
    try:
        key = normalise(decoded.labels, LabelMapping())
    except LabelError:
        # Ingest validation puts it into quarantine.
        return None
    return Series(dict(key.labels), decoded.timestamps_ms, decoded.values, decoded.stale_ms)
