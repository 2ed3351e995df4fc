"""``airflow standalone`` for tests: in, an Airflow and settings; out, its REST API while the context lasts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from tests.lab.processes import free_port, log_tail
from throttlescope.ingest.core.times import BLOCK_MS

#: A machine that does other things beside needs minutes for what takes 15 s.
STARTUP_S = 600
_STOP_S = 120


@dataclass(frozen=True)
class Api:
    """Airflow's REST API, asked as its only user."""

    url: str
    log_file: Path
    token: str

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        return self._ask("GET", path, params=params)

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("PATCH", path, json=body)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("POST", path, json=body)

    def unpause(self, dag_id: str) -> None:
        self.patch(f"/dags/{dag_id}", {"is_paused": False})

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        """Runs of a DAG, oldest first."""
        found = self.get(f"/dags/{dag_id}/dagRuns")["dag_runs"]
        return sorted(found, key=lambda run: run["run_after"])

    def tasks(self, run: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Task instances of a run, by their ids."""
        found = self.get(f"/dags/{run['dag_id']}/dagRuns/{run['dag_run_id']}/taskInstances")["task_instances"]
        return {task["task_id"]: task for task in found}

    def log(self, run: dict[str, Any], task_id: str, attempt: int) -> str:
        """What a try of a task said."""
        path = f"/dags/{run['dag_id']}/dagRuns/{run['dag_run_id']}/taskInstances/{task_id}/logs/{attempt}"
        content = self.get(path, full_content="true")["content"]
        return "\n".join(line if isinstance(line, str) else line.get("event", "") for line in content)

    def wait(self, what: str, found: Callable[[], Any], timeout_s: float = 900) -> Any:
        """Ask again and again until there is something."""
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s:
            if result := found():
                return result
            time.sleep(1)
        raise TimeoutError(f"no {what} after {timeout_s:.0f} s:\n{log_tail(self.log_file, 60)}")

    def finished(self, dag_id: str, number: int = 0, timeout_s: float = 900) -> dict[str, Any]:
        """The run of that number once it has ended."""

        def ended():
            runs = self.runs(dag_id)
            return len(runs) > number and runs[number]["state"] in ("success", "failed") and runs[number]

        return self.wait(f"finished run of {dag_id}", ended, timeout_s)

    def trigger(self, dag_id: str, start_ms: int) -> str:
        """Start a run for an hour, as a person does; its id."""
        start, end = (
            datetime.fromtimestamp(ms / 1000, UTC).isoformat() for ms in (start_ms, start_ms + BLOCK_MS)
        )
        hour = {"logical_date": start, "data_interval_start": start, "data_interval_end": end}
        return self.post(f"/dags/{dag_id}/dagRuns", hour)["dag_run_id"]

    def ended(self, dag_id: str, run_id: str, timeout_s: float = 900) -> dict[str, Any]:
        """A run once it has ended."""

        def found():
            run = self.get(f"/dags/{dag_id}/dagRuns/{run_id}")
            return run["state"] in ("success", "failed") and run

        return self.wait(f"end of {run_id}", found, timeout_s)

    def _ask(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        answer = requests.request(
            method, f"{self.url}/api/v2{path}", headers={"Authorization": f"Bearer {self.token}"}, timeout=60, **more
        )  # fmt: skip
        if answer.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()


@contextlib.contextmanager
def running_standalone(airflow, **settings: str) -> Iterator[Api]:
    """Run scheduler, DAG processor, API server and triggerer on loopback, two tasks at once.

    Parameters
    ----------
    airflow : Airflow
        Home and environment.
    settings
        More of the environment; that of the tasks too.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log_file = airflow.home / "standalone.log"
    binaries = Path(airflow.python).parent
    environment = airflow.environment | {
        # It starts its parts by the name "airflow".
        "PATH": f"{binaries}{os.pathsep}{airflow.environment['PATH']}",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        # Five seconds are too few on a machine that does other things beside.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        # What "tried again" waits for; five minutes where nobody says otherwise.
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "1",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__TRIGGERER__CAPACITY": "1",
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
        **settings,
    }
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [str(airflow.python), "-m", "airflow", "standalone"],
            env=environment,
            cwd=airflow.home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # A group of its own: what does not end by itself is ended as one.
            start_new_session=True,
            # A shell starts what is in its background deaf to SIGINT, and that is inherited.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    try:
        yield Api(url, log_file, _token(process, url, log_file))
    finally:
        _stop(process)


def _token(process: subprocess.Popen, url: str, log_file: Path) -> str:
    end_s = time.monotonic() + STARTUP_S
    while time.monotonic() < end_s and process.poll() is None:
        with contextlib.suppress(requests.RequestException, KeyError, ValueError):
            return requests.get(f"{url}/auth/token", timeout=10).json()["access_token"]
        time.sleep(1)
    raise RuntimeError(f"Airflow is not up:\n{log_tail(log_file, 60)}")


def _stop(process: subprocess.Popen) -> None:
    """SIGINT ends all of its parts; SIGTERM would leave them behind."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def processes_with(text: str) -> list[int]:
    """Process ids whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if text in entry.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(
                    errors="replace"
                ):
                    found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int:
    """The process that started one."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1])
