"""``diagnose``: what ``run`` computes, from samples that an ingest brought before; idle ranges and bad input."""

from __future__ import annotations

import json

import pytest

from tests.app.commands import throttlescope
from throttlescope.ingest.lake import Lake

SLOW = "slow-small"
TABLES = (
    "limits",
    "signals",
    "verdicts",
    "verdict_latest",
    "episodes",
    "incidents",
    "forecasts",
    "anomalies",
)


def run_json(*arguments):
    outcome = throttlescope(*arguments, "--format", "json", "--quiet")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def rows_of(lake, table):
    return sorted(repr(sorted(row.items())) for row in Lake(lake).read(table).to_pylist())


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    """A lake with the samples of one recording, and their range."""
    lake = tmp_path_factory.mktemp("ingested") / "lake"
    brought = run_json("ingest", "--recording", SLOW, "--lake", lake)
    return lake, brought["start_ms"], brought["end_ms"]


@pytest.mark.study
def test_ingest_then_diagnose_equals_run(ingested, tmp_path):
    lake, start_ms, end_ms = ingested
    found = run_json("diagnose", "--start", start_ms / 1000, "--end", end_ms / 1000, "--lake", lake)
    assert (found["command"], found["clusters"], found["idle"]) == ("diagnose", [SLOW], False)
    at_once = run_json("run", "--recording", SLOW, "--lake", tmp_path / "lake")
    assert found["verdicts"] == at_once["verdicts"]
    for table in TABLES:
        assert rows_of(lake, table) == rows_of(tmp_path / "lake", table), table
    assert rows_of(lake, "verdicts")


@pytest.mark.long
def test_hour_without_samples_is_idle(ingested):
    lake, start_ms, _ = ingested
    before = Lake(lake).version("signals")
    found = run_json(
        "diagnose", "--start", start_ms / 1000 - 864_000, "--end", start_ms / 1000 - 860_400, "--lake", lake
    )
    assert (found["idle"], found["status"], found["verdicts"]) == (True, "done", None)
    assert Lake(lake).version("signals") == before
    (row,) = [row for row in Lake(lake).read("ingest_runs").to_pylist() if row["run_id"] == found["run_id"]]
    assert (row["command"], row["status"]) == ("diagnose", "done")
    text = throttlescope(
        "diagnose",
        "--start",
        start_ms / 1000 - 864_000,
        "--end",
        start_ms / 1000 - 860_400,
        "--lake",
        lake,
        "--quiet",
    )
    assert "Idle interval" in text.out


@pytest.mark.long
def test_unknown_cluster_lists_known_clusters(ingested):
    lake, start_ms, end_ms = ingested
    outcome = throttlescope(
        "diagnose",
        "--start",
        start_ms / 1000,
        "--end",
        end_ms / 1000,
        "--lake",
        lake,
        "--cluster",
        "nowhere",
        "--quiet",
    )
    assert outcome.code == 2
    assert SLOW in outcome.line


@pytest.mark.parametrize("arguments", [("--start", "-1h"), ()])
def test_missing_lake_or_start_is_refused(tmp_path, arguments):
    outcome = throttlescope("diagnose", *arguments, "--lake", tmp_path / "lake", "--quiet")
    assert outcome.code == 2
    assert "Fix:" in outcome.line
    assert not (tmp_path / "lake").exists()
