"""A lake that an earlier release wrote opens: it is read whole, checked, written, and can be put together.

``earlier_lake.tar.xz`` was written by the code of commit 147d1f6, before tables of format 1 got further columns; ``rows.json`` in it is
what that code read. A change of a contract that loses any of it needs a new format and a way there.
"""

import json
import tarfile
from pathlib import Path

import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.upkeep.compact import compact

ARCHIVE = Path(__file__).parent / "earlier_lake.tar.xz"
LATER_MS = 4_000_000_000_000


@pytest.fixture
def earlier(tmp_path):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    root = tmp_path / "lake"
    rows = json.loads((root / "rows.json").read_text())
    (root / "rows.json").unlink()
    assert len(rows) >= 11
    return Lake(root), rows


def told(lake, table, then):
    """Rows of today in the columns of then, as JSON has them; what was added since is NULL."""
    found = lake.read(table).to_pylist()
    added = {name for row in found for name in row} - set(then[0])
    assert all(row[name] is None for row in found for name in added)
    return sorted(json.dumps({name: row[name] for name in then[0]}, sort_keys=True) for row in found)


def written(then):
    return sorted(json.dumps(row, sort_keys=True) for row in then)


@pytest.mark.long
def test_earlier_lake_is_read_unchanged(earlier):
    lake, rows = earlier
    assert check(lake) == []
    assert {table: told(lake, table, then) for table, then in rows.items()} == {
        table: written(then) for table, then in rows.items()
    }
    with lake.duckdb() as connection:
        counts = {
            table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608
            for table in TABLES
        }
    assert counts == {table: len(rows.get(table, ())) for table in TABLES}


@pytest.mark.long
def test_earlier_lake_is_written_and_compacted(earlier):
    lake, rows = earlier
    for table, then in rows.items():
        lake.upsert(table, lake.read(table).slice(0, 1), run_id="again")
        compact(lake, table, run_id="compact", now_ms=LATER_MS)
        assert told(lake, table, then) == written(then), table
    assert check(lake) == []
