"""The lake: whole versions, replaced blocks, idempotent repeats, races."""

import shutil
import threading
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import ConflictError, Lake, write_data_file

HOUR = 1_795_161_600_000  # 2026-11-20T08:00:00Z


def samples(series="a" * 32, block=HOUR, values=(1.0, 2.0), metric="up", cluster="c", shard=3):
    times = [block + 15_000 * i for i in range(len(values))]
    row = {
        "series_id": series, "metric_name": metric, "date": date_of(block), "cluster": cluster, "shard": shard,
        "block_start_ms": block, "timestamps_ms": times, "values": list(values), "stale_ms": [times[-1] + 1],
    }  # fmt: skip
    return pa.Table.from_pylist([row], schema=TABLES["samples"].schema)


def truth(subscription="s", start_ms=0, cause="healthy"):
    row = dict(
        cluster="c", namespace="t/n", topic="persistent://t/n/x", partition=-1, subscription=subscription,
        start_ms=start_ms, end_ms=start_ms + 1, side="neither", cause=cause, limiter=None, family="f",
        recording="c", kept_aside=False,
    )  # fmt: skip
    return pa.Table.from_pylist([row], schema=TABLES["truth"].schema)


def test_a_table_never_written_reads_as_empty(tmp_path):
    lake = Lake(tmp_path / "lake")
    assert lake.version("samples") is None
    assert lake.files("samples") == []
    assert lake.read("samples").schema == TABLES["samples"].schema
    assert not (tmp_path / "lake").exists()


def test_unknown_table_is_named(tmp_path):
    with pytest.raises(InputError, match="No such table; got 'sample'"):
        Lake(tmp_path).version("sample")


def test_file_is_invisible_until_commit(tmp_path):
    lake = Lake(tmp_path)
    new = write_data_file(lake.root, "samples", samples())
    assert lake.version("samples") is None
    assert lake.commit("samples", [new], run_id="r1") == 0
    assert lake.read("samples").to_pylist() == samples().to_pylist()
    (file,) = lake.files("samples")
    assert file.partition == {"metric_name": "up", "date": "2026-11-20"}
    assert (file.rows, file.minimum["block_start_ms"], file.maximum["shard"]) == (1, HOUR, 3)


def test_blocks_are_replaced_in_one_version(tmp_path):
    lake = Lake(tmp_path)
    first = [write_data_file(lake.root, "samples", samples(block=HOUR + i * BLOCK_MS)) for i in range(3)]
    lake.commit("samples", first, run_id="r1")
    old = lake.files("samples", between={"block_start_ms": (HOUR + BLOCK_MS, HOUR + BLOCK_MS)})
    assert len(old) == 1
    new = write_data_file(lake.root, "samples", samples(block=HOUR + BLOCK_MS, values=(7.0, 8.0, 9.0)))
    assert lake.commit("samples", [new], old, run_id="r2") == 1
    rows = sorted(lake.read("samples").to_pylist(), key=lambda row: row["block_start_ms"])
    assert [len(row["values"]) for row in rows] == [2, 3, 2]
    assert len(lake.read("samples", version=0)) == 3
    assert max(len(row["values"]) for row in lake.read("samples", version=0).to_pylist()) == 2


@pytest.mark.parametrize(
    "bounds", [{}, {"block_start_ms": (HOUR, HOUR)}, {"block_start_ms": (HOUR + 1, 2**62), "shard": (4, 9)}]
)
@pytest.mark.parametrize(
    "values", [{}, {"metric_name": ["up"]}, {"metric_name": ["up", "down"], "date": [date_of(HOUR)]}]
)
def test_files_are_those_that_may_hold_requested_rows(tmp_path, values, bounds):
    lake = Lake(tmp_path)
    new = [
        write_data_file(lake.root, "samples", samples(block=block, metric=metric, shard=shard))
        for block in (HOUR, HOUR + BLOCK_MS, HOUR + 24 * BLOCK_MS)
        for metric in ("up", "down", "other")
        for shard in (3, 5)
    ]
    lake.commit("samples", new, run_id="r1")
    wanted = [
        file
        for file in lake.files("samples")
        if all(file.partition[name] in some for name, some in values.items())
        and all(
            file.minimum[name] <= last and file.maximum[name] >= first
            for name, (first, last) in bounds.items()
        )
    ]
    assert lake.files("samples", partition=values, between=bounds) == wanted
    assert bool(values or bounds) is (len(wanted) < len(new))


def test_other_writers_commit_is_seen_by_who_has_read_before(tmp_path):
    lake = Lake(tmp_path)
    lake.commit("samples", [write_data_file(lake.root, "samples", samples())], run_id="r1")
    assert lake.read("samples").num_rows == 1
    Lake(tmp_path).commit("samples", [write_data_file(lake.root, "samples", samples("b" * 32))], run_id="r2")
    assert (lake.version("samples"), lake.read("samples").num_rows) == (1, 2)


def test_looking_back_does_not_move_the_version_that_a_commit_goes_by(tmp_path):
    """Else a commit would take what others wrote meanwhile for looked at."""
    lake = Lake(tmp_path)
    lake.commit("samples", [write_data_file(lake.root, "samples", samples())], run_id="r1")
    with lake._delta.looking():
        goes_by = lake._open("samples")
        Lake(tmp_path).commit(
            "samples", [write_data_file(lake.root, "samples", samples("b" * 32))], run_id="r2"
        )
        assert (len(lake.files("samples", version=0)), goes_by.version()) == (1, 0)
    assert lake.version("samples") == 1


def test_table_that_took_the_place_of_another_is_read_anew(tmp_path):
    """It has as many versions as the one that was read."""
    lake = Lake(tmp_path / "lake")
    for root, value in ((lake.root, 1.0), (tmp_path / "other", 2.0)):
        new = write_data_file(str(root), "samples", samples(values=(value, value)))
        Lake(root).commit("samples", [new], run_id="r")
    assert lake.read("samples").to_pylist()[0]["values"] == [1.0, 1.0]
    shutil.rmtree(lake.root)
    (tmp_path / "other").rename(lake.root)
    assert lake.read("samples").to_pylist()[0]["values"] == [2.0, 2.0]


def test_the_same_rows_twice_make_no_version(tmp_path):
    lake = Lake(tmp_path)
    lake.commit("samples", [write_data_file(lake.root, "samples", samples())], run_id="r1")
    again = write_data_file(lake.root, "samples", samples())
    assert lake.commit("samples", [again], lake.files("samples"), run_id="r2") == 0
    assert lake.commit("samples", [again], run_id="r3") == 0
    assert len(lake.read("samples")) == 1


def test_removing_replaced_files_is_a_conflict(tmp_path):
    lake = Lake(tmp_path)
    lake.commit("samples", [write_data_file(lake.root, "samples", samples())], run_id="r1")
    stale = lake.files("samples")
    lake.commit(
        "samples", [write_data_file(lake.root, "samples", samples(values=(5.0,)))], stale, run_id="r2"
    )
    with pytest.raises(ConflictError, match="replaced blocks of samples"):
        lake.commit(
            "samples", [write_data_file(lake.root, "samples", samples(values=(6.0,)))], stale, run_id="r3"
        )


def test_concurrently_added_block_is_a_conflict(tmp_path):
    lake = Lake(tmp_path)
    lake.commit("samples", [write_data_file(lake.root, "samples", samples(metric="other"))], run_id="r0")
    version = lake.version("samples")
    lake.commit("samples", [write_data_file(lake.root, "samples", samples(values=(1.0,)))], run_id="r1")
    mine = write_data_file(lake.root, "samples", samples(values=(2.0,)))
    with pytest.raises(ConflictError, match="wrote the same rows"):
        lake.commit("samples", [mine], run_id="r2", read_version=version)
    elsewhere = write_data_file(lake.root, "samples", samples(values=(2.0,), cluster="d"))
    assert lake.commit("samples", [elsewhere], run_id="r2", read_version=version) == 2


def test_concurrently_created_table_is_a_conflict(tmp_path):
    """Two runs add the same block to a table that did not exist."""
    lake = Lake(tmp_path)
    assert lake.version("samples") is None
    lake.commit("samples", [write_data_file(lake.root, "samples", samples(values=(1.0,)))], run_id="r1")
    mine = write_data_file(lake.root, "samples", samples(values=(2.0,)))
    with pytest.raises(ConflictError, match="wrote the same rows"):
        lake.commit("samples", [mine], run_id="r2", read_version=None)


@pytest.mark.long
def test_racing_writers_lose_nothing(tmp_path):
    lake = Lake(tmp_path)
    faults = []

    def write(name):
        try:
            for i in range(5):
                Lake(tmp_path).upsert("truth", truth(subscription=name, start_ms=i), run_id=name)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    keys = lake.read("truth", columns=["subscription", "start_ms"]).to_pylist()
    assert sorted((key["subscription"], key["start_ms"]) for key in keys) == [
        (name, i) for name in "abc" for i in range(5)
    ]


def test_repeated_upsert_writes_no_version(tmp_path):
    """An upsert replaces rows by key."""
    lake = Lake(tmp_path)
    lake.upsert("truth", pa.concat_tables([truth("s"), truth("other")]), run_id="r1")
    lake.upsert("truth", truth("s", cause="throttled"), run_id="r2")
    causes = {row["subscription"]: row["cause"] for row in lake.read("truth").to_pylist()}
    assert causes == {"s": "throttled", "other": "healthy"}
    assert lake.upsert("truth", truth("s", cause="throttled"), run_id="r3") == 1


@pytest.mark.long
@pytest.mark.parametrize("hostile", ["../../etc", "a'b\"c", "new\nline", "per%cent", "ünï"])
def test_hostile_partition_values_stay_values(tmp_path, hostile):
    lake = Lake(tmp_path / "lake")
    lake.commit("samples", [write_data_file(lake.root, "samples", samples(metric=hostile))], run_id="r")
    assert lake.files("samples", partition={"metric_name": [hostile]})[0].partition["metric_name"] == hostile
    assert lake.read("samples", where=pc.field("metric_name") == hostile).num_rows == 1
    assert lake.duckdb().sql("select metric_name from samples").fetchall() == [(hostile,)]
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


def test_a_file_holds_one_partition(tmp_path):
    mixed = pa.concat_tables([samples(), samples(metric="down")])
    with pytest.raises(InputError, match="holds one metric_name"):
        write_data_file(str(tmp_path), "samples", mixed)


def test_rows_that_break_the_contract_are_refused(tmp_path):
    with pytest.raises(InputError, match="missing \\['shard'\\]"):
        write_data_file(str(tmp_path), "samples", samples().drop_columns(["shard"]))
    with pytest.raises(InputError, match=r"truth.cause is a closed list; got \['lagging'\]"):
        write_data_file(str(tmp_path), "truth", truth(cause="lagging"))


def test_null_cluster_is_an_ordinary_key(tmp_path):
    """A NULL in a key is a value like any other: a finding of all clusters takes the place of the one before."""

    def finding(cluster, rows):
        row = {
            "run_id": "r", "cluster": cluster, "gate": "door", "check": "c", "table": "series", "severity": "warning",
            "success": False, "observed": None, "expected": None, "rows": rows, "example": None, "observed_ms": 0,
            "date": "1970-01-01",
        }  # fmt: skip
        return pa.Table.from_pylist([row], schema=TABLES["quality"].loose_schema)

    lake = Lake(tmp_path)
    for cluster, rows in ((None, 1), ("", 2), (None, 3), ("a", 4)):
        lake.upsert("quality", finding(cluster, rows), run_id="r")
    found = {row["cluster"]: row["rows"] for row in lake.read("quality").to_pylist()}
    assert lake.read("quality").num_rows == 3
    assert found == {None: 3, "": 2, "a": 4}


def test_duckdb_sees_every_table(tmp_path):
    lake = Lake(tmp_path)
    lake.upsert("truth", truth(), run_id="r")
    connection = lake.duckdb()
    assert connection.cursor().execute("select subscription, partition from truth").fetchall() == [("s", -1)]
    assert connection.cursor().execute("select count(*) from verdicts").fetchall() == [(0,)]


@pytest.mark.long
def test_next_write_adds_new_column(tmp_path, monkeypatch):
    lake, contract = Lake(tmp_path), TABLES["truth"]
    before = replace(contract, columns=tuple(c for c in contract.columns if c.name != "limiter"))
    with monkeypatch.context() as earlier:
        earlier.setitem(TABLES, "truth", before)
        lake.upsert("truth", truth("old"), run_id="r1")
    assert lake.read("truth")["limiter"].to_pylist() == [None]
    assert lake.duckdb().sql("SELECT subscription, limiter FROM truth").fetchall() == [("old", None)]
    new = truth("new", cause="throttled").set_column(
        contract.schema.get_field_index("limiter"), "limiter", pa.array(["topic.msg"])
    )
    lake.commit("truth", [write_data_file(lake.root, "truth", contract.conform(new))], run_id="r2")
    rows = lake.read("truth").to_pylist()
    assert {row["subscription"]: row["limiter"] for row in rows} == {"old": None, "new": "topic.msg"}
    seen = lake.duckdb().sql("SELECT subscription, limiter FROM truth ORDER BY 1").fetchall()
    assert seen == [("new", "topic.msg"), ("old", None)]
    delta = DeltaTable(str(tmp_path / "truth"))
    assert "limiter" in {field.name for field in delta.schema().fields}
