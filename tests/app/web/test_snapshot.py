"""Snapshots: one per request, made in the background when the lake changes, from ``verdict_latest`` where it is up to date."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pyarrow as pa
import pytest
from flask import Flask

from tests.app.web.sample_lake import SAMPLES, Phase, Sample, write_sample_lake
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.subscriptions import SubscriptionsAddress
from throttlescope.app.web.data import history, newest, reader
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.data.snapshot import READ_TABLES
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.latest import build_latest

WAIT_S = 120
CLUSTERS = ("sample-east", "sample-west")


@pytest.fixture
def lake(tmp_path):
    lake = write_sample_lake(tmp_path, SAMPLES[:6] + SAMPLES[-2:])
    build_latest(lake, CLUSTERS, "run")
    return lake


@pytest.fixture
def app():
    return Flask("requests")


def rows_of(reader):
    return newest.subscriptions(reader, SubscriptionsAddress(), end=1000)[0]


def count(app, reader):
    with app.test_request_context():
        return newest.freshness(reader).subscriptions


def wait_until(is_true):
    deadline = time.monotonic() + WAIT_S
    while not is_true():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def upsert(lake, table, rows):
    lake.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema), run_id="later")


def add_one(lake, name):
    row = lake.read("verdict_latest").slice(0, 1).to_pylist()[0]
    upsert(lake, "verdict_latest", [row | {"subscription": name}])


@pytest.mark.long
def test_request_is_answered_by_one_version(app, lake):
    """A later request is answered by the next version."""
    reader = LakeReader(lake.root)
    with app.test_request_context():
        before = newest.freshness(reader).subscriptions
        assert before > 1
        add_one(lake, "new")
        # A request of its own: one that is nested would share what is kept for this one.
        wait_until(lambda: count(Flask("others"), reader) == before + 1)
        assert newest.freshness(reader).subscriptions == before


@pytest.mark.long
def test_requests_do_not_wait_for_next_snapshot(app, lake, monkeypatch):
    lake_reader, may_go_on, is_making = LakeReader(lake.root), threading.Event(), threading.Event()
    before = count(app, lake_reader)

    class Slow(reader.Snapshot):
        def __init__(self, *arguments, **options):
            is_making.set()
            assert may_go_on.wait(WAIT_S)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(reader, "Snapshot", Slow)
    add_one(lake, "new")
    assert is_making.wait(WAIT_S)
    assert count(app, lake_reader) == before
    may_go_on.set()
    wait_until(lambda: count(app, lake_reader) == before + 1)


@pytest.mark.long
def test_failed_snapshot_is_retried(app, lake, monkeypatch, caplog):
    lake_reader, failures = LakeReader(lake.root), []
    before = count(app, lake_reader)
    snapshot = reader.Snapshot

    def fails_at_first(*arguments, **options):
        if len(failures) < 3:
            failures.append(1)
            raise OSError("away")
        return snapshot(*arguments, **options)

    monkeypatch.setattr(reader, "Snapshot", fails_at_first)
    add_one(lake, "new")
    wait_until(lambda: count(app, lake_reader) == before + 1)
    assert len(failures) == 3
    assert caplog.text.count("the lake could not be looked at: OSError: away") == 1, "logged once"


@pytest.mark.long
def test_unchanged_lake_is_not_read_again(lake, monkeypatch):
    """Of a lake that has changed only the tables are opened that did."""
    lake_reader, opened = LakeReader(lake.root), []
    version = Lake.version
    monkeypatch.setattr(Lake, "version", lambda self, table: opened.append(table) or version(self, table))
    rows_of(lake_reader)
    assert set(opened) == set(READ_TABLES)
    opened.clear()
    rows_of(lake_reader)
    assert not opened
    add_one(lake, "new")
    opened.clear()
    assert "new" in {row["subscription"] for row in rows_of(lake_reader)}
    assert opened == ["verdict_latest"]


@pytest.mark.long
def test_thread_ends_with_its_reader(lake):
    lake_reader = LakeReader(lake.root)
    before = set(threading.enumerate())
    lake_reader.watch()
    lake_reader.watch()
    (watching,) = set(threading.enumerate()) - before
    del lake_reader
    gc.collect()
    wait_until(lambda: not watching.is_alive())


@pytest.mark.long
def test_process_exits_cleanly_during_snapshot(lake):
    program = """
import sys, threading
from throttlescope.app.web.data import reader
made, begun = reader.Snapshot, threading.Event()
def again_and_again(*arguments, **options):
    for _ in range(20):
        snapshot = made(*arguments, **options)
        begun.set()
    return snapshot
reader.Snapshot = again_and_again
kept = reader.LakeReader(sys.argv[1])
kept.watch()
begun.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, lake.root], capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_pages_show_table_updated_by_runs(lake, tmp_path):
    """It has the rows that pages would compute."""
    kept = rows_of(LakeReader(lake.root))
    write_sample_lake(tmp_path / "old", SAMPLES[:6] + SAMPLES[-2:])
    assert rows_of(LakeReader(tmp_path / "old")) == kept
    assert len(kept) == 8
    # The table is what is read: a row that no verdict says is shown.
    add_one(lake, "only here")
    assert "only here" in {row["subscription"] for row in rows_of(LakeReader(lake.root))}


@pytest.mark.long
def test_cluster_without_rows_is_computed(tmp_path):
    """Next to a cluster that has rows."""
    lake = write_sample_lake(tmp_path, SAMPLES[:6] + SAMPLES[-2:])
    build_latest(lake, CLUSTERS[:1], "run")
    add_one(lake, "only here")
    found = [(row["cluster"], row["subscription"]) for row in rows_of(LakeReader(lake.root))]
    assert ("sample-east", "only here") in found
    assert [name for cluster, name in found if cluster == "sample-west"] == ["reader", "reader"]
    assert len(found) == 9


@pytest.mark.long
def test_outdated_rows_are_recomputed(lake):
    add_one(lake, "only here")
    row = max(
        lake.read("verdicts").to_pylist(),
        key=lambda row: (row["cluster"] == "sample-east", row["window_end_ms"]),
    )
    for later_ms, is_anew in ((BLOCK_MS, False), (2 * BLOCK_MS, True)):
        later = {name: row[name] + later_ms for name in ("window_start_ms", "window_end_ms")}
        upsert(lake, "verdicts", [row | later | {"date": date_of(later["window_start_ms"])}])
        found = rows_of(LakeReader(lake.root))
        assert ("only here" not in {one["subscription"] for one in found}) == is_anew
        ends = {one["window_end_ms"] for one in found if one["cluster"] == "sample-east"}
        assert (row["window_end_ms"] + later_ms in ends) == is_anew


@pytest.mark.long
def test_queries_show_no_progress_bar(lake):
    setting = "SELECT current_setting('enable_progress_bar')"
    assert LakeReader(lake.root).read(lambda cursor, _: cursor.execute(setting).fetchall()) == [(False,)]


@pytest.mark.long
def test_search_ignores_letter_case(tmp_path):
    write_sample_lake(tmp_path, (Sample("persistent://A/b/Straße", "ONE", (Phase(0),)), *SAMPLES[:2]))
    found = newest.subscriptions(LakeReader(tmp_path), SubscriptionsAddress(search="STRASSE one"))
    assert found == ([], 0)
    for search in ("straße", "Straße one", "PERSISTENT://a/B"):
        rows, total = newest.subscriptions(LakeReader(tmp_path), SubscriptionsAddress(search=search))
        assert (total, rows[0]["subscription"]) == (1, "ONE")
        assert "selector" not in rows[0]


@pytest.mark.long
def test_answers_are_cached_while_version_lasts(lake, app):
    reader = LakeReader(lake.root)
    row = rows_of(reader)[0]
    key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
    first, last = history.span(reader, key)
    reads = []

    def windows():
        with app.test_request_context():
            found = history.windows(reader, key, last - BLOCK_MS, last)
            reads.append(reader.read(lambda _, snapshot: snapshot))
        return found

    before = windows()
    # Whoever changes what it was given changes nothing for the next.
    before[0]["cause"] = "changed"
    again = windows()
    assert again[0]["cause"] != "changed"
    # A range of more than a day is not kept, and says the same of this hour.
    longer = history.windows(reader, key, first - 48 * BLOCK_MS, last)
    assert again == [row for row in longer if row["window_end_ms"] > last - BLOCK_MS]
    made = []
    reads[0].cached("one", lambda: made.append(1))
    reads[0].cached("one", lambda: made.append(2))
    for other in range(1000):
        reads[0].cached(other, lambda: None)
    reads[0].cached("one", lambda: made.append(3))
    assert made == [1, 3]


@pytest.mark.long
def test_files_without_new_column_are_read(lake, app, monkeypatch):
    """Old files alone, new ones alone, and both: a page names all columns of the contract."""
    contract = TABLES["signals"]
    newest = [column.name for column in contract.columns if column.nullable][-1]
    shorter = replace(contract, columns=tuple(column for column in contract.columns if column.name != newest))
    row = lake.read("signals").slice(0, 1).to_pylist()[0]
    with monkeypatch.context() as earlier:
        earlier.setitem(TABLES, "signals", shorter)
        old = Lake(f"{lake.root}-old")
        upsert(old, "signals", [{name: row[name] for name in shorter.schema.names}])
    reader = LakeReader(old.root)

    def count(files):
        sql = f"SELECT count(*), count({newest}) FROM {{}}"  # noqa: S608
        return reader.read(
            lambda cursor, snapshot: cursor.execute(
                sql.format(snapshot.source("signals", files(snapshot)))
            ).fetchall()
        )

    assert count(lambda snapshot: snapshot.files["signals"]) == [(1, 0)]
    later_ms = row["minute_ms"] + 48 * BLOCK_MS
    upsert(
        old,
        "signals",
        [
            row
            | {
                "minute_ms": later_ms,
                "date": date_of(later_ms),
                newest: pa.scalar(1).cast(contract.column(newest).type).as_py(),
            }
        ],
    )
    assert count(lambda snapshot: snapshot.files["signals"]) == [(2, 1)]
    each = [count(lambda snapshot, at=at: [snapshot.files["signals"][at]])[0] for at in (0, 1)]
    assert sorted(each) == [(1, 0), (1, 1)]
