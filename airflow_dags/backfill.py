"""By hand: a long range from the source to verdicts, in chunks.

A person triggers this DAG with its parameters; it triggers nothing.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, Param
from command_operator import CommandOperator
from commands import Tag, backfill
from defaults import DEFAULT_ARGS, SOURCE_POOL, START_DATE

DOC = """
### What it does

Brings a past range from Prometheus to verdicts, chunk by chunk: `throttlescope backfill --start ... --end ... --chunk ...`. Its log
shows each chunk and the time that is left.

Parameters: `start` and `end` (RFC 3339, or relative such as `-30d` and `now`), `chunk` (such as `6h`), `dry_run`. With `dry_run`, the
default, it prints the plan with estimates and reads nothing.

### Who owns it

The operators of the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **Look at the dry run first**: 30 days of a large fleet are many requests to Prometheus.
- **It can be stopped.** Chunks that were done are known from the lake; the next try, or another run with the same parameters, goes on
  behind them.
- **Prometheus must still have the samples**; what its retention has removed stays a gap, and is recorded as one.
- **Limits are those of now**: the admin API tells no history. Verdicts say so (`limit_observed_later`).
- It may run at the same time as `ingest_hourly`; hours that both read are written once.

### Settings

Environment variables of the workers, as for `ingest_hourly`; `THROTTLESCOPE_MASTER` or `THROTTLESCOPE_SPARK_SUBMIT` for a cluster.
Pools: `throttlescope_source`.
"""

with DAG(
    dag_id="backfill",
    description="A past range, from Prometheus to verdicts, in chunks",
    doc_md=DOC,
    schedule=None,
    start_date=START_DATE,
    catchup=False,
    max_active_runs=1,
    tags=[Tag.PULSAR.value, Tag.INGEST.value, Tag.DIAGNOSIS.value, Tag.BY_HAND.value],
    default_args=DEFAULT_ARGS | {"pool": SOURCE_POOL},
    params={
        "start": Param("-30d", type="string", minLength=1, description="Start, included: RFC 3339 or -30d"),
        "end": Param("now", type="string", minLength=1, description="End, excluded: RFC 3339, now or -1d"),
        "chunk": Param(
            "6h",
            type="string",
            pattern=r"^(\d+(ms|s|m|h|d|w))+$",
            description="How much is read and judged at a time",
        ),
        "dry_run": Param(True, type="boolean", description="Print the plan, read nothing"),
    },
) as dag:
    CommandOperator(
        task_id="backfill",
        call=backfill(
            "{{ params.start }}",
            "{{ params.end }}",
            "{{ params.chunk }}",
            "{{ '--dry-run' if params.dry_run else '' }}",
        ),
        # Each chunk is bounded by what it reads; a month of them is not.
        execution_timeout=timedelta(days=3),
        doc_md="`throttlescope backfill` for the range of the parameters.",
    )
