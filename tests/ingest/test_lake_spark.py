"""The lake and Spark: hours written by tasks, replaced exactly, read with the contract's columns."""

import pyarrow as pa
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake

pytestmark = pytest.mark.spark
HOUR = 1_795_161_600_000


def verdict(cluster, subscription, window_start_ms, cause="healthy"):
    return dict(
        cluster=cluster, namespace="t/n", topic="persistent://t/n/x", partition=-1, subscription=subscription,
        window_start_ms=window_start_ms, window_end_ms=window_start_ms + 300_000, side="neither", cause=cause,
        limiter=None, confidence=0.9,
        evidence=[dict(symptom="flat", weight="for", text="t", value=1.0, threshold=None, unit="msg", at_ms=1, promql=None)],
        missing_evidence=[], naive_side="neither", rules_version="1", backlog_entries=1.0,
        backlog_growth_entries=None, variant=None, why=None, contributing=None, capacity_msg_rate=None,
        capacity_seen_ms=None, messages=None, date=date_of(window_start_ms),
    )  # fmt: skip


def frame(spark, rows):
    from pyspark.sql.pandas.types import from_arrow_schema

    table = pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)
    return spark.createDataFrame(table, from_arrow_schema(TABLES["verdicts"].loose_schema))


def write(lake, df, start_ms, end_ms, clusters=("c",), run_id="r"):
    return lake.replace_spark(
        df, "verdicts", run_id=run_id, time_column="window_start_ms", clusters=clusters, start_ms=start_ms, end_ms=end_ms
    )  # fmt: skip


def test_hours_are_replaced_exactly(spark, tmp_path):
    """A repetition changes nothing."""
    lake = Lake(tmp_path)
    rows = [
        verdict(cluster, subscription, HOUR + i * 300_000)
        for cluster in ("c", "d")
        for subscription in ("s1", "s2")
        for i in range(24)
    ]
    write(lake, frame(spark, rows), HOUR, HOUR + 2 * BLOCK_MS, clusters=("c", "d"))
    assert len(lake.files("verdicts")) == 4
    stored = lake.read("verdicts").to_pylist()
    assert sorted(map(str, stored)) == sorted(map(str, rows))
    assert write(lake, frame(spark, rows[::-1]), HOUR, HOUR + 2 * BLOCK_MS, clusters=("c", "d")) == 0

    changed = [verdict("c", "s1", HOUR + i * 300_000, cause="throttled") for i in range(12)]
    assert write(lake, frame(spark, changed), HOUR, HOUR + BLOCK_MS) == 1
    after = lake.read("verdicts").to_pylist()
    expected = changed + [r for r in rows if r["cluster"] == "d" or r["window_start_ms"] >= HOUR + BLOCK_MS]
    assert sorted(map(str, after)) == sorted(map(str, expected))


@pytest.mark.study
def test_a_snapshot_reads_the_same_in_spark(spark, tmp_path):
    lake = Lake(tmp_path)
    assert lake.spark(spark, "verdicts").count() == 0
    rows = [verdict("c", "s", HOUR)]
    write(lake, frame(spark, rows), HOUR, HOUR + BLOCK_MS)
    df = lake.spark(spark, "verdicts")
    assert df.columns == [column.name for column in TABLES["verdicts"].columns]
    assert df.toArrow().to_pylist() == lake.read("verdicts").to_pylist()


def test_an_empty_result_removes_the_old_hours(spark, tmp_path):
    lake = Lake(tmp_path)
    write(lake, frame(spark, [verdict("c", "s", HOUR)]), HOUR, HOUR + BLOCK_MS)
    write(lake, frame(spark, []), HOUR, HOUR + BLOCK_MS)
    assert lake.read("verdicts").num_rows == 0
