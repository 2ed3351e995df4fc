"""Lakes of other versions, and tables that are only half there: refused in words, and nothing is written."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.ingest.lake.upkeep.made import add, rows_of, table_of, verdict
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.formats import (
    FORMAT_PROPERTY,
    MissingFilesError,
    features_of_files,
    stored_format,
)
from throttlescope.ingest.lake.upkeep.check import check


def files_below(folder):
    return sorted(str(path) for path in folder.rglob("*") if path.is_file())


def contract(monkeypatch, version=1, **changed):
    """What another version of this program takes for the table."""
    monkeypatch.setitem(TABLES, "verdicts", replace(TABLES["verdicts"], format_version=version, **changed))


@pytest.fixture
def newer(tmp_path, monkeypatch):
    """A lake whose verdicts a newer version has written."""
    with monkeypatch.context() as later:
        contract(later, 2)
        add(Lake(tmp_path), "verdicts", [verdict(0)])
        assert rows_of(Lake(tmp_path), "verdicts")
    return Lake(tmp_path)


def test_a_table_says_which_format_it_has(tmp_path, newer):
    assert stored_format(DeltaTable(str(tmp_path / "verdicts"))) == 2
    assert DeltaTable(str(tmp_path / "verdicts")).metadata().configuration[FORMAT_PROPERTY] == "2"
    other = Lake(tmp_path / "other")
    add(other, "verdicts", [verdict(0)])
    # What was written before there was a second format says nothing, and means the first.
    assert stored_format(DeltaTable(str(tmp_path / "other" / "verdicts"))) == 1


def test_newer_table_is_refused(tmp_path, newer):
    """Neither read nor written."""
    said = r"Table verdicts of this lake was written by a newer version; got format 2; expected format 1\. Fix: upgrade"
    before = files_below(tmp_path / "verdicts" / "_delta_log")
    new = write_data_file(newer.root, "verdicts", table_of("verdicts", [verdict(1)]))
    for act in (
        lambda: newer.read("verdicts"),
        lambda: newer.version("verdicts"),
        lambda: newer.files("verdicts", version=0),
        lambda: newer.duckdb(),
        lambda: newer.commit("verdicts", [new], run_id="r"),
    ):
        with pytest.raises(InputError, match=said):
            act()
    assert files_below(tmp_path / "verdicts" / "_delta_log") == before
    assert newer.version("signals") is None


def test_older_format_is_recognised(tmp_path, monkeypatch):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    contract(monkeypatch, 2)
    with pytest.raises(InputError, match=r"written by an older version.*got format 1; expected format 2"):
        lake.read("verdicts")


def test_older_version_ignores_a_new_column(tmp_path, monkeypatch):
    """It reads and writes as before."""
    lake, known = Lake(tmp_path), TABLES["verdicts"]
    without = tuple(column for column in known.columns if column.name != "capacity_seen_ms")
    add(lake, "verdicts", [verdict(0, capacity_seen_ms=7)])
    with monkeypatch.context() as before:
        contract(before, columns=without)
        assert "capacity_seen_ms" not in lake.read("verdicts").column_names
        assert lake.duckdb().sql("SELECT count(*) FROM verdicts").fetchall() == [(1,)]
        add(lake, "verdicts", [verdict(1)])
    rows = {row["window_start_ms"]: row["capacity_seen_ms"] for row in lake.read("verdicts").to_pylist()}
    assert list(map(rows.get, sorted(rows))) == [7, None]
    assert "capacity_seen_ms" in {
        field.name for field in DeltaTable(str(tmp_path / "verdicts")).schema().fields
    }


def test_a_column_of_another_type_is_named(tmp_path):
    rows = table_of("verdicts", [verdict(0)])
    place = rows.schema.get_field_index("confidence")
    rows = rows.set_column(place, pa.field("confidence", pa.string()), rows["confidence"].cast(pa.string()))
    write_deltalake(str(tmp_path / "verdicts"), rows, partition_by=["cluster", "date"])
    before = files_below(tmp_path)
    with pytest.raises(
        InputError,
        match=r"A column of table verdicts has another type.*confidence is string; expected confidence is double",
    ):
        Lake(tmp_path).read("verdicts")
    with pytest.raises(InputError, match="another type"):
        Lake(tmp_path).upsert("verdicts", table_of("verdicts", [verdict(1)]), run_id="r")
    assert files_below(tmp_path) == before


def switch_features_on(table, version, features=(), **properties):
    """Commit what another program does that switches features of Delta on."""
    log = table / "_delta_log"
    lines = (log / f"{0:020}.json").read_text().splitlines()
    metadata = json.loads(next(line for line in lines if '"metaData"' in line))
    metadata["metaData"]["configuration"] |= properties
    schema = json.loads(metadata["metaData"]["schemaString"])
    for number, column in enumerate(schema["fields"], 1):
        named = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"}
        column["metadata"] |= named if properties else {}
    metadata["metaData"]["schemaString"] = json.dumps(schema)
    protocol = {"minReaderVersion": version, "minWriterVersion": {2: 5, 3: 7}[version]}
    if version == 3:
        protocol |= {"readerFeatures": features, "writerFeatures": features}
    found = [{"commitInfo": {}}, {"protocol": protocol}, metadata]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, found)))


def test_delta_features_of_others_are_refused(tmp_path):
    """Deletion vectors would bring deleted rows back."""
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    switch_features_on(tmp_path / "verdicts", 3, ["deletionVectors", "vacuumProtocolCheck"])
    said = "uses features of Delta that another program has switched on; got deletionVectors; expected"
    for act in (lambda: lake.read("verdicts"), lambda: lake.files("verdicts"), lambda: lake.duckdb()):
        with pytest.raises(InputError, match=said):
            act()


@pytest.mark.parametrize(
    ("version", "features", "properties", "found"),
    [
        (2, [], {}, []),
        (2, [], {"delta.columnMapping.mode": "name"}, ["columnMapping"]),
        (3, ["columnMapping"], {"delta.columnMapping.mode": "name"}, ["columnMapping"]),
        (3, ["vacuumProtocolCheck", "timestampNtz"], {}, []),
    ],
)
def test_features_that_change_files_are_named(tmp_path, version, features, properties, found):
    """Mapped columns would be read as NULL."""
    write_deltalake(str(tmp_path), pa.table({"number": [1]}))
    switch_features_on(tmp_path, version, features, **properties)
    assert features_of_files(DeltaTable(str(tmp_path))) == found


def test_files_that_are_missing_are_named(tmp_path):
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)], [verdict(1)])
    assert check(lake) == []
    gone, cut = sorted(file.relative_path for file in lake.files("verdicts"))
    (tmp_path / "verdicts" / gone).unlink()
    with pytest.raises(
        MissingFilesError,
        match=rf"Files of table verdicts are missing; got 1 of them, such as verdicts/{gone}",
    ) as told:
        lake.read("verdicts")
    assert told.value.exit_code == 1
    (tmp_path / "verdicts" / cut).write_bytes(b"PAR1")
    found = [(fault.path, fault.what) for fault in check(lake, ["verdicts"])]
    assert found[0] == (f"verdicts/{gone}", "missing, with 1 rows")
    assert (found[1][0], found[1][1].startswith("4 bytes, not ")) == (f"verdicts/{cut}", True)


def test_table_without_its_log_is_named(tmp_path):
    write_data_file(str(tmp_path), "verdicts", table_of("verdicts", [verdict(0)]))
    assert [(fault.table, fault.path) for fault in check(Lake(tmp_path))] == [("verdicts", None)]


@pytest.fixture
def stopped_once(monkeypatch):
    """The next commit of rows is not made: the process is stopped before it."""
    commit, stops = DeltaTable.create_write_transaction, []

    def stopped(self, *arguments, **options):
        if not stops:
            stops.append(self.version())
            raise KeyboardInterrupt
        return commit(self, *arguments, **options)

    monkeypatch.setattr(DeltaTable, "create_write_transaction", stopped)
    return stops


@pytest.mark.long
def test_kill_after_new_column_keeps_table(tmp_path, monkeypatch, stopped_once):
    """Stopped between a new column and its first rows, the table is whole."""
    lake, known = Lake(tmp_path), TABLES["verdicts"]
    with monkeypatch.context() as before:
        without = tuple(column for column in known.columns if column.name != "capacity_seen_ms")
        contract(before, columns=without)
        add(lake, "verdicts", [verdict(0)])
    with pytest.raises(KeyboardInterrupt):
        add(lake, "verdicts", [verdict(1, capacity_seen_ms=7)])
    # The column is there already, and none of the rows.
    assert stopped_once == [1]
    assert "capacity_seen_ms" in {
        field.name for field in DeltaTable(str(tmp_path / "verdicts")).schema().fields
    }
    for found in (
        lake.read("verdicts").to_pylist(),
        lake.duckdb().sql("SELECT * FROM verdicts").to_arrow_table().to_pylist(),
    ):
        assert [row["capacity_seen_ms"] for row in found] == [None]
    assert check(lake) == []
    add(lake, "verdicts", [verdict(1, capacity_seen_ms=7)])
    rows = {row["window_start_ms"]: row["capacity_seen_ms"] for row in lake.read("verdicts").to_pylist()}
    assert [rows[at_ms] for at_ms in sorted(rows)] == [None, 7]
    assert lake.version("verdicts") == 2


@pytest.mark.long
def test_kill_after_new_table_reads_empty(tmp_path, monkeypatch, stopped_once):
    """Stopped between a new table and its first rows."""
    # Of a format with a number the table comes first, and then its rows.
    contract(monkeypatch, 2)
    lake = Lake(tmp_path)
    for write in (
        lambda: add(lake, "verdicts", [verdict(0)]),
        lambda: lake.upsert("verdicts", table_of("verdicts", [verdict(1)]), run_id="r"),
    ):
        stopped_once.clear()
        with pytest.raises(KeyboardInterrupt):
            write()
        assert stopped_once == [0]
        assert (lake.version("verdicts"), lake.files("verdicts"), lake.read("verdicts").num_rows) == (
            0,
            [],
            0,
        )
        assert lake.duckdb().sql("SELECT count(*) FROM verdicts").fetchall() == [(0,)]
        assert check(lake) == []
    write()
    assert [row["window_start_ms"] for row in lake.read("verdicts").to_pylist()] == [
        verdict(1)["window_start_ms"]
    ]
    assert stored_format(DeltaTable(str(tmp_path / "verdicts"))) == 2
