"""Real Spark servers on loopback. In: how many workers, or settings. Out: a standalone cluster, or a Spark Connect server, and its URL."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import requests

from tests.lab.processes import free_port, log_tail, running_process
from throttlescope.ingest.spark.java import find_java

_STARTUP_S = 180
_MEMORY = "2g"


@dataclass
class SparkCluster:
    """A cluster that runs.

    Attributes
    ----------
    url : str
        The master's, ``spark://127.0.0.1:PORT``.
    workers : list of Popen
        Their processes; the executors that they start are children of theirs.
    folder : Path
        Where workers keep the applications' files and logs, each in a folder of its own.
    """

    url: str
    web_port: int
    folder: Path
    workers: list[subprocess.Popen] = field(default_factory=list)

    def facts(self) -> dict:
        """What the master's page says: workers, applications and what they hold."""
        return requests.get(f"http://127.0.0.1:{self.web_port}/json/", timeout=60).json()


@contextlib.contextmanager
def running_spark_cluster(
    workers: int = 2, *, max_lifetime_s: float = 1800, path: str | None = None, confined: bool = False
) -> Iterator[SparkCluster]:
    """Run a master and some workers of one core each for the length of the context.

    Parameters
    ----------
    path : str, optional
        What the workers find in ``PATH``, and no other variable that would lead them to our environment.
    confined : bool
        Each worker, its executors and their Python processes share one core of this machine, another one for each worker. Spark itself
        only counts tasks: what a task starts takes whatever cores there are.
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
        if path is not None:
            env = {name: text for name, text in env.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")} | {
                "PATH": path
            }
        launcher = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
        port, web_port = free_port(), free_port()
        cores = sorted(os.sched_getaffinity(0))

        def start(name: str, *arguments: str, before: tuple[str, ...] = ()) -> tuple[Path, subprocess.Popen]:
            log_file = scratch_dir / f"{name}.log"
            command = [*before, launcher, *arguments]
            return log_file, stack.enter_context(
                running_process(command, log_file, max_lifetime_s=max_lifetime_s, env=env)
            )

        log_file, _ = start(
            "master", "org.apache.spark.deploy.master.Master",
            "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web_port),
        )  # fmt: skip
        cluster = SparkCluster(f"spark://127.0.0.1:{port}", web_port, scratch_dir / "work")
        _wait_for_workers(web_port, 0, log_file)
        for number in range(workers):
            log_file, process = start(
                f"worker-{number}", "org.apache.spark.deploy.worker.Worker",
                "--host", "127.0.0.1", "--cores", "1", "--memory", _MEMORY, "--webui-port", "0", cluster.url,
                before=("taskset", "--cpu-list", str(cores[number % len(cores)])) if confined else (),
            )  # fmt: skip
            cluster.workers.append(process)
        _wait_for_workers(web_port, workers, log_file)
        yield cluster


@contextlib.contextmanager
def running_spark_connect(
    conf: Mapping[str, str] | None = None, *, master: str = "local[2]", max_lifetime_s: float = 900
) -> Iterator[str]:
    """Run a Spark Connect server for the length of the context, whose tasks run on this Python.

    Yields
    ------
    str
        Its URL, ``sc://127.0.0.1:PORT``.
    """
    with tempfile.TemporaryDirectory(prefix="throttlescope-connect-") as scratch:
        port, log_file = free_port(), Path(scratch) / "server.log"
        settings = {
            "spark.connect.grpc.binding.port": str(port),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            **(conf or {}),
        }
        command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", master]
        command += [part for name, text in settings.items() for part in ("--conf", f"{name}={text}")]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        env = {
            **os.environ,
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # The server looks here alone, and not into spark.pyspark.python.
            "PYSPARK_PYTHON": sys.executable,
        }
        with running_process(command, log_file, max_lifetime_s=max_lifetime_s, env=env, cwd=Path(scratch)):
            end_s = time.monotonic() + _STARTUP_S
            while time.monotonic() < end_s:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                time.sleep(0.2)
            else:
                raise TimeoutError(f"no Spark Connect after {_STARTUP_S} s: {log_tail(log_file)}")
            yield f"sc://127.0.0.1:{port}"


def _wait_for_workers(web_port: int, workers: int, log_file: Path) -> None:
    """Wait until the master's page of facts counts enough workers."""
    end_s = time.monotonic() + _STARTUP_S
    while time.monotonic() < end_s:
        with contextlib.suppress(requests.RequestException):
            facts = requests.get(f"http://127.0.0.1:{web_port}/json/", timeout=60).json()
            if facts["aliveworkers"] >= workers:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no Spark cluster with {workers} workers after {_STARTUP_S} s: {log_tail(log_file)}")
