"""A topic with a thousand subscriptions is no task of its own: Spark's counts of a whole diagnosis."""

from __future__ import annotations

import pytest

from tests.app.commands import throttlescope
from tests.cluster.fleet import START_MS, Fleet, make_lake
from tests.cluster.spark_ways import all_on_spark
from tests.cluster.stages import rows_of_tasks
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.study, pytest.mark.timeout(1800)]

#: The crowded topic has three quarters of the fleet.
FLEET = Fleet(300, ill=5, on_one_topic=1000, hours=4)
#: Share of a stage's rows that one task may hold. Four hours are written by a task each, two of which may fall together.
MOST_SHARE = 0.6
#: Stages with fewer rows than an hour of the fleet have windows or files as rows: nobody waits for them.
LEAST_ROWS = 60 * 1305


def test_no_task_holds_the_crowded_topic(tmp_path, spark, monkeypatch):
    all_on_spark(monkeypatch.setattr)
    make_lake(tmp_path, FLEET)
    parts = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "16")
    try:
        with rows_of_tasks(spark) as stages:
            done = throttlescope(
                "diagnose", "--lake", tmp_path, "--start", format_time(START_MS), "--end", format_time(FLEET.end_ms), "--quiet"
            )  # fmt: skip
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", parts)
    assert done.code == 0, done.err
    assert sum(file.rows for file in Lake(tmp_path).files("signals")) == 1305 * 60 * FLEET.hours
    large = {stage: rows for stage, rows in stages.items() if sum(rows) >= LEAST_ROWS}
    # Signals are made and written, forecasts and anomalies read them: at the least.
    assert len(large) >= 4
    crowded = {stage: rows for stage, rows in large.items() if max(rows) > MOST_SHARE * sum(rows)}
    assert crowded == {}
