"""The DAGs at length, for ``make test-airflow``: every one by ``dags test``, a real gate, and a chain in a real Airflow."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from tests.airflow.chain import program_that_waits_once, run_chain
from tests.airflow.own_airflow import Source, feed, smallest_recording
from tests.airflow.standalone import running_standalone
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS, date_of, format_time

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.study,
    pytest.mark.long,
    pytest.mark.prometheus,
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module")
def monday():
    """A Prometheus whose samples end with a week: its last hour, day and week are over at once."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end_ms = int((today - timedelta(days=today.weekday())).timestamp() * 1000)
    with running_prometheus() as server:
        feed(server.url, smallest_recording(), end_ms)
        yield Source(server.url, end_ms)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return Lake(tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture(scope="module")
def ran(airflow, database, monday, lake):
    """Runs one DAG as of the end of that week; its exit code and what it said."""

    def run(dag_id, into=lake, **conf):
        more = ("--conf", json.dumps(conf)) if conf else ()
        return airflow.dags_test(
            dag_id, format_time(monday.end_ms), *more, timeout_s=1500,
            THROTTLESCOPE_LAKE=into.root, THROTTLESCOPE_PROMETHEUS=monday.url,
        )  # fmt: skip

    return run


@pytest.fixture(scope="module")
def hour(monday):
    return {"start": format_time(monday.end_ms - BLOCK_MS), "end": format_time(monday.end_ms)}


@pytest.fixture(scope="module")
def judged(ran, hour, lake):
    """The lake with the hour ingested and diagnosed."""
    for dag_id, conf in (("ingest_hourly", {}), ("diagnose_hourly", hour)):
        code, output = ran(dag_id, **conf)
        assert code == 0, output[-4000:]
    assert lake.read("verdicts").num_rows
    return lake


def test_the_daily_one(ran, judged):
    code, output = ran("forecast_daily")
    assert code == 0, output[-4000:]
    assert "forecast" in output
    assert judged.read("anomalies").num_rows
    assert set(judged.read("anomalies")["state"].to_pylist()) == {"learning"}


def test_the_weekly_one(ran, judged, monday):
    code, output = ran("review_weekly")
    assert code == 0, output[-4000:]
    assert f"Review of {format_time(monday.end_ms - 7 * 24 * BLOCK_MS)[:10]} 00:00" in output
    assert f"{judged.read('verdicts').num_rows:,} windows" in output


def test_an_hour_without_samples_succeeds(ran, judged, monday):
    """Nothing was there five hours before; that is said, and is no failure."""
    idle = monday.end_ms - 5 * BLOCK_MS
    before = judged.version("verdicts")
    code, output = ran("diagnose_hourly", start=format_time(idle), end=format_time(idle + BLOCK_MS))
    assert code == 0, output[-4000:]
    assert "Idle interval" in output
    assert judged.version("verdicts") == before


@pytest.mark.parametrize(
    ("dag_id", "settings", "told"),
    [
        ("review_weekly", {}, "Neither THROTTLESCOPE_LAKE nor THROTTLESCOPE_CONFIG is set"),
        (
            "review_weekly",
            {"THROTTLESCOPE_LAKE": "/lake", "THROTTLESCOPE_COMMAND": "/not/there"},
            "/not/there cannot be started: No such file or directory",
        ),
        ("diagnose_hourly", {"THROTTLESCOPE_LAKE": "/lake"}, "Nothing says which hours to diagnose"),
    ],
)
def test_what_is_missing_is_told_and_not_tried_again(airflow, database, dag_id, settings, told):
    code, output = airflow.dags_test(dag_id, "2026-11-16T00:00:00Z", timeout_s=600, **settings)
    assert code == 1, output[-4000:]
    assert told in output
    assert "Fix: " in output


def test_a_backfill_gives_what_the_hours_gave(ran, judged, hour, tmp_path):
    lake = Lake(tmp_path / "lake")
    code, output = ran("backfill", lake, chunk="1h", dry_run=True, **hour)
    assert code == 0, output[-4000:]
    assert lake.version("samples") is None
    code, output = ran("backfill", lake, chunk="1h", dry_run=False, **hour)
    assert code == 0, output[-4000:]
    assert causes(lake) == causes(judged)


def causes(lake):
    rows = lake.read("verdicts").to_pylist()
    return sorted((row["topic"], row["subscription"], row["window_start_ms"], row["cause"]) for row in rows)


def test_a_real_gate_stops_the_hour(ran, judged, monday):
    """A block of a series that nobody knows: ingest fails at once, with the gate's own line."""
    block_ms = monday.end_ms - BLOCK_MS
    (cluster,) = set(judged.read("verdicts")["cluster"].to_pylist())
    row = {
        "series_id": "f" * 32, "metric_name": "pulsar_subscription_back_log", "date": date_of(block_ms), "cluster": cluster,
        "shard": 0, "block_start_ms": block_ms, "timestamps_ms": [block_ms + MINUTE_MS], "values": [1.0], "stale_ms": [],
    }  # fmt: skip
    judged.upsert("samples", pa.Table.from_pylist([row], schema=TABLES["samples"].schema), run_id="by hand")
    code, output = ran("ingest_hourly")
    assert code == 1, output[-4000:]
    assert " gate stopped the run: " in output, output[-4000:]
    assert "(exit code 3: a gate stopped it; not tried again)" in output


def test_a_chain_in_a_real_airflow(airflow, database, source, tmp_path):
    """The clock, a killed task that is tried again, an asset, and the second DAG; the lake has its verdicts."""
    lake = Lake(tmp_path / "lake")
    with running_standalone(
        airflow,
        THROTTLESCOPE_LAKE=lake.root,
        THROTTLESCOPE_PROMETHEUS=source.url,
        THROTTLESCOPE_COMMAND=str(program_that_waits_once(tmp_path)),
    ) as api:
        first, second = run_chain(api, tmp_path)
        assert first["state"] == "success", api.log(first, "ingest", 2)
        assert first["run_type"] == "scheduled"
        tries = {name: task["try_number"] for name, task in api.tasks(first).items()}
        assert tries == {"source_is_fresh": 1, "ingest": 2, "gates": 1}
        assert second["run_type"] == "asset_triggered"
        assert second["state"] == "success", api.log(second, "diagnose", 1)
        (event,) = api.get("/assets/events")["asset_events"]
        assert event["source_dag_id"] == "ingest_hourly"
        told = [datetime.fromisoformat(event["extra"][name]).timestamp() * 1000 for name in ("start", "end")]
        assert told == [source.end_ms - BLOCK_MS, source.end_ms]
        log = api.log(first, "ingest", 2)
        assert "Reading prometheus_remote_read" in log
        assert f"Run {lake.read('ingest_runs')['run_id'][0]}" in log
    starts_ms = lake.read("verdicts")["window_start_ms"].to_pylist()
    assert starts_ms
    assert source.end_ms - BLOCK_MS <= min(starts_ms) <= max(starts_ms) < source.end_ms
