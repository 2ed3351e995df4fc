"""A gate that stops, through the command: one line, exit code 3, no reader sees what was refused, and the next run repairs."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.app.incremental import hour, put, scene
from tests.ingest.quality.rows import hold
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.app.server.metrics.exposition import Exposition
from throttlescope.app.web.data.snapshot import READ_TABLES, Snapshot
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.times import BLOCK_MS, date_of, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import samples
from throttlescope.models.diagnosis.fleet import full_rules
from throttlescope.transforms import signals

pytestmark = pytest.mark.long

SLOW = "slow-small"
FOLLOWING = ("verdicts", "verdict_latest", "episodes", "forecasts", "anomalies")


def missing_column(patch):
    """A suite that refers to a column that nobody counts."""
    broken = [
        replace(check, column="nowhere") if check.name == "scrapes_complete" else check
        for check in samples.CHECKS
    ]
    patch.setattr(samples, "CHECKS", tuple(broken))


def negative_use(patch):
    """Signals that were computed wrong, as no broker's samples make them."""
    right = signals.signals_of
    patch.setattr(signals, "signals_of", lambda minutes: filled(right(minutes), "rho_topic_msg", -1.0))


def confidence_above_one(patch):
    """Verdicts that are surer than sure."""
    right = full_rules.judge_share
    patch.setattr(full_rules, "judge_share", lambda *given: filled(right(*given), "confidence", 2.0))


def filled(rows, column, value):
    """A table with one value in all rows of a column."""
    at = rows.schema.get_field_index(column)
    return rows.set_column(
        at, rows.schema.field(at), pa.array([value] * rows.num_rows, rows.schema.field(at).type)
    )


def diagnose(lake, span, *arguments):
    return throttlescope(
        "diagnose", "--start", span[0] / 1000, "--end", span[1] / 1000, "--lake", lake.root, "--quiet", *arguments
    )  # fmt: skip


def rows_of(lake, table):
    return sorted(repr(sorted(row.items())) for row in lake.read(table).to_pylist())


def visible(lake, now_ms):
    """What readers have: rows, the verdicts that a Prometheus reads at a moment, and the newest ones of the web app."""
    snapshot = Snapshot(lake, {table: lake.version(table) for table in READ_TABLES})
    newest = snapshot.connection.execute("SELECT * FROM latest ORDER BY ALL").fetchall()
    snapshot.connection.close()
    metrics = Exposition(lake, now_ms=lambda: now_ms).text().decode().splitlines()
    scraped = [line for line in metrics if line.startswith("throttlescope_verdict")]
    return {table: rows_of(lake, table) for table in FOLLOWING}, newest, scraped


def test_gated_rows_are_never_visible(tmp_path, monkeypatch):
    """The next run repairs what a gate refused."""
    brought = throttlescope(
        "ingest", "--recording", SLOW, "--lake", tmp_path / "lake", "--format", "json", "--quiet"
    )
    assert brought.code == 0, brought.err
    summary, lake = json.loads(brought.out), Lake(tmp_path / "lake")
    span = summary["start_ms"], summary["end_ms"]
    # The end of the last window of five minutes.
    now_ms = span[1] // 300_000 * 300_000

    def assert_stopped(break_it, line, *arguments):
        with monkeypatch.context() as patch:
            break_it(patch)
            stopped = diagnose(lake, span, *arguments)
        assert stopped.code == 3
        assert line in stopped.line
        last = max(lake.read("ingest_runs").to_pylist(), key=lambda row: row["started_ms"])
        assert last["status"] == "gated"

    nothing = visible(lake, now_ms)
    assert nothing == ({table: [] for table in FOLLOWING}, [], [])
    assert_stopped(missing_column, "The check scrapes_complete could not be evaluated; got no column nowhere")
    assert lake.version("signals") is None
    assert_stopped(
        confidence_above_one, "The verdicts gate stopped the run: confidence_is_share in cluster slow-small"
    )
    assert lake.read("signals").num_rows
    assert visible(lake, now_ms) == nothing

    repaired = diagnose(lake, span)
    assert repaired.code == 0, repaired.err
    good, minutes = visible(lake, now_ms), rows_of(lake, "signals")
    rows, newest, scraped = good
    assert min(len(rows["verdicts"]), len(rows["verdict_latest"]), len(newest), len(scraped)) > 0

    # What is there is not replaced by what a gate refuses.
    assert_stopped(
        negative_use,
        "The signals gate stopped the run: use_not_negative in cluster slow-small",
        "--recompute",
    )
    assert rows_of(lake, "signals") == minutes
    assert visible(lake, now_ms) == good


@pytest.mark.study
@pytest.mark.prometheus
def test_bad_hour_stops_until_it_is_repaired(tmp_path):
    """The hour after it stops too; once the source is repaired, both pass.

    Hours as a schedule reads them. The first has samples of a series that the catalogue lacks; the source gets to know it later.
    """
    lake = Lake(tmp_path / "lake")
    lost, _ = scene(0, 1, subscriptions=("lost",))[-1]
    with running_prometheus() as server:
        for number in range(3):
            # As they came: of a time that it got out of order a server does not name all labels.
            put(server.url, number, number + 1)
        bad = add_uncatalogued_samples(lake, lost)

        def ingested(number):
            return throttlescope(
                "ingest", "--since-watermark", "--start", hour(number) / 1000, "--end", hour(number + 1) / 1000,
                "--prometheus", server.url, "--lake", lake.root, "--quiet",
            )  # fmt: skip

        named = f"series_in_catalogue in cluster prod, first in the hour of {format_time(hour(0))}"
        # The second hour begins a quarter of an hour before itself, so it reads the bad one again.
        for number in (0, 1):
            stopped = ingested(number)
            assert stopped.code == 3
            assert named in stopped.line
            assert "repair what it names and run that hour again, then those behind it" in stopped.line
        # The third does not.
        assert ingested(2).code == 0

        # The source is mended: it knows the series. The hours are run again, the older one first.
        write_series(server.url, bad)
        for number in (0, 1):
            done = ingested(number)
            assert done.code == 0, done.err
    done = throttlescope(
        "diagnose", "--missed", "--start", hour(2) / 1000, "--end", hour(3) / 1000, "--lake", lake.root, "--format", "json",
        "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    also = json.loads(done.out)["missed"]["results"]
    assert [(one["start_ms"], one["end_ms"]) for one in also] == [(hour(0), hour(2))]
    judged = {file.minimum["window_start_ms"] // BLOCK_MS * BLOCK_MS for file in lake.files("verdicts")}
    assert judged == {hour(0), hour(1), hour(2)}


def add_uncatalogued_samples(lake, labels):
    """Samples of a series in the first hour, of which the catalogue knows nothing; what the source would have to hold."""
    key = normalise(tuple(labels.items()), LabelMapping())
    times_ms = [hour(0) + 5_000 + n * 15_000 for n in range(240)]
    row = {
        "series_id": key.series_id, "metric_name": labels["__name__"], "date": date_of(hour(0)), "cluster": key.cluster,
        "shard": key.shard, "block_start_ms": hour(0), "timestamps_ms": times_ms, "values": [10.0] * 240, "stale_ms": [],
    }  # fmt: skip
    hold(lake, "samples", [row])
    return [(labels, [(at_ms, 10.0) for at_ms in times_ms])]
