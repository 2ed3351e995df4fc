"""A lake as a plan looks at it. In: a lake and clusters. Out: file lists and small rows, each read once for all clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.metrics import BACKLOG_METRICS, REPLICATION_BACKLOG
from throttlescope.ingest.core.times import DAY_MS, block_start
from throttlescope.ingest.lake import DataFile, Lake, read_files
from throttlescope.ingest.lake.newest_samples import newest_samples
from throttlescope.ingest.lake.parquet import dataset, reporting_store_errors
from throttlescope.ingest.lake.rows import naming_missing
from throttlescope.transforms.as_of import KNOWN_FOR_MS
from throttlescope.transforms.minutes import REMOTE_METRICS, metrics_read

#: How far back samples that came late are looked for: twice what a Prometheus keeps by default.
LATE_MS = 31 * DAY_MS

#: Snapshots that are read once for all clusters: many recordings have few each.
_AT_ONCE_ROWS = 500_000


class RecomputeView:
    """What is there now; a new one for every stage, because the one before has written.

    Parameters
    ----------
    clusters : iterable of str
        Those that will be requested.
    start_ms : int
        The earliest time that will be requested.
    """

    def __init__(self, lake: Lake, clusters: Iterable[str], start_ms: int) -> None:
        self.lake, self.clusters = lake, sorted(set(clusters))
        self.from_ms = block_start(start_ms) - LATE_MS - DAY_MS
        self._files: dict[str, dict[str, list[DataFile]]] = {}
        self._listed: dict[str, list[DataFile]] = {}
        self._rows: dict[str, pa.Table] = {}

    def blocks(self, cluster: str) -> pa.Table:
        """Files of ``samples`` that signals are made of; of a cluster with replicators also what other clusters show of its topics.

        Returns
        -------
        pyarrow.Table
            A row per file: ``relative_path``, ``hour_ms``, ``committed_ms``. Not as objects: they are those of a month.
        """
        files = self._blocks
        own = pc.equal(files["cluster"], cluster)
        if REPLICATION_BACKLOG in files.filter(own)["metric_name"].unique().to_pylist():
            own = pc.or_(own, pc.is_in(files["metric_name"], value_set=pa.array(REMOTE_METRICS)))
        return files.filter(own).select(["relative_path", "hour_ms", "committed_ms"])

    @cached_property
    def _blocks(self) -> pa.Table:
        found = self.lake.file_table(
            "samples",
            partition={"metric_name": metrics_read()},
            between={"block_start_ms": (self.from_ms, 1 << 62)},
        )
        names = {
            "relative_path": "relative_path", "committed_ms": "committed_ms", "hour_ms": "minimum.block_start_ms",
            "cluster": "minimum.cluster", "metric_name": "partition.metric_name",
        }  # fmt: skip
        if found is None:
            types = (pa.string(), pa.int64(), pa.int64(), pa.string(), pa.string())
            return pa.schema(zip(names, types, strict=True)).empty_table()
        return pa.table({name: found[column] for name, column in names.items()})

    def files(self, table: str, cluster: str) -> list[DataFile]:
        """Files of a table that is partitioned by cluster."""
        if table not in self._files:
            found = self.lake.files(table, partition={"cluster": self.clusters})
            self._files[table] = _by(found, lambda file: file.partition["cluster"])
        return self._files[table].get(cluster, [])

    def computed(self, cluster: str) -> dict[tuple[str, int], dict[str, Any]]:
        """Rows of ``computed`` by stage and hour."""
        return self._computed.get(cluster, {})

    @contextlib.contextmanager
    def known(
        self, table: str, cluster: str, first_ms: int, last_ms: int, where: pc.Expression | None
    ) -> Iterator[pa.Table | ds.Dataset]:
        """Snapshots of a cluster that may speak of [first, last); where there are many, to be read a piece at a time within the context."""
        if table not in self._listed:
            self._listed[table] = self.lake.files(table)
            if sum(file.rows for file in self._listed[table]) <= _AT_ONCE_ROWS:
                mine = pc.field("cluster").isin(self.clusters)
                whole = read_files(table, self._listed[table], where=mine if where is None else mine & where)
                self._rows[table] = whole.combine_chunks()
        low_ms, high_ms = first_ms - KNOWN_FOR_MS, last_ms + KNOWN_FOR_MS
        if table in self._rows:
            rows = self._rows[table]
            rows = rows.filter(pc.equal(rows["cluster"], cluster))
            times_ms = rows["observed_ms"]
            yield rows.filter(pc.and_(pc.greater_equal(times_ms, low_ms), pc.less_equal(times_ms, high_ms)))
            return
        near = [
            file
            for file in self._listed[table]
            if file.partition.get("cluster", cluster) == cluster
            and file.maximum.get("observed_ms", high_ms) >= low_ms
            and file.minimum.get("observed_ms", low_ms) <= high_ms
        ]
        if not near:
            yield TABLES[table].schema.empty_table()
            return
        mine = (pc.field("cluster") == cluster) & (pc.field("observed_ms") >= low_ms)
        mine &= pc.field("observed_ms") <= high_ms
        with naming_missing(table, near), reporting_store_errors(near[0].path):
            found = dataset([file.path for file in near], schema=TABLES[table].schema)
            yield found.filter(mine if where is None else mine & where)

    def newest_ms(self, cluster: str) -> int:
        """Time of the newest sample of a backlog; 0 where there is none."""
        return self._newest.get(cluster, 0)

    @cached_property
    def _newest(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for name in BACKLOG_METRICS:
            for cluster, newest_ms in newest_samples(self.lake, self.clusters, metric_name=name).items():
                found[cluster] = max(found.get(cluster, 0), newest_ms)
        return found

    @cached_property
    def _computed(self) -> dict[str, dict[tuple[str, int], dict[str, Any]]]:
        rows = self.lake.read(
            "computed",
            partition={"cluster": self.clusters},
            between={"block_start_ms": (self.from_ms, 1 << 62)},
        ).to_pylist()
        found: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}
        for row in rows:
            found.setdefault(row["cluster"], {})[row["stage"], row["block_start_ms"]] = row
        return found


def _by(files: Iterable[DataFile], name: Any) -> dict[str, list[DataFile]]:
    found: dict[str, list[DataFile]] = {}
    for file in files:
        found.setdefault(name(file), []).append(file)
    return found
