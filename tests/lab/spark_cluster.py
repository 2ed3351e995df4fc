"""A real Spark standalone cluster: in, how many workers; out, a master and its workers on loopback, and the master's URL."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import requests

from tests.lab.processes import free_port, log_tail, running_process
from throttlescope.ingest.java import find_java

_STARTUP_S = 60
_MEMORY = "2g"


@contextlib.contextmanager
def running_spark_cluster(workers: int = 2, *, max_lifetime_s: float = 1800) -> Iterator[str]:
    """Run a master and some workers of one core each for the length of the context.

    Yields
    ------
    str
        The master's URL, ``spark://127.0.0.1:PORT``.
    """
    with contextlib.ExitStack() as stack:
        scratch_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="throttlescope-spark-")))
        env = {
            **os.environ,
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(scratch_dir / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
        }
        launcher = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
        port, web_port = free_port(), free_port()

        def start(name: str, *arguments: str) -> Path:
            log_file = scratch_dir / f"{name}.log"
            command = [launcher, *arguments]
            stack.enter_context(running_process(command, log_file, max_lifetime_s=max_lifetime_s, env=env))
            return log_file

        log_file = start(
            "master", "org.apache.spark.deploy.master.Master",
            "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web_port),
        )  # fmt: skip
        url = f"spark://127.0.0.1:{port}"
        _wait_for_workers(web_port, 0, log_file)
        for number in range(workers):
            log_file = start(
                f"worker-{number}", "org.apache.spark.deploy.worker.Worker",
                "--host", "127.0.0.1", "--cores", "1", "--memory", _MEMORY, "--webui-port", "0", url,
            )  # fmt: skip
        _wait_for_workers(web_port, workers, log_file)
        yield url


def _wait_for_workers(web_port: int, workers: int, log_file: Path) -> None:
    """Wait until the master's page of facts counts enough workers."""
    end_s = time.monotonic() + _STARTUP_S
    while time.monotonic() < end_s:
        with contextlib.suppress(requests.RequestException):
            facts = requests.get(f"http://127.0.0.1:{web_port}/json/", timeout=5).json()
            if facts["aliveworkers"] >= workers:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no Spark cluster with {workers} workers after {_STARTUP_S} s: {log_tail(log_file)}")
