"""``throttlescope quality check``: gates without a run; what stops is exit code 3, what is idle is not."""

import json

import pytest

from tests.app.commands import throttlescope
from tests.ingest.quality.rows import hold, signal
from throttlescope.app.pipeline import spark_session
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import frames

HOUR = ("--start", "2026-11-20T08:00:00Z", "--end", "2026-11-20T09:00:00Z")
LATER = ("--start", "2026-11-20T10:00:00Z", "--end", "2026-11-20T11:00:00Z")


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [signal(minute, rho_topic_msg=-1.0 if minute == 7 else 0.5) for minute in range(20)]
    return hold(Lake(tmp_path / "lake"), "signals", [*rows, signal(0, cluster="other")])


def check(lake, *arguments):
    return throttlescope("quality", "check", "--lake", lake.root, "--quiet", *arguments)


@pytest.mark.long
def test_gate_error_exits_with_code_3(lake):
    outcome = check(lake, *HOUR, "--gate", "signals", "--format", "json")
    assert outcome.code == 3
    assert "The signals gate stopped the run: use_not_negative in cluster c" in outcome.line
    (found,) = json.loads(outcome.out)
    assert (found["check"], found["rows"], found["severity"]) == ("use_not_negative", 1, "error")
    stored = [row for row in lake.read("quality").to_pylist() if row["run_id"] == found["run_id"]]
    assert {row["gate"] for row in stored} == {"signals"}
    assert sum(not row["success"] for row in stored) == 1


@pytest.mark.long
def test_other_clusters_and_idle_hours_pass(lake):
    assert check(lake, *HOUR, "--gate", "signals", "--cluster", "other").code == 0
    idle = check(lake, *LATER)
    assert idle.code == 0
    assert "0 subscription hours" in idle.out


@pytest.mark.long
def test_large_tables_are_checked_on_spark(lake, monkeypatch):
    """A small lake is checked in this process, without Spark."""
    nowhere = ("--gate", "signals", "--cluster", "other", "--master", "sc://127.0.0.1:9")
    assert check(lake, *HOUR, *nowhere).code == 0
    masters = []

    def start(settings, *, debug):
        masters.append(settings.spark.master)
        raise SourceError("Spark did not start")

    monkeypatch.setattr(spark_session, "start_spark", start)
    monkeypatch.setattr(frames, "IN_PROCESS_ROWS", -1)
    assert check(lake, *HOUR, *nowhere).code == 4
    assert masters == ["sc://127.0.0.1:9"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "start of the range is missing"),
        (("--start", "2026-11-20T09:00:00Z", "--end", "2026-11-20T08:00:00Z"), "not before the end"),
        ((*HOUR, "--cluster", "nowhere"), "no such cluster"),
        ((*HOUR, "--gate", "doors"), "--gate"),
    ],
)
def test_bad_input_is_one_line(lake, arguments, words):
    outcome = check(lake, *arguments)
    assert outcome.code == 2
    assert words in outcome.line
