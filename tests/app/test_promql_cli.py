"""``throttlescope promql``: what it prints, where the times come from, and how it fails."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import requests

from tests.app.commands import throttlescope
from tests.lab.prometheus import running_prometheus, write_series
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.times import format_time
from throttlescope.transforms.promql.source import Series

START_MS = 1_795_140_000_000
STEP_MS = 15_000
TIMES_MS = START_MS + STEP_MS * np.arange(81)
END_MS = int(TIMES_MS[-1])


def series() -> list[Series]:
    found = [
        Series(
            {"__name__": "jobs_total", "cluster": "c", "job": job, "value": "x"},
            TIMES_MS,
            np.arange(81.0) * step,
        )
        for job, step in (("a", 1), ("b", 3))
    ]
    odd = np.array([math.nan, math.inf, -math.inf, 1e-7, 0.1])
    return [*found, Series({"__name__": "odd", "cluster": "=1+1"}, TIMES_MS[-5:], odd)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> str:
    return lake_of(tmp_path_factory.mktemp("promql") / "lake", series()).root


@pytest.fixture(autouse=True)
def without_spark(monkeypatch):
    def no_spark(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr("throttlescope.ingest.spark.session.spark_session", no_spark)


def promql(lake, *arguments):
    return throttlescope("promql", *arguments, "--lake", lake)


def checked_output(outcome):
    assert outcome.code == 0, outcome.err
    return outcome.out


RANGE = ("--start", START_MS // 1000 + 300, "--end", END_MS // 1000, "--step", "5m")


@pytest.mark.prometheus
def test_json_equals_the_prometheus_data(lake):
    with running_prometheus() as server:
        write_series(
            server.url,
            [
                (one.labels, list(zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True)))
                for one in series()
            ],
        )
        span = {"start": RANGE[1], "end": RANGE[3], "step": RANGE[5]}
        for text in ("rate(jobs_total[5m])", "odd", "1 / 3", "jobs_total > 100"):
            theirs = requests.post(
                f"{server.url}/api/v1/query_range", data={"query": text, **span}, timeout=60
            )
            ours = checked_output(promql(lake, text, *RANGE, "--format", "json"))
            assert json.loads(ours) == theirs.json()["data"]
            assert ours.endswith("}\n")
        for text in ("sort(jobs_total)", "odd[1m]", "time()", '"text"', "nothing"):
            request = {"query": text, "time": END_MS / 1000}
            theirs = requests.post(f"{server.url}/api/v1/query", data=request, timeout=60)
            assert (
                json.loads(checked_output(promql(lake, text, "--at", END_MS / 1000, "--format", "json")))
                == theirs.json()["data"]
            )


@pytest.mark.long
def test_default_time_is_the_newest_sample(lake):
    outcome = promql(lake, "time()", "--format", "json")
    assert json.loads(checked_output(outcome))["result"] == [END_MS / 1000, str(END_MS // 1000)]
    assert (
        outcome.line
        == f"throttlescope: Evaluated at {format_time(END_MS)}, the time of the lake's newest sample."
    )
    assert promql(lake, "time()", "--format", "json", "--quiet").err == ""
    assert promql(lake, "time()", "--at", format_time(START_MS), "--format", "json").err == ""


def test_range_defaults_to_newest_end_and_step(lake):
    outcome = promql(lake, "vector(1)", "--start", START_MS // 1000, "--format", "json")
    ((*_, (last, _)),) = [one["values"] for one in json.loads(checked_output(outcome))["result"]]
    # 1,200 s in steps of 4 s.
    assert last == END_MS / 1000
    assert len(json.loads(outcome.out)["result"][0]["values"]) == 301
    assert "The range ends at" in outcome.line


def test_table_shows_times_and_freshness(lake):
    output = checked_output(promql(lake, "jobs_total", "--at", END_MS // 1000))
    assert f"jobs_total at {format_time(END_MS)}" in output
    assert "Every series: __name__=jobs_total, cluster=c, value=x" in output
    assert [line.split()[1:4:2] for line in output.splitlines() if line.startswith("│")] == [
        ["a", "80"],
        ["b", "240"],
    ]
    assert "Data up to" in output
    assert "Times are UTC" in output


@pytest.mark.long
def test_range_table_shows_points_or_series(lake):
    output = checked_output(promql(lake, "rate(jobs_total[1m])", *RANGE))
    assert output.count("│ a   │") == 4
    assert f"│ {format_time(START_MS + 300_000)} │" in output
    assert "every 300 s" in output
    output = checked_output(
        promql(lake, "jobs_total", "--start", START_MS // 1000, "--end", END_MS // 1000, "--step", "15s")
    )
    (line,) = [line for line in output.splitlines() if line.startswith("│ b")]
    assert line.replace("│", " ").split() == ["b", "81", "0", "240", "0", "240"]


@pytest.mark.long
def test_table_reports_empty_and_cut_results(lake, monkeypatch):
    assert "no series has a value then" in checked_output(promql(lake, "nothing"))
    monkeypatch.setattr("throttlescope.app.cli.tables.promql.ROWS_SHOWN", 1)
    assert "1 more lines are left out; --format csv or json has them all." in checked_output(
        promql(lake, "jobs_total")
    )


@pytest.mark.long
def test_control_characters_do_not_reach_the_terminal(lake):
    output = checked_output(promql(lake, 'label_replace(jobs_total, "job", "\\x1b[2J", "job", "a")'))
    assert "\x1b" not in output
    assert "\\x1b[2J" in output
    assert "\x1b" not in checked_output(promql(lake, '"\\x1b[2J"'))


@pytest.mark.long
def test_csv_has_one_line_per_point(lake):
    output = checked_output(promql(lake, "jobs_total", *RANGE, "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(output)))
    assert list(rows[0]) == ["time_ms", "value", "__name__", "cluster", "job", "label.value"]
    assert len(rows) == 8
    assert (int(rows[0]["time_ms"]), float(rows[0]["value"]), rows[0]["job"]) == (
        START_MS + 300_000,
        20.0,
        "a",
    )
    odd = pd.read_csv(io.StringIO(checked_output(promql(lake, "odd[5m]", "--format", "csv"))))
    assert np.array_equal(odd["value"], [math.nan, math.inf, -math.inf, 1e-7, 0.1], equal_nan=True)
    # A spreadsheet must not compute a label.
    assert set(odd["cluster"]) == {"'=1+1"}
    assert "NaN" in checked_output(promql(lake, "odd[5m]", "--format", "csv"))
    assert (
        checked_output(promql(lake, '"te,xt"', "--format", "csv", "--at", "0")).splitlines()[1] == '0,"te,xt"'
    )
    assert checked_output(promql(lake, "1 + 1", "--format", "csv", "--at", "0")).splitlines()[1] == "0,2.0"


@pytest.mark.long
def test_warnings_go_to_stderr(lake):
    outcome = promql(lake, "quantile(2, rate(odd[1m]))", "--at", END_MS // 1000, "--format", "json")
    json.loads(checked_output(outcome))
    assert (
        "throttlescope: PromQL warning: quantile value should be between 0 and 1, got 2 (1:10)" in outcome.err
    )
    assert "throttlescope: PromQL info: metric might not be a counter" in outcome.err


@pytest.mark.long
def test_explain_runs_nothing(lake, monkeypatch):
    monkeypatch.setattr(
        "throttlescope.transforms.promql.engine.run_here", lambda *_: pytest.fail("it was evaluated")
    )
    output = checked_output(promql(lake, "sum by (job) (rate(jobs_total[5m]))", "--explain", *RANGE))
    assert "jobs_total" in output
    assert "shard" in output
    assert "files" in output
    assert checked_output(promql(lake, "sum(jobs_total)", "--explain"))


def test_spark_engine_equals_the_local_engine(lake, spark, monkeypatch):
    monkeypatch.setattr("throttlescope.ingest.spark.session.spark_session", lambda **_: spark)
    request = ("sum by (job) (rate(jobs_total[5m]))", *RANGE, "--format", "json")
    on_spark = promql(lake, *request, "--engine", "spark")
    assert checked_output(on_spark) == checked_output(promql(lake, *request, "--engine", "local"))
    assert json.loads(on_spark.out)["result"]
    assert on_spark.line.startswith("[1/1] evaluating on Spark")
    assert promql(lake, *request, "--engine", "spark", "--quiet").err == ""


@pytest.mark.long
def test_lookback_flag_is_applied(lake):
    late = ("--at", END_MS // 1000 + 60, "--format", "json")
    assert len(json.loads(checked_output(promql(lake, "jobs_total", *late)))["result"]) == 2
    assert json.loads(checked_output(promql(lake, "jobs_total", *late, "--lookback", "30s")))["result"] == []


@pytest.mark.sampled(4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("sum(",), 2, "line 1, column 5"),
        (("sumby(x)",), 2, "There is no function"),
        (("rate(jobs_total)",), 2, "range"),
        (("info(jobs_total)",), 2, "info"),
        (("jobs_total[5m]", "--start", "0", "--end", "60"), 2, "must be Scalar or instant Vector"),
        (("1", "--at", "yesterday"), 2, "A time cannot be read"),
        (("1", "--at", "0", "--start", "0"), 2, "exclude each other"),
        (("1", "--end", "0"), 2, "add --start"),
        (("1", "--step", "1m"), 2, "add --start"),
        (("1", "--start", "60", "--end", "0"), 2, "The start is behind the end"),
        (("1", "--start", "0", "--end", "60", "--step", "0s"), 2, "--step must be more than 0"),
        (("1", "--start", "0", "--end", "60", "--step", "-1"), 2, "A duration cannot be read"),
        (
            ("1", "--start", "0", "--end", "60", "--step", "1ms"),
            2,
            "exceeded maximum resolution of 11,000 points",
        ),
        (("1", "--timeout", "0s"), 2, "--timeout must be more than 0"),
        (("1", "--lookback", "0s"), 2, "--lookback must be more than 0"),
        (("1", "--lookback", "x"), 2, "A duration cannot be read"),
        (("1", "--max-samples", "0"), 2, "--max-samples"),
        (("1", "--engine", "flink"), 2, "not one of"),
        (("1", "--format", "xml"), 2, "not one of"),
        ((), 2, "Missing argument"),
        (("jobs_total", "--max-samples", "1"), 1, "too many samples"),
        (("jobs_total * on () jobs_total",), 1, "Several series"),
        (("sum_over_time(vector(1)[2h:1s])", "--timeout", "1ms"), 1, "timed out"),
    ],
)
def test_errors_are_one_line_with_code(lake, arguments, code, words):
    outcome = promql(lake, *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.line.startswith("throttlescope: ")
    assert words in outcome.line
    assert "Traceback" not in outcome.err


def test_folder_without_lake_is_refused(tmp_path):
    outcome = promql(tmp_path / "nowhere", "1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "There are no samples in this lake" in outcome.line
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def broken(lake, tmp_path):
    """A copy of the lake, to break."""
    return Path(shutil.copytree(lake, tmp_path / "lake"))


def test_truncated_file_is_reported(broken):
    for file in (broken / "samples" / "data").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[:64])
    outcome = promql(broken, "jobs_total")
    assert (outcome.code, outcome.out) == (1, "")
    assert "Files of table samples are damaged" in outcome.line
    assert "throttlescope lake repair" in outcome.line


@pytest.mark.parametrize(("table", "column"), [("samples", "values"), ("series", "labels")])
def test_missing_column_is_reported(broken, table, column):
    for file in (broken / table / "data").rglob("*.parquet"):
        pq.write_table(pq.read_table(file).drop_columns([column]), file)
    outcome = promql(broken, "jobs_total")
    assert (outcome.code, outcome.out) == (1, "")
    assert column in outcome.line
