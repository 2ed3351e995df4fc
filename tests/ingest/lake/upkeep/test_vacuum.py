"""The vacuum: what no version names goes, what anybody may still read or commit stays."""

import os
import random
import time

import pytest

from tests.ingest.lake.upkeep.made import add, rows_of, table_of, verdict
from tests.naive import lake_upkeep as naive
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake import Lake, read_files, write_data_file
from throttlescope.ingest.lake.upkeep.vacuum import check_keep, clean_log, delete, named_since, unnamed
from throttlescope.ingest.pull.staging import ItemNote, Staging


def now_ms():
    return time.time_ns() // 1_000_000


def replaced(lake, value):
    """One more version, in which the row of one window takes the place of what was there."""
    old, row = lake.files("verdicts"), verdict(0, backlog_entries=float(value))
    new = write_data_file(lake.root, "verdicts", table_of("verdicts", [row]))
    lake.commit("verdicts", [new], old, run_id=f"r{value}")


def data_files(lake):
    return {file.relative_path.removeprefix("verdicts/") for file in lake.storage.list("verdicts/data")}


@pytest.mark.long
def test_named_files_equal_opening_every_version(tmp_path):
    rng, lake = random.Random(7), Lake(tmp_path)  # noqa: S311
    moments = []
    for _ in range(12):
        moments.append(now_ms())
        time.sleep(0.003)
        # Some of the values come again: a file that went is named once more.
        replaced(lake, rng.randint(0, 4))
    time.sleep(0.003)
    for moment in [*moments, now_ms()]:
        assert named_since(lake, "verdicts", moment) == naive.named_since(lake, "verdicts", moment)
    assert len(named_since(lake, "verdicts", now_ms())) == 1 < len(named_since(lake, "verdicts", moments[0]))


def test_only_old_files_without_a_version_go(tmp_path):
    lake = Lake(tmp_path)
    for value in range(3):
        replaced(lake, value)
    uncommitted = write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(9)]))
    scratch = tmp_path / "verdicts" / "data" / "ab" / ".half.parquet.0123"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    scratch.write_bytes(b"PAR1")
    (kept,) = lake.files("verdicts")
    # A day and a bit later nothing has been out of use for two days.
    assert unnamed(lake, DAY_MS, now_ms=now_ms() + 2 * DAY_MS - BLOCK_MS) == []
    found = unnamed(lake, DAY_MS, now_ms=now_ms() + 2 * DAY_MS + BLOCK_MS)
    assert {(one.table, one.why) for one in found} == {("verdicts", "no version"), ("verdicts", "unfinished")}
    assert data_files(lake) >= {uncommitted.relative_path, kept.relative_path}
    assert {one.file.relative_path.removeprefix("verdicts/") for one in found} == data_files(lake) - {
        kept.relative_path
    }
    rows = rows_of(lake, "verdicts")
    assert delete(lake, found) == (4, sum(one.file.size_bytes for one in found))
    assert data_files(lake) == {kept.relative_path}
    assert rows_of(lake, "verdicts") == rows
    assert unnamed(lake, DAY_MS, now_ms=now_ms() + 9 * DAY_MS) == []


def test_files_used_since_listing_stay(tmp_path):
    """A writer has committed them since they were listed."""
    lake = Lake(tmp_path)
    for value in range(3):
        replaced(lake, value)
    for file in lake.storage.list("verdicts/data"):
        os.utime(tmp_path / file.relative_path, (1, 1))
    found = unnamed(lake, 0, now_ms=now_ms(), anyway=True)
    assert len(found) == 2
    # The same rows again: one is only written so far, the other is committed already.
    again = write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(0, backlog_entries=0.0)]))
    replaced(lake, 1)
    assert delete(lake, found) == (0, 0)
    lake.commit("verdicts", [again], lake.files("verdicts"), run_id="late")
    assert [row["backlog_entries"] for row in lake.read("verdicts").to_pylist()] == [0.0]


def test_reader_of_older_version_continues(tmp_path):
    lake = Lake(tmp_path)
    replaced(lake, 0)
    rows, files = rows_of(lake, "verdicts"), lake.files("verdicts")
    for value in range(1, 4):
        replaced(lake, value)
    delete(lake, unnamed(lake, DAY_MS, now_ms=now_ms()))
    assert sorted(map(repr, read_files("verdicts", files).to_pylist())) == rows


def test_less_than_a_day_is_refused():
    with pytest.raises(
        InputError,
        match=r"less than readers .* need; got 1 h; expected 24 h or more\. Fix: .*--even-if-in-use",
    ):
        check_keep(BLOCK_MS)
    check_keep(24 * BLOCK_MS)
    check_keep(BLOCK_MS, anyway=True)


def test_uncommitted_files_without_log_are_deleted(tmp_path):
    lake = Lake(tmp_path)
    write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(0)]))
    assert unnamed(lake, DAY_MS, now_ms=now_ms() + DAY_MS) == []
    assert [one.why for one in unnamed(lake, DAY_MS, now_ms=now_ms() + 3 * DAY_MS)] == ["no version"]


def test_log_is_shortened_to_retention(tmp_path):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    lake._open("verdicts").alter.set_table_properties({"delta.logRetentionDuration": "interval 1 days"})
    for value in range(3):
        replaced(lake, value)
    log = tmp_path / "verdicts" / "_delta_log"
    assert clean_log(lake, "verdicts") == 0
    for path in log.glob("*.json"):
        os.utime(path, (1, 1))
    old = len(list(log.glob("*.json")))
    assert clean_log(lake, "verdicts") == old - len(list(log.glob("*.json"))) > 0
    assert [row["backlog_entries"] for row in lake.read("verdicts").to_pylist()] == [2.0]
    replaced(lake, 10)
    assert [row["backlog_entries"] for row in lake.read("verdicts").to_pylist()] == [10.0]
    assert lake.version("verdicts") == old


def test_abandoned_pull_files_are_deleted(tmp_path):
    lake, request = Lake(tmp_path), ["prometheus", "http://source"]
    staging = Staging.of(tmp_path, request)
    staging.save_note("item", ItemNote("up", 0, 1))
    assert unnamed(lake, DAY_MS, now_ms=now_ms() + DAY_MS) == []
    found = unnamed(lake, DAY_MS, now_ms=now_ms() + 3 * DAY_MS)
    assert {one.why for one in found} == {"staged"}
    with staging.owned():
        assert delete(lake, found) == (0, 0)
        assert staging.notes_written() == {"item"}
    assert delete(lake, found)[0] == len(found)
    assert list(tmp_path.iterdir()) == []
