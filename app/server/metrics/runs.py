"""Runs for a scrape. In: the table ``ingest_runs``. Out: the last run of every command, and the runs of a day by result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from throttlescope.app.server.metrics.families import Family, Sample, described, label_text
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake

#: Only runs that ended within this time are read. Older ones say nothing about the current schedule.
SEEN_MS = 7 * DAY_MS

_COLUMNS = ["run_id", "command", "started_ms", "finished_ms", "status", "samples_written", "rows_quarantined"]
_STATUSES = next(column.words for column in TABLES["ingest_runs"].columns if column.name == "status")


def run_families(lake: Lake, now_ms: int) -> Sequence[Family]:
    """Families of the runs of the last seven days."""
    rows = lake.read(
        "ingest_runs",
        columns=_COLUMNS,
        between={"started_ms": (now_ms - SEEN_MS, now_ms + DAY_MS)},
        where=pc.field("finished_ms") >= now_ms - SEEN_MS,
    ).to_pylist()
    last: dict[tuple[str, str], dict] = {}
    for row in sorted(rows, key=lambda row: (row["finished_ms"], row["run_id"])):
        last[row["command"], row["status"]] = row
    done = {command: row for (command, status), row in last.items() if status == "done"}
    day = Counter((row["command"], row["status"]) for row in rows if row["finished_ms"] >= now_ms - DAY_MS)
    # Zero is exported too: an alert on failed runs needs its series before the first failure.
    for command in {row["command"] for row in rows}:
        for status in _STATUSES:
            day.setdefault((command, status), 0)
    return (
        described(
            "throttlescope_run_last_end_timestamp_seconds",
            [
                (label_text({"command": command, "status": status}), row["finished_ms"] / 1000)
                for (command, status), row in sorted(last.items())
            ],
        ),
        described(
            "throttlescope_runs_of_a_day",
            [
                (label_text({"command": command, "status": status}), float(number))
                for (command, status), number in sorted(day.items())
            ],
        ),
        _of_last(
            "throttlescope_run_last_duration_seconds",
            done,
            lambda row: (row["finished_ms"] - row["started_ms"]) / 1000,
        ),
        _of_last("throttlescope_run_last_samples_written", done, lambda row: row["samples_written"]),
        _of_last("throttlescope_run_last_quarantined_rows", done, lambda row: row["rows_quarantined"]),
    )


def _of_last(name: str, done: Mapping[str, Mapping], value) -> Family:
    samples: list[Sample] = [
        (label_text({"command": command}), float(value(row))) for command, row in sorted(done.items())
    ]
    return described(name, samples)
