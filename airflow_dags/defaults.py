"""What all DAGs share: their assets, pools, owner, and how a task is tried again. Out: values and a task that the DAG files name.

``ingest_hourly`` updates SAMPLES, which triggers ``diagnose_hourly``, which updates VERDICTS.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import Asset
from command_operator import CommandOperator
from commands import lake_freshness

SAMPLES = Asset(name="throttlescope_samples", uri="x-throttlescope://lake/samples")
VERDICTS = Asset(name="throttlescope_verdicts", uri="x-throttlescope://lake/verdicts")

#: Their sizes are in pools.json.
SOURCE_POOL = "throttlescope_source"
SPARK_POOL = "throttlescope_spark"

#: Fixed: a date that moves would be another one each time that a file is parsed.
START_DATE = datetime(2026, 1, 1, tzinfo=UTC)

#: How long a task may be tried again follows from Airflow's core.default_task_retry_delay (300 s unless configured).
DEFAULT_ARGS = {
    "owner": "pulsar-operations",
    "retries": 3,
    # A multiplier; True would count as 1, which is no back-off at all.
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=20),
    "execution_timeout": timedelta(minutes=50),
}

#: Data that is late may still come, so a check of it is tried again; exit code 2 stays final.
LATE_MAY_COME = (2,)


def lake_is_fresh(of: str) -> CommandOperator:
    """The task that waits for the verdicts of the last hour ``of`` a data interval: ``"day"`` or ``"week"``."""
    return CommandOperator(
        task_id="lake_is_fresh",
        call=lake_freshness(max_age="10m"),
        final=LATE_MAY_COME,
        retries=5,
        execution_timeout=timedelta(minutes=5),
        doc_md=f"Fails when the verdicts do not reach the end of the {of}.",
    )
