"""Run by Airflow's own Python: in, a folder of DAGs; out, JSON on standard output with what tests want to know of them."""

import json
import sys
from pathlib import Path

from airflow.dag_processing.dagbag import BundleDagBag

folder = Path(sys.argv[1])
bag = BundleDagBag(folder, bundle_path=folder, bundle_name="dags-folder")


def assets(found):
    return sorted(asset.name for asset in found)


json.dump(
    {
        "import_errors": bag.import_errors,
        "product_modules": sorted(name for name in sys.modules if name.startswith("throttlescope")),
        "dags": {
            dag_id: {
                "file": Path(dag.fileloc).name,
                "doc": dag.doc_md,
                "tags": sorted(dag.tags),
                "start_date": dag.start_date and dag.start_date.isoformat(),
                "catchup": dag.catchup,
                "max_active_runs": dag.max_active_runs,
                "timetable": type(dag.timetable).__name__,
                "waits_for": assets(dag.schedule) if isinstance(dag.schedule, list) else [],
                "params": dag.params.dump(),
                "tasks": {
                    task.task_id: {
                        "operator": type(task).__name__,
                        "owner": task.owner,
                        "retries": task.retries,
                        "backs_off": task.retry_exponential_backoff,
                        "timeout_s": task.execution_timeout and task.execution_timeout.total_seconds(),
                        "pool": task.pool,
                        "doc": task.doc_md,
                        "command": task.arguments,
                        "final": list(task.final),
                        "brings": assets(task.outlets),
                        "after": sorted(task.upstream_task_ids),
                    }
                    for task in dag.tasks
                },
            }
            for dag_id, dag in bag.dags.items()
        },
    },
    sys.stdout,
)
