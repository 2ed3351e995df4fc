"""``throttlescope sql``: what it reads, what it refuses, and how it is stopped; and the page that shows it."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from tests.app.lake_of_verdicts import healthy, lake_with, verdict
from throttlescope.app.queries.sql import SqlBounds, run_sql
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "sql.md"
#: Takes hours, and has no row before its end.
ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE hash(a.range + b.range) = 7"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    rows = [verdict(0), verdict(1), healthy(2), verdict(2, subscription='=x|"', cluster="other")]
    return lake_with(tmp_path_factory.mktemp("sql") / "lake", rows)


def files_below(lake):
    return {path: path.stat().st_mtime_ns for path in Path(lake.root).rglob("*") if path.is_file()}


@pytest.mark.long
def test_every_table_is_a_view(lake):
    assert {row[0] for row in run_sql(lake, "SHOW TABLES").rows} == set(TABLES)
    counts = [run_sql(lake, f"SELECT count(*) FROM {name}").rows[0][0] for name in ("verdicts", "samples")]  # noqa: S608
    assert counts == [4, 0]


@pytest.mark.long
def test_formats_have_the_same_rows(lake):
    query = "SELECT subscription, count(*) AS windows, max(backlog_entries) AS most FROM verdicts GROUP BY 1 ORDER BY 2 DESC"
    found = json.loads(throttlescope("sql", query, "--lake", lake.root, "--format", "json").out)
    assert found == [
        {"subscription": "billing", "windows": 3, "most": 2000.0},
        {"subscription": '=x|"', "windows": 1, "most": 3000.0},
    ]
    lines = throttlescope("sql", query, "--lake", lake.root, "--format", "csv").out
    assert list(csv.reader(io.StringIO(lines)))[1:] == [["billing", "3", "2000.0"], ["'=x|\"", "1", "3000.0"]]
    table = throttlescope("sql", query, "--lake", lake.root).out
    assert "2 rows" in table
    assert "3000.0" in table


def test_values_become_plain_and_names_distinct(lake):
    found = run_sql(
        lake,
        "SELECT 1 AS a, 2 AS a, 3 AS a_1, 12345678901234567890::HUGEINT AS h, 1.50 AS d, TIMESTAMPTZ '2026-11-20 08:00:00Z' AS t, "
        "'a'::BLOB AS b, MAP {'k': 1} AS m, [NULL, 'x'] AS l, INTERVAL 90 SECONDS AS i, DATE '2026-11-20' AS day, NULL AS n",
    )
    assert found.columns == ("a", "a_1", "a_1_1", "h", "d", "t", "b", "m", "l", "i", "day", "n")
    assert found.rows == [
        (1, 2, 3, 12345678901234567890, 1.5, "2026-11-20T08:00:00Z", "YQ==", {"k": 1}, [None, "x"], 90.0,
         "2026-11-20", None)
    ]  # fmt: skip
    json.dumps(found.rows)


@pytest.mark.long
def test_long_table_says_what_it_leaves_out(lake):
    outcome = throttlescope("sql", "FROM range(250)", "--lake", lake.root)
    assert "250 rows" in outcome.out
    assert "50 rows more" in outcome.out
    assert "249" not in outcome.out


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("DELETE FROM verdicts", "takes one SELECT; got DELETE"),
        ("CREATE TABLE mine AS SELECT 1", "got CREATE"),
        ("ATTACH '{folder}/other.db'", "got ATTACH"),
        ("COPY verdicts TO '{folder}/out.csv'", "got COPY"),
        ("EXPORT DATABASE '{folder}/out'", "got EXPORT"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'", "got EXPLAIN"),
        ("INSTALL httpfs", "got LOAD"),
        ("SET enable_external_access = true", "got SET"),
        ("SELECT 1; SELECT 2", "got SELECT, SELECT"),
        ("/* nothing */", "got no statement"),
        ("SELECT * FROM read_text('/etc/hostname')", "no other files"),
        ("SELECT * FROM read_csv('{folder}/*')", "no other files"),
        ("SELECT * FROM glob('/etc/*')", "no other files"),
        ("SELECT * FROM read_parquet('s3://bucket/key')", "no other files"),
        ("SELECT * FROM query('DROP VIEW verdicts')", "not valid"),
        (
            "SELECT * FROM enable_logging('QueryLog', storage_path = '{folder}/log')",
            "configuration has been locked",
        ),
        ("SELECT * FROM lake", "Table with name lake does not exist"),
        ("SELECT caus FROM verdicts", '"cause"'),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("SELECT error('x' || chr(10) || 'y')", "got Invalid Input Error: x y"),
    ],
)
def test_what_is_no_reading_query_is_refused(lake, tmp_path, query, words):
    before = files_below(lake)
    query = query.format(folder=tmp_path, file=next(path for path in before if path.suffix == ".parquet"))
    outcome = throttlescope("sql", query, "--lake", lake.root)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.line
    assert files_below(lake) == before
    assert not list(tmp_path.iterdir())


def test_folder_without_tables_is_an_error(tmp_path):
    outcome = throttlescope("sql", "SELECT 1", "--lake", tmp_path / "nowhere")
    assert outcome.code == 2
    assert "There are no tables in this lake" in outcome.line
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_bounds_are_errors_not_cuts(lake):
    with pytest.raises(InputError, match=r"more than 100; expected|more than 100\. Fix: aggregate"):
        run_sql(lake, "FROM range(101)", SqlBounds(rows=100))
    assert len(run_sql(lake, "FROM range(100)", SqlBounds(rows=100)).rows) == 100
    with pytest.raises(InputError, match="more memory"):
        run_sql(lake, "SELECT * FROM range(20000000) ORDER BY hash(range)", SqlBounds(memory_mb=60))


@pytest.mark.long
@pytest.mark.parametrize("timeout_s", [0.0, 0.3])
def test_deadline_stops_the_query(lake, timeout_s):
    started = time.monotonic()
    with pytest.raises(InputError, match="took too long"):
        run_sql(lake, ENDLESS, SqlBounds(timeout_s=timeout_s))
    assert time.monotonic() - started < 30


@pytest.mark.study
def test_interrupt_stops_the_process(lake):
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "throttlescope.app.cli",
            "sql",
            ENDLESS,
            "--lake",
            lake.root,
            "--timeout",
            "10m",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # Until DuckDB computes: starting takes a second of processor time, not more.
        deadline = time.monotonic() + 120
        while _processor_s(process.pid) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.startswith("throttlescope: Interrupted")


def _processor_s(pid):
    ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_examples_of_the_page_run(lake, tmp_path, monkeypatch):
    (tmp_path / "lake").symlink_to(lake.root)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S)
    commands = [command for block in blocks for command in _commands(block)]
    assert len(commands) >= 4
    for command in commands:
        outcome = throttlescope(*command)
        assert outcome.code == 0, outcome.err
        assert outcome.out


def _commands(block):
    """The arguments of every ``throttlescope`` command of a block, without its redirection; a query may have several lines."""
    for command in re.split(r"^throttlescope ", block, flags=re.M)[1:]:
        words = shlex.split(command)
        yield words[: words.index(">")] if ">" in words else words


def test_duckdb_reads_the_tables_itself(lake, tmp_path, monkeypatch, capsys):
    (tmp_path / "lake").symlink_to(lake.root)
    monkeypatch.chdir(tmp_path)
    exec(_example("duckdb"), {})  # noqa: S102
    assert "billing" in capsys.readouterr().out


def test_spark_sql_reads_the_tables_itself(lake, spark, tmp_path, monkeypatch, capsys):
    (tmp_path / "lake").symlink_to(lake.root)
    monkeypatch.chdir(tmp_path)
    exec(_example("SparkSession"), {})  # noqa: S102
    assert "billing" in capsys.readouterr().out


def _example(word):
    (block,) = [
        one for one in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if f"import {word}" in one
    ]
    return block


@pytest.mark.long
def test_replaced_rows_are_not_read_twice(tmp_path):
    """Files that a commit replaced stay on disk until upkeep: reading the folder would count them."""
    lake = lake_with(tmp_path / "lake", [verdict(0)])
    lake.commit("verdicts", [], lake.files("verdicts"), run_id="removes")
    assert list(Path(lake.root).rglob("*.parquet"))
    assert run_sql(Lake(lake.root), "SELECT count(*) FROM verdicts").rows == [(0,)]
