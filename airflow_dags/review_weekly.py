"""Every week: how throttlescope itself did, and which limits matter.

The clock triggers this DAG. It waits for the last hour of the week, which ``diagnose_hourly`` brings, and triggers nothing.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable
from command_operator import CommandOperator
from commands import Tag, review
from defaults import DEFAULT_ARGS, SPARK_POOL, START_DATE, lake_is_fresh

DOC = """
### What it does

1. `lake_is_fresh` waits for the verdicts of the week's last hour: `throttlescope freshness --max-age 10m`.
2. `review` prints, for Monday to Sunday in UTC: forecasts compared with what came, how often verdicts changed their mind, how
   often verdict and counterfactual agree, and the limits that bind most and never: `throttlescope review`.

### Who owns it

The operators of the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **It changes nothing**, so it can be run for any week, at any time.
- **It judges only what the lake still holds**: forecasts of hours whose samples were removed are not judged, and it says so.

### Settings

Environment variables of the workers: `THROTTLESCOPE_COMMAND`, `THROTTLESCOPE_LAKE` or `THROTTLESCOPE_CONFIG`. Pools:
`throttlescope_spark`.
"""

with DAG(
    dag_id="review_weekly",
    description="Forecasts, verdicts and limits of a week, compared with what came",
    doc_md=DOC,
    # Monday 00:00: a week of Airflow's "@weekly" would begin on a Sunday.
    schedule=CronDataIntervalTimetable("0 0 * * 1", timezone="UTC"),
    start_date=START_DATE,
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=6),
    tags=[Tag.PULSAR.value, Tag.REVIEW.value],
    default_args=DEFAULT_ARGS | {"pool": SPARK_POOL},
) as dag:
    lake_is_fresh("week") >> CommandOperator(
        task_id="review",
        call=review(),
        doc_md="`throttlescope review` for the week.",
    )
