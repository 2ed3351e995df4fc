"""What is quick of the judges: reading cases in Go, minutes of NAB's rows, GutenTAG's series and how they are counted, checkouts."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from tests.judges.checkouts import checkout
from tests.judges.delta import equal_rows
from tests.judges.environment import run_with
from tests.judges.gutentag import (
    HISTORY_DAYS,
    KINDS,
    LEVELS,
    SEEDS,
    Count,
    Event,
    configurations,
    counts_of,
    gaussian,
    labels_of,
    ours,
)
from tests.judges.mimir_benchmarks import queries, series_of
from tests.judges.nab import alarm_scores, on_minutes
from tests.judges.query_engines import commands_of, go_cases
from tests.lab.parts import PartMissing
from tests.promql.conformance.notation import Clear, Eval, Load
from throttlescope.models.anomaly import RULES

GO = """
package engine_test

func TestTables(t *testing.T) {
	start, lookbackDeltas := time.Unix(-60, 0), []time.Duration{0, 30 * time.Second}
	end := time.Unix(1800, 0)
	step := time.Second * 30
	cases := []struct {
		load, query string
		start, end  time.Time
		step        time.Duration
	}{
		{load: `load 30s
			a{x="1"} 1+1x3`, query: "sum" + `(a)`, end: time.UnixMilli(1500), step: time.Minute + 1*time.Second},
		{load: other(), query: "b"},
	}
}

func TestInstant(t *testing.T) {
	defaultQueryTime := time.Unix(50, 0)
	defaultLoad := `load 1m
		a 1`
	cases := []struct {
		load      string
		query     string
		queryTime time.Time
	}{{query: "a"}, {query: "b", queryTime: time.Unix(600, 0)}}
}
"""


@pytest.fixture
def cases(tmp_path):
    if not shutil.which("go"):
        pytest.skip("go not found in PATH")
    (tmp_path / "engine_test.go").write_text(GO)
    return go_cases(tmp_path)


@pytest.mark.study
def test_go_tables_become_cases(cases):
    first, unread, third, fourth = cases
    assert (first["test"], first["query"], first["instant"]) == ("TestTables", "sum(a)", False)
    assert (first["start_ms"], first["end_ms"], first["step_ms"]) == (-60_000, 1500, 61_000)
    assert first["lookbacks_ms"] == [0, 30_000]
    assert unread["unread"] == "load: a call that is not computed"
    assert [(one["load"][:7], one["start_ms"], one["step_ms"]) for one in (third, fourth)] == [
        ("load 1m", 50_000, 0),
        ("load 1m", 600_000, 0),
    ]


def test_cases_of_one_load_share_it():
    def case(line, load, unread="", lookbacks=(0,)):
        return {"line": line, "load": load, "query": " a ", "start_ms": 0, "end_ms": 0, "step_ms": 0} | {
            "unread": unread,
            "lookbacks_ms": list(lookbacks),
        }

    commands, unread = commands_of(
        [
            case(1, "load 1m\n  a 1"),
            case(2, "load 2m\n  a 1", lookbacks=(0, 300_000, 1000)),
            case(3, "load 1m\n  a 1"),
            case(4, "load 1m\n  a 1", unread="no step"),
            case(5, "load what"),
        ]
    )
    assert [type(one) for one in commands] == [Clear, Load, Eval, Eval, Clear, Load, Eval, Eval]
    assert [(one.line, one.lookback_ms) for one in commands if isinstance(one, Eval)] == [
        (1, 300_000),
        (3, 300_000),
        (2, 1000),
        (2, 300_000),
    ]
    assert [line for line, _ in unread] == [4, 5]


def test_values_stand_until_the_next():
    begin = datetime(2014, 4, 1, 23, 50)
    times = [begin + timedelta(minutes=at) for at in (0, 5, 8, 13, 60)]
    first_ms, minutes, row_of = on_minutes(times, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert first_ms == 1396310400000
    assert len(minutes) == 2 * 1440
    at = 23 * 60 + 50
    # The usual step is five minutes: the fourth value does not last for an hour.
    assert minutes[at : at + 20].tolist()[:18] == [1.0] * 5 + [2.0] * 3 + [3.0] * 5 + [4.0] * 5
    assert np.isnan(minutes[at + 18 : at + 60]).all()
    assert row_of[at + 60] == 4


def test_alarm_marks_one_row():
    begin = datetime(2014, 4, 1)
    steps = 16 * 288
    values = [1000.0 + number % 7 for number in range(steps)]
    values[15 * 288 + 100 : 15 * 288 + 112] = [9000.0] * 12
    scores = alarm_scores([begin + timedelta(minutes=5 * at) for at in range(steps)], values, RULES)
    assert [at for at, score in enumerate(scores) if score] == [15 * 288 + 100]


def test_gutentag_series_follow_the_design():
    found = configurations()
    assert found == configurations()
    assert len({one["name"] for one in found}) == len(found) == len(SEEDS) * len(LEVELS) * (len(KINDS) + 1)
    for one in found:
        ordinary = one["name"].startswith("ordinary_")
        assert len(one["anomalies"]) == (0 if ordinary else 1)
        for anomaly in one["anomalies"]:
            begin = anomaly["exact-position"]
            assert HISTORY_DAYS * 1440 + 1440 < begin < begin + anomaly["length"] < one["length"] - 1440
            if anomaly["length"] == 1440:
                assert begin % 1440 == 0


def test_gutentag_counts_labels_and_false_alarms():
    labels = labels_of(np.array([0, 1, 1, 0, 0, 1, 0]))
    assert labels == [Event(1, 3, 1), Event(5, 6, 5)]
    count = Count()
    # The first is found late; the second event touches no label.
    count.add(labels, [Event(2, 9, 4), Event(0, 1, 0)])
    assert (count.labels, count.found, count.in_time, count.false) == (2, 2, 1, 1)
    assert count.line == (
        "2 of 2 found (1 of them before they end), 1 false alarms (0.50 per series and week), precision 0.67, recall 1.00, F1 0.80"
    )
    nothing = Count()
    nothing.add(labels, [])
    assert nothing.line.endswith("precision 0.00, recall 0.00, F1 0.00")


def test_gutentag_detectors_find_a_stop():
    minutes = np.arange(17 * 1440)
    values = 2 + np.sin(2 * np.pi * minutes / 1440) + np.random.default_rng(1).normal(0, 0.1, len(minutes))
    values[16 * 1440 : 16 * 1440 + 60] = -1.0
    counts = counts_of(values, 2000)
    assert counts.min() == 0
    assert np.array_equal(counts, np.rint(counts))
    label = Event(16 * 1440, 16 * 1440 + 60, 16 * 1440)
    reported = ours(counts)
    assert [one.overlaps(label) for one in reported] == [True]
    assert gaussian(counts, 6) == []
    # It strays by 2.8 spreads of a window of days.
    assert next(one for one in gaussian(counts, 2.7) if one.start >= label.start) == label


def test_gaussian_joins_what_is_near():
    counts = np.tile([9.0, 11.0], 5000)
    counts[[7000, 7030, 7061]] = 100.0
    assert gaussian(counts, 5) == [Event(7000, 7031, 7000), Event(7061, 7062, 7061)]


def test_failed_script_says_why(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit('no such reader')")
    with pytest.raises(PartMissing, match=r"fails\.py duckdb: .*no such reader"):
        run_with((), script, ["duckdb"], timeout_s=60)


BENCHMARKS = """
		{
			Expr: "rate(a_X[1m])",
		},
		//{
		//	Expr: "topk(1, a_X)",
		//},
		{
			Expr:  "a_X - b_X",
			Steps: 10000,
		},
		{
			Expr:             "a_X[1m]",
			InstantQueryOnly: true,
		},
		{
			Expr: `a_2000{l=~"1..."} - b_2000`,
		},
		{
			Expr: "sum by (l)(nh_X)",
		},
"""


def test_benchmark_queries_are_read():
    assert queries(BENCHMARKS, (1, 100)) == [
        *(("rate(a_1[1m])", steps) for steps in (1, 100, 1000)),
        *(("rate(a_100[1m])", steps) for steps in (1, 100, 1000)),
        ("a_1 - b_1", 10_000),
        ("a_100 - b_100", 10_000),
    ]
    assert ('a_2000{l=~"1..."} - b_2000', 100) in queries(BENCHMARKS, (2000,))


def test_benchmark_series_follow_mimir():
    found = list(series_of((1, 2)))
    assert len(found) == 3 * (2 + 6)
    assert found[0].labels == {"__name__": "a_1"}
    assert found[-1].labels == {"__name__": "h_2", "l": "1", "le": "+Inf"}
    assert found[3].values[:2].tolist() == [3 / 24, 1 + 3 / 24]


def test_equal_rows_ignore_order():
    table = pa.table({"a": [1, 2], "b": [["x"], None]})
    assert equal_rows(table, pa.table({"b": [None, ["x"]], "a": [2, 1]}))
    assert not equal_rows(table, pa.table({"a": [1, 1], "b": [["x"], None]}))
    assert not equal_rows(table, pa.table({"a": [1, 2]}))


def test_missing_checkout_names_its_command(monkeypatch, tmp_path):
    monkeypatch.setenv("THROTTLESCOPE_CHECKOUTS", str(tmp_path))
    with pytest.raises(PartMissing, match=r"git clone https://github\.com/numenta/NAB"):
        checkout("numenta/NAB")
