"""The only reader of the web app. In: the lake's folder or URI. Out: answers of one snapshot per request.

Only what belongs to a version of the tables is cached between requests: their file lists and
one small table with the newest verdict of every subscription. Each request has a cursor of its own.
No Spark session is here.

A request is answered by the newest snapshot. A thread checks every second (an object store every thirty) whether the lake has changed,
and makes the next snapshot while requests use the one before. Outside of requests the lake is checked each time.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TypeVar

import duckdb
from flask import g, has_request_context

from throttlescope.app.services.server_counters import snapshot_made
from throttlescope.app.web.data.snapshot import READ_TABLES, Snapshot
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.storage import StoredFile

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_LOOK_S = 1.0
# A look into an object store is two requests per table, and each costs money.
_LOOK_INTO_STORE_S = 30.0
# Older versions that clients still page through, in addition to the newest.
_MOST_PINNED = 2

# A thread that is in DuckDB or Delta while the interpreter exits would crash the process.
_LONGEST_END_S = 10.0
_ENDING = threading.Event()
_WATCHERS: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def is_ending() -> bool:
    """Whether the process is ending: threads that read must not begin anything more."""
    return _ENDING.is_set()


def ends_with_process(thread: threading.Thread) -> None:
    """Make the process wait for a thread that reads, before it ends."""
    _WATCHERS.add(thread)


@atexit.register
def _end_watching() -> None:
    _ENDING.set()
    for watcher in list(_WATCHERS):
        watcher.join(_LONGEST_END_S)


class LakeReader:
    """Reads one lake for the pages. Safe to share between threads; holds no state of any user.

    Parameters
    ----------
    lake : str, Path or Lake
        The lake, or its folder or URI; it may be empty or not exist yet.
    """

    def __init__(self, lake: str | Path | Lake) -> None:
        self._lake = lake if isinstance(lake, Lake) else Lake(lake)
        self.lake_path = self._lake.root
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._watching = False
        self._snapshot: Snapshot | None = None
        self._fault: Exception | None = None
        self._pinned: OrderedDict[Hashable, Snapshot] = OrderedDict()

    def read(self, query: Callable[[duckdb.DuckDBPyConnection, Snapshot], T]) -> T:
        """The result of ``query`` on one snapshot; it gets a cursor of its own."""
        try:
            return _answered(query, self._of_request())
        except duckdb.IOException:
            if has_request_context() and g.get("pinned_lake") is self:
                # The newest version would be another answer than the one that was requested.
                raise
            # A vacuum deleted a file of an old snapshot: the newest one names only files that exist.
            with self._lock:
                self._snapshot = None
            return _answered(query, self._of_request(refresh=True))

    def read_cached(self, key: Hashable, query: Callable[[duckdb.DuckDBPyConnection, Snapshot], T]) -> T:
        """As :meth:`read`, but a recent answer under this key is reused while the tables are unchanged.

        Callers must not modify it.
        """
        return self.read(lambda cursor, snapshot: snapshot.cached(key, lambda: query(cursor, snapshot)))

    def pin(self, versions: Mapping[str, int | None]) -> None:
        """Read these versions of tables, and the newest of all others, in the rest of this web request.

        Parameters
        ----------
        versions : mapping of str to int or None
            By table, one of :data:`~throttlescope.app.web.data.snapshot.READ_TABLES`.

        Raises
        ------
        Exception
            Of the storage or of Delta: the lake does not keep a version any more.
        """
        newest = self._of_request()
        wanted = {**newest.versions, **versions}
        if wanted == newest.versions:
            return
        key = tuple(sorted(versions.items()))
        with self._lock:
            pinned = self._pinned.get(key)
        if pinned is None:
            pinned = Snapshot(self._lake, wanted, before=newest)
            with self._lock:
                self._pinned[key] = pinned
                while len(self._pinned) > _MOST_PINNED:
                    self._pinned.popitem(last=False)
        g.setdefault("snapshots", {})[self] = pinned
        g.pinned_lake = self

    def watch(self) -> None:
        """Make snapshots as the lake changes, from now on, in a thread that ends with this reader."""
        with self._starting:
            if not self._watching:
                self._watching = True
                watcher = threading.Thread(target=_watch, args=(weakref.ref(self),), name="lake", daemon=True)
                ends_with_process(watcher)
                watcher.start()

    def check(self) -> None:
        """Raise the error of the last check of the lake: pages would be answered from an older snapshot, or not at all."""
        if self._fault is not None:
            raise self._fault
        self._known()

    def newest_files(self) -> dict[str, StoredFile]:
        """By table the newest data file of the current snapshot; empty where none could be made, see :meth:`check`."""
        snapshot = self._snapshot
        return {} if snapshot is None else snapshot.newest_files

    def _of_request(self, *, refresh: bool = False) -> Snapshot:
        """The snapshot that a web request began with; ``refresh``: the newest one from now on."""
        if not has_request_context():
            return self._current()
        of_request = g.setdefault("snapshots", {})
        if refresh or self not in of_request:
            of_request[self] = self._current() if refresh else self._known()
        return of_request[self]

    def _known(self) -> Snapshot:
        self.watch()
        return self._snapshot or self._current()

    def _current(self) -> Snapshot:
        with self._lock:
            known = None if self._snapshot is None else self._snapshot.versions
            versions = self._lake.versions(READ_TABLES, known=known)
            if self._snapshot is None or self._snapshot.versions != versions:
                self._snapshot = Snapshot(self._lake, versions, before=self._snapshot)
                snapshot_made(well=True)
            return self._snapshot


def _watch(reader_of: weakref.ref[LakeReader]) -> None:
    logged = None
    while not _ENDING.is_set() and (reader := reader_of()) is not None:
        try:
            reader._current()
            logged = reader._fault = None
        except Exception as error:
            # Requests use the snapshot before, and the next check may succeed. Logged once, in a line.
            reader._fault = error
            snapshot_made(well=False)
            text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            if text != logged:
                _LOG.warning("the lake could not be looked at: %s", text)
            logged = text
        pause_s = _LOOK_INTO_STORE_S if reader._lake.storage.is_remote else _LOOK_S
        del reader
        _ENDING.wait(pause_s)


def _answered(query: Callable[[duckdb.DuckDBPyConnection, Snapshot], T], snapshot: Snapshot) -> T:
    """The result of a query with a cursor of its own; past the deadline of the web request, if it has one, the query is interrupted."""
    cursor = snapshot.connection.cursor()
    deadline_s = g.get("deadline_s") if has_request_context() else None
    if deadline_s is None:
        return query(cursor, snapshot)
    timer = threading.Timer(max(0.0, deadline_s - time.monotonic()), cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        return query(cursor, snapshot)
    finally:
        timer.cancel()


def end_reading_at(deadline_s: float) -> None:
    """Interrupt queries of this web request that are not done at a moment of the monotonic clock: ``duckdb.InterruptException``."""
    g.deadline_s = deadline_s


def dicts(result: duckdb.DuckDBPyConnection) -> list[dict]:
    """Rows of a result by their columns' names."""
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
