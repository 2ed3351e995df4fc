"""Upkeep of a lake on a real S3 server: the scenarios of the folder tests over again, and what only a store can do to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from tests.ingest.lake.upkeep import test_compact, test_expire, test_past, test_vacuum
from tests.ingest.lake.upkeep.made import BLOCK_MS, HOUR, add, rows_of, verdict
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.time_travel import PastLake
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.upkeep.compact import compact
from throttlescope.ingest.lake.upkeep.show import show
from throttlescope.ingest.lake.upkeep.vacuum import clean_log, delete, unnamed


class StoreRoot(str):
    """The address of a lake in the store; what is below it, is the file that the server keeps an object in."""

    __slots__ = ("folder",)
    folder: Path

    def __truediv__(self, below: str) -> Path:
        return self.folder / below

    def iterdir(self) -> Iterator[object]:
        return iter(storage_of(self).list())


@pytest.fixture
def tmp_path(object_store, request) -> StoreRoot:
    """In place of a folder, for tests that know no more than it is where the lake is."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    root = StoreRoot(object_store.lake(f"upkeep/{name}"))
    root.folder = object_store.folder / "upkeep" / name
    return root


# Tests of these names are pytest's: they run here with the fixture above.
lake = test_past.lake
test_rows_stay_and_places_have_one_file = test_compact.test_rows_stay_and_places_have_one_file
test_delta_is_told = test_compact.test_compaction_is_no_data_change
test_a_writer_beside_it_wins = test_compact.test_concurrent_writer_wins_without_loss
test_series_go_with_samples = test_expire.test_samples_expire_with_their_series
test_limits_keep_the_newest = test_expire.test_newest_limits_before_age_are_kept
test_an_old_hour_is_looked_at_again = test_expire.test_hour_being_written_is_checked_again
test_only_old_files_go = test_vacuum.test_only_old_files_without_a_version_go
test_files_taken_up_stay = test_vacuum.test_files_used_since_listing_stay
test_an_older_list_reads_on = test_vacuum.test_reader_of_older_version_continues
test_the_log_is_shortened = test_vacuum.test_log_is_shortened_to_retention
test_what_a_pull_left_goes = test_vacuum.test_abandoned_pull_files_are_deleted
test_every_table_is_read_as_of_then = test_past.test_every_table_is_read_as_of_then
test_a_version_is_a_moment_too = test_past.test_a_version_is_a_moment_too
test_what_was_vacuumed_is_said = test_past.test_what_was_vacuumed_is_said
test_a_shortened_log_is_no_empty_table = test_past.test_shortened_log_is_not_empty_table


@pytest.mark.study
def test_vacuum_handles_more_than_one_page(tmp_path):
    """Files are years old and their versions of this minute: readers of these still need them."""
    lake = Lake(tmp_path)
    for value in range(3):
        test_vacuum.replaced(lake, value)
    needed = {file.relative_path for version in range(3) for file in lake.files("verdicts", version=version)}
    stray = tmp_path / "verdicts/data/stray"
    stray.mkdir()
    for number in range(1100):
        (stray / f"{number:04d}.parquet").write_bytes(b"PAR1")
    for file in lake.storage.list("verdicts/data"):
        os.utime(tmp_path / file.relative_path, (1, 1))
    outcome = throttlescope(
        "lake", "vacuum", "--lake", tmp_path, "--older-than", "24h", "--yes", "--quiet", "--format", "json"
    )
    assert outcome.code == 0, outcome.err
    assert '"deleted_files": 1100' in outcome.out
    assert test_vacuum.data_files(lake) == needed
    assert [lake.read("verdicts", version=version).num_rows for version in range(3)] == [1, 1, 1]
    assert check(lake) == []


def test_one_object_has_one_time(tmp_path):
    """The vacuum compares what a list says with what a look says."""
    lake = Lake(tmp_path)
    (file,) = add(lake, "verdicts", [verdict(0)])
    os.utime(tmp_path / f"verdicts/{file.relative_path}", ns=(0, 1_700_000_000_123_000_000))
    (listed,) = lake.storage.list("verdicts/data")
    assert listed == lake.storage.look(listed.relative_path)
    assert listed.modified_ms == lake.storage.read_dated(listed.relative_path)[1] == 1_700_000_000_000
    # The server of the tests lists whole seconds as well. MinIO lists milliseconds, and has whole seconds where it is looked at.
    moment = datetime.fromtimestamp(1_700_000_000.123, UTC)
    fine = {
        "path": lake.storage._key(listed.relative_path),
        "size": listed.size_bytes,
        "last_modified": moment,
    }
    assert lake.storage._stored(fine) == listed


def test_check_names_missing_and_truncated_files(tmp_path):
    lake = Lake(tmp_path)
    gone, cut, whole = (add(lake, "verdicts", [verdict(number)])[0] for number in range(3))
    (tmp_path / f"verdicts/{gone.relative_path}").unlink()
    path = tmp_path / f"verdicts/{cut.relative_path}"
    path.write_bytes(path.read_bytes()[:100])
    outcome = throttlescope("lake", "check", "--lake", tmp_path)
    assert outcome.code == 1
    assert {(fault.path, fault.what) for fault in check(lake)} == {
        (f"verdicts/{gone.relative_path}", "missing, with 1 rows"),
        (f"verdicts/{cut.relative_path}", f"100 bytes, not {cut.size_bytes}"),
    }
    assert gone.relative_path in outcome.out
    assert cut.relative_path in outcome.out
    assert whole.relative_path not in outcome.out


def test_reader_continues_after_log_is_shortened(tmp_path):
    lake, reader = Lake(tmp_path), Lake(tmp_path)
    for value in range(3):
        test_vacuum.replaced(lake, value)
    assert reader.version("verdicts") == 2
    for value in range(3, 6):
        test_vacuum.replaced(lake, value)
    for path in (tmp_path / "verdicts/_delta_log").glob("*.json"):
        os.utime(path, (1, 1))
    assert clean_log(lake, "verdicts") > 0
    for one in (reader, Lake(tmp_path)):
        assert (
            one.version("verdicts"),
            [row["backlog_entries"] for row in one.read("verdicts").to_pylist()],
        ) == (5, [5.0])


def test_readers_continue_during_compaction_and_vacuum(tmp_path):
    lake = Lake(tmp_path)
    for number in range(4):
        add(lake, "verdicts", [verdict(number)])
    before, moment = rows_of(lake, "verdicts"), test_past.now_ms()
    cursor = lake.duckdb().cursor()
    compact(lake, "verdicts", run_id="compact", now_ms=HOUR + 1000 * DAY_MS)
    assert len(lake.files("verdicts")) == 1
    assert delete(lake, unnamed(lake, DAY_MS, now_ms=test_vacuum.now_ms())) == (0, 0)
    assert cursor.execute("SELECT count(*) FROM verdicts").fetchone() == (4,)
    assert rows_of(lake, "verdicts") == rows_of(PastLake(tmp_path, moment), "verdicts") == before
    # Once nobody reads that version any more its files go.
    assert delete(lake, unnamed(lake, 0, now_ms=test_vacuum.now_ms() + 2 * BLOCK_MS, anyway=True))[0] == 4
    assert rows_of(Lake(tmp_path), "verdicts") == before


def test_refusing_store_is_one_line(tmp_path, monkeypatch):
    add(Lake(tmp_path), "verdicts", [verdict(0)])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    for arguments in (
        ("show",), ("history", "verdicts"), ("check",), ("compact", "--quiet"), ("expire", "--older-than", "90d", "--yes"),
        ("vacuum", "--yes", "--quiet"),
    ):  # fmt: skip
        outcome = throttlescope("lake", *arguments, "--lake", tmp_path)
        assert (outcome.code, "object store refuses" in outcome.line) == (4, True), (arguments, outcome.err)
    outcome = throttlescope("verdicts", "--as-of", "0", "--lake", tmp_path)
    assert (outcome.code, "object store refuses" in outcome.line) == (4, True), outcome.err
    for ask in (lambda: clean_log(Lake(tmp_path), "verdicts"), lambda: show(Lake(tmp_path))):
        with pytest.raises(SourceError, match="object store refuses"):
            ask()
