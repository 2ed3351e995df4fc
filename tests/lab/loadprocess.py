"""The driver's end of a load process: in, scenarios and commands; out, answers with the counts at that moment."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lab.processes import log_tail, running_process
from throttlescope.models.throttling.scenario import Scenario

REPOSITORY = Path(__file__).resolve().parents[2]


class LoadProcess:
    """A running load process; :meth:`command` returns when the command has taken effect."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log_file: Path) -> None:
        self.name, self.pid = name, process.pid
        self._process, self._log_file = process, log_file
        self._numbers = itertools.count()
        self._waiting: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read_answers, daemon=True).start()

    def command(self, scenario: str, action: str, timeout_s: float = 60, **arguments: Any) -> dict[str, Any]:
        """Send one command and return the report that came with the answer."""
        number, answers = next(self._numbers), queue.Queue[dict[str, Any]]()
        self._waiting[number] = answers
        line = json.dumps({"id": number, "scenario": scenario, "action": action, **arguments}) + "\n"
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
            answer = answers.get(timeout=timeout_s)
        except (OSError, queue.Empty) as error:
            raise RuntimeError(
                f"{self.name} did not answer {action} for {scenario} in {timeout_s:.0f} s:\n{log_tail(self._log_file)}"
            ) from error
        finally:
            del self._waiting[number]
        if answer["error"]:
            raise RuntimeError(f"{action} for {scenario}: {answer['error']}")
        return answer["report"]

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError, KeyError):
                answer = json.loads(line)
                self._waiting[answer["id"]].put(answer)


@contextlib.contextmanager
def running_load(
    name: str,
    scenarios: list[Scenario],
    service_url: str,
    scratch_dir: Path,
    *,
    max_lifetime_s: float,
    priority: int = 0,
) -> Iterator[LoadProcess]:
    """Run one load process for the length of the context."""
    plan_file, log_file = scratch_dir / f"{name}.json", scratch_dir / f"{name}.log"
    plan_file.write_text(
        json.dumps(
            {
                "service_url": service_url,
                "report_file": str(scratch_dir / f"{name}-report.jsonl"),
                "log_file": str(scratch_dir / f"{name}-client.log"),
                "scenarios": [scenario.model_dump(mode="json", by_alias=True) for scenario in scenarios],
            }
        )
    )
    command = [sys.executable, "-m", "tests.lab.load", str(plan_file)]
    with running_process(
        command,
        log_file,
        max_lifetime_s=max_lifetime_s,
        priority=priority,
        cwd=REPOSITORY,
        pipes=True,
        stop_timeout_s=5,
    ) as process:
        yield LoadProcess(name, process, log_file)
