"""Hours that were read and that no run has come to: which they are, without a source and without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.app.incremental import request
from tests.ingest.quality.rows import HOUR, block, hold, signal
from throttlescope.app.pipeline.backfill import missed_hours as missed
from throttlescope.app.pipeline.backfill.missed_hours import MOST_HOURS, Missed, diagnose_missed, missed_hours
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.manifest import RunManifest


def at(hour: float) -> int:
    return HOUR + int(hour * BLOCK_MS)


def lake_with(folder, hours, cluster="c") -> Lake:
    """A lake with samples of some hours."""
    rows = [block("a", hour=number, ticks=range(3), cluster=cluster) for number in hours]
    return hold(Lake(folder), "samples", rows)


def mark_computed(lake, *hours, cluster="c", stage="signals"):
    rows = [
        {
            "cluster": cluster, "stage": stage, "block_start_ms": at(hour), "inputs": "i", "outputs": "", "run_id": "r",
            "computed_ms": at(hour + 1), "date": date_of(at(hour)),
        }
        for hour in hours
    ]  # fmt: skip
    lake.upsert("computed", pa.Table.from_pylist(rows, schema=TABLES["computed"].schema), run_id="r")


def add_run(lake, status, first, last, began, *, command="ingest", cluster="c"):
    """A run over hours that began at a moment."""
    manifest = RunManifest(command, "s", at(first), at(last), cluster=cluster, started_ms=began)
    lake.upsert("ingest_runs", manifest.row(status), run_id=manifest.run_id)


def missed_ranges(lake, first=20, last=21, now=30, **more):
    return [
        (one.clusters, (one.start_ms - HOUR) / BLOCK_MS, (one.end_ms - HOUR) / BLOCK_MS)
        for one in missed_hours(lake, at(first), at(last), now_ms=at(now), **more)
    ]


def test_missed_hours_have_samples_but_no_results(tmp_path):
    lake = lake_with(tmp_path, [3, 4, 5, 9, 20, 22])
    # Chunks are cut at 12:00 and 18:00, which are hours 4 and 10 here.
    assert missed_ranges(lake) == [(("c",), 3, 4), (("c",), 4, 6), (("c",), 9, 10), (("c",), 22, 23)]
    mark_computed(lake, 3, 4)
    mark_computed(lake, 9, stage="verdicts")
    assert missed_ranges(lake) == [(("c",), 5, 6), (("c",), 9, 10), (("c",), 22, 23)]
    # Signals without a line of what they were computed from: an earlier release, or one that follows.
    hold(lake, "signals", [signal(9 * 60 + minute) for minute in range(3)])
    assert missed_ranges(lake) == [(("c",), 5, 6), (("c",), 22, 23)]
    mark_computed(lake, 5, 22)
    assert missed_ranges(lake) == []


def test_unfinished_and_old_hours_are_ignored(tmp_path):
    month = 31 * DAY_MS // BLOCK_MS
    lake = lake_with(tmp_path, [20 - month - 1, 20 - month, 22, 23])
    assert missed_ranges(lake, now=23.5) == [(("c",), 20 - month, 20 - month + 1), (("c",), 22, 23)]


def test_clusters_are_examined_separately(tmp_path):
    lake = lake_with(tmp_path, [9, 10])
    lake_with(tmp_path, [10, 11], cluster="d")
    mark_computed(lake, 9)
    assert missed_ranges(lake) == [(("c",), 10, 11), (("d",), 10, 12)]
    assert missed_ranges(lake, clusters=["d"]) == [(("d",), 10, 12)]
    mark_computed(lake, 11, cluster="d")
    assert missed_ranges(lake) == [(("c", "d"), 10, 11)]


@pytest.mark.parametrize(
    ("runs", "left"),
    [
        # A read that failed, or was killed without a word, has judged nothing.
        ([("failed", 9, 11, 1)], [9, 10]),
        ([("gated", 9, 10, 1)], [10]),
        # The next hour begins 15 minutes earlier, is stopped too, and passes with the one behind it.
        ([("gated", 9, 10, 1), ("gated", 9.75, 11, 2)], []),
        ([("gated", 9, 10, 1), ("gated", 9.75, 11, 2), ("done", 10.75, 12, 3)], [10]),
        # Mended and run again; and not the other way round.
        ([("gated", 9, 11, 1), ("done", 9, 11, 2)], [9, 10]),
        ([("gated", 9, 11, 2), ("done", 9, 11, 1)], []),
        ([("gated", 9, 11, 1), ("failed", 9, 11, 2)], []),
    ],
)
def test_gated_hours_wait_until_they_pass(tmp_path, runs, left):
    lake = lake_with(tmp_path, [9, 10])
    for run in runs:
        add_run(lake, *run)
    assert [hour for _, low, high in missed_ranges(lake) for hour in range(int(low), int(high))] == left


def test_gate_affects_only_its_cluster(tmp_path):
    lake = lake_with(tmp_path, [9])
    lake_with(tmp_path, [9], cluster="d")
    add_run(lake, "gated", 9, 10, 1)
    assert missed_ranges(lake) == [(("d",), 9, 10)]
    add_run(lake, "gated", 9, 10, 2, cluster=None)
    assert missed_ranges(lake) == []


def test_oldest_day_is_diagnosed_first(tmp_path, monkeypatch):
    """A gate that stops one part does not hold up the others."""
    parts = [Missed(("c",), at(n), at(n + 6)) for n in range(0, 36, 6)]
    monkeypatch.setattr(missed, "missed_hours", lambda *_: parts)
    requested_parts, stops = [], set()

    def run_pipeline(part, *, progress):
        requested_parts.append(
            (part.command, part.start_ms, part.end_ms, part.clusters, part.again, part.since_watermark)
        )
        if part.start_ms in stops:
            raise GateError(f"stopped {part.start_ms}")
        return part.start_ms

    monkeypatch.setattr(missed, "run_pipeline", run_pipeline)
    given = request(tmp_path, None, 0, 1, again=True, since_watermark=True)
    done = diagnose_missed(given)
    assert requested_parts == [
        ("diagnose", one.start_ms, one.end_ms, ("c",), False, False) for one in parts[:4]
    ]
    assert (done.results, done.hours_left) == ([one.start_ms for one in parts[:4]], 36 - MOST_HOURS)
    requested_parts.clear()
    stops |= {at(6), at(12)}
    with pytest.raises(GateError, match=f"stopped {at(6)}"):
        diagnose_missed(given)
    assert len(requested_parts) == 4
