"""How whole the lake's data is, for a scrape. In: ``series``, ``watermarks``, ``gaps``, ``quarantine``, ``quality``. Out: gauges by cluster or gate.

What does not change is not read again: each table is read once for each of its versions.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from throttlescope.app.metrics.families import Family, Sample, label_text
from throttlescope.app.quality_rows import newest_findings, read_findings
from throttlescope.ingest.gaps.book import open_gaps
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.newest import newest_samples


class DataFamilies:
    """The source of what is known of the data. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, tuple[int | None, Any]] = {}

    def __call__(self, lake: Lake, now_ms: int) -> Sequence[Family]:
        def seconds(found: dict[str, int]) -> list[Sample]:
            return [(label_text({"cluster": name}), ms / 1000) for name, ms in sorted(found.items())]

        return (
            Family(
                "throttlescope_samples_newest_timestamp_seconds",
                "Time of a cluster's newest sample in the lake",
                seconds(self._of(lake, "series", newest_samples)),
            ),
            Family(
                "throttlescope_watermark_timestamp_seconds",
                "Up to here everything of a cluster was read (*: a source with several clusters)",
                seconds(self._of(lake, "watermarks", _watermarks)),
            ),
            Family(
                "throttlescope_gaps_open",
                "Times that the source had no samples of and that will be asked for again",
                self._of(lake, "gaps", _gaps),
            ),
            Family(
                "throttlescope_quarantined_rows",
                "Rows in quarantine: samples or rows that were refused and not taken back",
                self._of(lake, "quarantine", _quarantined),
            ),
            Family(
                "throttlescope_quality_failed_checks",
                "Checks that did not hold when their gate last judged",
                self._of(lake, "quality", _failed_checks),
            ),
        )

    def _of(self, lake: Lake, table: str, read: Callable[[Lake], Any]) -> Any:
        version = lake.version(table)
        with self._lock:
            if table not in self._read or self._read[table][0] != version:
                self._read[table] = (version, read(lake))
            return self._read[table][1]


def _watermarks(lake: Lake) -> dict[str, int]:
    """Of each cluster the oldest of its metrics' watermarks: so far, all of it was read."""
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


def _failed_checks(lake: Lake) -> list[Sample]:
    found: Counter[tuple[str, str]] = Counter()
    for row in newest_findings(read_findings(lake)):
        found[row["gate"], row["severity"]] += not row["success"]
    return [
        (label_text({"gate": gate, "severity": severity}), float(number))
        for (gate, severity), number in sorted(found.items())
    ]
