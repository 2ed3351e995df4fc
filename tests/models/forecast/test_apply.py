"""Forecasts on Spark: the same rows as in-process, whole hours replaced, nothing changed by a second run."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.diagnosis.test_apply import fill
from tests.models.forecast.minutes import HOUR_MS, end_ms, rows_of, table_of
from tests.models.forecast.policies import policies, quota
from tests.models.forecast.test_forecasts import BYTES, FALLING, SIZE, STALLED
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.forecast.apply import build_forecasts, forecasts_of

FIVE_MS = 5 * MINUTE_MS


def fill_policies(lake: Lake, rows: list[dict]) -> None:
    rows = [{**row, "date": date_of(row["observed_ms"])} for row in rows]
    lake.upsert("policies", pa.Table.from_pylist(rows, schema=TABLES["policies"].loose_schema), run_id="fill")


def stored(lake: Lake) -> list[dict]:
    rows = lake.read("forecasts").to_pylist()
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in TABLES["forecasts"].key))


def in_process(rows: list[dict], answers: list[dict], times_ms) -> list[dict]:
    found = forecasts_of(table_of(rows), answers, times_ms).to_pylist()
    return sorted(found, key=lambda row: tuple(str(row[name]) for name in TABLES["forecasts"].key))


@pytest.mark.spark
@pytest.mark.long
def test_spark_says_what_one_process_says(spark, tmp_path) -> None:
    lake = Lake(tmp_path)
    # A quota is forecast for the slowest subscription of a topic: rows of a topic must not be parted where there is one.
    rows = rows_of(FALLING, storage_backlog_bytes=BYTES) + rows_of(
        STALLED, "audit", consumers=0.0, storage_backlog_bytes=BYTES
    )
    others = [{**row, "cluster": "other"} for row in rows_of(FALLING[10:]) + rows_of(FALLING[10:], "audit")]
    answers = policies(topic_message_ttl=3600, topic_backlog_quotas={SIZE: quota(size=10**9)})
    fill(lake, rows)
    fill(lake, others)
    fill_policies(lake, answers)
    written = build_forecasts(
        SparkPoolExecutor(spark), lake, ["prod", "other"], HOUR_MS, end_ms(30), "run", every_ms=FIVE_MS
    )
    found = stored(lake)
    assert written == len(found)
    prod = [row for row in found if row["cluster"] == "prod"]
    assert prod == in_process(rows, answers, range(HOUR_MS, end_ms(30) + 1, FIVE_MS))
    assert {row["kind"] for row in prod} == {"drain", "ttl", "quota_size"}
    # Another cluster's policies are not this one's, and its history is shorter.
    other = [row for row in found if row["cluster"] == "other"]
    assert other == in_process(others, [], range(HOUR_MS, end_ms(20) + 1, FIVE_MS))
    assert {row["kind"] for row in other} == {"drain"}
    assert max(row["made_at_ms"] for row in other) <= end_ms(20)
    version = lake.version("forecasts")
    build_forecasts(
        SparkPoolExecutor(spark), lake, ["prod", "other"], HOUR_MS, end_ms(30), "again", every_ms=FIVE_MS
    )
    assert lake.version("forecasts") == version
    # More minutes: the hour is rewritten, and has the old forecasts as they were.
    more = rows_of([*FALLING, 76_000.0, 72_000.0, 68_000.0, 64_000.0, 60_000.0])[30:]
    fill(lake, more)
    build_forecasts(
        SparkPoolExecutor(spark), lake, ["prod"], HOUR_MS, HOUR_MS + BLOCK_MS, "more", every_ms=FIVE_MS
    )
    kept = [
        row
        for row in stored(lake)
        if row["cluster"] == "prod" and row["made_at_ms"] <= end_ms(30) and row["subscription"] == "billing"
    ]
    assert kept == [row for row in prod if row["subscription"] == "billing"]
    assert max(row["made_at_ms"] for row in stored(lake)) == end_ms(35)


@pytest.mark.spark
def test_nothing_to_forecast(spark, tmp_path) -> None:
    assert (
        build_forecasts(SparkPoolExecutor(spark), Lake(tmp_path), ["prod"], HOUR_MS, end_ms(30), "run") == 0
    )


def test_distance_below_a_minute_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="--every"):
        build_forecasts(
            InProcessExecutor(), Lake(tmp_path), ["prod"], HOUR_MS, end_ms(30), "run", every_ms=90_000
        )
