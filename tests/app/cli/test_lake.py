"""``throttlescope lake`` and ``--as-of``: what is printed, exit codes, and that nothing goes without ``--yes``."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, limit, sample, table_of, verdict
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake, write_data_file


@pytest.fixture
def lake(tmp_path):
    """Verdicts of two hours in five files and two versions, and samples of one hour."""
    lake = Lake(tmp_path / "lake")
    add(lake, "verdicts", *([verdict(index)] for index in range(3)), run_id="first")
    add(lake, "verdicts", [verdict(12)], [verdict(13)], run_id="second")
    add(lake, "samples", [sample()])
    return lake


def lake_json(lake, *arguments):
    outcome = throttlescope("lake", *arguments, "--lake", lake.root, "--format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def make_files_old(lake):
    """Files written long ago, as the vacuum sees it."""
    for file in lake.storage.list():
        os.utime(lake.storage.address(file.relative_path), (1, 1))


@pytest.mark.long
def test_show_lists_rows_files_and_sizes(lake):
    shown = {row["table"]: row for row in lake_json(lake, "show")["tables"]}
    assert set(shown) == {"verdicts", "samples"}
    verdicts = shown["verdicts"]
    assert (verdicts["rows"], verdicts["files"], verdicts["version"], verdicts["format_version"]) == (
        5,
        5,
        1,
        1,
    )
    assert (verdicts["start_ms"], verdicts["end_ms"]) == (HOUR, HOUR + 2 * BLOCK_MS)
    assert verdicts["size_bytes"] == sum(os.path.getsize(file.path) for file in lake.files("verdicts"))
    (file,) = lake.files("samples")
    assert (shown["samples"]["samples"], shown["samples"]["bytes_per_sample"]) == (2, file.size_bytes / 2)
    text = throttlescope("lake", "show", "--lake", lake.root).out
    assert "verdicts" in text
    assert "bytes each" in text


@pytest.mark.long
def test_history_describes_each_version(lake):
    old = lake.files("verdicts", between={"window_start_ms": (HOUR, HOUR)})
    new = write_data_file(lake.root, "verdicts", table_of("verdicts", [verdict(0, backlog_entries=7.0)]))
    lake.commit("verdicts", [new], old, run_id="third")
    lake.commit(
        "verdicts", [], lake.files("verdicts", between={"window_start_ms": (HOUR, HOUR)}), run_id="fourth"
    )
    shown = lake_json(lake, "history", "verdicts")["versions"]
    changes = [
        (row["version"], row["run_id"], row["what"], row["files_added"], row["files_removed"])
        for row in shown
    ]
    assert changes == [
        (3, "fourth", "removed", 0, 1), (2, "third", "replaced", 1, 1), (1, "second", "added", 2, 0),
        (0, "first", "created", 3, 0),
    ]  # fmt: skip
    assert (shown[2]["start_ms"], shown[2]["end_ms"], shown[2]["clusters"]) == (
        HOUR + BLOCK_MS,
        HOUR + 2 * BLOCK_MS,
        ["prod"],
    )
    assert len(lake_json(lake, "history", "verdicts", "--limit", "1")["versions"]) == 1
    assert "replaced" in throttlescope("lake", "history", "verdicts", "--lake", lake.root).out


@pytest.mark.long
def test_compact_expire_and_vacuum_keep_current_rows(lake):
    assert lake_json(lake, "compact")["tables"][0]["files_before"] == 0  # the files have only just come
    dry = {row["table"]: row for row in lake_json(lake, "compact", "--settled", "0s", "--dry-run")["tables"]}
    assert (dry["verdicts"]["files_before"], lake.version("verdicts")) == (5, 1)
    done = {row["table"]: row for row in lake_json(lake, "compact", "--settled", "0s", "--quiet")["tables"]}
    assert (done["verdicts"]["files_before"], done["verdicts"]["files_after"]) == (5, 2)
    assert lake_json(lake, "history", "verdicts")["versions"][0]["what"] == "compacted"

    (gone,) = lake_json(lake, "expire", "--older-than", "2d", "--table", "samples")["tables"]
    assert (gone["table"], gone["rows"], lake.version("samples")) == ("samples", 1, 0)
    assert lake_json(lake, "expire", "--older-than", "2d", "--table", "samples", "--yes")["done"]
    assert lake.read("samples").num_rows == 0
    assert lake.read("verdicts").num_rows == 5

    assert lake_json(lake, "vacuum")["tables"] == []
    make_files_old(lake)
    found = lake_json(lake, "vacuum", "--older-than", "0s", "--even-if-in-use")
    assert {row["table"]: row["files"] for row in found["tables"]} == {"samples": 1, "verdicts": 5}
    assert (found["done"], found["deleted_files"]) == (False, None)
    assert len(lake.storage.list("verdicts/data")) == 7
    assert lake_json(lake, "vacuum", "--older-than", "0s", "--even-if-in-use", "--yes")["deleted_files"] == 6
    assert len(lake.storage.list("verdicts/data")) == 2
    assert lake_json(lake, "check")["faults"] == []
    assert lake.read("verdicts").num_rows == 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vacuum", "--older-than", "1h"], "less than readers and running commands may need; got 1 h"),
        (["expire", "--older-than", "1d"], "--older-than is too short; got 1d; expected 2d or more"),
        (
            ["expire", "--older-than", "90d", "--table", "series"],
            "Rows of this table have no age; got series",
        ),
        (["compact", "--table", "verdict"], "No such table; got verdict; .* did you mean verdicts"),
        (["history", "nothing"], "No such table; got 'nothing'"),
        (["show", "--table", "nothing"], "No such table; got 'nothing'"),
    ],
)
def test_invalid_arguments_exit_with_code_2(lake, arguments, message):
    outcome = throttlescope("lake", *arguments, "--lake", lake.root)
    assert outcome.code == 2
    assert pytest.importorskip("re").search(message, outcome.line)


@pytest.mark.long
def test_check_fails_when_a_file_is_missing(lake):
    file = lake.files("verdicts")[0]
    os.unlink(file.path)
    outcome = throttlescope("lake", "check", "--lake", lake.root)
    assert (outcome.code, "missing, with 1 rows" in outcome.out) == (1, True)


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ["verdicts"], ["verdicts", "--all"], ["promql", "up"], ["lake", "show"], ["lake", "compact"],
        ["run", "--recording", "healthy-msg-50"], ["ingest", "--recording", "healthy-msg-50"],
        ["diagnose", "--start", "2026-11-20T00:00:00Z", "--end", "2026-11-20T01:00:00Z"],
    ],
)  # fmt: skip
def test_every_command_refuses_newer_tables_that_it_reads(lake, monkeypatch, arguments):
    """One that reads few tables refuses those."""
    table, row = ("verdicts", verdict(0)) if arguments[0] == "verdicts" else ("limits", limit(HOUR))
    shutil.rmtree(Path(lake.root) / table, ignore_errors=True)
    with monkeypatch.context() as later:
        later.setitem(TABLES, table, replace(TABLES[table], format_version=3))
        lake.upsert(table, table_of(table, [row]), run_id="newer")
    before = sorted(Path(lake.root).rglob("*"))
    outcome = throttlescope(*arguments, "--lake", lake.root)
    assert outcome.code == 2
    assert (
        f"Table {table} of this lake was written by a newer version; got format 3; expected format 1."
        in outcome.err
    )
    assert sorted(Path(lake.root).rglob("*")) == before


@pytest.mark.long
def test_check_advises_no_repair_of_newer_format(lake, monkeypatch):
    with monkeypatch.context() as later:
        later.setitem(TABLES, "limits", replace(TABLES["limits"], format_version=3))
        lake.upsert("limits", table_of("limits", [limit(HOUR)]), run_id="newer")
    outcome = throttlescope("lake", "check", "--table", "limits", "--lake", lake.root)
    assert outcome.code == 1
    assert "upgrade throttlescope" in outcome.out
    assert "lake repair" not in outcome.out


@pytest.mark.long
def test_missing_files_exit_with_code_1(lake):
    for file in lake.files("verdicts"):
        os.unlink(file.path)
    outcome = throttlescope("verdicts", "--all", "--lake", lake.root)
    assert outcome.code == 1
    assert "Files of table verdicts are missing; got 5 of them" in outcome.line


@pytest.mark.long
def test_as_of_reads_an_older_version(lake):
    def windows(*arguments):
        outcome = throttlescope("verdicts", "--all", "--format", "json", "--lake", lake.root, *arguments)
        assert outcome.code == 0, outcome.err
        return [row["window_start_ms"] for row in json.loads(outcome.out)]

    assert len(windows()) == 5
    assert windows("--as-of", "0") == [HOUR + index * FIVE for index in range(3)]
    outcome = throttlescope("verdicts", "--as-of", "9", "--lake", lake.root)
    assert (outcome.code, "There is no such version of verdicts; got 9; expected 0 to 1" in outcome.line) == (
        2,
        True,
    )
    outcome = throttlescope("promql", "up", "--as-of", "2020-01-01", "--lake", lake.root)
    assert (outcome.code, "no samples in this lake" in outcome.line) == (2, True)
