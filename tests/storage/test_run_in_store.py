"""A whole run into a real S3 server against the same run into a folder, and what reads the lake afterwards."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import requests

from tests.app.api.serving import serving
from tests.app.commands import throttlescope
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.spark, pytest.mark.long]

RECORDING = "sub-msg-small"
SUBSCRIPTION = f"persistent://lab/{RECORDING}/orders#billing"
#: Of each run its own: which run wrote a row, and when.
OF_THE_RUN = {
    "run_id",
    "observed_ms",
    "computed_ms",
    "started_ms",
    "ended_ms",
    "details",
    "host",
    "date",
    "made_ms",
}
#: Books of runs: what they hold is of the run.
BOOKS = {"ingest_runs", "computed"}


def rows_of(lake: Lake, table: str) -> list[str]:
    """All rows in one order, as text: equal tables give equal lists, NaN and all."""
    skipped = OF_THE_RUN if table in ("quality", "watermarks", "gaps") else {"run_id"}
    rows = lake.read(table).to_pylist()
    return sorted(repr(sorted((k, v) for k, v in row.items() if k not in skipped)) for row in rows)


@pytest.fixture(scope="module")
def lakes(_spark_session, _object_store, tmp_path_factory):
    """The same recording run into a folder, in this process, and into the store, on Spark."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in _object_store.environment.items():
            environment.setenv(name, value)
        roots = str(tmp_path_factory.mktemp("run") / "lake"), _object_store.lake("run")
        for root, more in zip(roots, ((), ("--master", "local[2]")), strict=True):
            outcome = throttlescope(
                "run", "--recording", RECORDING, "--lake", root, "--format", "json", "--quiet", *more
            )
            assert outcome.code == 0, outcome.err
            assert json.loads(outcome.out)["lake"] == root
        yield roots


def test_the_run_gives_the_same_tables(object_store, lakes):
    folder, store = map(Lake, lakes)
    written = [table for table in TABLES if folder.version(table) is not None]
    assert {"series", "samples", "limits", "signals", "verdicts", "verdict_latest"} <= set(written)
    assert [table for table in TABLES if store.version(table) is not None] == written
    for table in set(written) - BOOKS:
        assert rows_of(store, table) == rows_of(folder, table), table
    # Where only the address differs the files are the same, byte by byte.
    for table in ("samples", "signals", "verdicts"):
        names = [{file.relative_path for file in lake.files(table)} for lake in (folder, store)]
        assert names[0] == names[1], table
    assert [name for name in store.storage.names("") if "_staging" in name] == []


def test_no_secret_is_in_the_lake(object_store, lakes):
    secrets = [object_store.environment[name] for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")]
    text = repr(Lake(lakes[1]).read("ingest_runs").to_pylist())
    assert lakes[1] in text or "settings" in text
    assert not [secret for secret in secrets if secret in text]


#: Reads a table by Spark's tasks, once as Spark's rows and once in groups of Python's own, with Spark's event log on.
_LOGGED = """
import sys
from throttlescope.app.cli.settings import SourceFlags, settings_with
from throttlescope.app.pipeline.spark_session import start_spark
from throttlescope.ingest.lake import Lake

lake, events = sys.argv[1:]
conf = {
    "spark.eventLog.enabled": "true", "spark.eventLog.dir": events, "spark.eventLog.compress": "false",
    "spark.control.word": "seen by the log",
}
settings = settings_with(None, {"lake": lake, "spark": {"master": "local[1]", "conf": conf}}, SourceFlags())
session = start_spark(settings)
rows = Lake(lake).spark(session, "signals")
found = rows.groupBy("subscription").applyInArrow(lambda group: group.select(["minute_ms"]), "minute_ms long")
print(rows.count(), found.count())
session.stop()
"""


@pytest.mark.study
def test_no_secret_is_in_sparks_event_log(object_store, lakes, tmp_path):
    """It holds settings, properties, plans and what was sent along with tasks, and often goes to a server that many read."""
    events = tmp_path / "events"
    events.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _LOGGED, lakes[1], events.as_uri()],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    rows = Lake(lakes[1]).read("signals").num_rows
    assert (done.returncode, done.stdout) == (0, f"{rows} {rows}\n"), done.stderr
    text = "".join(file.read_text() for file in events.rglob("*") if file.is_file())
    assert "seen by the log" in text
    assert {"SparkListenerSQLExecutionStart", "SparkListenerTaskEnd", "FlatMapGroupsInArrow"} <= set(
        re.findall(r"\w+", text)
    )
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"):
        assert object_store.environment[name] not in text, name


def test_commands_answer_the_same(object_store, lakes):
    for arguments in (
        ("verdicts", "--format", "json"),
        ("episodes", "--format", "json"),
        ("forecast", "--format", "json"),
        ("changes", "--format", "json"),
        ("recommend", SUBSCRIPTION, "--format", "json", "--quiet"),
        ("promql", "sum(rate(pulsar_subscription_msg_rate_out[5m]))", "--format", "json"),
    ):
        folder, store = (throttlescope(*arguments, "--lake", lake) for lake in lakes)
        assert folder.code == 0, (arguments, folder.err)
        assert (store.code, store.out.replace(lakes[1], lakes[0])) == (0, folder.out), (arguments, store.err)


def test_the_web_app_reads_it(object_store, lakes):
    ask = "SELECT count(*), min(minute_ms) FROM {}"
    found = []
    for lake in lakes:
        reader = LakeReader(lake)
        found.append(
            reader.read(
                lambda cursor, snapshot: cursor.execute(
                    ask.format(snapshot.source("signals", snapshot.files["signals"]))
                ).fetchone()
            )
        )
    assert found[0] == found[1]
    assert found[0][0] > 0


@pytest.mark.study
def test_serve_answers_from_it(object_store, lakes, tmp_path):
    """Workers are forked: what reaches the store is made behind the fork, or it would hang here."""
    with serving(lakes[1], tmp_path / "serve.log") as served:
        page = requests.get(f"{served.url}/", timeout=60)
        names = requests.get(f"{served.url}/api/v1/label/__name__/values", timeout=60).json()
    assert page.status_code == 200
    assert "pulsar_subscription_back_log" in names["data"]


def test_wrong_keys_fail_before_spark(object_store, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    lake = object_store.lake("never")
    outcome = throttlescope("run", "--recording", RECORDING, "--lake", lake, "--quiet")
    assert (outcome.code, "object store refuses" in outcome.line) == (4, True)
    assert not (object_store.folder / "never").exists()
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert throttlescope("verdicts", "--lake", lake).code == 2
