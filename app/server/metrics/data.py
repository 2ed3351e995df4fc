"""Completeness of the lake's data, for a scrape. In: ``series``, ``watermarks``, ``gaps``, ``quarantine``, ``quality``. Out: gauges by cluster or gate.

Each version of a table is read once; findings of the last seven days only.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from throttlescope.app.queries.quality import newest_findings, read_findings
from throttlescope.app.server.metrics.families import Family, Sample, described, label_text
from throttlescope.app.server.metrics.runs import SEEN_MS
from throttlescope.ingest.core.times import DAY_MS, dates_of
from throttlescope.ingest.gaps.gap_table import open_gaps
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.newest_samples import newest_samples


class DataFamilies:
    """The source of these metrics. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[tuple[str, ...], tuple[list[int | None], Any]] = {}

    def __call__(self, lake: Lake, now_ms: int) -> Sequence[Family]:
        def seconds(found: dict[str, int]) -> list[Sample]:
            return [(label_text({"cluster": name}), ms / 1000) for name, ms in sorted(found.items())]

        return (
            described(
                "throttlescope_samples_newest_timestamp_seconds",
                seconds(self._of(lake, newest_samples, "series")),
            ),
            described(
                "throttlescope_watermark_timestamp_seconds",
                seconds(self._of(lake, _watermarks, "watermarks")),
            ),
            described(
                "throttlescope_gaps_open",
                self._of(lake, _gaps, "gaps", "watermarks"),
            ),
            described(
                "throttlescope_quarantined_rows",
                self._of(lake, _quarantined, "quarantine"),
            ),
            described(
                "throttlescope_quality_failed_checks",
                self._of(lake, partial(_failed_checks, now_ms=now_ms), "quality"),
            ),
        )

    def _of(self, lake: Lake, read: Callable[[Lake], Any], *tables: str) -> Any:
        versions = [lake.version(table) for table in tables]
        with self._lock:
            if tables not in self._read or self._read[tables][0] != versions:
                self._read[tables] = (versions, read(lake))
            return self._read[tables][1]


def _watermarks(lake: Lake) -> dict[str, int]:
    """The oldest watermark of each cluster's metrics: all samples up to it were read."""
    found: dict[str, int] = {}
    for row in lake.read("watermarks", columns=["cluster", "complete_until_ms"]).to_pylist():
        until_ms = row["complete_until_ms"]
        found[row["cluster"]] = min(found.get(row["cluster"], until_ms), until_ms)
    return found


def _gaps(lake: Lake) -> list[Sample]:
    known = {row["cluster"]: 0 for row in lake.read("watermarks", columns=["cluster"]).to_pylist()}
    found = Counter(known)
    found.update(gap.cluster for gap in open_gaps(lake))
    return [(label_text({"cluster": name}), float(number)) for name, number in sorted(found.items())]


def _quarantined(lake: Lake) -> list[Sample]:
    found: Counter[tuple[str, str]] = Counter()
    for row in lake.read("quarantine", columns=["table", "reason", "rows"]).to_pylist():
        found[row["table"], row["reason"]] += row["rows"]
    return [
        (label_text({"table": table, "reason": reason}), float(rows))
        for (table, reason), rows in sorted(found.items())
    ]


def _failed_checks(lake: Lake, now_ms: int) -> list[Sample]:
    found: Counter[tuple[str, str]] = Counter()
    # Tomorrow's too: the clock of the checking machine may be ahead.
    dates = dates_of(now_ms - SEEN_MS, now_ms + 2 * DAY_MS)
    for row in newest_findings(read_findings(lake, dates=dates)):
        found[row["gate"], row["severity"]] += not row["success"]
    return [
        (label_text({"gate": gate, "severity": severity}), float(number))
        for (gate, severity), number in sorted(found.items())
    ]
