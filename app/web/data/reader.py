"""The only reader of the web app. In: the lake's folder. Out: answers of one snapshot per request.

Nothing is kept between requests but what belongs to a version of the tables: their file lists and
one small table with the newest verdict of every subscription. Each request has a cursor of its own.
No Spark session is here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb
from flask import g, has_request_context

from throttlescope.app.web.data.snapshot import READ_TABLES, Snapshot
from throttlescope.ingest.lake import Lake

T = TypeVar("T")


class LakeReader:
    """Reads one lake for the pages. Safe to share between threads; holds no state of any user.

    Parameters
    ----------
    lake_path : str or Path
        The lake's folder; it may be empty or not exist yet.
    """

    def __init__(self, lake_path: str | Path) -> None:
        self.lake_path = str(lake_path)
        self._lake = Lake(lake_path)
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None

    def read(self, ask: Callable[[duckdb.DuckDBPyConnection, Snapshot], T]) -> T:
        """Ask one snapshot something; ``ask`` gets a cursor of its own."""
        try:
            snapshot = self._of_request()
            return ask(snapshot.connection.cursor(), snapshot)
        except duckdb.IOException:
            # A vacuum took a file of an old snapshot: the newest one names only files that are there.
            with self._lock:
                self._snapshot = None
            snapshot = self._of_request(anew=True)
            return ask(snapshot.connection.cursor(), snapshot)

    def _of_request(self, *, anew: bool = False) -> Snapshot:
        """The snapshot that a web request began with: looking for a newer one reads every table's log."""
        if not has_request_context():
            return self._current()
        kept = g.setdefault("snapshots", {})
        if anew or self not in kept:
            kept[self] = self._current()
        return kept[self]

    def _current(self) -> Snapshot:
        versions = {table: self._lake.version(table) for table in READ_TABLES}
        with self._lock:
            if self._snapshot is None or self._snapshot.versions != versions:
                self._snapshot = Snapshot(self._lake, versions)
            return self._snapshot


def dicts(result: duckdb.DuckDBPyConnection) -> list[dict]:
    """Rows of a result by their columns' names."""
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
