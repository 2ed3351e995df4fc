"""The DAGs at length, for ``make test-airflow``: every one by ``dags test``, a real gate, and a chain in a real Airflow."""

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest

from tests.airflow.chain import STORED, run_chain, slow_source
from tests.airflow.own_airflow import Source, feed, smallest_recording
from tests.airflow.standalone import running_standalone
from tests.app import incremental
from tests.app.commands import throttlescope
from tests.lab.prometheus import running_prometheus, write_series
from tests.lab.spark_cluster import running_spark_cluster
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start, date_of, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.java import find_java

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.study,
    pytest.mark.long,
    pytest.mark.prometheus,
    pytest.mark.timeout(3600),
]


@pytest.fixture
def three_hours():
    """A Prometheus with samples at the end of each of the last three hours, as they came: of a time that it got out of order it does
    not name all metrics."""
    end_ms = block_start(int(time.time() * 1000))
    with running_prometheus() as server:
        for hours in (2, 1, 0):
            feed(server.url, smallest_recording(), end_ms - hours * BLOCK_MS)
        yield Source(server.url, end_ms)


def test_a_chain_in_a_real_airflow(airflow, database, three_hours, tmp_path):
    """The clock, a task that is killed while it reads and goes on with its next try, an asset, and the second DAG; then two hours that
    are read while that one is busy, and the one run that follows."""
    lake, source = Lake(tmp_path / "lake"), three_hours
    earlier = [source.end_ms - hours * BLOCK_MS for hours in (3, 2)]
    with (
        slow_source(source.url, lake) as slow,
        running_standalone(airflow, THROTTLESCOPE_LAKE=lake.root, THROTTLESCOPE_PROMETHEUS=slow.url) as api,
    ):
        chain = run_chain(api, slow, earlier)
        first, second = chain.ingested, chain.diagnosed
        assert first["state"] == "success", api.log(first, "ingest", 2)
        assert first["run_type"] == "scheduled"
        tries = {name: task["try_number"] for name, task in api.tasks(first).items()}
        assert tries == {"source_is_fresh": 1, "ingest": 2, "gates": 1}
        assert second["run_type"] == "asset_triggered"
        assert second["state"] == "success", api.log(second, "diagnose", 1)
        events = api.get("/assets/events", order_by="timestamp")["asset_events"]
        told = [
            [datetime.fromisoformat(event["extra"][name]).timestamp() * 1000 for name in ("start", "end")]
            for event in events
            if event["source_dag_id"] == "ingest_hourly"
        ]
        # Where an hour has ended meanwhile, the clock has started one run more, and what follows it comes between.
        alone = block_start(int(time.time() * 1000)) == source.end_ms
        assert [span for span in told if span[0] < source.end_ms] == [
            [start_ms, start_ms + BLOCK_MS] for start_ms in (source.end_ms - BLOCK_MS, *earlier)
        ]
        log = api.log(first, "ingest", 2)
        assert "Reading prometheus_remote_read" in log
        (run, *_) = sorted(
            (row for row in lake.read("ingest_runs").to_pylist() if row["command"] == "ingest"),
            key=lambda row: row["started_ms"],
        )
        assert f"Run {run['run_id']}" in log
        (read,) = json.loads(run["details"])["sources"]
        assert STORED <= read["items_resumed"] < read["items"]
        assert [run["state"] for run in chain.by_hand] == ["success", "success"]
        assert chain.next["state"] == "success", api.log(chain.next, "diagnose", 1)
        if alone:
            assert len(api.runs("diagnose_hourly")) == 2
            # It is told of the first of the two hours, and finds the other.
            log = api.log(chain.next, "diagnose", 1)
            assert f"diagnose --missed --start {iso(earlier[0])}" in log
    # Its first run computed the hour that it was for, its second the two others.
    runs = [row for row in lake.read("ingest_runs").to_pylist() if row["command"] == "diagnose"]
    runs = sorted(runs, key=lambda row: row["started_ms"])
    assert runs[0]["start_ms"] == source.end_ms - BLOCK_MS
    assert {row["status"] for row in runs} == {"done"}
    hours = {
        start_ms // BLOCK_MS * BLOCK_MS for start_ms in lake.read("verdicts")["window_start_ms"].to_pylist()
    }
    assert hours - {source.end_ms} == {*earlier, source.end_ms - BLOCK_MS}


@pytest.mark.usefixtures("_spark_session")
def test_missed_hours_come_with_the_next(airflow, database, tmp_path):
    """Down for two hours: the lake is that of one run over all four. The second diagnosis is submitted to a real Spark cluster."""
    end_ms = block_start(int(time.time() * 1000))
    start_ms = end_ms - 4 * BLOCK_MS
    lake, at_once = tmp_path / "lake", tmp_path / "at once"
    with running_prometheus() as server, running_spark_cluster(max_lifetime_s=3000) as cluster:
        moved_ms = start_ms - incremental.hour(0)
        write_series(
            server.url,
            [
                (labels, [(ms + moved_ms, value) for ms, value in samples])
                for labels, samples in incremental.scene(0, 4)
            ],
        )
        settings = {"THROTTLESCOPE_LAKE": str(lake), "THROTTLESCOPE_PROMETHEUS": server.url}

        def run(dag_id, at_ms, *more, **environment):
            code, output = airflow.dags_test(
                dag_id, format_time(at_ms), *more, timeout_s=1500, **settings, **environment
            )
            assert code == 0, output[-4000:]
            return output

        def diagnosed(from_ms, at_ms, **environment):
            hours = {"start": format_time(from_ms), "end": format_time(at_ms)}
            return run("diagnose_hourly", at_ms, "--conf", json.dumps(hours), **environment)

        run("ingest_hourly", start_ms + BLOCK_MS)
        diagnosed(start_ms, start_ms + BLOCK_MS)
        # Airflow itself starts only the newest interval.
        assert f"--start {iso(start_ms + BLOCK_MS)} --end {iso(end_ms)}" in run("ingest_hourly", end_ms)
        program = throttlescope("spark", "program").out.strip()
        submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
        output = diagnosed(
            start_ms + BLOCK_MS, end_ms,
            THROTTLESCOPE_SPARK_SUBMIT=f"{submit} --master {cluster.url} --conf spark.driver.host=127.0.0.1 {program}",
            PYSPARK_PYTHON=sys.executable, JAVA_HOME=str(find_java().home), SPARK_LOCAL_IP="127.0.0.1",
        )  # fmt: skip
        assert f"Running: {submit}" in output
        assert cluster.facts()["completedapps"]
        done = throttlescope(
            "run", "--prometheus", server.url, "--start", format_time(start_ms), "--end", format_time(end_ms),
            "--lake", at_once, "--quiet",
        )  # fmt: skip
        assert done.code == 0, done.err
    assert incremental.differences(lake, at_once) == {}
    assert Lake(lake).read("verdicts").num_rows


def iso(time_ms):
    """As Airflow's templates write a time."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat()


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
    """Runs one DAG as of the end of that week, or another time; its exit code and what it said."""

    def run(dag_id, into=lake, at_ms=None, **conf):
        more = ("--conf", json.dumps(conf)) if conf else ()
        return airflow.dags_test(
            dag_id, format_time(at_ms or monday.end_ms), *more, timeout_s=1500,
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


def test_idle_hour_becomes_a_gap(ran, judged, monday):
    """Of a source that was read before; its newest samples are younger, so it is there."""
    end_ms = monday.end_ms - 4 * BLOCK_MS
    code, output = ran("ingest_hourly", at_ms=end_ms)
    assert code == 0, output[-4000:]
    assert "no samples in the range; a gap was recorded" in output
    gaps = [(row["start_ms"], row["end_ms"], row["metric_name"]) for row in judged.read("gaps").to_pylist()]
    assert (end_ms - BLOCK_MS, end_ms, "*") in gaps


def test_empty_first_hour_is_an_error(ran, monday, tmp_path):
    """The source was never read into this lake: most likely it is not the right one."""
    lake = Lake(tmp_path / "lake")
    code, output = ran("ingest_hourly", lake, at_ms=monday.end_ms - 4 * BLOCK_MS)
    assert code == 1, output[-4000:]
    assert "(exit code 2: usage or input is wrong; not tried again)" in output, output[-4000:]
    assert lake.version("samples") is None


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
def test_missing_setting_is_not_retried(airflow, database, dag_id, settings, told):
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
