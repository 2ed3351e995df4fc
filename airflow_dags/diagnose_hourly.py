"""Whenever an hour of samples was read: signals, verdicts and what follows from them.

The asset SAMPLES triggers this DAG, so ``ingest_hourly`` does. It updates the asset VERDICTS, which triggers nothing here.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, Param
from command_operator import CommandOperator, final
from commands import COVERED_END, COVERED_START, Tag, covered, diagnose, gates
from defaults import DEFAULT_ARGS, SAMPLES, SPARK_POOL, START_DATE, VERDICTS

DOC = """
### What it does

1. `diagnose` computes signals, verdicts, episodes, forecasts and anomalies of the hours that `ingest_hourly` has read, and of earlier
   ones of which samples came late: `throttlescope diagnose --missed --start ... --end ...`. Then it looks for hours that were read
   and never diagnosed, and does a day of them at most. It reads and writes the lake alone; no Prometheus and no broker is asked.
2. `gates` checks what came of it: `throttlescope quality check`. After it the asset `throttlescope_verdicts` is updated.

The hours are those of the asset events that triggered the run. Of several events that came while an earlier run was still going on
Airflow tells it of the first; the others are hours that no run has come to, and it finds them. A run by hand takes the
parameters `start` and `end`.

### Who owns it

The operators of the Pulsar clusters. The code is in `airflow_dags/` of throttlescope.

### When to be careful

- **Running it again is safe.** The same hours twice change nothing.
- **An hour without samples succeeds** and says that there was nothing to judge.
- **Exit code 3** means that a gate stopped it: the task fails at once, with the reason in its last line. The hours that it names are left
  out by later runs; once they are mended, run this DAG for them by hand.
- **A run that failed** leaves its hours to the next one.
- Verdicts of past hours follow today's rules. `throttlescope reopen` shows a verdict with the rules of its own time.

### Settings

Environment variables of the workers: `THROTTLESCOPE_COMMAND`, `THROTTLESCOPE_LAKE` or `THROTTLESCOPE_CONFIG`;
`THROTTLESCOPE_MASTER` or `THROTTLESCOPE_SPARK_SUBMIT` for a cluster. Pools: `throttlescope_spark`.
"""

_TIME = "RFC 3339, such as 2026-11-20T10:00:00Z; only for a run by hand"

with DAG(
    dag_id="diagnose_hourly",
    description="Signals and verdicts of the hours that were just read",
    doc_md=DOC,
    schedule=[SAMPLES],
    start_date=START_DATE,
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=3),
    tags=[Tag.PULSAR.value, Tag.DIAGNOSIS.value],
    default_args=DEFAULT_ARGS | {"pool": SPARK_POOL, "priority_weight": 10},
    user_defined_macros={"covered": final(covered)},
    params={
        "start": Param(None, type=["null", "string"], description=f"Start, included. {_TIME}"),
        "end": Param(None, type=["null", "string"], description=f"End, excluded. {_TIME}"),
    },
) as dag:
    judged = CommandOperator(
        task_id="diagnose",
        call=diagnose(),
        doc_md="`throttlescope diagnose` for the hours that were read.",
    )
    checked = CommandOperator(
        task_id="gates",
        call=gates(("signals", "verdicts"), COVERED_START, COVERED_END),
        execution_timeout=timedelta(minutes=20),
        outlets=[VERDICTS],
        doc_md="`throttlescope quality check` of what was computed.",
    )
    judged >> checked
