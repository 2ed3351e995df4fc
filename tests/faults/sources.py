"""A Prometheus that fails in the middle of a pull. In: a fault and a reader. Out: whether the error, its exit code and its tries were right, and
whether the next pull went on from what was stored.

A proxy stands between us and a real server and spoils answers; that the server dies, and comes back with its data, is real. A fault that
stays has to end the pull with nothing committed; a fault that happens once has to end it only where another try could not help.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.study import Found, Study
from tests.ingest.proxy import Proxy, Reply, proxy
from tests.ingest.pulsar_series import HOUR_MS, START_MS, broker
from tests.ingest.task_threads import TaskThreads
from tests.lab.processes import free_port
from tests.lab.prometheus import Prometheus, running_prometheus, write_series
from throttlescope.ingest.core.errors import EXIT_UNREACHABLE, SourceError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.pull import PullResult, pull
from throttlescope.ingest.sources.access import Access
from throttlescope.ingest.sources.prometheus import open_prometheus

READERS = ("remote_read", "api")
HOURS = 3
#: Answers with samples that come whole before the fault begins.
BEFORE = {"remote_read": 4, "api": 12}
END_MS = START_MS + HOURS * HOUR_MS


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Attributes
    ----------
    spoiled : callable
        The answer as it comes instead of a right one.
    words : str
        What the one line says when the fault ends a pull; of each reader where they differ.
    tries : int
        How often the same request is sent at most.
    heals : tuple of str
        Readers whose pull goes on to its end when it happens once.
    access : dict
        Settings of the source that make the test short.
    """

    name: str
    spoiled: Callable[[Reply], Reply]
    words: str | dict[str, str]
    tries: int = 1
    heals: tuple[str, ...] = ()
    readers: tuple[str, ...] = READERS
    access: dict = field(default_factory=dict)


def _status(code: int) -> Callable[[Reply], Reply]:
    return lambda reply: Reply(code, {"Content-Type": "text/plain"}, b"go away")


def _flipped(reply: Reply) -> Reply:
    middle = len(reply.body) // 2
    return Reply(
        200, reply.headers, reply.body[:middle] + bytes([reply.body[middle] ^ 4]) + reply.body[middle + 1 :]
    )


_GARBAGE = bytes(range(256)) * 40
_HTML = Reply(200, {"Content-Type": "text/html"}, b"<!doctype html><title>Login</title>")

FAULTS = (
    Fault("429", _status(429), "overloaded", tries=3, heals=READERS),
    Fault("500", _status(500), "500 go away"),
    Fault("502 of a gateway", _status(502), "502 go away"),
    Fault("503", _status(503), {"remote_read": "overloaded", "api": "503 go away"}, tries=3, heals=READERS),
    Fault(
        "half an answer", lambda r: Reply(200, r.headers, r.body, cut=len(r.body) // 2), "broke off in the middle",
        tries=2, heals=READERS,
    ),
    Fault("wrong checksum", _flipped, "a frame with checksum", tries=2, heals=("remote_read",), readers=("remote_read",)),
    Fault(
        "garbage", lambda r: Reply(200, r.headers, _GARBAGE),
        {"remote_read": "a frame of an impossible length", "api": "answers with something else"}, tries=2, heals=("remote_read",),
    ),
    Fault("a web page", lambda r: _HTML, {"remote_read": "is not offered", "api": "answers with a web page"}),
    Fault(
        "an endless answer", lambda r: Reply(200, r.headers, r.body, again_s=0.0), "is endless",
        readers=("remote_read",), access={"max_answer_bytes": 300_000},
    ),
    Fault(
        "an endless answer of blanks", lambda r: Reply(200, r.headers, b" " * 65536, again_s=0.0), "is endless",
        readers=("api",), access={"max_answer_bytes": 3_000_000},
    ),
    Fault(
        "an answer that trickles", lambda r: Reply(200, r.headers, r.body[:1], again_s=0.05), "and no end",
        access={"longest_answer_s": 1.0},
    ),
    Fault("silence", lambda r: _slept(r, 4.0), "did not answer in time", access={"timeout_s": 1.0}),
)  # fmt: skip


def _slept(reply: Reply, seconds: float) -> Reply:
    time.sleep(seconds)
    return reply


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    """All faults by both readers, each that stays and each that happens once; then a server that dies."""
    with running_prometheus() as server:
        write_series(server.url, broker(HOURS))
        whole = {reader: _undisturbed(server, reader, scratch / f"whole-{reader}") for reader in READERS}

        def todo() -> Iterator[tuple[str, Callable[[], Found]]]:
            for fault in FAULTS:
                for reader in fault.readers:
                    for stays in (True, False):
                        name = f"{reader}: {fault.name}, {'stays' if stays else 'once'}"
                        folder = scratch / name.replace(" ", "-").replace(":", "")
                        yield (
                            name,
                            lambda f=fault, r=reader, s=stays, d=folder: _tried(f, r, s, d, server, whole[r]),
                        )
            for reader in READERS:
                folder = scratch / f"dies-{reader}"
                yield f"{reader}: the server is killed", lambda r=reader, d=folder: _died(r, d, whole[r])

        yield todo()


@dataclass(frozen=True)
class Whole:
    """A pull that nothing disturbed."""

    rows: dict
    asked: int


def _tried(fault: Fault, reader: str, stays: bool, folder: Path, server: Prometheus, whole: Whole) -> Found:
    name = f"{reader}: {fault.name}, {'stays' if stays else 'once'}"
    found, lake = Found(name), Lake(folder)
    lock, state = threading.Lock(), {"whole": 0, "spoiled": 0, "on": True}

    def spoil(path: str, reply: Reply) -> Reply | None:
        if not _has_samples(reader, path, reply):
            return None
        with lock:
            state["whole"] += 1
            if not state["on"] or state["whole"] <= BEFORE[reader] or (not stays and state["spoiled"]):
                return None
            state["spoiled"] += 1
        return fault.spoiled(reply)

    heals = reader in fault.heals and not stays
    words = fault.words if isinstance(fault.words, str) else fault.words[reader]
    with proxy(server.url, spoil) as between:
        try:
            result = _pulled(lake, between.url, reader, fault.access)
        except SourceError as error:
            if heals:
                found.wrong.append(f"ended, though another try would have helped: {error}")
            if words not in str(error):
                found.wrong.append(f"not reported: {words}; but: {error}")
            if error.exit_code != EXIT_UNREACHABLE or "\n" in str(error):
                found.wrong.append(f"exit code {error.exit_code}, {error}")
            if lake.version("samples") is not None:
                found.wrong.append("samples were committed")
            if (tries := _most_tries(between)) > fault.tries:
                found.wrong.append(f"the same request was sent {tries} times, expected at most {fault.tries}")
            state["on"], before = False, len(between.paths)
            result = _pulled(lake, between.url, reader, fault.access)
            _check_resumed(found, between, before, result, whole, reader)
        else:
            if not heals:
                found.wrong.append("went on to its end")
    if not state["spoiled"]:
        found.wrong.append("nothing was spoiled")
    _compare(found, lake, whole)
    return found


def _died(reader: str, folder: Path, whole: Whole) -> Found:
    """The server is killed in the middle, and comes back with its data on the same port."""
    found, lake = Found(f"{reader}: the server is killed"), Lake(folder / "lake")
    place = {"scratch_dir": folder / "server", "port": free_port()}
    reads, lock = [0], threading.Lock()
    with running_prometheus(**place) as server:
        write_series(server.url, broker(HOURS))

        def kill(path: str, reply: Reply) -> None:
            with lock:
                reads[0] += _has_samples(reader, path, reply)
                if reads[0] == BEFORE[reader] + 2:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(server.pid, signal.SIGKILL)

        with proxy(server.url, kill) as between:
            try:
                _pulled(lake, between.url, reader, {})
            except SourceError as error:
                if error.exit_code != EXIT_UNREACHABLE or "\n" in str(error):
                    found.wrong.append(f"exit code {error.exit_code}, {error}")
            else:
                found.wrong.append("went on to its end")
            if lake.version("samples") is not None:
                found.wrong.append("samples were committed")
            before = len(between.paths)
            with running_prometheus(**place):
                result = _pulled(lake, between.url, reader, {})
                _check_resumed(found, between, before, result, whole, reader)
    _compare(found, lake, whole)
    return found


def _check_resumed(
    found: Found, between: Proxy, before: int, result: PullResult, whole: Whole, reader: str
) -> None:
    """What was stored is not asked for again: each part that was done saves its questions."""
    asked = sum(_asks_for_samples(reader, path) for path in between.paths[before:])
    found.tally = {"parts gone on from": result.items_resumed, "questions saved": whole.asked - asked}
    if not 0 < result.items_resumed < result.items:
        found.wrong.append(f"went on from {result.items_resumed} of {result.items} parts")
    if asked > whole.asked - result.items_resumed:
        found.wrong.append(f"{asked} questions for samples after {whole.asked} without a fault")


def _compare(found: Found, lake: Lake, whole: Whole) -> None:
    rows = _rows(lake)
    found.lost = len(whole.rows.keys() - rows.keys())
    found.doubled = lake.read("samples").num_rows - len(rows)
    if different := [key for key in whole.rows.keys() & rows.keys() if rows[key] != whole.rows[key]]:
        found.wrong.append(f"{len(different)} blocks have other samples, such as {different[0]}")
    if surplus := rows.keys() - whole.rows.keys():
        found.wrong.append(f"{len(surplus)} blocks that the source does not have")


def _undisturbed(server: Prometheus, reader: str, folder: Path) -> Whole:
    with proxy(server.url) as between:
        _pulled(Lake(folder), between.url, reader, {})
        return Whole(_rows(Lake(folder)), sum(_asks_for_samples(reader, path) for path in between.paths))


def _pulled(lake: Lake, url: str, reader: str, access: dict) -> PullResult:
    source = open_prometheus(url, reader=reader, access=Access(**access))
    return pull(TaskThreads(), lake, source, [], START_MS, END_MS, "run")


def _asks_for_samples(reader: str, path: str) -> bool:
    return path.endswith("/api/v1/read") if reader == "remote_read" else "%5B" in path and "/query?" in path


def _has_samples(reader: str, path: str, reply: Reply) -> bool:
    # A probe for remote read asks for nothing and gets next to nothing.
    return _asks_for_samples(reader, path) and len(reply.body) > 100


def _most_tries(between: Proxy) -> int:
    # Scrapes of the targets are asked for beside each metric, in the same words.
    asked = [one for one in zip(between.paths, between.questions, strict=True) if "query=up" not in one[0]]
    return max(Counter(asked).values())


def _rows(lake: Lake) -> dict:
    return {
        (row["metric_name"], row["series_id"], row["block_start_ms"]): (
            row["timestamps_ms"], row["values"], row["stale_ms"],
        )
        for row in lake.read("samples").to_pylist()
    }  # fmt: skip


STUDY = Study(
    "sources",
    "right error and exit code, retried only where that helps, nothing committed, continued without requesting what was stored",
    2 * sum(len(fault.readers) for fault in FAULTS) + len(READERS),
    opened,
)
