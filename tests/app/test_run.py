"""Whole runs: from recordings and from a real Prometheus to verdicts; repeated, killed, gated and refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.app.http_server import answering, html, unauthorised
from tests.app.notifications.receiver import YES, receiving
from tests.lab.prometheus import running_prometheus, write_recording, write_series
from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER as SYNTHETIC
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, block_start, date_of
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.sources.recording import list_shipped, read_recording
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.anomaly.apply import build_anomalies
from throttlescope.models.episodes.apply import build_episodes
from throttlescope.models.forecast.apply import build_forecasts

pytestmark = pytest.mark.long

#: What a run must leave unchanged when it is repeated; the other tables are books of runs.
DATA = (
    "series", "samples", "policies", "limits", "topic_stats", "truth", "signals", "verdicts", "episodes", "incidents",
    "forecasts", "anomalies",
)  # fmt: skip
THROTTLED, SLOW = "sub-msg-small", "slow-small"


def rows_of(lake, table):
    """All rows in one order, as text: equal tables give equal lists, NaN and all."""
    return sorted(repr(sorted(row.items())) for row in Lake(lake).read(table).to_pylist())


def content(lake, *, without_cluster=None):
    found = {table: rows_of(lake, table) for table in DATA}
    if without_cluster is None:
        return found
    left_out = repr(("cluster", without_cluster))
    return {table: [row for row in rows if left_out not in row] for table, rows in found.items()}


def versions(lake):
    return {table: Lake(lake).version(table) for table in DATA}


def run(lake, *arguments, command="run"):
    outcome = throttlescope(command, *arguments, "--lake", lake, "--format", "json", "--quiet")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A lake made of two shipped recordings, and what the run said."""
    lake = tmp_path_factory.mktemp("recorded") / "lake"
    return lake, run(lake, "--recording", THROTTLED, "--recording", SLOW)


def test_recordings_become_verdicts(recorded):
    lake, summary = recorded
    assert summary["status"] == "done"
    assert set(summary["clusters"]) == {THROTTLED, SLOW}
    assert summary["signals"] > 0
    latest = throttlescope("verdicts", "--lake", lake, "--format", "json", "--subscription",
                           f"persistent://lab/{THROTTLED}/orders#billing").out  # fmt: skip
    causes = [(verdict["cause"], verdict["limiter"]) for verdict in json.loads(latest)]
    assert ("throttled", "subscription.msg") in causes
    assert causes[-1] == ("healthy", None)
    slow = throttlescope(
        "verdicts", "--lake", lake, "--format", "json", "--cluster", SLOW, "--cause", "slow_consumers"
    )
    assert json.loads(slow.out)


def test_manifest_records_request_and_result(recorded):
    lake, summary = recorded
    (row,) = Lake(lake).read("ingest_runs").to_pylist()
    assert (row["run_id"], row["status"], row["command"]) == (summary["run_id"], "done", "run")
    assert row["samples"] == summary["sources"][0]["samples"] > 0
    stored = sum(len(values) for values in Lake(lake).read("samples").column("values").to_pylist())
    assert row["samples_written"] == stored
    assert json.loads(row["details"])["settings"]["window_ms"] == 300_000


def test_run_counts_episodes_forecasts_and_anomalies(recorded):
    lake, summary = recorded
    found = summary["results"]
    assert sum(found["episodes"].values()) == Lake(lake).read("episodes").num_rows > 0
    assert found["incidents"] == Lake(lake).read("incidents").num_rows
    # Four moments an hour: none may fall into these few minutes of backlog.
    assert found["forecasts"] == Lake(lake).read("forecasts").num_rows
    # Minutes are no weeks: everything is still learned, and that is said.
    assert set(found["anomalies"]) == {"learning"}
    assert found["anomalies"]["learning"] == Lake(lake).read("anomalies").num_rows > 0
    (row,) = Lake(lake).read("ingest_runs").to_pylist()
    assert json.loads(row["details"])["results"] == {
        "signals": summary["signals"], "verdicts": summary["verdicts"], **found
    }  # fmt: skip


@pytest.mark.study
@pytest.mark.spark
def test_run_with_master_writes_same_files(recorded, spark, tmp_path):
    """The run of the fixture is small and was done in this process; files are named by their bytes."""
    here, there = Lake(recorded[0]), Lake(tmp_path / "lake")
    outcome = throttlescope(
        "run", "--recording", THROTTLED, "--recording", SLOW, "--lake", there.root, "--master", "local[2]"
    )
    assert outcome.code == 0, outcome.err
    assert "Starting Spark" in outcome.err
    for table in DATA:
        names = [{file.relative_path for file in lake.files(table)} for lake in (here, there)]
        assert names[0] == names[1], table
        assert rows_of(here.root, table) == rows_of(there.root, table), table
    assert here.files("verdicts")


def test_small_run_starts_no_spark(tmp_path, monkeypatch):
    """Neither where it was expected to be small, nor where nothing was known of it and the lake shows that it is."""
    monkeypatch.setattr(
        "throttlescope.ingest.spark.session.spark_session", lambda **_: pytest.fail("Spark was started")
    )
    outcome = throttlescope("run", "--recording", SLOW, "--lake", tmp_path / "lake")
    assert outcome.code == 0, outcome.err
    assert "Spark" not in outcome.err
    assert outcome.err.startswith("[1/10] Reading ")


@pytest.mark.study
@pytest.mark.sampled(2)
@pytest.mark.spark
@pytest.mark.parametrize("expected", [None, 0])
def test_large_run_starts_spark_once(recorded, spark, tmp_path, monkeypatch, expected):
    """Before it reads where the source does not say how much there is, else as soon as more was read than this process takes."""
    monkeypatch.setattr(
        "throttlescope.app.pipeline.sources.recordings.RecordingsSource.minutes", lambda _: expected
    )
    monkeypatch.setattr("throttlescope.app.pipeline.spark_session.IN_PROCESS_MINUTES", 1)
    outcome = throttlescope("run", "--recording", SLOW, "--lake", tmp_path / "lake")
    assert outcome.code == 0, outcome.err
    began = [line.rpartition("] ")[2] for line in outcome.err.splitlines() if line.startswith("[")]
    place = 1 if expected == 0 else 0
    assert [line.startswith("Starting Spark") for line in began] == [at == place for at in range(len(began))]
    assert f"[{len(began)}/11]" in outcome.err
    assert len(began) == 11
    assert rows_of(tmp_path / "lake", "verdicts") == [
        row for row in rows_of(recorded[0], "verdicts") if repr(("cluster", SLOW)) in row
    ]


@pytest.mark.spark
def test_spark_and_local_results_are_equal(recorded, spark, tmp_path):
    whole = Lake(recorded[0])
    files = whole.files("signals")
    clusters = sorted({file.partition["cluster"] for file in files})
    start_ms = min(file.minimum["minute_ms"] for file in files)
    end_ms = max(file.maximum["minute_ms"] for file in files) + 60_000
    made = []
    for executor in (InProcessExecutor(), SparkPoolExecutor(spark)):
        folder = tmp_path / type(executor).__name__
        lake = Lake(shutil.copytree(whole.root, folder))
        for table in ("episodes", "incidents", "forecasts", "anomalies"):
            shutil.rmtree(folder / table, ignore_errors=True)
        build_episodes(executor, lake, clusters, start_ms, end_ms, "test")
        build_forecasts(executor, lake, clusters, start_ms, end_ms, "test", every_ms=60_000)
        build_anomalies(executor, lake, clusters, start_ms, end_ms, "test")
        made.append(
            {
                table: rows_of(lake.root, table)
                for table in ("episodes", "incidents", "forecasts", "anomalies")
            }
        )
    assert made[0] == made[1]
    assert all(made[0][table] for table in ("episodes", "forecasts", "anomalies"))


def test_admin_throttle_counts_match_the_series(recorded):
    lake, _ = recorded
    rows = [row for row in Lake(lake).read("quality").to_pylist() if row["check"] == "throttle_counts_agree"]
    assert {row["cluster"] for row in rows} == {THROTTLED, SLOW}
    assert [row["observed"] for row in rows if not row["success"]] == []


def test_repeated_range_changes_nothing(recorded):
    lake, _ = recorded
    before, contents = versions(lake), content(lake)
    summary = run(lake, "--recording", THROTTLED, "--recording", SLOW)
    assert versions(lake) == before
    assert content(lake) == contents
    assert summary["sources"][0]["samples_written"] == 0


@pytest.mark.study
def test_run_notifies_once_and_survives_a_bad_channel(recorded, tmp_path):
    """The exit code is the run's; what a channel refused is sent by the next run, and what it took never again."""
    shutil.copytree(recorded[0], tmp_path / "lake")
    lake = Lake(tmp_path / "lake")
    (tmp_path / "conf.toml").write_text('[notifications]\nadvice_within = "0s"\n')
    words = (
        "--recording", THROTTLED, "--lake", lake.root, "--config", tmp_path / "conf.toml", "--notify-max-age", "3650d",
    )  # fmt: skip
    with receiving((307, b"", {"Location": "http://127.0.0.1:1/"}), YES["webhook"]) as receiver:
        refused, sent, again = (throttlescope("run", *words, "--notify", receiver.url) for _ in range(3))
    assert [done.code for done in (refused, sent, again)] == [0, 0, 0]
    assert "redirects are not followed" in refused.err
    assert "was not sent, and will be tried again" in refused.err
    assert "message to 127.0.0.1" in sent.err
    assert "127.0.0.1" not in again.err
    (_, accepted) = receiver.requests
    (change,) = accepted.document["changes"]
    assert (change["change"], change["cluster"], change["cause"]) == ("closed", THROTTLED, "throttled")
    (row,) = lake.read("notifications").to_pylist()
    assert row["message_id"] == change["message_id"]


def test_ingest_stops_before_signals(tmp_path):
    summary = run(tmp_path / "lake", "--recording", SLOW, command="ingest")
    lake = Lake(tmp_path / "lake")
    assert summary["verdicts"] is None
    assert lake.version("limits") is not None
    assert lake.version("signals") is None
    # The run that follows finds the samples there and goes on.
    assert run(tmp_path / "lake", "--recording", SLOW)["sources"][0]["samples_written"] == 0
    assert lake.version("verdicts") is not None


@pytest.mark.study
def test_demo_prints_verdicts_and_starts_server(tmp_path, monkeypatch):
    config = tmp_path / "minutes.toml"
    config.write_text('every = "1m"\nforecast_every = "1m"\n')
    undisturbed = tmp_path / "undisturbed"
    run(undisturbed, "--recording", THROTTLED, "--recording", SLOW, "--config", config)
    shipped = {name: folder for name, folder in list_shipped().items() if name in (THROTTLED, SLOW)}
    monkeypatch.setattr("throttlescope.ingest.sources.recording.list_shipped", lambda: shipped)
    executed = []
    monkeypatch.setattr(os, "execv", lambda path, arguments: executed.append(arguments))
    # A configuration of whoever runs it must not change the demo.
    (tmp_path / "throttlescope.toml").write_text("window = 'nonsense'")
    monkeypatch.chdir(tmp_path)
    outcome = throttlescope("demo", "--port", 8123)
    assert outcome.code == 0, outcome.err
    for words in (
        f"lab/{THROTTLED}/orders#billing",
        "subscription.msg",
        "slow_consumers",
        "naive rule",
        "UTC",
    ):
        assert words in outcome.out
    assert "[1/10]" in outcome.err
    assert [arguments[3:] for arguments in executed] == [
        ["serve", "--lake", str(tmp_path / ".demo"), "--port", "8123"]
    ]
    assert content(tmp_path / ".demo", without_cluster=SYNTHETIC) == content(undisturbed)
    assert content(tmp_path / ".demo") != content(undisturbed), "the synthetic history is in the lake too"
    again = throttlescope("demo", "--no-serve", "--quiet")
    assert (again.code, again.err, len(executed)) == (0, "", 1)


def test_evaluate_uses_the_recordings_truth(recorded, tmp_path):
    lake, _ = recorded
    before = versions(lake)
    outcome = throttlescope("evaluate", "--lake", lake, "--format", "json")
    found = json.loads(outcome.out)
    assert found["all"]["windows"] > 10
    assert set(found["all"]["ours"]["cause"]["confusion"]) == {"throttled", "slow_consumers", "healthy"}
    assert versions(lake) == before
    truth = list_shipped()[SLOW] / "truth.json"
    only = json.loads(throttlescope("evaluate", "--lake", lake, "--truth", truth, "--format", "json").out)
    assert 0 < only["all"]["windows"] < found["all"]["windows"]
    table = throttlescope("evaluate", "--lake", lake).out
    assert "Confusion: cause, ours" in table
    assert "side right, naive rule" in table


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read as truth"),
        ("{", "cannot be read as truth"),
        ("[]", "is no truth"),
        ('{"format": 2, "rows": []}', "format 2"),
        ('{"format": 1, "rows": [{"cluster": "a"}]}', "missing"),
        ('{"format": 1, "rows": []}', "no truth"),
    ],
)
def test_invalid_truth_file_is_refused(recorded, tmp_path, text, words):
    lake, _ = recorded
    file = tmp_path / "truth.json"
    if text is not None:
        file.write_text(text)
    outcome = throttlescope("evaluate", "--lake", lake, "--truth", file, "--quiet")
    assert outcome.code == 2
    assert words in outcome.line


def test_duplicate_samples_stop_the_run(tmp_path):
    lake = Lake(tmp_path / "lake")
    recording = read_recording(list_shipped()[SLOW])
    block = block_start(recording.start_ms)
    series_id = "f" * 32
    # Two files with the same block of one series, of a metric that the recording does not bring anew.
    for value in (1.0, 2.0):
        row = {
            "series_id": series_id, "metric_name": "pulsar_planted", "date": date_of(block), "cluster": SLOW,
            "shard": 0, "block_start_ms": block, "timestamps_ms": [block, block + 15_000],
            "values": [value, value], "stale_ms": [],
        }  # fmt: skip
        rows = pa.Table.from_pylist([row], schema=TABLES["samples"].schema)
        lake.commit("samples", [write_data_file(lake.root, "samples", rows)], run_id="planted")
    outcome = throttlescope("run", "--recording", SLOW, "--lake", lake.root, "--quiet")
    assert outcome.code == 3
    assert "samples gate stopped the run" in outcome.line
    assert "throttlescope quality" in outcome.line
    for table in ("limits", "signals", "verdicts"):
        assert lake.version(table) is None
    found = json.loads(throttlescope("quality", "--lake", lake.root, "--format", "json").out)
    assert {"block_key_unique", "series_in_catalogue"} <= {
        row["check"] for row in found if row["severity"] == "error"
    }
    (manifest,) = lake.read("ingest_runs").to_pylist()
    assert manifest["status"] == "gated"


@pytest.mark.study
def test_interrupted_run_can_be_repeated(recorded, tmp_path):
    """Ctrl-C is reported in one line, and the repeated run gives the same tables."""
    undisturbed, _ = recorded
    lake = tmp_path / "lake"
    command = [
        sys.executable,
        "-m",
        "throttlescope.app.cli",
        "run",
        "--recording",
        THROTTLED,
        "--recording",
        SLOW,
    ]
    process = subprocess.Popen([*command, "--lake", str(lake)], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if line.startswith("[2/"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read().splitlines()
        assert process.wait(120) == 130
    finally:
        process.kill()
        process.wait()
    assert [line for line in rest if not line.startswith("[")] == [
        "throttlescope: Interrupted; what was not committed is not in the lake. Fix: run the same command again"
    ]
    run(lake, "--recording", THROTTLED, "--recording", SLOW)
    assert content(lake) == content(undisturbed)


# -- a real Prometheus ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def prometheus():
    """A real Prometheus that holds what one recording holds, staleness markers included."""
    with running_prometheus() as server:
        write_recording(server.url, list_shipped()[THROTTLED])
        yield server


def verdicts_of(lake):
    rows = Lake(lake).read("verdicts").to_pylist()
    return sorted(repr(sorted(row.items())) for row in rows if row["cluster"] == THROTTLED)


@pytest.mark.sampled(2)
@pytest.mark.prometheus
@pytest.mark.parametrize("reader", ["remote_read", "api"])
def test_prometheus_and_recording_give_same_verdicts(recorded, prometheus, tmp_path, reader):
    recording = read_recording(list_shipped()[THROTTLED])
    lake = Lake(tmp_path / "lake")
    # What the admin API would have said; here only the way of the samples differs.
    for table in ("policies", "topic_stats"):
        lake.upsert(table, getattr(recording, table), run_id="by hand")
    summary = run(
        lake.root, "--prometheus", prometheus.url, "--start", recording.start_ms / 1000, "--end",
        recording.end_ms / 1000, "--reader", reader,
    )  # fmt: skip
    assert summary["sources"][0]["source"].startswith("prometheus_" + reader)
    assert summary["sources"][0]["source_requests"] > 0
    found = verdicts_of(lake.root)
    assert found
    assert found == verdicts_of(recorded[0])
    before, contents = versions(lake.root), content(lake.root)
    run(
        lake.root, "--prometheus", prometheus.url, "--start", recording.start_ms / 1000, "--end",
        recording.end_ms / 1000, "--reader", reader,
    )  # fmt: skip
    assert versions(lake.root) == before
    assert content(lake.root) == contents


PATH_OF = {
    "broker_configuration_runtime": "/admin/v2/brokers/configuration/runtime",
    "broker_dynamic_configuration": "/admin/v2/brokers/configuration/values",
    "broker_version": "/admin/v2/brokers/version",
}
SUFFIX_OF = {
    "topic_dispatch_rate": "/dispatchRate",
    "topic_subscription_dispatch_rate": "/subscriptionDispatchRate",
    "partition_count": "/partitions",
    "topic_subscriptions": "/subscriptions",
}


class Admin:
    """An admin API on loopback that gives a recording's first answers, and refuses what it was not asked then."""

    def __init__(self, recording):
        self.requested_paths = []
        self.answers = {"/admin/v2/clusters": '["lab"]'}
        for row in reversed(recording.policies.to_pylist()):
            topic, _, subscription = row["key"].partition("#")
            path = topic.replace("://", "/", 1)
            if row["scope"] in PATH_OF:
                self.answers[PATH_OF[row["scope"]]] = row["body"]
                self.answers["/admin/v2/brokers"] = json.dumps([row["key"]])
            elif row["scope"] == "namespace":
                self.answers[f"/admin/v2/namespaces/{path}"] = row["body"]
            elif row["scope"] in SUFFIX_OF:
                self.answers[f"/admin/v2/{path}{SUFFIX_OF[row['scope']]}"] = row["body"]
            elif row["scope"] == "topic_owner":
                self.answers[f"/lookup/v2/topic/{path}"] = row["body"]
            elif row["scope"] == "subscription_dispatch_rate":
                self.answers[f"/admin/v2/{path}/{subscription}/dispatchRate"] = row["body"]

    def __call__(self, method, path, headers):
        self.requested_paths.append(path)
        answer = self.answers.get(path.split("?")[0])
        if "isGlobal=true" in path:
            return 204, "application/json", b""
        if answer is None:
            return 404, "application/json", b'{"reason": "not recorded"}'
        return (200, "application/json", answer.encode()) if answer != "null" else (204, "text/plain", b"")


@pytest.mark.prometheus
def test_limits_come_from_the_admin_api(prometheus, tmp_path, monkeypatch):
    """What the API refuses is reported as a quality finding."""
    recording = read_recording(list_shipped()[THROTTLED])
    # Both runs ask the API at the moment at which the recording ends, whenever the test runs: a minute is joined to the newest answer.
    clock = SimpleNamespace(time=lambda: recording.end_ms / 1000, monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr("throttlescope.ingest.sources.pulsar_admin.time", clock)
    lake, admin = Lake(tmp_path / "lake"), Admin(recording)
    with answering(admin) as url:
        arguments = [
            "--prometheus", prometheus.url, "--pulsar-admin", url, "--start", recording.start_ms / 1000,
            "--end", recording.end_ms / 1000,
        ]  # fmt: skip
        summary = run(lake.root, *arguments)
        assert summary["sources"][0]["admin_requests"] == len(admin.requested_paths) > 5
        before = {table: rows_of(lake.root, table) for table in ("samples", "signals", "verdicts")}
        run(lake.root, *arguments)
    assert {table: rows_of(lake.root, table) for table in before} == before
    limits = [row for row in lake.read("limits").to_pylist() if row["subscription"] == "billing"]
    subscription = [row for row in limits if row["level"] == "subscription"]
    assert {(row["rate_msg"], row["set_by"]) for row in subscription} == {(50, "subscription_policy")}
    verdicts = [row for row in lake.read("verdicts").to_pylist() if row["subscription"] == "billing"]
    assert "throttled" in {row["cause"] for row in verdicts}
    # The stats of the topic were not recorded in this form: the question stays open, and says so.
    found = json.loads(throttlescope("quality", "--lake", lake.root, "--format", "json").out)
    (unanswered, _) = [row for row in found if row["check"] == "admin_api_answers"]
    assert "not recorded" in unanswered["observed"]
    assert unanswered["severity"] == "warning"


@pytest.mark.prometheus
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (html, "web page"),
        (unauthorised, "wants authentication"),
        (lambda *_: (500, "text/plain", b"out of order"), "out of order"),
        (None, "cannot be reached"),
    ],
)
def test_failing_admin_api_ends_the_run(prometheus, tmp_path, answer, words):
    with answering(answer or html) as url:
        if answer is not None:
            outcome = throttlescope(
                "run",
                "--prometheus",
                prometheus.url,
                "--pulsar-admin",
                url,
                "--start",
                "-1h",
                "--lake",
                tmp_path / "lake",
            )
    if answer is None:
        outcome = throttlescope(
            "run",
            "--prometheus",
            prometheus.url,
            "--pulsar-admin",
            url,
            "--start",
            "-1h",
            "--lake",
            tmp_path / "lake",
        )
    assert outcome.code == 4
    assert words in outcome.line
    assert not (tmp_path / "lake").exists()


@pytest.mark.prometheus
def test_flags_rename_and_filter_the_cluster(prometheus, tmp_path):
    recording = read_recording(list_shipped()[THROTTLED])
    summary = run(
        tmp_path / "lake", "--prometheus", prometheus.url, "--cluster", "renamed", "--match", '{subscription="billing"}',
        "--start", recording.start_ms / 1000, "--end", recording.end_ms / 1000,
    )  # fmt: skip
    assert summary["clusters"] == ["renamed"]
    verdicts = Lake(tmp_path / "lake").read("verdicts").to_pylist()
    assert {(row["cluster"], row["subscription"]) for row in verdicts} == {("renamed", "billing")}


@pytest.mark.prometheus
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--start", "2020-01-01T00:00:00Z", "--end", "2020-01-01T01:00:00Z"), "no Pulsar metric"),
        (("--match", "pulsar_subscription_backlog"), "did you mean pulsar_subscription_back_log?"),
        (("--match", '{namespace="a\\"b\\n../../etc"}'), "names no series"),
        (("--start", "2999-01-01T00:00:00Z", "--end", "2999-01-02T00:00:00Z"), "future"),
    ],
)
def test_request_without_data_writes_nothing(prometheus, tmp_path, arguments, words):
    recording = read_recording(list_shipped()[THROTTLED])
    lake = tmp_path / "lake"
    given = ["--start", recording.start_ms / 1000, "--end", recording.end_ms / 1000, *arguments]
    outcome = throttlescope("run", "--prometheus", prometheus.url, *given, "--lake", lake, "--quiet")
    assert outcome.code == 2
    assert words in outcome.line
    assert "Fix:" in outcome.line
    assert not lake.exists()


@pytest.mark.prometheus
def test_hostile_label_values_are_stored_safely(tmp_path):
    strange = 'a"b\\c\n../../x\x1b[31m'
    end_ms = block_start(int(time.time() * 1000))
    times = range(end_ms - BLOCK_MS, end_ms, 15_000)
    labels = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "subscription": strange}
    names = ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed", "pulsar_out_messages_total",
             "pulsar_subscription_consumers_count")  # fmt: skip
    with running_prometheus() as server:
        write_series(
            server.url, [({"__name__": name, **labels}, [(t, 5.0) for t in times]) for name in names]
        )
        lake = tmp_path / "lake"
        run(lake, "--prometheus", server.url, "--start", (end_ms - BLOCK_MS) / 1000, "--end", end_ms / 1000)
    rows = json.loads(throttlescope("verdicts", "--lake", lake, "--format", "json").out)
    assert {row["subscription"] for row in rows} == {strange}
    table = throttlescope("verdicts", "--lake", lake).out
    assert "\x1b" not in table
    assert {path.name for path in tmp_path.iterdir()} == {"lake"}
    assert os.path.commonpath([file.path for file in Lake(lake).files("samples")]).startswith(str(lake))
