"""What lake check finds, and what readers say of it: each kind of damage is named by the file or the table that has it."""

import json

import pytest
from deltalake import Field
from deltalake.schema import PrimitiveType

from tests.ingest.lake.upkeep.made import BLOCK_MS, HOUR, add, rows_of, table_of, verdict
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.actions import commit_properties
from throttlescope.ingest.lake.damage import DamagedFilesError, DamagedLogError, damage_error
from throttlescope.ingest.lake.files import write_data_file
from throttlescope.ingest.lake.parquet import parquet_file, read_parquet
from throttlescope.ingest.lake.upkeep.check import check
from throttlescope.ingest.lake.upkeep.losses import losses
from throttlescope.ingest.lake.upkeep.repair_log import ASIDE, repair_log
from throttlescope.ingest.lake.upkeep.vacuum import clean_log, delete, unnamed


@pytest.fixture
def lake(tmp_path):
    """Four hours of verdicts in four versions."""
    found = Lake(tmp_path)
    for hour in range(4):
        add(found, "verdicts", [verdict(0, start_ms=HOUR + hour * BLOCK_MS)])
    assert check(found) == []
    return found


def found_in(lake, **how):
    return [(one.kind, one.path, one.what) for one in check(lake, ["verdicts"], **how)]


def damage(lake, path, change):
    whole = lake.storage.address(path)
    with open(whole, "rb") as file:
        content = file.read()
    with open(whole, "wb") as file:
        file.write(change(content))
    return path


def a_file(lake):
    return f"verdicts/{min(file.relative_path for file in lake.files('verdicts'))}"


def with_added(change):
    """A commit in which what it says of the files that it adds is changed."""

    def otherwise(content):
        actions = [json.loads(line) for line in content.decode().splitlines()]
        for action in actions:
            if "add" in action:
                action["add"]["stats"] = json.loads(action["add"]["stats"])
                change(action["add"])
                action["add"]["stats"] = json.dumps(action["add"]["stats"])
        return "\n".join(map(json.dumps, actions)).encode()

    return otherwise


def commit(version):
    return f"verdicts/_delta_log/{version:020}.json"


@pytest.mark.long
def test_changed_bit_is_found_by_file_name(lake):
    # In the magic bytes at the end every reader finds it; in the middle only the name shows it.
    path = damage(lake, a_file(lake), lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:])
    assert found_in(lake, quick=True) == []
    ((kind, where, what),) = found_in(lake)
    assert (kind, where) == ("damaged", path)
    assert what == "its bytes are not those that were written, with 1 rows"


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda add: add["stats"].update(numRecords=7), "1 rows, and the log says 7"),
        (lambda add: add["stats"]["minValues"].update(window_start_ms=HOUR - 1), "and the log says from"),
        (lambda add: add["partitionValues"].update(date="2026-11-21"), "and the log says 2026-11-21"),
    ],
)
def test_log_is_compared_with_file(lake, change, said):
    damage(lake, commit(3), with_added(change))
    ((kind, path, what),) = found_in(lake)
    assert (kind, path.split("/")[0]) == ("contradicts", "verdicts")
    assert said in what


@pytest.mark.long
@pytest.mark.parametrize(("end", "rows"), [(b"", 1), (b"no more", 0)])
def test_damaged_rows_are_counted_without_log(lake, end, rows):
    """The rows of a damaged file are counted in the file if the log does not say how many there are."""
    damage(lake, commit(3), with_added(lambda add: add["stats"].pop("numRecords")))
    (file,) = (file for file in lake.files("verdicts") if file.rows is None)
    path = damage(
        lake, f"verdicts/{file.relative_path}", lambda content: content[:40] + b"?" + content[41:] + end
    )
    faults = [fault for fault in check(lake, ["verdicts"]) if fault.path == path]
    (loss,) = losses(lake, faults)
    assert (loss.table, loss.path, loss.rows) == ("verdicts", file.relative_path, rows)


@pytest.mark.long
def test_duplicate_key_is_found_across_files(lake):
    add(lake, "verdicts", [verdict(0, start_ms=HOUR, backlog_entries=-7.0)])
    ((kind, path, what),) = found_in(lake)
    assert (kind, path) == ("repeated", None)
    assert what.startswith("1 keys are there more than once, in 2 rows of cluster prod, date ")


@pytest.mark.long
def test_unreadable_commit_is_named_and_undone(lake):
    """The table goes back to the version before it."""
    path = damage(lake, commit(2), lambda content: content[: len(content) // 2])
    assert ("log", path) in [one[:2] for one in found_in(lake)]
    with pytest.raises(
        DamagedLogError, match=r"The log of table verdicts is damaged; .*lake repair"
    ) as error:
        # One who has read the log before it was damaged still reads the rows.
        Lake(lake.root).read("verdicts")
    assert error.value.exit_code == 1
    assert repair_log(lake, "verdicts", dry_run=True) == repair_log(lake, "verdicts")
    assert (lake.version("verdicts"), lake.read("verdicts").num_rows) == (1, 2)
    assert check(lake) == []
    assert lake.storage.exists(path + ASIDE)
    assert repair_log(lake, "verdicts") == []


@pytest.mark.long
def test_commit_cut_at_line_end_is_named(tmp_path):
    """It is whole JSON, and readers see fewer rows."""
    lake = Lake(tmp_path)
    add(lake, "verdicts", [verdict(0)])
    old = lake.files("verdicts")
    new = [
        write_data_file(
            lake.root, "verdicts", table_of("verdicts", [verdict(0, start_ms=HOUR + i * BLOCK_MS)])
        )
        for i in (1, 2)
    ]
    lake.commit("verdicts", new, old, run_id="r")
    lake._delta.open("verdicts", None).alter.add_columns(
        [Field("later", PrimitiveType("long"))], commit_properties=commit_properties("r")
    )
    versions = range(Lake(tmp_path).version("verdicts") + 1)
    whole = {version: lake.storage.read(commit(version)) for version in versions}
    cuts = 0
    for version, content in whole.items():
        lines = content.splitlines(keepends=True)
        for kept in range(len(lines)):
            lake.storage.write(commit(version), b"".join(lines[:kept]))
            assert ("log", commit(version)) in [
                (fault.kind, fault.path) for fault in check(Lake(tmp_path), ["verdicts"])
            ], (version, kept)
            cuts += 1
        lake.storage.write(commit(version), content)
    assert cuts >= 10
    assert check(Lake(tmp_path), ["verdicts"]) == []
    # A repair goes back before it, and says so.
    lake.storage.write(commit(versions[-2]), b"".join(whole[versions[-2]].splitlines(keepends=True)[:2]))
    (said,) = repair_log(Lake(tmp_path), "verdicts")
    assert "cannot be read; back to version" in said
    assert len(rows_of(Lake(tmp_path), "verdicts")) == 1


def test_a_commit_that_is_missing_is_named(lake):
    lake.storage.delete([commit(1)])
    assert ("log", commit(1), "the commit of version 1 is missing") in found_in(lake)


@pytest.mark.long
def test_damaged_checkpoint_is_not_needed(lake):
    rows = rows_of(lake, "verdicts")
    clean_log(lake, "verdicts")
    add(lake, "verdicts", [verdict(0, start_ms=HOUR + 5 * BLOCK_MS)])
    damage(lake, f"verdicts/_delta_log/{3:020}.checkpoint.parquet", lambda content: content[:100])
    assert next(one[0] for one in found_in(lake)) == "log"
    (said,) = repair_log(lake, "verdicts")
    assert said == "verdicts: 1 checkpoint set aside; its commits say the same"
    assert check(lake) == []
    assert set(rows) < set(rows_of(lake, "verdicts"))


@pytest.mark.long
def test_old_commit_of_other_file_is_renamed(lake):
    """A checkpoint stands for it, so that readers lose nothing, and only an older version would."""
    clean_log(lake, "verdicts")
    rows = rows_of(lake, "verdicts")
    path = damage(
        lake, commit(1), with_added(lambda add: add.update(path=add["path"].replace("data/", "dato/")))
    )
    ((kind, where, _),) = found_in(lake)
    assert (kind, where.split("/")[1]) == ("log", "dato")
    assert repair_log(lake, "verdicts", dry_run=True) == repair_log(lake, "verdicts")
    assert lake.storage.exists(path + ASIDE)
    assert (check(lake), rows_of(lake, "verdicts")) == ([], rows)


def test_log_without_first_commit_is_untouched(lake):
    """It is damaged from its first commit on."""
    damage(lake, commit(0), lambda content: b"{")
    assert repair_log(lake, "verdicts") == []
    assert [one for one in found_in(lake) if one[:2] == ("log", None)]


@pytest.mark.long
def test_readers_name_an_unreadable_file(lake):
    path = damage(lake, a_file(lake), lambda content: content[:-40] + bytes(40))
    address = lake.storage.address(path)

    def opened():
        with parquet_file(address) as file:
            file.read()

    def counted():
        files = lake.files("verdicts")
        with lake.counting("verdicts", files) as connection:
            from throttlescope.ingest.lake.duck import from_files

            connection.execute(f"SELECT count(*) FROM {from_files(files)}").fetchall()  # noqa: S608

    for read in (lambda: lake.read("verdicts"), lambda: read_parquet(address), opened, counted):
        with pytest.raises(DamagedFilesError) as error:
            read()
        assert path in str(error.value)
        assert error.value.exit_code == 1
        assert "lake repair" in str(error.value)
    # What Spark says, and everybody else who names the file.
    assert path in str(damage_error(f"Error while reading file file://{address}."))
    assert damage_error("Error while reading file /nowhere/at/all.parquet") is None


def test_other_faults_are_not_damage(lake):
    with (
        pytest.raises(Exception, match="no_such_column") as error,
        lake.counting("verdicts", lake.files("verdicts")) as connection,
    ):
        connection.execute("SELECT no_such_column FROM (SELECT 1)")
    assert not isinstance(error.value, DamagedFilesError)


@pytest.mark.long
def test_truncated_file_is_written_again(lake, tmp_path):
    """As after a loss of power."""
    from tests.ingest.lake.upkeep.made import table_of

    rows = table_of("verdicts", [verdict(0, start_ms=HOUR + 9 * BLOCK_MS)])
    new = write_data_file(lake.root, "verdicts", rows)
    (tmp_path / "verdicts" / new.relative_path).write_bytes(b"")
    assert write_data_file(lake.root, "verdicts", rows) == new
    lake.commit("verdicts", [new], run_id="again")
    assert check(lake) == []


@pytest.mark.long
def test_vacuum_deletes_damaged_files(lake):
    damage(lake, commit(3), lambda content: b"")
    repair_log(lake, "verdicts")
    gone = unnamed(lake, 0, now_ms=4_000_000_000_000, anyway=True)
    delete(lake, gone)
    assert [file.relative_path for file in lake.storage.list() if file.relative_path.endswith(ASIDE)] == []
    assert check(lake) == []


@pytest.mark.long
def test_newest_checkpoint_is_named_after_kill(lake):
    last = "verdicts/_delta_log/_last_checkpoint"
    clean_log(lake, "verdicts")
    before = lake.storage.read(last)
    add(lake, "verdicts", [verdict(0, start_ms=HOUR + 5 * BLOCK_MS)])
    clean_log(lake, "verdicts")
    after = lake.storage.read(last)
    # Killed between the two: the checkpoint is there, and the log still names the one before.
    lake.storage.write(last, before)
    lake.storage.delete([f"verdicts/_delta_log/{3:020}.checkpoint.parquet"])
    assert found_in(lake) == [("log", last, "it names the checkpoint of version 3, which is not there")]
    clean_log(lake, "verdicts")
    named = json.loads(lake.storage.read(last))
    assert (named["version"], named["size"]) == (4, json.loads(after)["size"])
    assert check(lake) == []
