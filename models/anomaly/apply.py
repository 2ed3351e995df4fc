"""Anomalies of a lake. In: ``signals`` and ``verdicts``. Out: ``anomalies`` and ``baselines``, on Spark for a fleet or in this process.

What was usual at a midnight is computed by the first run after it and kept in ``baselines``; the other runs of the day read the judged
days alone. Subscriptions are judged in shares, each of which reads its own rows. What is found is little, so it is grouped and
committed by the driver.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, dates_of
from throttlescope.ingest.lake import DataFile, read_files, write_data_file
from throttlescope.ingest.lake.after_commit import LakeAfterCommit
from throttlescope.ingest.lake.files import NewFile
from throttlescope.ingest.lake.lake import ConflictError
from throttlescope.ingest.lake.staged import StagedCommit
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.anomaly import minutes
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.grouping import grouped, topics_judged
from throttlescope.models.anomaly.minutes import MinutesTable
from throttlescope.models.anomaly.rules import RULES, AnomalyRules
from throttlescope.models.anomaly.shares import NameRange, shares_of
from throttlescope.models.anomaly.stored import baselines_in, rows_of
from throttlescope.models.anomaly.subscription import (
    Range,
    anomalies_of,
    baselines_of,
    covered_minutes,
    judged_by,
)

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Days before the range whose rows are rewritten: one that was open then may have ended.
REWRITTEN_DAYS = 2
#: Rows of ``signals`` that one process reads at most; a month of 400 subscription partitions.
MOST_ROWS = 20_000_000

_SIGNALS = (*SUBSCRIPTION_KEY_NAMES, *minutes.COLUMNS)
_TIMES = {"signals": "minute_ms", "verdicts": "window_start_ms"}
_SCRAPED = ("cluster", "minute_ms", "coverage_share")
#: Pieces in which the files of a share are read: what is read is rows for a moment, and arrays from then on.
_PIECES = 16

#: By cluster, starts of the minutes in which anything was scraped, sorted.
Covered = dict[str, np.ndarray]
#: Cluster, topic and broker.
Place = tuple[str, str, str | None]


def build_anomalies(
    executor: TaskExecutor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> int:
    """Judge [start_ms, end_ms) of some clusters and write ``anomalies``, and ``baselines`` where those that are kept do not hold.

    Parameters
    ----------
    executor : TaskExecutor
        Spark's, or one of this process.
    clusters : iterable of str
    start_ms, end_ms : int
        Range; rows that begin in it, or up to two UTC days before it, take the place of the old ones.
    zone : str
        IANA time zone whose weeks are compared.

    Returns
    -------
    int
        Rows that were written.
    """
    clusters = sorted(set(clusters))
    judged = _judged_range(start_ms, end_ms, zone, rules)
    baselines: list[DataFile] = []
    for cluster in clusters:
        weeks = _Weeks.of(lake, cluster, judged)
        baselines += weeks.kept(lake) or _computed(executor, lake, weeks, run_id)
    found, topics = _found(executor, lake, clusters, judged, baselines)
    found = [row for row in found if row["start_ms"] >= judged.start_ms]
    return _write(lake, grouped(found, topics_judged(topics)), clusters, judged.start_ms, end_ms, run_id)


def rows_to_read(
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    *,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> int:
    """Rows of ``signals`` that :func:`build_anomalies` would read: those of the weeks before only where no baselines are kept."""
    judged = _judged_range(start_ms, end_ms, zone, rules)
    files = _files(lake, "signals", clusters, judged.read_ms, end_ms)
    for cluster in set(clusters):
        weeks = _Weeks.of(lake, cluster, judged)
        if not weeks.kept(lake):
            files += weeks.signals
    return sum(file.rows for file in files)


def _judged_range(start_ms: int, end_ms: int, zone: str, rules: AnomalyRules) -> Range:
    return Range.of(start_ms - start_ms % DAY_MS - REWRITTEN_DAYS * DAY_MS, end_ms, zone, rules)


@dataclass(frozen=True)
class _Weeks:
    """What the baselines of a cluster are computed from."""

    cluster: str
    judged: Range
    signals: list[DataFile]
    verdicts: list[DataFile]

    @classmethod
    def of(cls, lake: Lake, cluster: str, judged: Range) -> _Weeks:
        signals, verdicts = (
            _files(lake, table, [cluster], judged.first_ms, judged.known_ms)
            for table in ("signals", "verdicts")
        )
        return cls(cluster, judged, signals, verdicts)

    @property
    def inputs(self) -> str:
        """The same where the baselines are: files are named by their content."""
        judged = self.judged
        names = sorted(file.relative_path for file in (*self.signals, *self.verdicts))
        span = (judged.first_ms, judged.begin_ms, judged.known_ms, judged.calendar.zone)
        form = (version("throttlescope"), TABLES["baselines"].loose_schema.names, judged.rules)
        return xxhash.xxh3_128_hexdigest(repr((form, span, names)).encode())

    def kept(self, lake: Lake) -> list[DataFile]:
        """Files of ``baselines`` that hold; none where they have to be computed."""
        inputs = self.inputs
        return lake.files(
            "baselines", partition={"cluster": [self.cluster]}, between={"inputs": (inputs, inputs)}
        )


def _computed(executor: TaskExecutor, lake: Lake, weeks: _Weeks, run_id: str) -> list[DataFile]:
    """Compute the baselines of a cluster and put them in place of the old ones; their files."""
    if not weeks.signals:
        return []
    partition, inputs = {"cluster": [weeks.cluster]}, weeks.inputs
    read_version = lake.version("baselines")
    old = lake.files("baselines", partition=partition, version=read_version)
    covered = _covered(executor, weeks.signals, weeks.judged.first_ms, weeks.judged.known_ms)
    write = partial(_write_share, lake.root, weeks, inputs, covered)
    new = list(executor.map(write, shares_of(weeks.signals, executor.parallelism)))
    staged = StagedCommit(
        "baselines", tuple(file for file in new if file is not None), tuple(old), run_id, read_version
    )
    # Another run that keeps its own meanwhile does no harm: this one reads what it wrote.
    with contextlib.suppress(ConflictError):
        lake.commit_staged(staged)
    return LakeAfterCommit(lake, staged).files(
        "baselines", partition=partition, between={"inputs": (inputs, inputs)}
    )


def _write_share(root: str, weeks: _Weeks, inputs: str, covered: Covered, share: NameRange) -> NewFile | None:
    """Compute the baselines of a share and write them; None where it has no rows."""
    judged = weeks.judged
    table = MinutesTable()
    for rows in _pieces(weeks.signals, share, judged.first_ms, judged.known_ms):
        table.add(rows)
    verdicts = _read_verdicts(weeks.verdicts, share, ~pc.field("cause").isin(diagnosis.CALM))
    found = baselines_of(table, judged, incidents=diagnosis.incident_windows(verdicts), covered=covered)
    return write_data_file(root, "baselines", rows_of(found, judged.known_ms, inputs)) if found else None


def _found(
    executor: TaskExecutor, lake: Lake, clusters: list[str], judged: Range, baselines: list[DataFile]
) -> tuple[list[dict[str, Any]], set[Place]]:
    """Rows of ``anomalies``, not grouped yet, and the places that were judged."""
    signals, verdicts = (
        _files(lake, table, clusters, judged.read_ms, judged.end_ms) for table in ("signals", "verdicts")
    )
    covered = _covered(executor, signals, judged.read_ms, judged.end_ms)
    judge = partial(_judge_share, signals, verdicts, baselines, covered, judged)
    found: list[dict[str, Any]] = []
    places: set[Place] = set()
    for rows, there in executor.map(judge, shares_of(signals, executor.parallelism)):
        found += rows
        places |= there
    return found, places


def _judge_share(
    signals: list[DataFile],
    verdicts: list[DataFile],
    baselines: list[DataFile],
    covered: Covered,
    judged: Range,
    share: NameRange,
) -> tuple[list[dict[str, Any]], set[Place]]:
    """:func:`_found` of a share."""
    table, places = MinutesTable(), set()
    for rows in _pieces(signals, share, judged.read_ms, judged.end_ms):
        table.add(rows)
        recent = rows.filter(pc.greater_equal(rows.column("minute_ms"), judged.start_ms))
        places |= _places(recent)
    # Subscriptions that have no row any longer have baselines: they may have fallen silent.
    mine = [file for file in baselines if share.is_in(file)]
    usual = baselines_in(read_files("baselines", mine, where=share.where))
    said = _read_verdicts(verdicts, share)
    incidents = diagnosis.incident_windows(said)
    found = judged_by(usual, table, judged, incidents=incidents, covered=covered)
    return diagnosis.with_verdicts(found, said), places


def _pieces(files: Sequence[DataFile], share: NameRange, first_ms: int, end_ms: int) -> Iterator[pa.Table]:
    """Rows of ``signals`` of a share in [first_ms, end_ms), some files at a time."""
    mine = [file for file in files if share.is_in(file)]
    minute_ms = pc.field("minute_ms")
    where = share.where & (minute_ms >= first_ms) & (minute_ms < end_ms)
    for some in _some(mine, _PIECES):
        yield read_files("signals", some, columns=list(_SIGNALS), where=where)


def _read_verdicts(
    files: Sequence[DataFile], share: NameRange, which: pc.Expression | None = None
) -> pa.Table:
    where = share.where if which is None else share.where & which
    mine = [file for file in files if share.is_in(file)]
    return read_files("verdicts", mine, columns=list(diagnosis.COLUMNS), where=where)


def _covered(executor: TaskExecutor, files: Sequence[DataFile], first_ms: int, end_ms: int) -> Covered:
    found: dict[str, list[np.ndarray]] = {}
    for some in executor.map(
        partial(_covered_in, first_ms, end_ms), _some(files, _PIECES * executor.parallelism)
    ):
        for cluster, starts_ms in some.items():
            found.setdefault(cluster, []).append(starts_ms)
    return {cluster: np.unique(np.concatenate(parts)) for cluster, parts in found.items()}


def _covered_in(first_ms: int, end_ms: int, files: list[DataFile]) -> Covered:
    where = (pc.field("minute_ms") >= first_ms) & (pc.field("minute_ms") < end_ms)
    return covered_minutes(read_files("signals", files, columns=list(_SCRAPED), where=where))


def _some(files: Sequence[DataFile], pieces: int) -> list[list[DataFile]]:
    """Files in so many pieces at most."""
    size = max(1, -(-len(files) // pieces))
    return [list(files[at : at + size]) for at in range(0, len(files), size)]


def _places(rows: pa.Table) -> set[Place]:
    distinct = rows.group_by(["cluster", "topic", "broker"]).aggregate([])
    return set(
        zip(*(distinct.column(name).to_pylist() for name in ("cluster", "topic", "broker")), strict=True)
    )


def find_anomalies(
    lake: Lake,
    start_ms: int,
    end_ms: int,
    *,
    cluster: str | None = None,
    topic: str | None = None,
    partition: int | None = None,
    subscription: str | None = None,
    zone: str = "UTC",
    rules: AnomalyRules = RULES,
) -> list[dict[str, Any]]:
    """Judge [start_ms, end_ms) in this process, without writing.

    Parameters
    ----------
    cluster, topic, partition, subscription : optional
        What is judged; None leaves a question open.

    Returns
    -------
    list of dict
        Rows of ``anomalies`` that end after ``start_ms``, grouped.

    Raises
    ------
    InputError
        There are no signals of it, or more than one process reads.
    """
    judged = Range.of(start_ms, end_ms, zone, rules)
    clusters = None if cluster is None else [cluster]
    files = _files(lake, "signals", clusters, judged.first_ms, end_ms)
    wanted = {"topic": topic, "partition": partition, "subscription": subscription}
    where = (pc.field("minute_ms") >= judged.first_ms) & (pc.field("minute_ms") < end_ms)
    mine = pc.scalar(True)
    for name, value in wanted.items():
        if value is not None:
            mine = mine & (pc.field(name) == value)
    if topic is None and sum(file.rows for file in files) > MOST_ROWS:
        raise InputError(
            "That is too much for one process",
            got=f"{sum(file.rows for file in files):,} subscription minutes",
            expected=f"at most {MOST_ROWS:,}",
            fix="name one with --subscription, or let Spark do it with --store",
        )
    span = {"minute_ms": (judged.first_ms, end_ms - 1)}
    partitions = None if clusters is None else {"cluster": clusters}
    signals = lake.read(
        "signals", columns=list(_SIGNALS), where=where & mine, partition=partitions, between=span
    )
    if not signals.num_rows:
        raise InputError(
            "There are no signals of it in this lake",
            got=lake.root,
            fix="see throttlescope verdicts for what there is, and bring more with throttlescope run",
        )
    covered = covered_minutes(
        lake.read("signals", columns=list(_SCRAPED), where=where, partition=partitions, between=span)
    )
    window = (pc.field("window_end_ms") > judged.first_ms) & (pc.field("window_start_ms") < end_ms) & mine
    verdicts = lake.read("verdicts", columns=list(diagnosis.COLUMNS), where=window, partition=partitions)
    incidents = diagnosis.incident_windows(verdicts)
    found = anomalies_of(signals, judged, incidents=incidents, covered=covered)
    places = _places(signals.filter(pc.greater_equal(signals.column("minute_ms"), start_ms)))
    # With a selector the others are not known, and so not how many would be many.
    return grouped(diagnosis.with_verdicts(found, verdicts), topics_judged(places) if topic is None else None)


def _files(
    lake: Lake, table: str, clusters: Iterable[str] | None, first_ms: int, end_ms: int
) -> list[DataFile]:
    """Files of ``signals`` or ``verdicts`` with times in [first_ms, end_ms)."""
    return lake.files(
        table,
        partition=None if clusters is None else {"cluster": clusters},
        between={_TIMES[table]: (first_ms, end_ms - 1)},
    )


def _write(
    lake: Lake, rows: list[dict[str, Any]], clusters: list[str], from_ms: int, end_ms: int, run_id: str
) -> int:
    """Put rows in place of those that begin in [from_ms, end_ms)."""
    contract = TABLES["anomalies"]
    new = contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))

    def change(existing: pa.Table) -> pa.Table:
        begins = existing.column("start_ms")
        kept = existing.filter(pc.or_(pc.less(begins, from_ms), pc.greater_equal(begins, end_ms)))
        return pa.concat_tables([kept.select(new.column_names).cast(new.schema), new])

    touched = [
        {"cluster": cluster, "date": date}
        for cluster in clusters
        for date in sorted(dates_of(from_ms, end_ms))
    ]
    lake.update("anomalies", change, partitions_of=pa.Table.from_pylist(touched), run_id=run_id)
    return new.num_rows
