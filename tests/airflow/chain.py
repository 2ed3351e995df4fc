"""The hourly chain in a real Airflow. In: a standalone Airflow, a Prometheus and a lake. Out: its runs, once they have ended.

The first try of ``ingest`` is killed while its command reads; the second goes on with what the first has stored. While the diagnosis
of that hour is still going on, two hours more are read; one diagnosis follows.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.airflow.standalone import Api, parent_of, processes_with
from tests.ingest.proxy import Reply, proxy
from throttlescope.ingest.lake import Lake

#: So many parts of the hour are stored before the source answers no more.
STORED = 2


@dataclass(frozen=True)
class SlowSource:
    """A Prometheus that answers until some parts of a read are stored, and then not before the reader is gone."""

    url: str
    lake: Lake
    gone: threading.Event

    def stored(self) -> int:
        """Parts that a read has stored so far."""
        return len(list(Path(self.lake.root).glob("_staging-*/notes/*.json")))


@contextlib.contextmanager
def slow_source(url: str, lake: Lake) -> Iterator[SlowSource]:
    """Put a slow way between a Prometheus and its first reader."""
    gone = threading.Event()

    def slow(path: str, reply: Reply) -> None:
        if path.endswith("/read") and len(reply.body) > 100 and not gone.is_set():
            # Slower than parts are stored, so that it is held in the middle.
            time.sleep(1)
            if source.stored() >= STORED:
                gone.wait(900)

    with proxy(url, slow) as between:
        source = SlowSource(between.url, lake, gone)
        try:
            yield source
        finally:
            gone.set()


def kill_the_first_try(api: Api, source: SlowSource) -> None:
    """End the process of the task in the middle of the read, as an operating system does that has no memory left."""
    api.wait("parts that the first try has stored", lambda: source.stored() >= STORED)
    members = processes_with(source.url)
    (task,) = {parent_of(pid) for pid in members} - set(members)
    os.kill(task, signal.SIGKILL)
    # The command ends with its task; the next try would otherwise run beside it.
    end_s = time.monotonic() + 120
    while processes_with(source.url):
        assert time.monotonic() < end_s, "the command outlived its task"
        time.sleep(0.2)
    source.gone.set()


@dataclass(frozen=True)
class Chain:
    """Runs that have ended.

    Attributes
    ----------
    ingested, diagnosed : dict
        Of the hour that the clock has started, and what its asset has.
    by_hand : list of dict
        Of the hours that were read while that diagnosis was busy.
    next : dict, optional
        The diagnosis behind it.
    """

    ingested: dict
    diagnosed: dict
    by_hand: list[dict]
    next: dict | None


def run_chain(api: Api, source: SlowSource, earlier: Sequence[int] = ()) -> Chain:
    """Unpause the two hourly DAGs: the clock starts the first, its asset the second.

    Parameters
    ----------
    earlier : sequence of int
        Starts of hours that are read by hand while the diagnosis is busy, in this order.
    """
    for dag_id in ("diagnose_hourly", "ingest_hourly"):
        api.wait(f"DAG {dag_id}", lambda dag_id=dag_id: known(api, dag_id))
        api.unpause(dag_id)
    kill_the_first_try(api, source)
    ingested = api.finished("ingest_hourly")
    if not earlier:
        return Chain(ingested, api.finished("diagnose_hourly"), [], None)
    # Its last command, which computes nothing: what comes meanwhile is for the run behind it.
    with stopped("--gate signals", source.lake.root):
        by_hand = [api.ended("ingest_hourly", api.trigger("ingest_hourly", hour_ms)) for hour_ms in earlier]
    return Chain(ingested, api.finished("diagnose_hourly"), by_hand, api.finished("diagnose_hourly", 1))


@contextlib.contextmanager
def stopped(*words: str, timeout_s: float = 900) -> Iterator[None]:
    """Wait for a command whose line holds some words, and keep it from going on for the length of the context."""

    def found() -> set[int]:
        return set.intersection(*(set(processes_with(word)) for word in words))

    end_s = time.monotonic() + timeout_s
    while not (pids := found()):
        assert time.monotonic() < end_s, f"no command with {words}"
        time.sleep(0.1)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def known(api: Api, dag_id: str) -> bool:
    """Whether the DAG processor has parsed it."""
    return any(dag["dag_id"] == dag_id for dag in api.get("/dags")["dags"])
