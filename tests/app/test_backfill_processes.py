"""Backfills as processes of their own: killed, and two at once. In the end the lake is the one that one run over all makes."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.app.incremental import differences, hour, put, request, run
from tests.ingest.proxy import proxy
from tests.lab.prometheus import running_prometheus
from throttlescope.app.pipeline.backfill.chunks import chunks_of
from throttlescope.app.pipeline.backfill.finished_chunks import left_of
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake

#: Each process starts a Spark of its own.
pytestmark = [pytest.mark.study, pytest.mark.spark, pytest.mark.prometheus, pytest.mark.long]

HOURS = 4
#: A slow machine with other work.
AT_MOST_S = 500

#: The command, which ends itself without a word when a step is announced.
KILLED_AT = """
import os, signal, sys
from throttlescope.app.presentation import progress
announced = progress.TerminalProgress.step
def step(self, what):
    if what == "Diagnosing":
        os.kill(os.getpid(), signal.SIGKILL)
    return announced(self, what)
progress.TerminalProgress.step = step
from throttlescope.app.cli import main
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as found:
        put(found.url, 0, HOURS)
        yield found


@pytest.fixture(scope="module")
def lake_of_one_run(_spark_session, server, tmp_path_factory):
    """The lake of one run over all hours."""
    lake = tmp_path_factory.mktemp("anew") / "lake"
    run(_spark_session, lake, server.url, 0, HOURS)
    return lake


def backfill(lake, url, first, last, *options, program=("-m", "throttlescope.app.cli")) -> subprocess.Popen:
    arguments = [
        "--prometheus",
        url,
        "--start",
        hour(first) // 1000,
        "--end",
        hour(last) // 1000,
        "--lake",
        lake,
    ]
    return subprocess.Popen(
        [sys.executable, *program, "backfill", *map(str, [*arguments, *options])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip


def wait_for_end(process: subprocess.Popen) -> tuple[int, str]:
    """Exit code and stderr; nothing of it goes on afterwards."""
    try:
        _, stderr = process.communicate(timeout=AT_MOST_S)
    finally:
        process.kill()
        process.wait()
    return process.returncode, stderr


def test_killed_backfill_resumes_to_same_lake(server, lake_of_one_run, tmp_path):
    """It is killed once while it reads and once while it computes."""
    lake, first_chunk_read, released = tmp_path / "lake", threading.Event(), threading.Event()

    def delay_reply(path: str, reply: object) -> None:
        # Once the first chunk is in the lake, the answer to the next read does not come.
        if path.endswith("/read") and not released.is_set() and Lake(lake).read("ingest_runs").num_rows:
            first_chunk_read.set()
            released.wait(AT_MOST_S)

    with proxy(server.url, delay_reply) as between:
        requested = request(lake, between.url, 0, HOURS, command="backfill")
        chunks = chunks_of(hour(0), hour(HOURS), BLOCK_MS)
        first = backfill(lake, between.url, 0, HOURS, "--chunk", "1h")
        try:
            deadline = time.monotonic() + AT_MOST_S
            while not first_chunk_read.wait(0.1):
                assert first.poll() is None, first.communicate()
                assert time.monotonic() < deadline
        finally:
            first.send_signal(signal.SIGKILL)
            code, stderr = wait_for_end(first)
            released.set()
        assert code == -signal.SIGKILL
        # The line of the first chunk was said, and how long the others would take; no other was.
        (line,) = [line for line in stderr.splitlines() if " verdicts, about " in line]
        assert line.startswith("[2/6] ")
        assert left_of(Lake(lake), requested, chunks) == chunks[1:]
        assert hours_in(lake, "samples", "block_start_ms") == [hour(0)]

        code, stderr = wait_for_end(
            backfill(lake, between.url, 0, HOURS, "--chunk", "1h", program=("-c", KILLED_AT))
        )
        assert code == -signal.SIGKILL, stderr
        assert "1 chunk was done before" in stderr
        assert left_of(Lake(lake), requested, chunks) == chunks[1:]
        assert hours_in(lake, "signals", "minute_ms") == [hour(0), hour(1)]
        assert hours_in(lake, "verdicts", "window_start_ms") == [hour(0)]

        code, stderr = wait_for_end(backfill(lake, between.url, 0, HOURS, "--chunk", "1h"))
        assert code == 0, stderr
    assert left_of(Lake(lake), requested, chunks) == []
    assert differences(lake, lake_of_one_run) == {}


def test_concurrent_backfills_make_one_lake(server, lake_of_one_run, tmp_path):
    lake = tmp_path / "lake"
    requested = [(0, 3, "--chunk", "1h"), (1, HOURS, "--chunk", "2h")]
    both = [backfill(lake, server.url, *one) for one in requested]
    found = [wait_for_end(process) for process in both]
    for one, (code, stderr) in zip(requested, found, strict=True):
        if code:
            # Who loses all races says so in one line, and is to be repeated.
            last = stderr.splitlines()[-1]
            assert (code, last.startswith("throttlescope: "), "Fix: run " in last) == (
                1,
                True,
                True,
            ), stderr
            assert wait_for_end(backfill(lake, server.url, *one))[0] == 0
    assert differences(lake, lake_of_one_run) == {}


def hours_in(lake, table: str, column: str) -> list[int]:
    """UTC hours of which a table has files."""
    return sorted({file.minimum[column] // BLOCK_MS * BLOCK_MS for file in Lake(lake).files(table)})
