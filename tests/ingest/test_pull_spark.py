"""The pull on real Spark tasks: the same tables as without, one line for a fault, and SIGKILL in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ingest.proxy import Reply, proxy
from tests.ingest.pulsar_series import HOUR_MS, START_MS, broker
from tests.ingest.task_threads import TaskThreads
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.pull import PullProgress, pull
from throttlescope.ingest.sources.prometheus import open_prometheus
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor

pytestmark = [pytest.mark.prometheus, pytest.mark.spark]

HOURS = 2
END_MS = START_MS + HOURS * HOUR_MS


@pytest.fixture(scope="module")
def prometheus():
    with running_prometheus() as server:
        write_series(server.url, broker(HOURS))
        yield server


@pytest.fixture(scope="module")
def expected(prometheus, tmp_path_factory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("expected") / "lake")
    pull(TaskThreads(), lake, open_prometheus(prometheus.url), [], START_MS, END_MS, "run")
    return lake


def files(lake: Lake) -> dict[str, set[str]]:
    """Names of the committed files are hashes of their content: equal names, equal tables."""
    return {table: {file.relative_path for file in lake.files(table)} for table in ("series", "samples")}


def test_spark_tasks_bring_the_same(spark, prometheus, expected, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    seen: list[PullProgress] = []
    with proxy(prometheus.url) as between:
        source = open_prometheus(between.url)
        result = pull(
            SparkPoolExecutor(spark), lake, source, [], START_MS, END_MS, "run", progress=seen.append
        )
        assert between.most_at_once <= 2
    assert files(lake) == files(expected)
    assert result.samples == result.samples_written
    assert seen
    assert all(one.items == result.items for one in seen)
    assert [one.items_done for one in seen] == sorted(one.items_done for one in seen)


def test_task_failure_is_one_line(spark, prometheus, tmp_path: Path) -> None:
    def spoil(path: str, reply: Reply) -> Reply | None:
        large = path.endswith("/read") and len(reply.body) > 100
        return Reply(500, {"Content-Type": "text/plain"}, b"disk on fire") if large else None

    with proxy(prometheus.url, spoil) as between, pytest.raises(SourceError) as caught:
        pull(
            SparkPoolExecutor(spark),
            Lake(tmp_path / "lake"),
            open_prometheus(between.url),
            [],
            START_MS,
            END_MS,
            "run",
        )
    assert "disk on fire" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "lake").exists()


PROGRAM = """
import sys
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.pull import pull
from throttlescope.ingest.spark.session import spark_session
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.ingest.sources.prometheus import open_prometheus

url, lake, start_ms, end_ms = sys.argv[1:]
session = spark_session(cores=2, driver_memory="512m")
pull(SparkPoolExecutor(session), Lake(lake), open_prometheus(url), [], int(start_ms), int(end_ms), "killed")
print("done")
"""


@pytest.mark.study
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_stopped_in_the_middle_and_repeated(
    spark, prometheus, expected, tmp_path: Path, end: signal.Signals
) -> None:
    """SIGKILL or Ctrl-C while tasks read: no table, no process left; the same pull again gives the same tables."""
    lake, stopped = Lake(tmp_path / "lake"), threading.Event()

    def notes() -> int:
        return len(list(Path(lake.root).glob("_staging-*/notes/*.json")))

    def slow(path: str, reply: Reply) -> None:
        if path.endswith("/read") and len(reply.body) > 100:
            time.sleep(1)
            if notes() >= 2:
                # It is in the middle, and stays there until it is stopped.
                stopped.wait(120)

    with proxy(prometheus.url, slow) as between:
        arguments = [between.url, lake.root, str(START_MS), str(END_MS)]
        command = [sys.executable, "-c", PROGRAM, *arguments]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: notes() >= 2, process)
            if end == signal.SIGINT:
                # A terminal sends Ctrl-C to the whole group, the JVM included.
                os.killpg(process.pid, signal.SIGINT)
                _, said = process.communicate(timeout=200)
                assert said.splitlines()[-1].startswith("KeyboardInterrupt"), said
        finally:
            process.kill()
            process.wait()
            stopped.set()
        wait_until(lambda: not members_of_session(process.pid))
        assert lake.version("samples") is None
        # Same source, same request: the address is part of it.
        result = pull(
            SparkPoolExecutor(spark), lake, open_prometheus(between.url), [], START_MS, END_MS, "repeated"
        )
    assert result.items_resumed >= 2
    assert files(lake) == files(expected)
    assert sorted(os.listdir(lake.root)) == ["samples", "series"]


def wait_until(
    happened: Callable[[], bool], process: subprocess.Popen | None = None, seconds: float = 240
) -> None:
    """Wait for something, as long as a process lives."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert process is None or process.poll() is None, "ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def members_of_session(session_id: int) -> list[str]:
    """Command lines of the processes of a session: the killed driver's JVM and its Python workers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = path.read_text().rpartition(")")[2].split()
            if int(after_name[3]) == session_id and after_name[0] != "Z":
                found.append(path.with_name("cmdline").read_text().replace("\0", " ")[:100])
        except (OSError, ValueError):
            continue
    return found
