"""Writers, readers and upkeep at the same time: nothing is lost, nothing is doubled, and readers see whole versions."""

import json
import random
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, table_of, verdict
from throttlescope.ingest.lake import ConflictError, Lake, hour_files, spark_files, write_data_file
from throttlescope.ingest.lake.hour_files import replace_hours, write_hours_of
from throttlescope.ingest.lake.upkeep.compact import compact
from throttlescope.ingest.lake.upkeep.vacuum import delete, unnamed

LATER = 4_000_000_000_000
REWRITES = 50

#: A process that judges hours again, as a run does: it reads a version, writes files, commits, and retries after a conflict.
_WRITER = """
import json, os, random, sys, time
from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, table_of, verdict
from throttlescope.ingest.lake import ConflictError, Lake, write_data_file

root, name, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng, lake, lost, last = random.Random(seed), Lake(root), 0, {}
# Both begin together, and go on until they have met.
meeting, turn = root + "-meeting", -1
os.makedirs(meeting, exist_ok=True)
open(f"{meeting}/{name}", "w").close()
while len(os.listdir(meeting)) < 2:
    time.sleep(0.01)
while (turn := turn + 1) < 12 or (turn < 500 and not os.path.exists(meeting + "/met")):
    hour, value = rng.randrange(3), float(100 * seed + turn)
    rows = [verdict(0, start_ms=HOUR + hour * BLOCK_MS + i * FIVE, subscription=name, backlog_entries=value) for i in range(4)]
    while True:
        version = lake.version("verdicts")
        here = (HOUR + hour * BLOCK_MS, HOUR + (hour + 1) * BLOCK_MS - 1)
        old = lake.files("verdicts", between={"window_start_ms": here}, version=version)
        others = [row for row in lake.read("verdicts", between={"window_start_ms": here}, version=version).to_pylist()
                  if row["subscription"] != name]
        new = [write_data_file(root, "verdicts", table_of("verdicts", some)) for some in (rows, others) if some]
        try:
            lake.commit("verdicts", new, old, run_id=f"{name}-{turn}", read_version=version)
        except ConflictError:
            lost += 1
            open(meeting + "/met", "w").close()
            continue
        last[hour] = value
        break
print(json.dumps({"lost": lost, "last": last}))
"""


@pytest.mark.study
@pytest.mark.long
def test_two_processes_and_a_compaction_lose_nothing(tmp_path):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0, subscription="other", backlog_entries=-1.0)])
    writers = {
        name: subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), name, str(seed)], stdout=subprocess.PIPE, text=True
        )
        for seed, name in enumerate(("first", "second"), start=1)
    }
    ended, compacted = threading.Event(), []

    def keep_compacting():
        while not ended.is_set():
            compacted.append(compact(Lake(tmp_path), "verdicts", run_id="compact", now_ms=LATER).files_after)
            ended.wait(0.05)

    upkeep = threading.Thread(target=keep_compacting)
    upkeep.start()
    told = {name: json.loads(writer.communicate(timeout=400)[0]) for name, writer in writers.items()}
    ended.set()
    upkeep.join()
    assert {name: writer.returncode for name, writer in writers.items()} == {"first": 0, "second": 0}
    wanted = {("other", HOUR): -1.0}
    for name, one in told.items():
        for hour, value in one["last"].items():
            wanted |= {(name, HOUR + int(hour) * BLOCK_MS + i * FIVE): value for i in range(4)}
    rows = lake.read("verdicts").to_pylist()
    found = {(row["subscription"], row["window_start_ms"]): row["backlog_entries"] for row in rows}
    assert (len(rows), found) == (len(wanted), wanted)
    # They did meet, or nothing was tried here.
    assert sum(compacted) > 0
    assert sum(one["lost"] for one in told.values()) > 0


@pytest.mark.study
@pytest.mark.long
def test_readers_see_whole_versions_during_upkeep(tmp_path):
    """During rewrites, compactions and vacuums."""
    lake = Lake(tmp_path)

    def rewrite(number):
        value = float(number)
        old = lake.files("verdicts")
        halves = [[verdict(i, backlog_entries=value)] for i in range(3)]
        new = [write_data_file(lake.root, "verdicts", table_of("verdicts", half)) for half in halves]
        while True:
            try:
                return lake.commit("verdicts", new, old, run_id=f"r{number}")
            except ConflictError:
                old = lake.files("verdicts")

    rewrite(0)
    ended, seen, faults = threading.Event(), [], []

    def watch(look):
        try:
            while not ended.is_set():
                seen.append(look())
        except Exception as error:
            faults.append(error)

    def by_arrow():
        return Lake(tmp_path).read("verdicts", columns=["backlog_entries"])["backlog_entries"].to_pylist()

    def by_duckdb():
        with Lake(tmp_path).duckdb() as connection:
            return [
                value for (value,) in connection.execute("SELECT backlog_entries FROM verdicts").fetchall()
            ]

    def upkeep():
        compact(Lake(tmp_path), "verdicts", run_id="compact", now_ms=LATER)
        # An hour's grace stands for a day's: no file of a version that a reader has just opened goes.
        found = unnamed(Lake(tmp_path), BLOCK_MS, now_ms=_now_ms(), anyway=True)
        delete(Lake(tmp_path), found)
        return by_arrow()

    watchers = [threading.Thread(target=watch, args=(look,)) for look in (by_arrow, by_duckdb, upkeep)]
    for watcher in watchers:
        watcher.start()
    rng = random.Random(3)  # noqa: S311
    number = 0
    while number < REWRITES or (len(seen) <= 10 and not faults):
        number += 1
        rewrite(number)
        ended.wait(rng.uniform(0, 0.02))
    ended.set()
    for watcher in watchers:
        watcher.join()
    assert faults == []
    assert [values for values in seen if len(values) != 3 or len(set(values)) != 1] == []
    assert by_arrow() == [float(number)] * 3


def _now_ms():
    import time

    return time.time_ns() // 1_000_000


def test_conflicting_rewrite_is_retried(tmp_path, monkeypatch):
    """A rewrite without Spark."""
    lake, commit, lost = Lake(tmp_path), Lake.commit, []
    add(lake, "verdict_latest", [latest("a", 1.0)])

    def meanwhile(self, table, new, old=(), **options):
        if len(lost) < 3:
            lost.append(table)
            before = self.read(table)
            rows = pa.concat_tables(
                [before, table_of(table, [latest(f"other-{len(lost)}", 0.0)]).cast(before.schema)]
            )
            commit(self, table, [write_data_file(self.root, table, rows)], self.files(table), run_id="other")
        return commit(self, table, new, old, **options)

    monkeypatch.setattr(Lake, "commit", meanwhile)
    lake.upsert("verdict_latest", table_of("verdict_latest", [latest("a", 2.0)]), run_id="mine")
    rows = {row["subscription"]: row["backlog_entries"] for row in lake.read("verdict_latest").to_pylist()}
    assert rows == {"a": 2.0, "other-1": 0.0, "other-2": 0.0, "other-3": 0.0}


@pytest.mark.parametrize("way", ["here", "spark"])
def test_conflicting_hour_raises_and_keeps_winner(tmp_path, monkeypatch, way):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    mine, theirs = (table_of("verdicts", [verdict(0, backlog_entries=value)]) for value in (1.0, 2.0))
    where = {"time_column": "window_start_ms", "clusters": ["prod"], "start_ms": HOUR, "end_ms": HOUR + FIVE}

    def slowly(root, rows, table, time_column, expected=None):
        if rows is mine:
            replace_hours(Lake(tmp_path), theirs, "verdicts", run_id="theirs", **where)
        return write_hours_of(root, rows, table, time_column)

    monkeypatch.setattr(hour_files, "write_hours_of", slowly)
    # Spark's tasks write the same files; what is tested is what the driver does with them.
    monkeypatch.setattr(spark_files, "write_hours", slowly)
    replace = {
        "here": lambda rows, table, **k: replace_hours(lake, rows, table, **k),
        "spark": lake.replace_spark,
    }[way]
    with pytest.raises(
        ConflictError, match=r"Another run replaced blocks of verdicts meanwhile\. Fix: run the command again"
    ):
        replace(mine, "verdicts", run_id="mine", **where)
    assert [row["backlog_entries"] for row in lake.read("verdicts").to_pylist()] == [2.0]
    monkeypatch.undo()
    replace_hours(lake, mine, "verdicts", run_id="mine again", **where)
    assert [row["backlog_entries"] for row in lake.read("verdicts").to_pylist()] == [1.0]


def latest(subscription, backlog_entries):
    from throttlescope.ingest.contracts import TABLES

    known = verdict(0, subscription=subscription, backlog_entries=backlog_entries)
    more = {"since_ms": HOUR, "since_at_least": True}
    names = [column.name for column in TABLES["verdict_latest"].columns]
    return {name: (known | more).get(name) for name in names}
