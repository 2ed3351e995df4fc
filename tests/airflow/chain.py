"""One hour's chain in a real Airflow. In: a standalone Airflow and a lake. Out: its two runs, once they have ended.

The first try of ``ingest`` is killed while its command runs; the second does the work.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.airflow.own_airflow import COMMAND
from tests.airflow.standalone import Api, parent_of, processes_with


def program_that_waits_once(folder: Path) -> Path:
    """A command that waits to be killed when it is asked to ingest for the first time, and is the real one otherwise."""
    program = folder / "throttlescope"
    program.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = ingest ] && [ ! -e {folder}/began ]; then touch {folder}/began; echo "[0/1] Waiting"; '
        f"exec sleep {marker(folder)}; fi\n"
        f'exec timeout 900 {COMMAND} "$@"\n'
    )
    program.chmod(0o755)
    return program


def marker(folder: Path) -> str:
    """How long it waits: a number by which its process is found."""
    return f"900.{abs(hash(folder)) % 10**9:09d}"


def kill_the_first_try(api: Api, folder: Path) -> None:
    """End the process of the task, as an operating system does that has no memory left."""
    api.wait("first try of ingest", (folder / "began").exists)
    (command,) = api.wait("command of it", lambda: processes_with(f"sleep {marker(folder)}"))
    os.kill(parent_of(command), signal.SIGKILL)
    # The command ends with its task; the next try would otherwise run beside it.
    end_s = time.monotonic() + 60
    while processes_with(f"sleep {marker(folder)}"):
        assert time.monotonic() < end_s, "the command outlived its task"
        time.sleep(0.2)


def run_chain(api: Api, folder: Path, *, kill: bool = True) -> tuple[dict, dict]:
    """Unpause the two hourly DAGs: the clock starts the first, its asset the second."""
    for dag_id in ("diagnose_hourly", "ingest_hourly"):
        api.wait(f"DAG {dag_id}", lambda dag_id=dag_id: known(api, dag_id))
        api.unpause(dag_id)
    if kill:
        kill_the_first_try(api, folder)
    return api.finished("ingest_hourly"), api.finished("diagnose_hourly")


def known(api: Api, dag_id: str) -> bool:
    """Whether the DAG processor has parsed it."""
    return any(dag["dag_id"] == dag_id for dag in api.get("/dags")["dags"])
