"""Signals of the hours that a cycle touches. In: samples in memory, limits and statistics of the lake. Out: rows, and what changed.

An hour is recomputed whole, since a minute's usual scrape interval is that of its hour; then it is compared with what it was, row
by row, so that only windows whose minutes changed are judged again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.pipeline.follow.stats import StatsWatch
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake, read_files
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.as_of import KNOWN_FOR_MS
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.sample_window import SampleWindow

#: First minute that changed, by subscription partition.
Changed = dict[SubscriptionKey, int]
_SCHEMA = TABLES["signals"].loose_schema
_NAMES = list(SUBSCRIPTION_KEY_NAMES)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_NULL = 0x7FF8DEAD00000000


class HourlySignals:
    """The hours of ``signals`` that are still being made.

    Attributes
    ----------
    changed : dict
        What was committed and not judged yet; judging empties it. It outlives a cycle that broke off.
    """

    def __init__(
        self, lake: Lake, recent: SampleWindow, run_id: str, sampled: StatsWatch | None = None
    ) -> None:
        self.lake, self.recent, self.run_id, self.sampled = lake, recent, run_id, sampled
        self.changed: Changed = {}
        self._hours: dict[int, pa.Table] = {}
        self._known: dict[str, tuple[tuple, pa.Table]] = {}
        self._ends_ms: dict[str, int] = {}

    def build(self, hours_ms: Iterable[int]) -> None:
        """Recompute hours, commit those that changed, and note what did.

        Parameters
        ----------
        hours_ms : iterable of int
            Starts of UTC hours, rising.
        """
        newest_ms = self.recent.newest_ms()
        clusters = sorted(newest_ms)
        for hour_ms in hours_ms:
            before = self._hours.get(hour_ms)
            old = self._stored(hour_ms, clusters) if before is None else before
            rows = self._made(hour_ms, newest_ms)
            # Subscriptions of these clusters that this source does not show are another run's.
            rows = pa.concat_tables([rows, _others(old, self._subscriptions())])
            rows = rows.sort_by([(name, "ascending") for name in TABLES["signals"].key]).combine_chunks()
            # What the lake holds may be made of other samples: windows of an hour that was not made here are all judged.
            news = first_changes(before, rows)
            if news:
                replace_hours(
                    self.lake, rows, "signals", run_id=self.run_id, time_column="minute_ms", clusters=clusters,
                    start_ms=hour_ms, end_ms=hour_ms + BLOCK_MS,
                )  # fmt: skip
            self._hours[hour_ms] = rows
            self._note(news)
            self._note(newly_inside(rows, self._ends_ms))
            self._ends_ms |= ends_of(rows, self._ends_ms)

    def note_all_of(self, hour_ms: int) -> None:
        """Take every subscription partition of an hour for changed."""
        if hour_ms in self._hours:
            self._note(dict.fromkeys(_keys(self._hours[hour_ms]), hour_ms))

    def _note(self, changed: Changed) -> None:
        for key, at_ms in changed.items():
            self.changed[key] = min(at_ms, self.changed.get(key, at_ms))

    def forget_before(self, time_ms: int) -> None:
        self._hours = {hour_ms: rows for hour_ms, rows in self._hours.items() if hour_ms >= time_ms}

    @property
    def rows(self) -> int:
        return sum(rows.num_rows for rows in self._hours.values())

    def _made(self, hour_ms: int, newest_ms: dict[str, int]) -> pa.Table:
        limits, stats = (self._facts(table, hour_ms) for table in ("limits", "topic_stats"))
        if self.sampled is not None:
            stats = pa.concat_tables([stats, self.sampled.rows().cast(stats.schema)])
        made = minute_rows(self.recent, limits, stats, hour_ms, hour_ms + BLOCK_MS, newest_ms)
        return signals_of(made).cast(_SCHEMA)

    def _facts(self, table: str, hour_ms: int) -> pa.Table:
        """Rows of ``limits`` or ``topic_stats`` that may speak of the hour's day; read again when there are new ones."""
        version, names = self.lake.version(table), sorted(self.recent.newest_ms())
        read = self._known.get(table)
        if read is None or read[0] != (version, names):
            day_ms = hour_ms - hour_ms % DAY_MS
            near = {"observed_ms": (day_ms - KNOWN_FOR_MS, day_ms + 2 * DAY_MS + KNOWN_FOR_MS)}
            files = self.lake.files(table, between=near, version=version)
            rows = read_files(table, files).cast(TABLES[table].loose_schema)
            clusters = pa.array(names, pa.string())
            read = ((version, names), rows.filter(pc.is_in(rows.column("cluster"), value_set=clusters)))
            self._known[table] = read
        return read[1]

    def _stored(self, hour_ms: int, clusters: list[str]) -> pa.Table:
        files = self.lake.files(
            "signals",
            partition={"cluster": clusters},
            between={"minute_ms": (hour_ms, hour_ms + BLOCK_MS - 1)},
        )
        return read_files("signals", files).select(_SCHEMA.names).cast(_SCHEMA)

    def _subscriptions(self) -> set[SubscriptionKey]:
        found = set()
        for one in self.recent.of_metric(BACKLOG):
            labels = dict(one.labels) | {"partition": int(one.labels["partition"])}
            found.add(SubscriptionKey(*(labels[name] for name in _NAMES)))
        return found


def first_changes(old: pa.Table | None, new: pa.Table) -> Changed:
    """The first minute of each subscription partition that is not what it was; one that is not there is none.

    Parameters
    ----------
    old, new : pyarrow.Table
        Rows of ``signals``; without ``old`` every row of ``new`` is a change.
    """
    if old is None:
        old = new.slice(0, 0)
    rows = pa.concat_tables([old.select(new.column_names).cast(new.schema), new]).combine_chunks()
    if not rows.num_rows:
        return {}
    subscription = np.zeros(rows.num_rows, np.int64)
    for name in _NAMES:
        codes = _codes(rows.column(name)).view(np.int64)
        _, codes = np.unique(codes, return_inverse=True)
        _, subscription = np.unique(subscription * (int(codes.max()) + 1) + codes, return_inverse=True)
    marks = np.zeros(rows.num_rows, np.uint64)
    with np.errstate(over="ignore"):
        for name in rows.column_names:
            if name not in _NAMES:
                marks = (marks ^ _codes(rows.column(name))) * _PRIME
                marks ^= marks >> np.uint64(29)
    minute_ms = rows.column("minute_ms").to_numpy()
    was = np.arange(rows.num_rows) < old.num_rows
    # Equal rows come in pairs, one from before and one from now; what is left alone has changed.
    order = np.lexsort((was, marks, minute_ms, subscription))
    same = np.zeros(rows.num_rows, bool)
    here, there = order[:-1], order[1:]
    pair = (
        (subscription[here] == subscription[there])
        & (minute_ms[here] == minute_ms[there])
        & (marks[here] == marks[there])
        & (was[here] != was[there])
    )
    same[here[pair]] = same[there[pair]] = True
    alone = np.flatnonzero(~same)
    found: Changed = {}
    first: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for row in alone.tolist():
        code, at_ms = int(subscription[row]), int(minute_ms[row])
        if at_ms < first.get(code, at_ms + 1):
            first[code], row_of[code] = at_ms, row
    keys = rows.select(_NAMES).take(pa.array(list(row_of.values()), pa.int64())).to_pylist()
    for code, key in zip(row_of, keys, strict=True):
        found[SubscriptionKey(**key)] = first[code]
    return found


def ends_of(rows: pa.Table, before: dict[str, int]) -> dict[str, int]:
    """End of each cluster's newest minute, no earlier than it was before."""
    newest = rows.group_by("cluster").aggregate([("minute_ms", "max")]).to_pylist()
    return {
        row["cluster"]: max(row["minute_ms_max"] + MINUTE_MS, before.get(row["cluster"], 0)) for row in newest
    }


def newly_inside(rows: pa.Table, before: dict[str, int]) -> Changed:
    """Subscriptions with windows that end later than all minutes of their cluster did before.

    Such a window is judged only once its cluster's minutes reach its end: also that of a subscription which was not seen in the
    newest minutes and did not change itself.

    Parameters
    ----------
    before : dict
        What :func:`ends_of` gave before these rows came.
    """
    grown = {
        cluster: before[cluster]
        for cluster, end_ms in ends_of(rows, before).items()
        if cluster in before and end_ms > before[cluster]
    }
    if not grown:
        return {}
    return {key: grown[key.cluster] for key in _keys(rows) if key.cluster in grown}


def _keys(rows: pa.Table) -> list[SubscriptionKey]:
    return [SubscriptionKey(**key) for key in rows.select(_NAMES).group_by(_NAMES).aggregate([]).to_pylist()]


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """A number per row that is equal for equal values; NULL has one of its own."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(column.type):
        encoded = column.dictionary_encode()
        values = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return values.view(np.uint64)
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        values = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    return np.where(there, values, np.uint64(_NULL))


def _others(old: pa.Table, mine: set[SubscriptionKey]) -> pa.Table:
    """Rows of subscription partitions that are not among ours."""
    if not old.num_rows:
        return old
    others = [key._asdict() for key in _keys(old) if key not in mine]
    if not others:
        return old.slice(0, 0)
    wanted = pa.Table.from_pylist(others, schema=pa.schema([_SCHEMA.field(name) for name in _NAMES]))
    return old.join(wanted, _NAMES, join_type="left semi").select(_SCHEMA.names).cast(_SCHEMA)
