"""Every hour: the hour that has just ended, from ingest to verdicts.

Nothing triggers this DAG but the clock, and it triggers nothing. It runs ``throttlescope run``, the command that a
person would run, in the project's own environment; this file only wires it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, CronDataIntervalTimetable
from commands import Program, Tag, shell_line

DOC = """
### What it does

Reads one hour of samples and limits from Prometheus and Pulsar's admin API into the lake, checks them, and computes
signals and verdicts: `throttlescope run --start ... --end ...`. Nothing is written to a Pulsar cluster.

### Who owns it

Whoever operates the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **Running it again is safe.** The same hour twice changes nothing, and an hour that was stopped is completed.
- **Two runs at once are not useful**: `max_active_runs` is 1, because both would read the same Prometheus.
- **An hour can be run later** as long as Prometheus still has its samples. Limits are those of the moment when the admin
  API is asked; verdicts of older hours say so (`limit_observed_later`).
- **Exit code 3** means that a quality gate stopped the run: retrying does not help, `throttlescope quality` says why.
  Exit code 4 means that a source could not be reached; that is what the retries are for.

### Settings

Environment variables of the worker: `THROTTLESCOPE_COMMAND` (path of the command), `THROTTLESCOPE_LAKE`,
`THROTTLESCOPE_CONFIG`, or `THROTTLESCOPE_PROMETHEUS` and `THROTTLESCOPE_PULSAR_ADMIN`.
"""

with DAG(
    dag_id="ingest_hourly",
    description="One hour of Pulsar metrics, from ingest to verdicts",
    doc_md=DOC,
    # "@hourly" as a plain string gives intervals without length since Airflow 3.
    schedule=CronDataIntervalTimetable("@hourly", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=2),
    tags=[Tag.INGEST.value, Tag.PULSAR.value],
    default_args={
        "owner": "pulsar-operations",
        "retries": 3,
        "retry_delay": timedelta(minutes=2),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(minutes=20),
        "execution_timeout": timedelta(minutes=50),
    },
) as dag:
    BashOperator(
        task_id="run",
        bash_command=shell_line(Program.from_environment().run()),
        doc_md="`throttlescope run` for the data interval.",
    )
