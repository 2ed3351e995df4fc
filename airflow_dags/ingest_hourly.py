"""Every hour: the hour that has just ended, and those that were missed before it, from the source into the lake, and past the gates.

The clock triggers this DAG. It updates the asset SAMPLES, which triggers ``diagnose_hourly``.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable
from command_operator import CommandOperator
from commands import INTERVAL_END, READ_START, Tag, gates, ingest, read_from, source_freshness
from defaults import DEFAULT_ARGS, LATE_MAY_COME, SAMPLES, SOURCE_POOL, START_DATE

DOC = """
### What it does

Reads one hour of samples and limits from Prometheus and Pulsar's admin API into the lake and checks them. Hours that were missed
before it, because Airflow or the source was down, are read with it. Nothing is written to a Pulsar cluster.

1. `source_is_fresh` fails when the source's newest samples are more than 10 minutes older than the end of the hour:
   `throttlescope freshness --source`. An hour without any traffic is not late as long as the brokers are scraped.
2. `ingest` reads from where the source was read to, less 15 minutes for scrapes that came late, and runs the gates:
   `throttlescope ingest --since-watermark --start ... --end ...`. The first time, and when the hour is run again, it begins at the start
   of the hour. Its log shows the progress and, at the end, the summary of the run's manifest.
3. `gates` checks what the lake holds now of the hour and of those that were missed, whichever command wrote it, and lists failed checks:
   `throttlescope quality check`. After it the asset `throttlescope_samples` is updated with these hours, and `diagnose_hourly` starts.

### Who owns it

The operators of the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **Running it again is safe.** The same hour twice changes nothing, and an hour that was stopped is completed.
- **Two runs at once are not useful**: `max_active_runs` is 1, because both would read the same Prometheus.
- **An hour can be run later** as long as Prometheus still has its samples. Limits are those of the moment when the admin
  API is read; verdicts of older hours say so (`limit_observed_later`).
- **After a downtime nothing has to be done.** More than six hours are read six at a time; a try that ends in between leaves the rest
  to the next one, and `diagnose_hourly` finds what it has brought. After more than a day look at `backfill` first: it reads and
  diagnoses in chunks, oldest first.
- **An hour of which nothing is there** succeeds and is written down as a gap. Where the source was never read before it is an error
  (exit code 2): the address or the selectors are most likely wrong.
- **Exit code 3** of `ingest` or `gates` means that a quality gate stopped it: the task fails at once, with the reason in its last line, and
  `throttlescope quality` says more. Exit code 4 means that a source could not be reached; that is what the tries are for.

### Settings

Environment variables of the workers: `THROTTLESCOPE_COMMAND` (path of the command), `THROTTLESCOPE_LAKE`,
`THROTTLESCOPE_CONFIG`, or `THROTTLESCOPE_PROMETHEUS` and `THROTTLESCOPE_PULSAR_ADMIN`; `THROTTLESCOPE_MASTER` or
`THROTTLESCOPE_SPARK_SUBMIT` for a cluster. Pools: `throttlescope_source`.
"""

with DAG(
    dag_id="ingest_hourly",
    description="One hour of Pulsar metrics, from Prometheus into the lake",
    doc_md=DOC,
    # "@hourly" as a plain string gives intervals without length since Airflow 3.
    schedule=CronDataIntervalTimetable("@hourly", timezone="UTC"),
    start_date=START_DATE,
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=3),
    tags=[Tag.PULSAR.value, Tag.INGEST.value],
    default_args=DEFAULT_ARGS | {"pool": SOURCE_POOL, "priority_weight": 10},
    user_defined_macros={"read_from": read_from},
) as dag:
    source_is_fresh = CommandOperator(
        task_id="source_is_fresh",
        call=source_freshness(),
        final=LATE_MAY_COME,
        execution_timeout=timedelta(minutes=5),
        doc_md="Fails when the source's samples do not reach the end of the hour.",
    )
    read = CommandOperator(
        task_id="ingest",
        call=ingest(),
        doc_md="`throttlescope ingest` from where the source was read to, up to the end of the data interval.",
    )
    checked = CommandOperator(
        task_id="gates",
        call=gates(("door", "samples", "policies"), READ_START, INTERVAL_END),
        execution_timeout=timedelta(minutes=20),
        outlets=[SAMPLES],
        doc_md="`throttlescope quality check` of what was read.",
    )
    source_is_fresh >> read >> checked
