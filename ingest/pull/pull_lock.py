"""Lock on a partially completed pull. In: a storage and its staging folder. Out: a lock held by this run, or which run holds it.

On disk it is a lock of the kernel, which a killed run loses. In an object store it is a lease, which the run renews. A lease is free if it
was not renewed for two minutes, if its process was on this machine and has ended, or if this process took it and no longer uses
it. Two runs that take a free lease at the same moment both work: they write the same files and the same notes, and one of them wins
the commit.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.storage import Storage

LEASE_MS, _RENEWED_S = 120_000, 30.0
#: Leases that this process uses. A lease of this process that is not listed could not be released: the store was unavailable.
_OURS: set[str] = set()


@dataclass(frozen=True)
class Hold:
    """Whether a run holds the lock of a folder; true if it does.

    Attributes
    ----------
    by_other : str or None
        The run that holds it instead, in words.
    """

    by_other: str | None = None

    def __bool__(self) -> bool:
        return self.by_other is None


@contextlib.contextmanager
def lock_folder(storage: Storage, folder: str) -> Iterator[Hold]:
    """Lock a folder below the storage's root; no other run holds the lock within the context."""
    with (_lease if storage.is_remote else _lock)(storage, folder) as hold:
        yield hold


@contextlib.contextmanager
def _lock(storage: Storage, folder: str) -> Iterator[Hold]:
    os.makedirs(storage.address(folder), exist_ok=True)
    lock = os.open(storage.address(f"{folder}/lock"), os.O_CREAT | os.O_RDWR)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield Hold("another run of this machine, or of one that shares the folder")
        else:
            yield Hold()
    finally:
        os.close(lock)


@contextlib.contextmanager
def _lease(storage: Storage, folder: str) -> Iterator[Hold]:
    path, owner = f"{folder}/lease.json", uuid.uuid4().hex
    content = json.dumps(
        {"owner": owner, "host": socket.gethostname(), "processes": _processes(), "pid": os.getpid()}
    ).encode()
    _OURS.add(owner)
    try:
        if not storage.write(path, content, if_absent=True):
            if other := _holder(storage, folder, path):
                yield Hold(other)
                return
            storage.write(path, content)
        with _renewed(storage, path, content):
            yield Hold()
    finally:
        _OURS.discard(owner)


@contextlib.contextmanager
def _renewed(storage: Storage, path: str, content: bytes) -> Iterator[None]:
    """Keep a lease young, and take it back at the end."""
    ended = threading.Event()
    renewal = threading.Thread(target=_renew, args=(storage, path, content, ended), daemon=True, name="lease")
    renewal.start()
    try:
        yield
    finally:
        ended.set()
        renewal.join()
        # The run's own error is reported, not an unreachable store; a lease that is not removed expires.
        with contextlib.suppress(ThrottlescopeError):
            storage.delete([path])


def _renew(storage: Storage, path: str, content: bytes, ended: threading.Event) -> None:
    while not ended.wait(_RENEWED_S):
        # A renewal that fails is tried again; the run itself tells what is wrong with the store.
        with contextlib.suppress(ThrottlescopeError):
            storage.write(path, content)


def _holder(storage: Storage, folder: str, path: str) -> str | None:
    """Who has a lease that is there, in words; None where it is free."""
    found = storage.read_dated(path)
    if found is None:
        return None
    content, renewed_ms = found
    who = "another run"
    with contextlib.suppress(ValueError, KeyError, TypeError):
        owner = json.loads(content)
        host, pid = str(owner["host"]), int(owner["pid"])
        who = f"process {pid} on {host}"
        if (host, owner.get("processes")) == (socket.gethostname(), _processes()) and (
            owner["owner"] not in _OURS if pid == os.getpid() else not _is_alive(pid)
        ):
            return None
    # By the store's clock: this machine's may be off by more than a lease.
    probe = f"{folder}/look-{uuid.uuid4().hex}"
    storage.write(probe, b"")
    now = storage.look(probe)
    storage.delete([probe])
    if now is None or now.modified_ms - renewed_ms > LEASE_MS:
        return None
    return f"{who}, which was at work {max(0, now.modified_ms - renewed_ms) // 1000} s ago"


def _processes() -> str:
    """Which numbers of processes are meant: containers of one host name have numbers of their own each."""
    with contextlib.suppress(OSError):
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
