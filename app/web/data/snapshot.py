"""One version of the tables. In: a lake and the versions of its tables. Out: their file lists, and the newest verdicts in memory.

Files are pruned by cluster, topic and time before DuckDB opens any.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from throttlescope.app.web.address import Subscription
from throttlescope.app.web.data.latest import LATEST_SQL, LOOK_BACK_MS
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import DataFile, Lake

#: What pages read.
READ_TABLES = ("verdicts", "signals", "truth", "ingest_runs", "episodes", "incidents", "forecasts")


class Snapshot:
    """One version of the tables: file lists, and the newest verdicts in memory."""

    def __init__(self, lake: Lake, versions: dict[str, int | None]) -> None:
        self.versions = versions
        self.files: dict[str, list[DataFile]] = {
            table: [] if version is None else lake.files(table, version=version)
            for table, version in versions.items()
        }
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        for table in READ_TABLES:
            # A table in the database: what is only registered is not seen by cursors.
            self.connection.register("empty", TABLES[table].loose_schema.empty_table())
            self.connection.execute(f"CREATE TABLE empty_{table} AS SELECT * FROM empty")  # noqa: S608
            self.connection.unregister("empty")
        self.connection.execute(LATEST_SQL.format(source=self.source("verdicts", self._newest_verdicts())))

    def source(self, table: str, files: Sequence[DataFile]) -> str:
        if not files:
            return f"empty_{table}"
        quoted = ", ".join("'" + file.path.replace("'", "''") + "'" for file in files)
        return f"read_parquet([{quoted}], hive_partitioning = false)"

    def files_of(
        self, table: str, subscription: Subscription, column: str, start: int, end: int
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

    def _newest_verdicts(self) -> list[DataFile]:
        newest: dict[str, int] = {}
        for file in self.files["verdicts"]:
            cluster = file.partition["cluster"]
            newest[cluster] = max(newest.get(cluster, 0), file.maximum["window_end_ms"])
        return [
            file
            for file in self.files["verdicts"]
            if file.maximum["window_end_ms"] > newest[file.partition["cluster"]] - LOOK_BACK_MS
        ]
