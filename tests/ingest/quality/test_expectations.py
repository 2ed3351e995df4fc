"""Expectations and their results: faults are found, and a broken gate is never taken for bad data."""

import json

import pyarrow as pa
import pytest

from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.quality.checks import GateCheck
from throttlescope.ingest.quality.expectations import _validate, failing, raised_message
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import LocalFrame, SparkFrame

FINE = GateCheck("fine", "there", "warning", "faults", "none")


def counts(**columns):
    return pa.table({"cluster": ["c"], "there": pa.array([0], pa.int64())} | columns)


def judged(rows, checks, **how):
    how = {
        "gate": "g",
        "table": "samples",
        "row_word": "rows",
        "run_id": "r",
        "example_columns": ["key"],
    } | how
    return judge(LocalFrame(rows), checks, **how)


@pytest.mark.parametrize(
    ("column", "unique", "message"),
    [
        ("nowhere", (), r"check broken could not be evaluated.*no column nowhere"),
        ("there", ("cluster", "nowhere"), r"check broken could not be evaluated.*no column nowhere"),
        ("word", (), r"check broken could not be evaluated.*word of type string"),
    ],
)
def test_check_of_missing_column_is_an_error(column, unique, message):
    """And of a column without counts."""
    checks = [FINE, GateCheck("broken", column, "warning", "faults", "none", unique=unique)]
    with pytest.raises(GateError, match=message):
        failing(LocalFrame(counts(word=["x"])), checks)


def test_a_null_is_no_count():
    """Great Expectations passes over NULLs: a fault that nobody counted would be none."""
    nulls = pa.table({"cluster": ["c", "c"], "key": [1, 2], "there": pa.array([0, None], pa.int64())})
    with pytest.raises(GateError, match="check fine could not be evaluated; got 1 rows of 2 without a count"):
        judged(nulls, [FINE])


@pytest.mark.long
@pytest.mark.parametrize("engine", ["pandas", pytest.param("spark", marks=pytest.mark.spark)])
def test_unevaluable_expectations_are_recognised(engine, request):
    """It answers success=False for a missing column and for another type, in forms of its own."""
    table = counts(word=["x"])
    frame = (
        LocalFrame(table)
        if engine == "pandas"
        else SparkFrame(request.getfixturevalue("spark").createDataFrame(table))
    )
    try:
        for check in (
            GateCheck("broken", "nowhere", "warning", "faults", "none"),
            GateCheck("broken", "word", "warning", "faults", "none"),
            GateCheck("broken", "there", "error", "faults", "none", unique=("cluster", "nowhere")),
        ):
            by_name = {
                result.expectation_config.meta["check"]: result for result in _validate(frame, [FINE, check])
            }
            assert by_name["fine"].success
            assert not by_name["broken"].success
            assert raised_message(by_name["fine"].exception_info) is None
            if engine == "spark" and check.column == "word":
                continue  # Spark compares a text with a number: no exception, and the check of types is what tells.
            assert raised_message(by_name["broken"].exception_info)
    finally:
        frame.close()


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (None, None),
        ({"raised_exception": False, "exception_message": None}, None),
        ({"raised_exception": True, "exception_message": "boom"}, "boom"),
        ({"metric-1": {"raised_exception": True, "exception_message": "boom"}}, "boom"),
    ],
)
def test_both_forms_of_exception_info_are_read(info, message):
    assert raised_message(info) == message


@pytest.mark.long
def test_worst_twenty_keys_are_kept():
    """Worst first; the other rows are counted."""
    rows = pa.table(
        {
            "cluster": ["a"] * 30 + ["b"] * 2 + ["fine"],
            "key": pa.array([*range(30), 0, 1, 0], pa.int64()),
            "there": pa.array([*range(1, 31), 7, 7, 0], pa.int64()),
        }
    )
    result = judged(rows, [FINE], describe=lambda example: {"told": example["key"]})
    held, a, b = result.rows.to_pylist()
    assert (held["check"], held["success"], held["observed"]) == ("rows_present", True, "33 rows")
    assert (a["cluster"], a["rows"], a["observed"]) == ("a", 30, f"{sum(range(31))} faults in 30 rows")
    example = json.loads(a["example"])
    assert (example["told"], example["there"]) == (29, 30)
    assert [other["key"] for other in example["others"]] == list(range(28, 9, -1))
    assert json.loads(b["example"]) == {"told": 0, "there": 7, "others": [{"key": 1, "there": 7}]}


@pytest.mark.long
def test_unjudged_rows_are_counted_with_reason():
    check = GateCheck(
        "fine", "there", "warning", "faults", "none", not_judged=(("young", "too young"), ("old", "too old"))
    )
    rows = pa.table(
        {
            "cluster": ["c"] * 4, "key": [1, 2, 3, 4], "there": [0, 0, 0, 0], "young": [1, 1, 0, 0], "old": [0, 0, 1, 0],
        }
    )  # fmt: skip
    told = "1 of 4 rows judged; not judged: 2 too young, 1 too old"
    assert judged(rows, [check]).rows["observed"].to_pylist() == ["4 rows", told]
    faulty = rows.set_column(2, "there", pa.array([0, 0, 0, 5]))
    assert judged(faulty, [check]).rows["observed"].to_pylist()[1] == f"5 faults in 1 rows ({told})"


@pytest.mark.parametrize(("word", "success"), [("", False), ("nobody was asked", True)])
def test_empty_frame_passes_only_if_allowed(word, success):
    (row,) = judged(counts(key=[1]).slice(1), [FINE], may_be_empty=word).rows.to_pylist()
    assert (row["check"], row["success"]) == ("rows_present", success)
    assert row["observed"].startswith("0 rows")
    assert word in row["observed"]


def test_tables_of_one_gate_are_one_result():
    fault = GateCheck("faulty", "there", "error", "faults", "none")
    good = judged(counts(key=[1]), [FINE])
    bad = judged(counts(key=[1]).set_column(1, "there", pa.array([2], pa.int64())), [fault], table="series")
    both = GateResult.of([good, bad])
    assert both.stopped
    assert not good.stopped
    assert [row["check"] for row in both.rows.to_pylist()] == [
        "rows_present",
        "fine",
        "rows_present",
        "faulty",
    ]
    error = both.error()
    assert error.exit_code == 3
    assert "The g gate stopped the run: faulty in cluster c" in str(error)
