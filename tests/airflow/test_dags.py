"""The DAGs in an Airflow of their own: they import, they are complete, and the hourly one does its work."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from airflow_dags.commands import Tag
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import BLOCK_MS, block_start, format_time

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).parents[2]
DAGS = ROOT / "airflow_dags"
PYTHON = Path(os.environ.get("THROTTLESCOPE_AIRFLOW_PYTHON", ROOT / ".airflow-venv" / "bin" / "python"))
RECORDINGS = ROOT / "ingest" / "recordings"


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    """Runs Airflow's Python with a home, a database and a configuration that end with the tests."""
    if not PYTHON.exists():
        pytest.skip(f"no Airflow in {PYTHON}: make airflow-env")
    home = tmp_path_factory.mktemp("airflow")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        # Airflow imports the DAGs; without this it would leave __pycache__ beside them.
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(*arguments, timeout_s=120, **variables):
        # A file and not a pipe: what was said before a timeout is what tells why.
        with (home / "output.txt").open("w+b") as output:
            try:
                done = subprocess.run(
                    [str(PYTHON), *arguments],
                    env=environment | variables,
                    cwd=home,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=timeout_s,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                output.seek(0)
                lines = [
                    line for line in output.read().decode().splitlines() if "No tasks to run" not in line
                ]
                pytest.fail(f"no end after {timeout_s} s: " + "\n".join(lines[-40:]))
            output.seek(0)
            return done.returncode, output.read().decode()

    return run


@pytest.fixture(scope="module")
def database(airflow):
    code, output = airflow("-m", "airflow", "db", "migrate")
    assert code == 0, output[-2000:]


def dag_facts(airflow):
    code, output = airflow(str(Path(__file__).with_name("dag_facts.py")), str(DAGS))
    assert code == 0, output[-2000:]
    return json.loads(output[output.index('{"import_errors"') :])


@pytest.fixture(scope="module")
def facts(airflow):
    return dag_facts(airflow)


def test_every_file_imports_and_drags_no_product_code_along(facts):
    assert facts["import_errors"] == {}
    assert facts["product_modules"] == []
    assert set(facts["dags"]) == {"ingest_hourly"}


def test_every_dag_is_complete(facts):
    for dag_id, dag in facts["dags"].items():
        assert len(dag["doc"]) > 200, dag_id
        assert "careful" in dag["doc"], dag_id
        assert dag["tags"], dag_id
        assert set(dag["tags"]) <= set(Tag), dag_id
        assert dag["catchup"] is False, dag_id
        assert dag["max_active_runs"] == 1, dag_id
        for name, task in dag["tasks"].items():
            assert task["owner"] not in ("", "airflow"), (dag_id, name)
            assert task["retries"] >= 1, (dag_id, name)
            assert task["backs_off"], (dag_id, name)
            assert task["timeout_s"], (dag_id, name)


def test_start_dates_are_fixed(facts, airflow):
    later = dag_facts(airflow)
    for dag_id, dag in facts["dags"].items():
        assert dag["start_date"] == later["dags"][dag_id]["start_date"]
        assert datetime.fromisoformat(dag["start_date"]).hour == 0


def test_the_hourly_schedule_has_hours(facts):
    """A plain "@hourly" would give intervals whose start is their end."""
    assert facts["dags"]["ingest_hourly"]["timetable"] == "CronDataIntervalTimetable"


def smallest_recording():
    folders = [path.parent for path in RECORDINGS.glob("*/recording.json")]
    return min(folders, key=lambda folder: (folder / "samples.parquet").stat().st_size)


@pytest.mark.timeout(500)
def test_the_hourly_dag_does_its_work(airflow, database, tmp_path):
    """The real command on a real recording: Airflow fills in the hour, the lake gets its verdicts."""
    recording = smallest_recording()
    facts = json.loads((recording / "recording.json").read_text())
    hour_ms = block_start((facts["start_ms"] + facts["end_ms"]) // 2)
    # A run by hand is for the last hour that was over at the time given.
    code, output = airflow(
        "-m", "airflow", "dags", "test", "ingest_hourly", format_time(hour_ms + BLOCK_MS),
        timeout_s=450,
        # Bounded by itself: Airflow puts it into a process group that does not end with Airflow.
        THROTTLESCOPE_COMMAND=f"timeout 400 {Path(sys.executable).with_name('throttlescope')}",
        THROTTLESCOPE_LAKE=str(tmp_path / "lake"),
        THROTTLESCOPE_RECORDING=str(recording),
    )  # fmt: skip
    assert code == 0, output[-4000:]
    lake = Lake(tmp_path / "lake")
    (run,) = lake.read("ingest_runs").to_pylist()
    assert run["status"] == "done"
    assert hour_ms <= run["start_ms"] < run["end_ms"] <= hour_ms + BLOCK_MS
    verdicts = lake.read("verdicts")
    assert verdicts.num_rows
    starts_ms = verdicts["window_start_ms"].to_pylist()
    assert hour_ms <= min(starts_ms) <= max(starts_ms) < hour_ms + BLOCK_MS


def test_a_command_that_fails_fails_its_task(airflow, database):
    """One try of the task alone, because ``dags test`` waits for retries; its own exit code is always 0."""
    _, output = airflow(
        "-m", "airflow", "tasks", "test", "ingest_hourly", "run", "2026-11-20T08:00:00Z",
        THROTTLESCOPE_COMMAND="bash -c 'echo planted failure of $0; exit 3'",
    )  # fmt: skip
    assert "planted failure of run" in output, output[-2000:]
    assert "returned a non-zero exit code 3" in output, output[-2000:]
