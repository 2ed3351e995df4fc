"""The DAGs in an Airflow of their own: they import, they are complete, and one of them does its work."""

import json
from pathlib import Path

import pytest

from airflow_dags.commands import Tag
from tests.airflow.own_airflow import DAGS
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake

pytestmark = pytest.mark.airflow

NAMES = {"ingest_hourly", "diagnose_hourly", "forecast_daily", "review_weekly", "backfill"}


@pytest.fixture(scope="module")
def facts(airflow):
    code, output = airflow(Path(__file__).with_name("dag_facts.py"), DAGS)
    assert code == 0, output[-2000:]
    return json.loads(output[output.index('{"import_errors"') :])


@pytest.fixture(scope="module")
def dags(facts):
    return facts["dags"]


def tasks(dags):
    return [((dag_id, name), task) for dag_id, dag in dags.items() for name, task in dag["tasks"].items()]


def test_dag_files_import_no_product_code(facts):
    assert facts["import_errors"] == {}
    assert facts["product_modules"] == []
    assert set(facts["dags"]) == NAMES
    assert all(dag["file"] == f"{dag_id}.py" for dag_id, dag in facts["dags"].items())


def test_every_dag_is_complete(dags):
    for dag_id, dag in dags.items():
        for heading in ("### What it does", "### Who owns it", "### When to be careful", "### Settings"):
            assert heading in dag["doc"], (dag_id, heading)
        assert dag["tags"], dag_id
        assert set(dag["tags"]) <= set(Tag), dag_id
        assert dag["catchup"] is False, dag_id
        assert dag["max_active_runs"] == 1, dag_id
        # Written out: a date that moves is another one each time that the file is parsed.
        assert dag["start_date"] == "2026-01-01T00:00:00+00:00", dag_id


def test_every_tag_is_used(dags):
    assert {tag for dag in dags.values() for tag in dag["tags"]} == set(Tag)


def test_every_task_is_complete(dags):
    pools = json.loads((DAGS / "pools.json").read_text())
    for name, task in tasks(dags):
        assert task["operator"] == "CommandOperator", name
        assert task["owner"] not in ("", "airflow"), name
        assert task["retries"] >= 1, name
        # 1 is what True counts as, and no back-off.
        assert task["backs_off"] > 1, name
        assert task["timeout_s"], name
        assert task["doc"], name
        assert task["pool"] in pools, name
        assert 2 in task["final"], name
    assert {task["pool"] for _, task in tasks(dags)} == set(pools)


def test_only_late_data_is_retried(dags):
    """After exit code 3."""
    for name, task in tasks(dags):
        assert (3 in task["final"]) == (task["command"][0] != "freshness"), name


def test_schedules_have_lengths(dags):
    """A plain "@hourly" would give intervals whose start is their end."""
    timetables = {dag_id: dag["timetable"] for dag_id, dag in dags.items()}
    assert timetables == {
        "ingest_hourly": "CronDataIntervalTimetable",
        "forecast_daily": "CronDataIntervalTimetable",
        "review_weekly": "CronDataIntervalTimetable",
        "diagnose_hourly": "AssetTriggeredTimetable",
        "backfill": "NullTimetable",
    }


def test_asset_has_producer_and_consumer(dags):
    brings = {asset: name for name, task in tasks(dags) for asset in task["brings"]}
    assert brings == {
        "throttlescope_samples": ("ingest_hourly", "gates"),
        "throttlescope_verdicts": ("diagnose_hourly", "gates"),
    }
    assert {dag_id: dag["waits_for"] for dag_id, dag in dags.items() if dag["waits_for"]} == {
        "diagnose_hourly": ["throttlescope_samples"]
    }


def test_freshness_comes_first(dags):
    for dag_id in ("ingest_hourly", "forecast_daily", "review_weekly"):
        (first,) = [task for task in dags[dag_id]["tasks"].values() if not task["after"]]
        assert first["command"][0] == "freshness", dag_id


def test_backfill_is_a_dry_run_by_default(dags):
    params = dags["backfill"]["params"]
    assert set(params) == {"start", "end", "chunk", "dry_run"}
    assert params["dry_run"] is True


@pytest.mark.prometheus
@pytest.mark.long
@pytest.mark.timeout(2400)
def test_the_ingest_dag_does_its_work(airflow, database, source, tmp_path):
    """A real Prometheus, the real commands: Airflow fills in the hour, and the lake gets its samples."""
    lake = Lake(tmp_path / "lake")
    settings = {"THROTTLESCOPE_LAKE": lake.root, "THROTTLESCOPE_PROMETHEUS": source.url}
    # A run by hand is for the last hour that was over at the time given.
    code, output = airflow.dags_test("ingest_hourly", format_time(source.end_ms), **settings)
    assert code == 0, output[-4000:]
    assert lake.read("samples").num_rows
    assert lake.version("verdicts") is None
    (run,) = lake.read("ingest_runs").to_pylist()
    assert (run["command"], run["status"]) == ("ingest", "done")
    # The log has the progress, line by line, and the summary of the manifest.
    assert "Reading prometheus_remote_read" in output
    assert f"Run {run['run_id']}" in output


@pytest.mark.study
def test_gate_fails_task_without_retry(airflow, database, tmp_path):
    """``dags test`` waits for tries that are left: it ends, so there is none; the asset is not updated."""
    program = tmp_path / "throttlescope"
    program.write_text(
        "#!/bin/sh\necho run $1\n[ $1 = freshness ] && exit 0\n"
        """echo '{"event": "failed", "message": "The gate samples stopped the run; got 3 resets."}' >&2\n"""
        "echo 'and after it' >&2\nexit 3\n"
    )
    program.chmod(0o755)
    code, output = airflow.dags_test(
        "ingest_hourly", "2026-11-20T08:00:00Z", THROTTLESCOPE_COMMAND=str(program),
        THROTTLESCOPE_LAKE=str(tmp_path / "lake"), THROTTLESCOPE_PROMETHEUS="http://127.0.0.1:9",
    )  # fmt: skip
    assert code == 1, output[-2000:]
    assert output.count("run ingest") == 1
    assert "run quality" not in output
    assert (
        "The gate samples stopped the run; got 3 resets. (exit code 3: a gate stopped it; not tried again)"
        in output
    )
