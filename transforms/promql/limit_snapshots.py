"""Limit snapshots as series. In: a lake, or rows of ``limits``. Out: :class:`limit_series.LimitSeries`."""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.parquet import read_parquet
from throttlescope.transforms.as_of import HOLDS_FOR_MS, KNOWN_FOR_MS
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC, LimitSeries, up
from throttlescope.transforms.promql.source import bounds_of

_CONTENT = ("rate_msg", "rate_bytes", "period_s", "counts", "relative_to_publish", "set_by")
_PLANNED = ("read_batch_entries", "read_size_bytes")
COLUMNS = [*SUBSCRIPTION_KEY_NAMES, "level", "observed_ms", *_CONTENT, *_PLANNED]
#: Pulsar's default from 5.0.0 on.
_LARGEST_READ_BATCH_ENTRIES = 500
_SERIES = pa.schema(
    [(name, TABLES["series"].column(name).type)
     for name in ("series_id", "metric_name", "labels", "shard", "first_ms", "last_ms")]
)  # fmt: skip


def read_limit_series(lake: Lake, version: int | None = None) -> LimitSeries:
    """The limit series of one version of a lake; none where limits were never observed."""
    return limit_series(read_snapshots(lake, version))


def read_snapshots(lake: Lake, version: int | None = None) -> pa.Table:
    """Rows of ``limits``, without the snapshots of a day that are between equal ones.

    Files are immutable: what a file says is kept, so that a new version costs what is new in it.
    """
    parts = [_compacted(file.path) for file in lake.files("limits", version=version)]
    return pa.concat_tables(parts) if parts else _nothing()


def limit_series(limits: pa.Table) -> LimitSeries:
    """Series of rows of ``limits``.

    Parameters
    ----------
    limits : pyarrow.Table
        At least :data:`COLUMNS`; any order, several clusters.
    """
    if limits.num_rows == 0:
        return LimitSeries(_SERIES.empty_table(), np.zeros(1, np.int64), *_no_spans())
    limits = _in_order(limits)
    new_key, new_snapshot = _begins(limits)
    snapshot_of = np.cumsum(new_snapshot) - 1
    times_ms, key_begins = _numbers(limits, "observed_ms")[new_snapshot], new_key[new_snapshot]
    speaks_from_ms = _speaks_from(times_ms, key_begins)
    follows_ms = np.append(speaks_from_ms[1:], np.iinfo(np.int64).max)
    follows_ms[:-1][key_begins[1:]] = np.iinfo(np.int64).max
    until_ms = np.minimum(follows_ms, times_ms + KNOWN_FOR_MS + 1)
    # A snapshot that speaks for the time before it does so once more, and says so where it was not known by then.
    early = np.flatnonzero((speaks_from_ms < times_ms)[snapshot_of])
    row_of = np.concatenate([np.arange(limits.num_rows), early])
    spoke = snapshot_of[row_of]
    is_early = np.arange(len(row_of)) >= limits.num_rows
    later = is_early & _is_new(limits, snapshot_of, key_begins)[spoke]
    from_ms = np.where(is_early, np.maximum(speaks_from_ms, times_ms - KNOWN_FOR_MS)[spoke], times_ms[spoke])
    ends_ms = np.where(is_early, times_ms[spoke], until_ms[spoke])
    from_ms, ends_ms = up(from_ms), up(ends_ms)
    seen = from_ms < ends_ms
    return _built(limits, np.cumsum(new_key) - 1, row_of[seen], later[seen], from_ms[seen], ends_ms[seen])


def _speaks_from(times_ms: np.ndarray, key_begins: np.ndarray) -> np.ndarray:
    """From when on each snapshot speaks; the first of a key for all that was before it (see :mod:`as_of`)."""
    before_ms = np.r_[0, times_ms[:-1]]
    nearer_ms = np.maximum(before_ms + HOLDS_FOR_MS, (before_ms + times_ms) // 2) + 1
    return np.where(key_begins, times_ms - KNOWN_FOR_MS, np.minimum(times_ms, nearer_ms))


def _is_new(limits: pa.Table, snapshot_of: np.ndarray, key_begins: np.ndarray) -> np.ndarray:
    """Whether each snapshot says something else than the one before it, or is the first."""
    contents = _contents(limits, snapshot_of)
    found = key_begins.copy()
    found[1:] |= (contents[1:] != contents[:-1]).any(axis=1)
    return found


def _built(
    limits: pa.Table,
    key_of: np.ndarray,
    row_of: np.ndarray,
    later: np.ndarray,
    from_ms: np.ndarray,
    until_ms: np.ndarray,
) -> LimitSeries:
    """Each span of a row becomes one of messages and one of bytes; equal labels make a series."""
    period_s = _numbers(limits, "period_s")
    level, set_by = _codes(limits, "level"), _codes(limits, "set_by")
    relative, in_entries = _codes(limits, "relative_to_publish"), _codes(limits, "counts", "entries")
    columns, values = [], []
    for unit, (rate, planned) in enumerate(
        zip(("rate_msg", "rate_bytes"), ("read_batch_entries", "read_size_bytes"), strict=True)
    ):
        per_period = _numbers(limits, rate)
        value = np.where(np.isnan(per_period), np.inf, per_period / period_s)
        # Fewer tokens than one read plans for: every read of a healthy subscription counts as an event.
        informative = np.where(np.isnan(per_period), -1, per_period >= _planned(limits, planned))
        is_set = ~np.isnan(per_period)
        flags = [
            in_entries & (unit == 0),
            relative & is_set,
            period_s,
            informative,
            np.full(len(value), unit),
        ]
        columns.append(np.column_stack([key_of, level, set_by, *flags])[row_of])
        values.append(value[row_of])
    identity = np.column_stack([np.concatenate(columns), np.tile(later, 2)]).astype(np.int64)
    value, from_ms, until_ms = np.concatenate(values), np.tile(from_ms, 2), np.tile(until_ms, 2)
    _, example, series_of = np.unique(identity, axis=0, return_index=True, return_inverse=True)
    order = np.lexsort((from_ms, series_of.reshape(-1)))
    series_of, value = series_of.reshape(-1)[order], value[order]
    from_ms, until_ms = from_ms[order], until_ms[order]
    # Snapshots that say the same, one after the other, are one span.
    same = np.zeros(len(order), np.bool_)
    same[1:] = (series_of[1:] == series_of[:-1]) & (value[1:] == value[:-1]) & (from_ms[1:] == until_ms[:-1])
    begins = np.flatnonzero(~same)
    until_ms = np.maximum.reduceat(until_ms, begins)
    series_of, from_ms, value = series_of[begins], from_ms[begins], value[begins]
    bounds = bounds_of(np.bincount(series_of))
    rows = _rows(limits, np.tile(row_of, 2)[example], identity[example])
    rows = rows.append_column("first_ms", pa.array(from_ms[bounds[:-1]]))
    # A series is there up to its marker.
    rows = rows.append_column("last_ms", pa.array(until_ms[bounds[1:] - 1]))
    return LimitSeries(rows.select(_SERIES.names).cast(_SERIES), bounds, from_ms, until_ms, value)


def _rows(limits: pa.Table, row_of: np.ndarray, identity: np.ndarray) -> pa.Table:
    picked = limits.take(pa.array(row_of))
    columns = {name: picked.column(name).to_pylist() for name in ("cluster", "namespace", "topic")}
    topics = list(zip(*columns.values(), strict=True))
    shard = {topic: shard_of(*topic) for topic in set(topics)}
    entries, relative, _, informative, unit, later = (identity[:, n].tolist() for n in range(3, 9))
    columns |= {
        name: [str(value) for value in picked.column(name).to_pylist()]
        for name in ("partition", "subscription", "level", "set_by", "period_s")
    } | {
        "unit": [UNITS[one] for one in unit],
        "counts": ["entries" if one else "" for one in entries],
        "relative_to_publish": ["true" if one else "" for one in relative],
        "events_informative": [("false", "true", "")[one] for one in informative],
        "limit_observed_later": ["true" if one else "" for one in later],
    }
    names = sorted(columns)
    # An empty label is none.
    labels = [
        [(name, value) for name, value in zip(names, values, strict=True) if value]
        for values in zip(*(columns[name] for name in names), strict=True)
    ]
    return pa.table(
        {
            "series_id": [f"limit {n}" for n in range(len(labels))],
            "metric_name": [LIMIT_METRIC] * len(labels),
            "labels": pa.array(labels, _SERIES.field("labels").type),
            "shard": pa.array([shard[topic] for topic in topics], pa.int32()),
        }
    )


# -- snapshots --------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def _compacted(path: str) -> pa.Table:
    """A file's rows without the snapshots between equal ones: limits change seldom and are read often."""
    return compacted(read_parquet(path, COLUMNS, use_threads=False))


def compacted(limits: pa.Table) -> pa.Table:
    """Rows without those snapshots of a key that say what the one before and the one behind say.

    Equal snapshots have to be at most :data:`KNOWN_FOR_MS` apart, which those of one file (a day) are.
    """
    if limits.num_rows == 0:
        return limits
    limits = _in_order(limits)
    new_key, new_snapshot = _begins(limits)
    snapshot_of = np.cumsum(new_snapshot) - 1
    by_level = _contents(limits, snapshot_of)
    key_begins = new_key[new_snapshot]
    differs = np.ones(len(by_level) + 1, np.bool_)
    differs[1:-1] = key_begins[1:] | (by_level[1:] != by_level[:-1]).any(axis=1)
    kept = differs[:-1] | differs[1:]
    return limits.filter(pa.array(kept[snapshot_of]))


def _contents(limits: pa.Table, snapshot_of: np.ndarray) -> np.ndarray:
    """A code per snapshot and level, equal where they say the same; -1 for a level that was not observed."""
    content = np.column_stack([_codes(limits, name) for name in (*_CONTENT, *_PLANNED)])
    _, code = np.unique(content, axis=0, return_inverse=True)
    levels = _codes(limits, "level")
    by_level = np.full((int(snapshot_of[-1]) + 1, int(levels.max()) + 1), -1, np.int64)
    by_level[snapshot_of, levels] = code.reshape(-1)
    return by_level


def _in_order(limits: pa.Table) -> pa.Table:
    order = [(name, "ascending") for name in (*SUBSCRIPTION_KEY_NAMES, "observed_ms", "level")]
    return limits.select(COLUMNS).sort_by(order).combine_chunks()


def _begins(limits: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Rows that begin a key, and rows that begin a snapshot of a key."""
    new_key = np.zeros(limits.num_rows, np.bool_)
    new_key[0] = True
    for name in SUBSCRIPTION_KEY_NAMES:
        codes = _codes(limits, name)
        new_key[1:] |= codes[1:] != codes[:-1]
    times_ms = _numbers(limits, "observed_ms")
    new_snapshot = new_key.copy()
    new_snapshot[1:] |= times_ms[1:] != times_ms[:-1]
    return new_key, new_snapshot


def _codes(table: pa.Table, name: str, equal: str | None = None) -> np.ndarray:
    """A number per row, equal for equal values; or whether the value is a certain one."""
    column = table.column(name)
    if equal is not None:
        return pc.equal(column, equal).fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_boolean(column.type):
        return column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
    encoded = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _numbers(table: pa.Table, name: str) -> np.ndarray:
    """A column of whole numbers; float64 with NaN where it may be NULL."""
    column = table.column(name)
    if name in ("rate_msg", "rate_bytes"):
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return column.to_numpy(zero_copy_only=False).astype(np.int64)


def _planned(limits: pa.Table, name: str) -> np.ndarray:
    """What a read plans for; the larger of Pulsar's defaults where the batch was not read."""
    return pc.fill_null(limits.column(name).cast(pa.int64()), _LARGEST_READ_BATCH_ENTRIES).to_numpy()


def _no_spans() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)


def _nothing() -> pa.Table:
    return pa.schema([(name, TABLES["limits"].column(name).type) for name in COLUMNS]).empty_table()
