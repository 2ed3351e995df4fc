"""A store that falls silent, or answers 503, in the middle of a whole run: one line, whole tables, and a repeat that mends it."""

from __future__ import annotations

import json
import threading
import time

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.ingest.lake.upkeep.made import HOUR, limit, table_of, verdict
from tests.storage.failing import FailingStore, failing_store
from tests.storage.test_run_in_store import BOOKS, rows_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.lake import Lake, read_files, write_data_file
from throttlescope.ingest.lake.object_store import TIMEOUT_VARIABLE
from throttlescope.ingest.lake.upkeep.check import check

RECORDING = "healthy-msg-50"
#: How long an answer may take. A request is given up after twice that long and one answer more.
ANSWER_S = 2.0

TABLES_OF_A_RUN = sorted(set(TABLES) - BOOKS - {"quality"})


def is_sample(path: str) -> bool:
    return "/samples/data/" in path


def is_commit(path: str, table: str = "samples") -> bool:
    return f"/{table}/_delta_log/" in path and path.endswith(".json")


def before_samples(store: FailingStore, method: str, path: str) -> bool:
    """From the fourth file of samples on."""
    return method == "PUT" and is_sample(path) and sum(map(is_sample, store.written)) >= 3


def after_samples(store: FailingStore, method: str, path: str) -> bool:
    """At the first file of signals after samples are committed."""
    return method == "PUT" and "/signals/data/" in path and any(map(is_commit, store.written))


def run(lake: str) -> object:
    """On Spark: its tasks write, and their errors come from another process."""
    return throttlescope(
        "run", "--recording", RECORDING, "--lake", lake, "--master", "local[2]", "--format", "json", "--quiet"
    )


@pytest.fixture(scope="module")
def whole(_spark_session, tmp_path_factory) -> Lake:
    """The same run into a folder."""
    root = str(tmp_path_factory.mktemp("whole") / "lake")
    outcome = run(root)
    assert outcome.code == 0, outcome.err
    return Lake(root)


@pytest.mark.parametrize("how", ["silent", "503"])
@pytest.mark.parametrize("what", ["open", "look again", "commit", "create", "read"])
def test_failing_table_has_a_deadline(object_store, monkeypatch, how, what):
    """Delta's own library opens and commits, and pyarrow reads: neither waits longer than it is told to."""
    root = object_store.lake(f"failing/delta-{how}-{what.replace(' ', '-')}")
    Lake(root).upsert("limits", table_of("limits", [limit(HOUR)]), run_id="before")
    fails = threading.Event()
    with failing_store(object_store.url, how, lambda *_: fails.is_set()) as store:
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5")
        lake = Lake(root)
        opened = None if what == "open" else lake.files("limits")
        new = write_data_file(root, "verdicts" if what == "create" else "limits", rows_for(what))
        fails.set()
        ask = {
            "open": lambda: lake.version("limits"),
            "look again": lambda: lake.files("limits"),
            "commit": lambda: lake.commit("limits", [new], run_id="r"),
            "create": lambda: lake.commit("verdicts", [new], run_id="r"),
            "read": lambda: read_files("limits", opened),
        }[what]
        begun_s = time.monotonic()
        with pytest.raises(SourceError, match="does not answer as it should") as told:
            ask()
        assert time.monotonic() - begun_s < 60
        assert len(str(told.value).splitlines()) == 1
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store.url)
    assert (Lake(root).version("limits"), Lake(root).version("verdicts")) == (0, None)


def rows_for(what: str) -> pa.Table:
    if what == "create":
        return table_of("verdicts", [verdict(0)])
    return table_of("limits", [limit(HOUR, "other")])


@pytest.mark.parametrize("how", ["silent", "503"])
def test_commit_failing_last_is_atomic(object_store, monkeypatch, how):
    """All went well up to the put that makes the version; the same again, once the store is back, is one version."""
    root = object_store.lake(f"failing/last-{how}")
    Lake(root).upsert("limits", table_of("limits", [limit(HOUR)]), run_id="before")
    with failing_store(
        object_store.url, how, lambda store, method, path: method == "PUT" and is_commit(path, "limits")
    ) as store:
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        monkeypatch.setenv(TIMEOUT_VARIABLE, "1")
        begun_s = time.monotonic()
        with pytest.raises(SourceError, match="does not answer as it should"):
            Lake(root).upsert("limits", rows_for("commit"), run_id="r")
        assert time.monotonic() - begun_s < 90
        assert store.fails.is_set()
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store.url)
    assert Lake(root).read("limits")["cluster"].to_pylist() == ["c"]
    assert Lake(root).upsert("limits", rows_for("commit"), run_id="r") == 1
    assert sorted(Lake(root).read("limits")["cluster"].to_pylist()) == ["c", "other"]


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.study
@pytest.mark.parametrize("how", ["silent", "503"])
@pytest.mark.parametrize("begins", [before_samples, after_samples])
def test_failed_run_repeated_gives_same_lake(object_store, whole, monkeypatch, how, begins):
    root = object_store.lake(f"failing/{how}-{begins.__name__}")
    with failing_store(object_store.url, how, begins) as store, monkeypatch.context() as through:
        through.setenv("AWS_ENDPOINT_URL", store.url)
        through.setenv(TIMEOUT_VARIABLE, str(ANSWER_S))
        outcome = run(root)
        ended_s = time.monotonic()
    assert store.fails.is_set(), "it never failed: nothing was tried here"
    print(f"ended {ended_s - store.failed_s:.1f} s after the store: {outcome.err}")
    assert ended_s - store.failed_s < 180
    assert (outcome.code, "object store does not answer as it should" in outcome.line) == (4, True), (
        outcome.err
    )
    lake = Lake(root)
    assert check(lake, [table for table in TABLES if lake.version(table) is not None]) == []
    assert (lake.version("samples") is None) == (begins is before_samples)
    # What is there is there whole; gates write what they found one by one.
    assert set(rows_of(lake, "quality")) <= set(rows_of(whole, "quality"))
    for table in TABLES_OF_A_RUN:
        if lake.version(table) is not None:
            assert rows_of(lake, table) == rows_of(whole, table), table
    assert lake.version("verdicts") is None
    outcome = run(root)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["lake"] == root
    lake = Lake(root)
    for table in TABLES_OF_A_RUN:
        assert rows_of(lake, table) == rows_of(whole, table), table
    # Both runs may have asked a gate, and were told the same.
    assert set(rows_of(lake, "quality")) == set(rows_of(whole, "quality"))
    assert check(lake) == []
    assert [name for name in lake.storage.names("") if "_staging" in name] == []
