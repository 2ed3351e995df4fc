"""Recordings. In: a folder that the lab wrote. Out: its samples, policies, topic stats and truth, checked whole.

``recording.json`` names the format and the SHA-256 of every other file. Nothing is handed out before all of them are
there and unaltered. A recording is a cluster of its name, or it lists several clusters, whose names begin with its own;
rows of policies and topic stats name theirs then.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import topic_and_partition
from throttlescope.ingest.core.metrics import BACKLOG_METRICS
from throttlescope.ingest.core.selector import NAME_LABEL, Selector
from throttlescope.ingest.core.series import Meter, SampleBatch
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.sources.connections import add_pauses, connections_of
from throttlescope.ingest.sources.topic_stats import stats_rows, stats_table

FORMAT = 1
#: What a recording of a whole cluster calls its family; others hold one fault each.
CLUSTER_FAMILY = "fleet"
#: No folder, nothing hidden, nothing that a file system would refuse.
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,200}")
#: Values of one column of ``samples.parquet`` that are believed: a hundred times what an hour of a large broker has.
MOST_VALUES = 50_000_000
_MOST_GROUPS = 100
_COUNTS = """SELECT coalesce(max(groups), 0), coalesce(max(count), 0)
    FROM (SELECT max(row_group_id) + 1 AS groups, sum(num_values) AS count FROM parquet_metadata(?) GROUP BY column_id)"""
#: A million series with a kilobyte of labels each.
MOST_LABEL_BYTES = 1 << 30
_LABEL_BYTES = """SELECT coalesce(sum(list_sum(list_transform(map_entries(labels), lambda one: strlen(one.key) + strlen(one.value)))), 0)
    FROM read_parquet(?)"""

_SAMPLES = {
    "labels": pa.map_(pa.string(), pa.string()),
    "timestamps_ms": pa.list_(pa.int64()),
    "values": pa.list_(pa.float64()),
    "stale_ms": pa.list_(pa.int64()),
}
#: What reading files of any content ends with.
_UNREADABLE = (
    pa.ArrowException, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, OSError,
)  # fmt: skip
_NEEDED = ("samples.parquet", "policies.jsonl", "topic_stats.jsonl", "truth.json")


@dataclass(frozen=True)
class RecordingSource:
    """The samples of one recording, as a :class:`throttlescope.ingest.core.series.SampleSource`. Picklable.

    Attributes
    ----------
    checksum : str
        Of its samples; another recording in the same folder is another source.
    """

    folder: str
    checksum: str

    name = "recording"
    stale_is_inferred = False

    @property
    def address(self) -> str:
        return Path(self.folder).name

    def read(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Iterator[SampleBatch]:
        """Samples with ``start_ms <= t < end_ms`` of the series that the selector names."""
        table, rows_of = _loaded(self.folder, self.checksum)
        rows = rows_of.get(selector.metric_name, []) if selector.metric_name else range(table.num_rows)
        labels = table["labels"]
        found = [(row, pairs) for row in rows if selector.matches(dict(pairs := labels[row].as_py()))]
        if not found:
            return
        part = table.take(pa.array([row for row, _ in found], pa.int64())).combine_chunks()
        times, values, stale = (
            part[name].combine_chunks() for name in ("timestamps_ms", "values", "stale_ms")
        )
        flat, offsets = np.asarray(times.values), np.asarray(times.offsets, np.int64)
        flat_stale, stale_offsets = np.asarray(stale.values), np.asarray(stale.offsets, np.int64)
        inside = (flat >= start_ms) & (flat < end_ms)
        inside_stale = (flat_stale >= start_ms) & (flat_stale < end_ms)
        yield SampleBatch(
            [tuple(sorted(pairs)) for _, pairs in found],
            _kept_offsets(inside, offsets),
            flat[inside],
            np.asarray(values.values)[inside],
            _kept_offsets(inside_stale, stale_offsets),
            flat_stale[inside_stale],
        )


@dataclass(frozen=True)
class Recording:
    """A checked recording.

    Attributes
    ----------
    about : dict
        ``recording.json``.
    start_ms, end_ms : int
        Range of its samples, [start, end).
    metric_names : tuple of str
    policies, topic_stats, truth : pyarrow.Table
        Rows as their contracts want them.
    """

    name: str
    folder: Path
    about: dict[str, Any]
    start_ms: int
    end_ms: int
    metric_names: tuple[str, ...]
    policies: pa.Table
    topic_stats: pa.Table
    truth: pa.Table

    @property
    def clusters(self) -> tuple[str, ...]:
        """Labels ``cluster`` of its series."""
        return _clusters(self.about)

    @property
    def source(self) -> RecordingSource:
        return RecordingSource(str(self.folder), self.about["files"]["samples.parquet"])

    @property
    def subscriptions(self) -> int:
        """Series of a backlog: subscription partitions, each as often as it changed its broker."""
        _, rows_of = _loaded(str(self.folder), self.about["files"]["samples.parquet"])
        return sum(len(rows_of.get(name, ())) for name in BACKLOG_METRICS)

    @property
    def checksum(self) -> str:
        """One text that changes with any of its files."""
        return hashlib.sha256(json.dumps(self.about["files"], sort_keys=True).encode()).hexdigest()


def read_recording(folder: str | Path) -> Recording:
    """Check a recording and read what is small in it.

    Raises
    ------
    InputError
        The folder is no recording, a file is missing, altered or unreadable, or the format is unknown.
    """
    folder = Path(folder)
    about = _about(folder)
    _check_files(folder, about["files"])
    name, clusters = about["name"], _clusters(about)
    try:
        table, rows_of = _loaded(str(folder), about["files"]["samples.parquet"])
        start_ms, end_ms = _range_of(table)
        return Recording(
            name,
            folder,
            about,
            start_ms,
            end_ms,
            tuple(sorted(rows_of)),
            _policies(clusters, _lines(folder / "policies.jsonl")),
            _topic_stats(clusters, _lines(folder / "topic_stats.jsonl")),
            _truth(clusters, json.loads((folder / "truth.json").read_text())),
        )
    except _UNREADABLE as error:
        raise InputError(
            f"The recording {folder.name} cannot be read",
            got=f"{type(error).__name__}: {error}",
            fix="copy it again from its origin",
        ) from error


def list_demo() -> list[str]:
    """Names of the installed recordings that the demo shows: those of whole clusters, or all where none is installed."""
    shipped = list_shipped()
    clusters = [name for name, folder in shipped.items() if _about(folder).get("family") == CLUSTER_FAMILY]
    return clusters or list(shipped)


def list_shipped() -> dict[str, Path]:
    """Name to folder of the recordings that are installed with the package."""
    root = Path(str(resources.files("throttlescope.ingest"))) / "recordings"
    if not root.is_dir():
        return {}
    return {folder.name: folder for folder in sorted(root.iterdir()) if (folder / "recording.json").is_file()}


def altered_files(folder: Path, about: dict[str, Any]) -> list[str]:
    """Names of files that are missing or differ from their checksum."""
    return [
        name
        for name, digest in about["files"].items()
        if not (folder / name).is_file() or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def _about(folder: Path) -> dict[str, Any]:
    what = f"{folder} is no recording"
    try:
        about = json.loads((folder / "recording.json").read_text())
    except FileNotFoundError:
        near = (
            sorted(path.parent.name for path in folder.glob("*/recording.json"))[:3]
            if folder.is_dir()
            else []
        )
        raise InputError(
            what,
            got="no recording.json" if folder.is_dir() else "no such folder",
            expected="a folder with recording.json and the files that it names",
            fix=f"name one of its folders: {', '.join(near)}" if near else None,
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(what, got=f"recording.json: {error}", expected="JSON") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else type(about).__name__
        raise InputError(
            what, got=f"format {found!r}", expected=f"format {FORMAT}", fix="update throttlescope"
        )
    files = about.get("files")
    if not isinstance(about.get("name"), str) or not isinstance(files, dict) or set(_NEEDED) - set(files):
        lacking = (
            ", ".join(sorted(set(_NEEDED) - set(files if isinstance(files, dict) else ()))) or "its name"
        )
        raise InputError(
            what, got=f"recording.json without {lacking}", expected="a name and the checksums of all files"
        )
    if not all(_FILE_NAME.fullmatch(name) and isinstance(sum_, str) for name, sum_ in files.items()):
        raise InputError(what, got="a file outside of the folder", expected="plain file names")
    clusters = about.get("clusters", [about["name"]])
    if (
        not isinstance(clusters, list)
        or not clusters
        or not all(_is_own(one, about["name"]) for one in clusters)
    ):
        raise InputError(
            what,
            got=f"clusters {str(clusters)[:80]}",
            expected=f"a list of names that are {about['name']} or begin with {about['name']}-",
        )
    return about


def _is_own(cluster: Any, name: str) -> bool:
    """Whether a cluster has a recording's name: recordings never mix in one lake."""
    return isinstance(cluster, str) and (cluster == name or cluster.startswith(f"{name}-"))


def _clusters(about: dict[str, Any]) -> tuple[str, ...]:
    return tuple(about.get("clusters", [about["name"]]))


def _cluster_of(line: dict[str, Any], clusters: tuple[str, ...]) -> str:
    """The cluster of a row, which names it where a recording has several."""
    cluster = line.get("cluster", clusters[0] if len(clusters) == 1 else None)
    if cluster not in clusters:
        raise ValueError(f"a row of the cluster {cluster!r}")
    return cluster


def _check_files(folder: Path, files: dict[str, str]) -> None:
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"The recording {folder.name} is not whole",
            got=f"{', '.join(missing)} missing",
            fix="copy the whole folder",
        )
    altered = altered_files(folder, {"files": files})
    if altered:
        raise InputError(
            f"The recording {folder.name} was altered",
            got=f"another checksum of {', '.join(altered)}",
            expected="the files as they were recorded",
            fix="copy it again from its origin",
        )


@functools.lru_cache(maxsize=2)
def _loaded(folder: str, checksum: str) -> tuple[pa.Table, dict[str, list[int]]]:
    """All series, and the rows of each metric; kept by checksum, because a task reads metric by metric."""
    path = Path(folder) / "samples.parquet"
    file = pq.ParquetFile(path)
    if set(file.schema_arrow.names) != _SAMPLES.keys():
        raise ValueError(f"samples.parquet has columns {file.schema_arrow.names}")
    _refuse_bomb(path, file.metadata.num_rows)
    table = file.read()
    table = table.select(list(_SAMPLES)).cast(pa.schema(list(_SAMPLES.items()))).combine_chunks()
    for name in ("timestamps_ms", "values"):
        if table[name].null_count or pc.list_flatten(table[name]).null_count:
            raise ValueError(f"samples.parquet has NULL in {name}")
    lengths = [pc.list_value_length(table[name]) for name in ("timestamps_ms", "values")]
    if not lengths[0].equals(lengths[1]):
        raise ValueError("samples.parquet has a series with more times than values, or fewer")
    rows_of: dict[str, list[int]] = {}
    for row, pairs in enumerate(table["labels"].to_pylist()):
        rows_of.setdefault(dict(pairs).get(NAME_LABEL, ""), []).append(row)
    return table, rows_of


def _refuse_bomb(path: Path, rows: int) -> None:
    """A few bytes of Parquet may encode billions of equal values, or long texts many times: they are counted before they are read.

    DuckDB reads the footer: reading a damaged description of a column with Arrow ends the process (``metadata.row_group(i).column(j)``).
    """
    try:
        with duckdb.connect(config={"memory_limit": f"{MOST_LABEL_BYTES}B", "threads": 1}) as connection:
            groups, values = connection.execute(_COUNTS, [str(path)]).fetchone()
            if max(rows, values) <= MOST_VALUES and groups <= _MOST_GROUPS:
                (label_bytes,) = connection.execute(_LABEL_BYTES, [str(path)]).fetchone()
    except duckdb.OutOfMemoryException:
        label_bytes = math.inf
    except duckdb.Error as error:
        raise ValueError(f"samples.parquet: {str(error).splitlines()[0]}") from None
    if values > MOST_VALUES:
        raise ValueError(f"samples.parquet has more than {MOST_VALUES:,} values in a column")
    if rows > MOST_VALUES or groups > _MOST_GROUPS:
        raise ValueError(f"samples.parquet has {rows:,} series in {groups:,} groups")
    if label_bytes > MOST_LABEL_BYTES:
        raise ValueError(f"samples.parquet has labels of more than {MOST_LABEL_BYTES:,} bytes")


def _range_of(table: pa.Table) -> tuple[int, int]:
    times = pc.min_max(pc.list_flatten(table["timestamps_ms"])).as_py()
    if times["min"] is None:
        raise ValueError("samples.parquet holds no samples")
    stale = pc.min_max(pc.list_flatten(table["stale_ms"])).as_py()
    lows = [times["min"], *([stale["min"]] if stale["min"] is not None else [])]
    highs = [times["max"], *([stale["max"]] if stale["max"] is not None else [])]
    return min(lows), max(highs) + 1


def _kept_offsets(inside: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    running = np.concatenate([[0], np.cumsum(inside)])
    return running[offsets].astype(np.int64)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def _policies(clusters: tuple[str, ...], lines: list[dict[str, Any]]) -> pa.Table:
    rows = [
        {
            "cluster": _cluster_of(line, clusters),
            "scope": line["scope"],
            "key": line["key"],
            "body": "null" if line["body"] is None else line["body"],
            "broker": line.get("broker"),
            "observed_ms": line["observed_ms"],
            "date": date_of(line["observed_ms"]),
        }
        for line in lines
    ]
    return _table("policies", rows)


def _topic_stats(clusters: tuple[str, ...], lines: list[dict[str, Any]]) -> pa.Table:
    rows, connections = [], []
    for line in lines:
        namespace = "/".join(line["topic"].split("://", 1)[1].split("/")[:2])
        cluster, at_ms, body = _cluster_of(line, clusters), line["observed_ms"], line["body"] or ""
        rows += stats_rows(cluster, namespace, line["topic"], line["partition"], at_ms, body)
        if (one := connections_of(cluster, line["topic"], line["partition"], at_ms, body)) is not None:
            connections.append(one)
    # The lab asks about every topic that it publishes to.
    add_pauses(rows, connections, all_paused_seen=True)
    return stats_table(rows)


def _truth(clusters: tuple[str, ...], content: dict[str, Any]) -> pa.Table:
    if content.get("format") != FORMAT:
        raise ValueError(f"truth.json has format {content.get('format')!r} instead of {FORMAT}")
    rows = content["rows"]
    others = {row["cluster"] for row in rows} - set(clusters)
    if others:
        raise ValueError(f"truth.json speaks of the cluster {sorted(others)[0]!r}")
    for row in rows:
        if topic_and_partition(row["topic"], str(row["partition"])) != (row["topic"], str(row["partition"])):
            raise ValueError(f"truth.json names the topic {row['topic']!r} of partition {row['partition']}")
    # A replicator's limiter takes the place of a subscription's, in every table.
    return _table(
        "truth",
        [
            row | {"limiter": row["limiter"] and re.sub("^replicator", "subscription", row["limiter"])}
            for row in rows
        ],
    )


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    contract = TABLES[name]
    schema = pa.schema([(column.name, column.type) for column in contract.columns])
    return contract.conform(pa.Table.from_pylist(rows, schema=schema))
