"""Who goes on from a pull's notes in a real S3 server: one of two, nobody's after a kill, and another host's for two minutes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.ingest.proxy import Reply, proxy
from tests.ingest.pulsar_series import HOUR_MS, START_MS, broker
from tests.ingest.task_threads import TaskThreads
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.pull import pull_lock
from throttlescope.ingest.pull.pull import PullResult, pull
from throttlescope.ingest.pull.pull_lock import LEASE_MS, lock_folder
from throttlescope.ingest.sources.prometheus import open_prometheus

FOLDER = "_staging-0123"
LEASE = f"{FOLDER}/lease.json"

#: A process that takes the lease, says so, and works on.
_HOLDER = """
import sys, time
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.pull.pull_lock import lock_folder

with lock_folder(storage_of(sys.argv[1]), sys.argv[2]) as hold:
    print("has it" if hold else hold.by_other, flush=True)
    time.sleep(600)
"""


def holder(root: str) -> subprocess.Popen:
    """A process of its own that holds the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, root, FOLDER], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "has it"
    return process


def test_of_two_at_once_one_gets_it(object_store):
    storage, both, won = storage_of(object_store.lake("lease/two")), threading.Barrier(2), []

    def take(round_: int) -> bool:
        both.wait(60)
        with lock_folder(storage, f"{FOLDER}-{round_}") as hold:
            # Neither lets go before both have asked.
            both.wait(60)
            return bool(hold)

    with ThreadPoolExecutor(2) as pool:
        for round_ in range(12):
            won.append(sorted(pool.map(take, [round_] * 2)))
    assert won == [[False, True]] * 12
    # Whoever had it let go of it, and left nothing.
    assert storage.list() == []


def test_only_a_living_process_holds_lease(object_store):
    root = object_store.lake("lease/killed")
    storage, process = storage_of(root), holder(root)
    try:
        with lock_folder(storage, FOLDER) as hold:
            assert not hold
            assert f"process {process.pid} on {socket.gethostname()}, which was at work" in hold.by_other
        assert storage.exists(LEASE), "who did not get it let go of it"
    finally:
        process.kill()
        process.wait()
    assert storage.exists(LEASE)
    with lock_folder(storage, FOLDER) as hold:
        assert hold
        assert json.loads(storage.read(LEASE))["pid"] == os.getpid()
    assert storage.list() == []


def test_lease_of_other_host_lasts_two_minutes(object_store):
    root = object_store.lake("lease/host")
    storage, behind = storage_of(root), object_store.folder / "lease/host" / LEASE
    # This process' id is alive here, and says nothing about another host.
    storage.write(LEASE, json.dumps({"owner": "x", "host": "elsewhere", "pid": os.getpid()}).encode())
    with lock_folder(storage, FOLDER) as hold:
        assert not hold
        assert hold.by_other.startswith(f"process {os.getpid()} on elsewhere, which was at work ")
    old_s = time.time() - LEASE_MS / 1000 - 5
    os.utime(behind, (old_s, old_s))
    with lock_folder(storage, FOLDER) as hold:
        assert hold


def test_unreturned_lease_of_process_is_free(object_store, monkeypatch):
    """A run that a silent store ended leaves its lease; its process may go on to the next run."""
    storage = storage_of(object_store.lake("lease/left"))

    def refuse(names: list[str]) -> None:
        raise SourceError("The object store does not answer as it should")

    with monkeypatch.context() as silent, lock_folder(storage, FOLDER) as hold:
        assert hold
        with lock_folder(storage, FOLDER) as second:
            assert not second
        silent.setattr(storage, "delete", refuse)
    assert storage.exists(LEASE)
    with lock_folder(storage, FOLDER) as hold:
        assert hold


def test_a_number_of_another_container_says_nothing(object_store, monkeypatch):
    """Of the same host name, but with processes of its own: 4194303 is not alive here and may be there."""
    storage = storage_of(object_store.lake("lease/container"))
    with monkeypatch.context() as there:
        there.setattr(pull_lock, "_processes", lambda: "another boot pid:[1]")
        there.setattr(os, "getpid", lambda: 4_194_303)
        with pull_lock._lease(storage, FOLDER):
            there.undo()
            with lock_folder(storage, FOLDER) as hold:
                assert not hold
                assert hold.by_other.startswith("process 4194303 on ")


@pytest.mark.parametrize("content", [b"", b"null", b'{"host": 1}', b"\xff"])
def test_unreadable_lease_lasts_as_long(object_store, content):
    root = object_store.lake(f"lease/damaged-{content.hex()}")
    storage = storage_of(root)
    storage.write(LEASE, content)
    with lock_folder(storage, FOLDER) as hold:
        assert not hold
        assert hold.by_other.startswith("another run, which was at work ")


def test_lease_is_renewed_during_run(object_store, monkeypatch):
    root = object_store.lake("lease/renewed")
    storage, behind = storage_of(root), object_store.folder / "lease/renewed" / LEASE
    monkeypatch.setattr(pull_lock, "_RENEWED_S", 0.05)
    with lock_folder(storage, FOLDER) as hold:
        assert hold
        os.utime(behind, (1, 1))
        wait_until(lambda: storage.look(LEASE).modified_ms > 1000)


# -- a pull --------------------------------------------------------------------------------

_PULL = """
import sys
from tests.ingest.task_threads import TaskThreads
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.pull import pull
from throttlescope.ingest.sources.prometheus import open_prometheus

url, lake, start_ms, end_ms = sys.argv[1:]
pull(TaskThreads(), Lake(lake), open_prometheus(url), [], int(start_ms), int(end_ms), "killed")
"""
END_MS = START_MS + 2 * HOUR_MS


def pulled(root: str, url: str) -> tuple[Lake, PullResult]:
    lake = Lake(root)
    return lake, pull(TaskThreads(), lake, open_prometheus(url), [], START_MS, END_MS, "run")


def committed(lake: Lake) -> dict[str, list[str]]:
    """Names of the files, which are hashes of what they hold."""
    return {
        table: sorted(file.relative_path for file in lake.files(table)) for table in ("series", "samples")
    }


@pytest.mark.prometheus
def test_killed_pull_continues_from_stored_items(object_store):
    root, other_root = object_store.lake("lease/pull"), object_store.lake("lease/other")
    storage, stopped, reads = storage_of(root), threading.Event(), []

    def notes() -> int:
        return sum("/notes/" in name for name in storage.names(""))

    def slow(path: str, reply: Reply) -> None:
        if path.endswith("/read"):
            reads.append(path)
            if len(reply.body) > 100 and not stopped.is_set() and notes() >= 2:
                # It is in the middle, and stays there until it is killed.
                stopped.wait(120)

    with running_prometheus() as prometheus:
        write_series(prometheus.url, broker(2))
        with proxy(prometheus.url, slow) as between:
            arguments = [between.url, root, str(START_MS), str(END_MS)]
            process = subprocess.Popen([sys.executable, "-c", _PULL, *arguments])
            try:
                wait_until(lambda: notes() >= 2, process)
            finally:
                process.kill()
                process.wait()
                stopped.set()
            (lease,) = [name for name in storage.names("") if name.endswith("/lease.json")]
            assert Lake(root).version("samples") is None
            begun = len(reads)
            lake, result = pulled(root, between.url)
            again = len(reads) - begun
            # A lake in which a run of another host has the same request: nothing of that run's is touched, and it is said.
            theirs = json.dumps({"owner": "x", "host": "elsewhere", "pid": 1}).encode()
            storage_of(other_root).write(lease, theirs)
            other, beside = pulled(other_root, between.url)
    assert result.items > result.items_resumed >= 2
    assert again == 1 + result.items - result.items_resumed, "a probe, and what was missing"
    assert result.beside is None
    assert beside.items_resumed == 0
    assert "process 1 on elsewhere" in beside.details()["beside"]
    assert committed(lake) == committed(other)
    assert (result.samples, result.series) == (beside.samples, beside.series)
    rows = lake.read("samples", columns=["series_id", "block_start_ms"]).to_pylist()
    assert len({(row["series_id"], row["block_start_ms"]) for row in rows}) == len(rows) > 0
    assert {name.split("/")[0] for name in storage.names("")} == {"samples", "series"}
    assert [name for name in storage_of(other_root).names("") if "_staging" in name] == [lease]


def wait_until(
    happened: Callable[[], bool], process: subprocess.Popen | None = None, seconds: float = 240
) -> None:
    """Wait for something, as long as a process lives."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert process is None or process.poll() is None, "ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.05)
