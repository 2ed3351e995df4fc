"""Who goes on from a folder of notes. In: a storage and the folder. Out: whether this run has it, for as long as it works.

On disk the kernel holds a lock, which a killed run loses. In an object store the run leaves a lease there and renews it; one that was
not renewed for two minutes is free, and so is one whose process was on this machine and is gone. Two runs that take a free lease at the
same moment both work: they write the same files and the same notes, and one of them wins the commit.
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

from throttlescope.ingest.errors import ThrottlescopeError
from throttlescope.ingest.lake.storage import Storage

LEASE_MS, _RENEWED_S = 120_000, 30.0


@contextlib.contextmanager
def held(storage: Storage, folder: str) -> Iterator[bool]:
    """Whether this run has the folder, which is below the storage's root; no other one has it within the context."""
    with (_lease if storage.is_remote else _lock)(storage, folder) as has_it:
        yield has_it


@contextlib.contextmanager
def _lock(storage: Storage, folder: str) -> Iterator[bool]:
    os.makedirs(storage.address(folder), exist_ok=True)
    lock = os.open(storage.address(f"{folder}/lock"), os.O_CREAT | os.O_RDWR)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(lock)


@contextlib.contextmanager
def _lease(storage: Storage, folder: str) -> Iterator[bool]:
    path, owner = f"{folder}/lease.json", uuid.uuid4().hex
    content = json.dumps({"owner": owner, "host": socket.gethostname(), "pid": os.getpid()}).encode()
    if not storage.write(path, content, if_absent=True):
        if not _is_free(storage, folder, path):
            yield False
            return
        storage.write(path, content)
    ended = threading.Event()
    renewal = threading.Thread(target=_renew, args=(storage, path, content, ended), daemon=True, name="lease")
    renewal.start()
    try:
        yield True
    finally:
        ended.set()
        renewal.join()
        # Whatever ended the run is what is to be told, not that the store is away; a lease that stays becomes free.
        with contextlib.suppress(ThrottlescopeError):
            storage.delete([path])


def _renew(storage: Storage, path: str, content: bytes, ended: threading.Event) -> None:
    while not ended.wait(_RENEWED_S):
        # A renewal that fails is tried again; the run itself tells what is wrong with the store.
        with contextlib.suppress(ThrottlescopeError):
            storage.write(path, content)


def _is_free(storage: Storage, folder: str, path: str) -> bool:
    found = storage.read_dated(path)
    if found is None:
        return True
    content, renewed_ms = found
    with contextlib.suppress(ValueError, KeyError, TypeError):
        owner = json.loads(content)
        if owner["host"] == socket.gethostname() and not _is_alive(int(owner["pid"])):
            return True
    # By the store's clock: this machine's may be off by more than a lease.
    probe = f"{folder}/look-{uuid.uuid4().hex}"
    storage.write(probe, b"")
    now = storage.look(probe)
    storage.delete([probe])
    return now is None or now.modified_ms - renewed_ms > LEASE_MS


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
