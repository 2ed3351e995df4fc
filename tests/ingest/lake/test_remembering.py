"""A lake that remembers its tables: as any other, until one of them goes away."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest

from tests.app.lake_of_verdicts import lake_with, verdict
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.cached_lake import MissingTableError, RememberingLake


@pytest.fixture
def lake(tmp_path):
    lake_with(tmp_path / "lake", [verdict(2)])
    return RememberingLake(tmp_path / "lake")


def test_unknown_table_reads_as_empty(lake):
    for table in ("signals", "verdicts"):
        assert lake.read(table).num_rows == Lake(lake.root).read(table).num_rows == (table == "verdicts")
    assert (lake.version("signals"), lake.newest_file("signals")) == (None, None)


def test_disappeared_table_is_an_error(lake):
    kept = shutil.copytree(lake.root, f"{lake.root}-copy")
    assert lake.version("verdicts") == 0
    shutil.rmtree(lake.root)
    for ask in (lake.version, lake.files, lake.read, lake.newest_file):
        with pytest.raises(MissingTableError, match="Table verdicts was there and is gone"):
            ask("verdicts")
    # Only this process reports it: for a command the table was never written.
    assert Lake(lake.root).version("verdicts") is None
    assert type(pickle.loads(pickle.dumps(lake))) is Lake  # noqa: S301
    Path(kept).rename(lake.root)
    assert lake.version("verdicts") == 0


def test_a_table_that_somebody_else_saw(tmp_path):
    lake = RememberingLake(tmp_path / "lake", there=("verdicts",))
    assert lake.version("samples") is None
    with pytest.raises(MissingTableError):
        lake.version("verdicts")


def test_newest_file_is_of_last_commit(lake):
    (first,) = lake.files("verdicts")
    found = lake.newest_file("verdicts")
    assert (found.relative_path, found.size_bytes) == (f"verdicts/{first.relative_path}", first.size_bytes)
    assert lake.storage.look(found.relative_path).size_bytes == first.size_bytes
    lake_with(lake.root, [verdict(2, cluster="later")])
    (last,) = lake.files("verdicts", partition={"cluster": ["later"]})
    assert lake.newest_file("verdicts").relative_path == f"verdicts/{last.relative_path}"
