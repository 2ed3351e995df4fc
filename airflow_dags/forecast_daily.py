"""Every day: what comes next, and what was unusual in the day that has ended.

The clock triggers this DAG. It waits for the last hour of the day, which ``diagnose_hourly`` brings, and triggers nothing.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable
from command_operator import CommandOperator
from commands import Tag, anomalies, forecast
from defaults import DEFAULT_ARGS, SPARK_POOL, START_DATE, lake_is_fresh

DOC = """
### What it does

1. `lake_is_fresh` waits for the verdicts of the day's last hour, and fails when they are still late after its tries:
   `throttlescope freshness --max-age 10m`.
2. `forecast` prints when each backlog is drained and what takes messages away before, as of the day's end:
   `throttlescope forecast`. Forecasts four times an hour are in the lake already; this is the page of the day.
3. `anomalies` compares the whole day with the weeks before and writes the result into the lake: `throttlescope anomalies --store`.
   It sees the day whole, with scrapes that came late.

### Who owns it

The operators of the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **Running it again is safe.** The same day twice changes nothing.
- **Anomalies need two weeks of history**; before that, series are being learned, which is no failure.
- **`lake_is_fresh` is meant to be tried again**: at midnight the last hour is still being read. It fails for good after about an hour,
  and then `ingest_hourly` or `diagnose_hourly` is where to look.

### Settings

Environment variables of the workers: `THROTTLESCOPE_COMMAND`, `THROTTLESCOPE_LAKE` or `THROTTLESCOPE_CONFIG`;
`THROTTLESCOPE_MASTER` or `THROTTLESCOPE_SPARK_SUBMIT` for a cluster. Pools: `throttlescope_spark`.
"""

with DAG(
    dag_id="forecast_daily",
    description="What comes next, and what was unusual in the day",
    doc_md=DOC,
    schedule=CronDataIntervalTimetable("@daily", timezone="UTC"),
    start_date=START_DATE,
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=6),
    tags=[Tag.PULSAR.value, Tag.FORECAST.value],
    default_args=DEFAULT_ARGS | {"pool": SPARK_POOL},
) as dag:
    lake_is_fresh("day") >> [
        CommandOperator(
            task_id="forecast",
            call=forecast(),
            doc_md="`throttlescope forecast` at the end of the day.",
        ),
        CommandOperator(
            task_id="anomalies",
            call=anomalies(),
            execution_timeout=timedelta(hours=2),
            doc_md="`throttlescope anomalies --store` for the day.",
        ),
    ]
