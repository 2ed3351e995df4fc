"""A disk that is full: one line with the folder, nothing half-written, and the same again gives the same."""

from __future__ import annotations

import errno
import subprocess

import pytest
from deltalake import DeltaTable

from tests.app.commands import throttlescope
from tests.ingest.lake.small_disk import filled, small_disk
from tests.ingest.lake.upkeep.made import add, rows_of, table_of, verdict
from throttlescope.app.cli.library_errors import wrapped_error
from throttlescope.ingest.core.errors import ReadOnlyError
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.write_errors import FullDiskError, full_disk_error

#: As they came from the libraries.
SPARK_TASK = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/x/throttlescope/ingest/lake/storage.py", line 145, in _write
    file.write(content)
OSError: [Errno 28] No space left on device

JVM stacktrace:
org.apache.spark.SparkException: Job aborted"""
OUR_TASK = """Traceback (most recent call last):
throttlescope.ingest.lake.write_errors.FullDiskError: The disk is full; got /srv/lake. Fix: make room there

JVM stacktrace:
"""
JAVA = "java.io.FileNotFoundException: /var/spark/blockmgr-1/0c/shuffle_0 (No space left on device)"
DELTA = "Generic LocalFileSystem error\n  \x1b[31m↳\x1b[0m Unable to copy data to file\n  ↳ No space left on device (os error 28)"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/srv/lake/x"), "The disk is full; got /srv/lake/x."),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/srv/lake/x"), "The disk quota is used up; got /srv/lake/x."),
        (OSError(DELTA), "The disk is full; got no name"),
        (RuntimeError(SPARK_TASK), "The disk is full; got no name"),
        (RuntimeError(OUR_TASK), "The disk is full; got /srv/lake. Fix"),
        (RuntimeError(JAVA), "The disk is full; got /var/spark/blockmgr-1/0c/shuffle_0."),
    ],
)  # fmt: skip
def test_library_messages_become_one_line(error, said):
    ours = wrapped_error(error)
    assert ours.exit_code == 1
    assert str(ours).startswith(said)
    assert "make room there" in str(ours)
    assert "\n" not in str(ours)


def test_other_faults_are_not_taken_for_it():
    for error in (
        RuntimeError("os error 281"),
        RuntimeError("os error 301"),
        ValueError("28"),
    ):
        assert wrapped_error(error) is None
    assert str(full_disk_error("os error 122", "/srv")).startswith("The disk quota is used up; got /srv. Fix")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EROFS, "Read-only file system", "/srv/lake/x"), "The file system is read-only; got /srv/lake/x."),
        (OSError(errno.EACCES, "Permission denied", "/srv/lake/x"), "There is no right to read or write there; got /srv/lake/x."),
        (
            OSError("Generic LocalFileSystem error: Unable to open file /srv/lake/x#1: Read-only file system (os error 30)"),
            "The file system is read-only; got /srv/lake/x#1.",
        ),
        (RuntimeError("java.io.FileNotFoundException: /var/x (Permission denied)"), "There is no right to read or write there; got /var/x."),
    ],
)  # fmt: skip
def test_forbidden_folder_is_one_line(error, said):
    ours = wrapped_error(error)
    assert ours.exit_code == 2
    assert str(ours).startswith(said)
    assert "--lake" in str(ours)


@pytest.mark.long
def test_read_only_lake_is_still_readable(tmp_path):
    with small_disk(tmp_path / "disk", "2m") as disk:
        lake = Lake(disk / "lake")
        add(lake, "verdicts", [verdict(0)])
        before = files_of(disk / "lake")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        attempts = [
            lambda: write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(1)])),
            lambda: lake.upsert("verdicts", table_of("verdicts", [verdict(1)]), run_id="upsert"),
            lambda: lake.upsert("verdict_latest", _latest(), run_id="new"),
        ]
        for attempt in attempts:
            with pytest.raises(ReadOnlyError, match=r"The file system is read-only; got .*lake"):
                attempt()
        assert files_of(disk / "lake") == before
        assert lake.read("verdicts").num_rows == 1
        assert throttlescope("verdicts", "--lake", lake.root).code == 0
        for command in ("compact", "vacuum"):
            outcome = throttlescope(
                "lake", command, "--lake", lake.root, *(["--yes"] if command == "vacuum" else []), "--quiet"
            )
            assert outcome.code in (0, 2), outcome.err
            assert "Unexpected" not in outcome.err


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.long
def test_full_disk_is_one_line_and_harmless(tmp_path):
    """What was in the lake stays."""
    rows = [table_of("verdicts", [verdict(n)]) for n in range(4)]
    with small_disk(tmp_path / "disk", "2m") as disk:
        lake = Lake(disk / "lake")
        add(lake, "verdicts", [verdict(0)])
        # Its files are there; what is missing is Delta's word for them.
        prepared = write_data_file(lake.root, "verdicts", rows[1])
        before = files_of(disk / "lake")
        attempts = [
            lambda: write_data_file(lake.root, "verdicts", rows[2]),
            lambda: lake.commit("verdicts", [prepared], run_id="log"),
            lambda: lake.upsert("verdicts", rows[3], run_id="upsert"),
            lambda: lake.upsert("verdict_latest", _latest(), run_id="new"),
        ]
        with filled(disk):
            for attempt in attempts:
                with pytest.raises(
                    FullDiskError, match=rf"The disk is full; got {lake.root}\. Fix: make room"
                ):
                    attempt()
            assert rows_of(lake, "verdicts") == sorted(map(repr, rows[0].to_pylist()))
            assert files_of(disk / "lake") == before
        assert check(lake) == []
        for attempt in attempts:
            attempt()
        assert lake.read("verdicts").num_rows == 3
        assert lake.read("verdict_latest").num_rows == 1
        assert DeltaTable(str(disk / "lake" / "verdicts")).version() == 2


def _latest():
    from tests.ingest.lake.upkeep.test_beside_each_other import latest

    return table_of("verdict_latest", [latest("a", 1.0)])
