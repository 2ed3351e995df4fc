"""Judging windows: the verdicts are those of a run, with grade and baselines."""

from __future__ import annotations

import pyarrow as pa

from tests.models.diagnosis.scenes import START_MS, scene
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.verdict import CONFIDENCE_OF_GRADE
from throttlescope.models.evaluation import judge

THROTTLED = {
    "backlog": [5000.0, 6000.0, 7000.0, 8000.0, 9000.0],
    "limits": {"subscription.msg": {"limit": 100, "rho": 0.99, "events": 2.0}},
}


def signals(**changes) -> pa.Table:
    window = scene(**changes)
    rows = [{name: window.columns[name][i] for name in window.columns} for i in range(5)]
    rows = [row | window.key._asdict() | {"date": "2026-11-18"} for row in rows]
    return pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)


def test_the_verdicts_are_those_of_a_run():
    table = signals(**THROTTLED)
    found = judge(table)
    runs = verdicts_of(
        table, START_MS - 5 * MINUTE_MS, START_MS + 5 * MINUTE_MS, every_ms=MINUTE_MS
    ).to_pylist()
    names = ("window_start_ms", "window_end_ms", "side", "cause", "limiter", "confidence", "rules_version")
    assert len(found) == 5
    assert [(one.start_ms, one.end_ms, one.side, one.cause, one.limiter, one.confidence, one.rules_version) for one in found] == [
        tuple(row[name] for name in names) for row in runs
    ]  # fmt: skip
    assert [one.baselines["naive rule"] for one in found] == [row["naive_side"] for row in runs]
    assert [one.missing for one in found] == [
        tuple(missing["fix"] for missing in row["missing_evidence"]) for row in runs
    ]


def test_grade_matches_the_confidence():
    whole = judge(signals(**THROTTLED))[-1]
    assert whole.cause == "throttled"
    assert whole.confidence == CONFIDENCE_OF_GRADE[whole.grade]


def test_what_is_not_named_has_no_grade():
    first = judge(signals(**THROTTLED))[0]
    assert (first.cause, first.grade, first.confidence) == ("unknown", "", 0.0)


def test_nothing_gives_nothing():
    assert judge(TABLES["signals"].loose_schema.empty_table()) == []
