"""The lake on a real S3 server: races, whole versions, commits whose answer is lost, and faults in the middle."""

from __future__ import annotations

import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from throttlescope.app.queries.sql import run_sql
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import ConflictError, Lake, write_data_file

HOUR_MS = 1_795_161_600_000


def block(values: list[float], number: int = 0) -> pa.Table:
    """One row of ``samples`` in the hour of that number."""
    start_ms = HOUR_MS + number * BLOCK_MS
    return TABLES["samples"].conform(
        pa.table(
            {
                "series_id": ["a" * 32],
                "metric_name": ["up"],
                "date": ["2026-11-20"],
                "cluster": ["c"],
                "shard": pa.array([3], pa.int32()),
                "block_start_ms": [start_ms],
                "timestamps_ms": [[start_ms + 15_000 * i for i in range(len(values))]],
                "values": [values],
                "stale_ms": pa.array([[]], pa.list_(pa.int64())),
            }
        )
    )


def values_of(lake: Lake) -> list[list[float]]:
    rows = lake.read("samples").to_pylist()
    return [row["values"] for row in sorted(rows, key=lambda row: row["block_start_ms"])]


def replace(
    lake: Lake, values: list[float], *, run_id: str, meet: threading.Barrier | None = None
) -> int | None:
    """Put one block in place of what is there."""
    version = lake.version("samples")
    old = lake.files("samples", version=version)
    new = write_data_file(lake.root, "samples", block(values))
    if meet is not None:
        meet.wait(120)
    return lake.commit("samples", [new], old, run_id=run_id, read_version=version)


def test_one_of_two_writers_wins(object_store):
    root = object_store.lake("writers")
    for round_ in range(4):
        before, meet, outcomes = Lake(root).version("samples"), threading.Barrier(2), {}

        def write(name: float, meet=meet, outcomes=outcomes) -> None:
            try:
                outcomes[name] = replace(Lake(root), [name], run_id=str(name), meet=meet)
            except Exception as error:
                outcomes[name] = error

        names = [10.0 * round_ + 1, 10.0 * round_ + 2]
        writers = [threading.Thread(target=write, args=(name,)) for name in names]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        (won,) = [name for name in names if isinstance(outcomes[name], int)]
        (lost,) = [name for name in names if name != won]
        assert isinstance(outcomes[lost], ConflictError), outcomes[lost]
        lake = Lake(root)
        assert outcomes[won] == lake.version("samples") == (0 if before is None else before + 1)
        assert values_of(lake) == [[won]]
        # The winner's repeat changes nothing; the loser's replaces what it now sees.
        assert replace(Lake(root), [won], run_id="again") == outcomes[won]
        assert replace(lake, [lost], run_id="again") == outcomes[won] + 1
        assert values_of(Lake(root)) == [[lost]]


def test_writers_of_other_rows_lose_nothing(object_store):
    root, faults = object_store.lake("others"), []

    def write(number: int) -> None:
        lake = Lake(root)
        try:
            for i in range(4):
                new = write_data_file(root, "samples", block([float(i)], number=4 * number + i))
                lake.commit("samples", [new], run_id=str(number))
        except Exception as error:
            faults.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert faults == []
    assert values_of(Lake(root)) == [[float(i)] for _ in range(3) for i in range(4)]


REWRITES, BLOCKS = 50, 3

#: A process of its own that puts one value into all blocks, again and again: 50 times, and on until its readers have seen enough.
_WRITER = """
import os, sys
from tests.storage.test_lake_in_store import BLOCKS, REWRITES, block
from throttlescope.ingest.lake import Lake, write_data_file

root, enough = sys.argv[1:]
lake, number = Lake(root), 0
while number < 5000 and (number < REWRITES or not os.path.exists(enough)):
    number += 1
    old = lake.files("samples")
    new = [write_data_file(root, "samples", block([float(number)], at)) for at in range(BLOCKS)]
    lake.commit("samples", new, old, run_id="w")
print(number)
"""


@pytest.mark.study
def test_readers_see_whole_versions_during_rewrites(object_store, tmp_path):
    root, ended, seen, faults = object_store.lake("readers"), threading.Event(), {}, []
    first = [write_data_file(root, "samples", block([0.0], number)) for number in range(BLOCKS)]
    Lake(root).commit("samples", first, run_id="w")

    def by_arrow(lake: Lake) -> list[float]:
        return [value for values in values_of(lake) for value in values]

    def by_duckdb(lake: Lake) -> list[float]:
        with lake.duckdb() as connection:
            return [value for (value,) in connection.execute("SELECT unnest(values) FROM samples").fetchall()]

    kept = {"arrow": Lake(root), "duckdb": Lake(root)}
    readers = {
        "arrow": lambda: by_arrow(kept["arrow"]),
        "duckdb": lambda: by_duckdb(kept["duckdb"]),
        # As a command does that has only just begun.
        "arrow, opened anew": lambda: by_arrow(Lake(root)),
        "duckdb, opened anew": lambda: by_duckdb(Lake(root)),
    }

    def watch(name: str) -> None:
        try:
            while not ended.is_set():
                seen.setdefault(name, []).append(tuple(readers[name]()))
        except Exception as error:
            faults.append((name, error))

    watchers = [threading.Thread(target=watch, args=(name,)) for name in readers]
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, root, str(tmp_path / "enough")], stdout=subprocess.PIPE, text=True
    )
    try:
        for watcher in watchers:
            watcher.start()
        while writer.poll() is None and not faults:
            if all(len(set(seen.get(name, ()))) > 5 for name in readers):
                (tmp_path / "enough").touch()
            ended.wait(0.05)
    finally:
        ended.set()
        for watcher in watchers:
            watcher.join()
        writer.kill() if faults else None
        told, _ = writer.communicate(timeout=300)
    assert faults == []
    assert writer.returncode == 0
    whole = {(float(number),) * BLOCKS for number in range(int(told) + 1)}
    assert {name: set(found) - whole for name, found in seen.items()} == {name: set() for name in readers}
    assert min(len(set(found)) for found in seen.values()) > 5, "readers and the writer did not meet"
    lake = Lake(root)
    assert lake.version("samples") == int(told) >= REWRITES
    assert by_arrow(lake) == [float(told)] * BLOCKS
    assert len(lake.read("samples", version=5)) == BLOCKS


def test_commit_with_lost_answer_is_unique(object_store, monkeypatch):
    lake = Lake(object_store.lake("answer"))
    replace(lake, [1.0], run_id="r1")
    real, lost = DeltaTable.create_write_transaction, []

    def commits_and_fails(self, *arguments, **named):
        real(self, *arguments, **named)
        if not lost:
            lost.append(self.version())
            raise CommitFailedError("the connection was reset")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", commits_and_fails)
    assert replace(lake, [2.0], run_id="r2") == 1
    assert lost
    assert Lake(lake.root).version("samples") == 1
    assert values_of(Lake(lake.root)) == [[2.0]]


def test_next_run_repairs_a_refused_one(object_store, monkeypatch):
    lake = Lake(object_store.lake("repaired"))
    replace(lake, [1.0], run_id="r1")
    old = lake.files("samples")
    new = write_data_file(lake.root, "samples", block([2.0]))
    with monkeypatch.context() as wrong:
        wrong.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        refused = Lake(lake.root)
        with pytest.raises(SourceError, match="refuses"):
            refused.commit("samples", [new], old, run_id="r2", read_version=0)
    assert Lake(lake.root).version("samples") == 0
    assert replace(Lake(lake.root), [2.0], run_id="r3") == 1
    assert values_of(Lake(lake.root)) == [[2.0]]


def test_duckdb_and_arrow_read_the_same(object_store):
    lake = Lake(object_store.lake("duckdb"))
    for i in range(3):
        lake.commit("samples", [write_data_file(lake.root, "samples", block([1.0 + i, 2.0], i))], run_id="r")
    cursor = lake.duckdb().cursor()
    found = cursor.execute(
        "select block_start_ms, values from samples where block_start_ms > ? order by 1", [HOUR_MS]
    ).fetchall()
    assert found == [(HOUR_MS + BLOCK_MS, [2.0, 2.0]), (HOUR_MS + 2 * BLOCK_MS, [3.0, 2.0])]
    assert cursor.execute("select count(*) from verdicts").fetchone() == (0,)


def test_sql_reads_the_store_and_nothing_else(object_store):
    lake = Lake(object_store.lake("sql"))
    lake.commit("samples", [write_data_file(lake.root, "samples", block([1.0, 2.0]))], run_id="r")
    assert run_sql(lake, "SELECT sum(len(values)) FROM samples").rows == [(2,)]
    log = f"{lake.root}/samples/_delta_log/00000000000000000000.json"
    with pytest.raises(InputError, match="no other files"):
        run_sql(lake, f"SELECT * FROM read_text('{log}')")  # noqa: S608


def test_pickled_lake_opens_again(object_store):
    import pickle

    lake = Lake(object_store.lake("pickled"))
    replace(lake, [1.0], run_id="r1")
    assert values_of(pickle.loads(pickle.dumps(lake))) == [[1.0]]  # noqa: S301
