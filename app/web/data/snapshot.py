"""One version of the tables. In: a lake and the versions of its tables. Out: their file lists, and the newest verdicts in memory.

Files are pruned by cluster, topic and time before DuckDB opens any.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import duckdb

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.services.server_counters import count_lookup
from throttlescope.app.web.data.latest import make_before, make_latest
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.duck import from_files, is_widened, make_empty, reaches, with_all_columns
from throttlescope.ingest.lake.storage import StoredFile

#: What pages read.
READ_TABLES = (
    "verdicts",
    "verdict_latest",
    "signals",
    "truth",
    "ingest_runs",
    "episodes",
    "incidents",
    "forecasts",
    "quality",
    "quarantine",
    "anomalies",
    "policies",
    "series",
    "limits",
)

#: Memory of the queries of one worker; beyond it they use a folder for temporary files.
_MEMORY_LIMIT = "1GB"
#: Answers that a snapshot caches, each of at most some hundred rows.
_MOST_CACHED = 256
T = TypeVar("T")


class Snapshot:
    """One version of the tables: file lists, and the newest verdicts in memory.

    Parameters
    ----------
    before : Snapshot, optional
        An older one, whose lists are reused for tables that have not changed.
    """

    def __init__(
        self, lake: Lake, versions: dict[str, int | None], *, before: Snapshot | None = None
    ) -> None:
        self.versions = versions
        self._lock = threading.RLock()
        self._made: set[str] = set()
        self._widened: dict[str, bool] = {}
        self._cached: OrderedDict[Hashable, Any] = OrderedDict()
        self.files: dict[str, list[DataFile]] = {}
        for table, version in versions.items():
            if before is not None and before.versions.get(table) == version is not None:
                self.files[table] = before.files[table]
            else:
                self.files[table] = [] if version is None else lake.files(table, version=version)
        self.connection = duckdb.connect(
            config={
                "memory_limit": _MEMORY_LIMIT,
                "temp_directory": os.path.join(tempfile.gettempdir(), f"throttlescope-{os.getpid()}"),
            }
        )
        reaches(self.connection, lake.storage)
        self.connection.execute("SET TimeZone = 'UTC'")
        # It would be drawn into the server's log.
        self.connection.execute("SET enable_progress_bar = false")
        # Building the tables takes three times the memory that they have afterwards, and it is given back.
        self.connection.execute("SET allocator_background_threads = true")
        make_latest(self)
        make_before(self)

    @cached_property
    def newest_files(self) -> dict[str, StoredFile]:
        """Of each table that has files, the newest one, with its path below the lake."""
        last = {
            table: max(files, key=lambda file: (file.committed_ms, file.relative_path))
            for table, files in self.files.items()
            if files
        }
        return {
            table: StoredFile(f"{table}/{file.relative_path}", file.size_bytes, file.committed_ms)
            for table, file in last.items()
        }

    @property
    def word(self) -> str:
        """Which version of the tables this is, for those who compare: equal words are equal data."""
        return "-".join("" if version is None else str(version) for version in self.versions.values())

    def source(self, table: str, files: Sequence[DataFile]) -> str:
        """The FROM clause that reads some files of a table, with all columns of its contract."""
        if files and not self._is_widened(table):
            return from_files(files)
        empty, schema = f"empty_{table}", TABLES[table].loose_schema
        self.once(empty, lambda: make_empty(self.connection.cursor(), empty, schema))
        return with_all_columns(empty, files) if files else empty

    def _is_widened(self, table: str) -> bool:
        if table not in self._widened:
            files = self.files[table]
            cursor = self.connection.cursor()
            self._widened[table] = bool(files) and is_widened(cursor, files, TABLES[table].schema.names)
        return self._widened[table]

    def once(self, name: str, make: Callable[[], None]) -> None:
        """Let ``make`` make a small table of this version, when a page first needs it."""
        with self._lock:
            if name not in self._made:
                make()
                self._made.add(name)

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make`` for this key, cached while it is among the most recently used: one page needs the same result several times.

        Callers must not modify it.
        """
        with self._lock:
            found = key in self._cached
            count_lookup("answers", found=found)
            if found:
                self._cached.move_to_end(key)
                return self._cached[key]
        # Two threads may both make it; that does no harm, and no thread waits for the query of another.
        value = make()
        with self._lock:
            self._cached[key] = value
            while len(self._cached) > _MOST_CACHED:
                self._cached.popitem(last=False)
        return value

    def by_cluster(self, table: str) -> dict[str, list[DataFile]]:
        """Files of a table that is partitioned by cluster."""
        found: dict[str, list[DataFile]] = {}
        for file in self.files[table]:
            found.setdefault(file.partition["cluster"], []).append(file)
        return found

    def files_of(
        self, table: str, subscription: SubscriptionPartition, column: str, start: int, end: int
    ) -> list[DataFile]:
        """Files that may hold rows of a subscription with ``column`` in [start, end]."""
        wanted = {
            "cluster": (subscription.cluster, subscription.cluster),
            "topic": (subscription.topic, subscription.topic),
            column: (start, end),
        }
        return [
            file
            for file in self.files[table]
            if all(
                name not in file.minimum or (file.minimum[name] <= last and file.maximum[name] >= first)
                for name, (first, last) in wanted.items()
            )
        ]
