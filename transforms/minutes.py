"""Each subscription partition and minute, as one task can see it. In: the files of a task. Out: Arrow rows.

This runs inside a Spark task and needs no Spark: files are read, the rules are evaluated at the end of each minute, counters
are differenced, the limits known at the minute's end are joined, and the use of a topic's limit is summed
over the subscriptions that share it (they are in one shard, so in one task). The use of a broker's limit is summed later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES, TOPIC_KEY_NAMES
from throttlescope.ingest.contracts.results import RULE_COLUMNS, STATS_COLUMNS
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.metrics import BACKLOG_METRICS
from throttlescope.ingest.core.selector import EQUAL, Matcher, Selector, metric_selector, parse_selector
from throttlescope.ingest.core.subscription_name import remote_cluster, with_cursor
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import DataFile
from throttlescope.ingest.lake.parquet import dataset, read_parquet, reporting_store_errors
from throttlescope.transforms import deltas
from throttlescope.transforms.as_of import Timeline, limits_over_time, stats_over_time
from throttlescope.transforms.promql.evaluate import evaluate_all
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.matrix import StepMatrix, Steps
from throttlescope.transforms.promql.source import SampleSource, Series
from throttlescope.transforms.read_once import ReadOnce, overlap, read_twice
from throttlescope.transforms.rules import column_rules
from throttlescope.transforms.segments import parent_backlogs, segments_of, successor_consumers
from throttlescope.transforms.stats_samples import stats_in_minutes

_OF_SUBSCRIPTION = '{subscription!="", consumer_name="", consumer_id=""}'

#: Counters of a subscription partition: column, and the series that are added up.
_COUNTERS: dict[str, Selector] = {
    "out_msg_delta": parse_selector("pulsar_out_messages_total" + _OF_SUBSCRIPTION),
    "out_bytes_delta": parse_selector("pulsar_out_bytes_total" + _OF_SUBSCRIPTION),
    "expired_msg_delta": parse_selector('pulsar_subscription_total_msg_expired{subscription!=""}'),
    **{
        f"throttled_{unit}_events_{level}_delta": metric_selector(
            f"pulsar_subscription_dispatch_throttled_{unit}_events", [Matcher("reason", EQUAL, level)]
        )
        for unit in UNITS
        for level in LEVELS
    },
}
#: Counters of a topic partition, said of each of its subscriptions.
_TOPIC_COUNTERS: dict[str, Selector] = {
    "in_msg_delta": metric_selector("pulsar_in_messages_total"),
    "in_bytes_delta": metric_selector("pulsar_in_bytes_total"),
}
_BACKLOG_SAMPLES = tuple(metric_selector(name) for name in BACKLOG_METRICS)
#: What the rules read of the same topics in the clusters that replicators send to.
REMOTE_METRICS = (
    "pulsar_publish_rate_limit_times",
    "pulsar_storage_backlog_size",
    "pulsar_storage_backlog_quota_limit",
)
_PERMITS = metric_selector("pulsar_consumer_available_permits")

#: Rows that are computed at once, if an hour of a shard has not more: a few dozen arrays of keys x minutes, some 3 kB a row.
CELLS = 100_000

_SIGNALS = TABLES["signals"].loose_schema
_TOGETHER = (*(f"rho_broker_{unit}" for unit in UNITS), "broker_read_share")

#: managedLedgerCursorBackloggedThreshold: with so many entries or fewer a subscription counts as caught up.
_CAUGHT_UP_ENTRIES = 1000

#: What a task hands back: the columns of ``signals`` but those of all that a broker serves, and what each row adds to the use
#: of its limit per second (messages, or entries where limits count entries; and bytes).
SCHEMA = pa.schema(
    [
        *(field for field in _SIGNALS if field.name not in _TOGETHER),
        *(pa.field(f"use_{unit}_per_s", pa.float64()) for unit in UNITS),
    ]
)


def metrics_read() -> set[str]:
    """Metrics that signals are made of."""
    selectors = {selector for rule in column_rules().values() for selector in rule.selectors}
    selectors |= {*_COUNTERS.values(), *_TOPIC_COUNTERS.values(), *_BACKLOG_SAMPLES, _PERMITS}
    return {selector.metric_name for selector in selectors}


@dataclass(frozen=True)
class MinutesTask:
    """The work of one task.

    Attributes
    ----------
    start_ms, end_ms : int
        Whole UTC hours, [start, end).
    sample_files : tuple of DataFile
        Samples of some clusters' shards from an hour before the start on, and their brokers' own series.
    series_files : tuple of str
        Paths of the catalogue's files that hold their labels.
    limit_files, stats_files : tuple of str
        Paths of files of ``limits`` and ``topic_stats`` that may speak of them.
    newest_ms : mapping
        Time of the newest sample of each cluster of the task.
    other_clusters : frozenset of str
        Clusters of which only :data:`REMOTE_METRICS` are read: replicators of the task may send to them.
    """

    start_ms: int
    end_ms: int
    sample_files: tuple[DataFile, ...]
    series_files: tuple[str, ...]
    limit_files: tuple[str, ...]
    stats_files: tuple[str, ...]
    newest_ms: Mapping[str, int]
    other_clusters: frozenset[str] = frozenset()


def task_rows(task: MinutesTask) -> Iterator[pa.RecordBatch]:
    """Rows of a task in batches of :data:`SCHEMA`, in the order of hours, keys and minutes."""
    source = LakeSampleSource(task.sample_files, _catalogue(task))
    keys = {_key(one) for one in _backlog_series(source, task.start_ms - BLOCK_MS, task.end_ms)} - {None}
    if not keys:
        return
    topics = pa.array(sorted({key[2] for key in keys}))
    limits = _rows_of_topics("limits", task.limit_files, topics, task)
    stats = _rows_of_topics("topic_stats", task.stats_files, topics, task)
    hours = max(1, CELLS // (len(keys) * (BLOCK_MS // MINUTE_MS)))
    for start_ms in range(task.start_ms, task.end_ms, hours * BLOCK_MS):
        end_ms = min(start_ms + hours * BLOCK_MS, task.end_ms)
        yield from minute_rows(source, limits, stats, start_ms, end_ms, task.newest_ms).to_batches()


def minute_rows(
    source: SampleSource,
    limits: pa.Table,
    stats: pa.Table,
    start_ms: int,
    end_ms: int,
    newest_ms: Mapping[str, int],
) -> pa.Table:
    """Rows of every subscription partition that was there in a minute of [start_ms, end_ms).

    Parameters
    ----------
    source : SampleSource
        Holds the samples from an hour before ``start_ms`` on.
    limits, stats : pyarrow.Table
        Rows of ``limits`` and ``topic_stats``.
    newest_ms : mapping
        Newest sample of each cluster. A minute that begins later has no row: the look-back alone would go on for five
        minutes behind the end of the data.

    Notes
    -----
    A subscription partition is there in a minute when its backlog was scraped in it, or is current at its end. Of a broker
    that is scraped twice one target is read.
    """
    if not overlap(_backlog_series(source, start_ms - deltas.LONGEST_GAP_MS, end_ms)):
        return _minute_rows(source, limits, stats, start_ms, end_ms, newest_ms)
    found = []
    for hour_ms in range(start_ms, end_ms, BLOCK_MS):
        span = hour_ms - deltas.LONGEST_GAP_MS, min(hour_ms + BLOCK_MS, end_ms)
        twice = read_twice(source, _backlog_series(source, *span), *span)
        once = source if twice is None else ReadOnce(source, twice)
        found.append(_minute_rows(once, limits, stats, hour_ms, span[1], newest_ms))
    return pa.concat_tables(found)


def _minute_rows(
    source: SampleSource,
    limits: pa.Table,
    stats: pa.Table,
    start_ms: int,
    end_ms: int,
    newest_ms: Mapping[str, int],
) -> pa.Table:
    minutes = deltas.CounterMinutes(start_ms, (end_ms - start_ms) // MINUTE_MS)
    steps = Steps(start_ms + MINUTE_MS, end_ms, MINUTE_MS)
    matrices = dict(
        zip(
            RULE_COLUMNS,
            evaluate_all([rule.plan for rule in column_rules().values()], source, steps),
            strict=True,
        )
    )
    counted = _Counted(source, minutes)
    backlog = _backlog_series(source, start_ms - deltas.LONGEST_GAP_MS, end_ms)
    keys = {_key(one) for one in backlog} | {
        _key_of(dict(labels)) for labels in matrices["backlog_entries"].labels
    }
    keys = sorted(keys - {None})
    if not keys:
        return SCHEMA.empty_table()
    seen = counted.grouped(backlog, keys, SUBSCRIPTION_KEY_NAMES)
    samples_seen = deltas.samples_seen(seen, minutes)
    columns: dict[str, np.ndarray] = {name: _placed(matrix, keys) for name, matrix in matrices.items()}
    columns |= _counter_columns(counted, keys, minutes)
    columns |= _scrape_columns(counted, keys, minutes, seen, samples_seen)
    columns["brokers_serving"] = _brokers_serving(counted, backlog, keys, minutes, seen, samples_seen)
    ends_ms = minutes.starts_ms + MINUTE_MS
    segments = segments_of((_key(one), one) for one in backlog)
    columns["parent_backlog_entries"] = parent_backlogs(segments, keys, columns, ends_ms)
    columns["successor_consumers"] = successor_consumers(segments, keys, columns["consumers"])
    known_limits, known_stats = limits_over_time(limits, keys), stats_over_time(stats, keys)
    limit_rows = known_limits.rows_at(ends_ms)
    columns |= _uses(columns, keys, _exempt(known_limits, limit_rows, columns["backlog_ready_entries"]))
    columns |= stats_in_minutes(stats, keys, minutes, newest_ms, columns["consumers"])
    newest = np.array([newest_ms.get(key[0], 0) for key in keys], np.int64)
    there = ~np.isnan(columns["backlog_entries"]) | (samples_seen > 0)
    there &= minutes.starts_ms[np.newaxis, :] <= newest[:, np.newaxis]
    row_key, row_minute = np.nonzero(there)
    rows = {name: column[row_key, row_minute] for name, column in columns.items()}
    brokers, changed = _serving(counted, minutes, seen)
    rows["broker"], rows["broker_changed"] = brokers[row_key, row_minute], changed[row_key, row_minute]
    rows["minute_ms"] = minutes.starts_ms[row_minute]
    limits_then = known_limits.taken(limit_rows[row_key, row_minute])
    stats_then = known_stats.taken(known_stats.rows_at(ends_ms)[row_key, row_minute])
    rows |= _limits_and_use(rows, limits_then, stats_then)
    rows |= {name: pa.nulls(len(row_key)) for name in STATS_COLUMNS if name not in rows}
    return _table(rows, keys, row_key)


def _backlog_series(source: SampleSource, start_ms: int, end_ms: int) -> list[Series]:
    return [one for selector in _BACKLOG_SAMPLES for one in source.select(selector, start_ms, end_ms)]


# -- columns ------------------------------------------------------------------------------------


def _placed(matrix: StepMatrix, keys: list[tuple]) -> np.ndarray:
    """A rule's values as keys x minutes, NaN where it has none."""
    index = {key: n for n, key in enumerate(keys)}
    out = np.full((len(keys), matrix.steps), np.nan)
    for row, labels in enumerate(matrix.labels):
        at = index.get(_key_of(dict(labels)))
        if at is not None:
            out[at] = matrix.values[row]
    return out


class _Counted:
    """Series of the counters, from an hour before the first minute on, grouped by key."""

    def __init__(self, source: SampleSource, minutes: deltas.CounterMinutes) -> None:
        self.source, self.minutes = source, minutes
        self.instances: dict[str, int] = {}

    def series(self, selector: Selector) -> list[Series]:
        return self.source.select(
            selector, self.minutes.start_ms - deltas.LONGEST_GAP_MS, self.minutes.end_ms
        )

    def grouped(self, series: Sequence[Series], keys: list[tuple], names: tuple[str, ...]) -> deltas.Grouped:
        index = {key: n for n, key in enumerate(keys)}
        groups = [index.get(_key(one, names), -1) for one in series]
        return deltas.group_series(series, groups, len(keys), self.instances)

    def deltas(self, selector: Selector, keys: list[tuple], names: tuple[str, ...]) -> deltas.Deltas:
        return deltas.counter_deltas(self.grouped(self.series(selector), keys, names), self.minutes)


def _counter_columns(
    counted: _Counted, keys: list[tuple], minutes: deltas.CounterMinutes
) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    restarts = np.zeros((len(keys), minutes.count), np.int64)
    # One dispatcher counts all six and they are scraped together: another one can show a restart that one hides.
    events_span_ms = np.full(restarts.shape, np.nan)
    for name, selector in _COUNTERS.items():
        found = counted.deltas(selector, keys, SUBSCRIPTION_KEY_NAMES)
        columns[name] = found.delta
        restarts += found.restarts
        if "_events_" in name:
            with np.errstate(invalid="ignore"):
                columns[_duty_name(name)] = found.intervals_with_events / found.intervals
            events_span_ms = np.fmin(events_span_ms, found.spans_ms)
        if name == "out_msg_delta":
            columns["delta_span_ms"] = found.spans_ms
        elif name == "out_bytes_delta":
            columns["bytes_span_ms"] = found.spans_ms
    topics = sorted({key[: len(TOPIC_KEY_NAMES)] for key in keys})
    index = {topic: n for n, topic in enumerate(topics)}
    topic_of = np.array([index[key[: len(TOPIC_KEY_NAMES)]] for key in keys], np.int64)
    for name, selector in _TOPIC_COUNTERS.items():
        found = counted.deltas(selector, topics, TOPIC_KEY_NAMES)
        columns[name] = found.delta[topic_of]
        if name == "in_msg_delta":
            columns["in_span_ms"] = found.spans_ms[topic_of]
        restarts += found.restarts[topic_of]
    columns["events_span_ms"] = events_span_ms
    columns["counter_resets"] = restarts
    return columns


def _duty_name(delta_name: str) -> str:
    # throttled_msg_events_topic_delta -> throttled_msg_duty_topic_share
    return delta_name.replace("_events_", "_duty_").removesuffix("_delta") + "_share"


def _scrape_columns(
    counted: _Counted,
    keys: list[tuple],
    minutes: deltas.CounterMinutes,
    seen: deltas.Grouped,
    samples_seen: np.ndarray,
) -> dict[str, np.ndarray]:
    interval_ms = deltas.scrape_intervals_ms(seen, minutes).astype(np.float64)
    known = interval_ms > 0
    # One sample has no distance to another: nothing more was expected that we know of.
    coverage = np.where(known, samples_seen * interval_ms / MINUTE_MS, samples_seen)
    permits = counted.grouped(counted.series(_PERMITS), keys, SUBSCRIPTION_KEY_NAMES)
    with np.errstate(invalid="ignore"):
        exhausted = deltas.samples_at_or_below_zero(permits, minutes) / deltas.samples_seen(permits, minutes)
    return {
        "permits_exhausted_share": exhausted,
        "coverage_share": np.minimum(1.0, coverage),
        "scrape_interval_ms": np.where(known, interval_ms, np.nan),
    }


def _brokers_serving(
    counted: _Counted,
    backlog: Sequence[Series],
    keys: list[tuple],
    minutes: deltas.CounterMinutes,
    seen: deltas.Grouped,
    samples_seen: np.ndarray,
) -> np.ndarray:
    """Brokers that show a subscription at the same time; of a replicator those that show any backlog of its topic.

    Two clusters under one name have different replicators, but what is published to their topics is one sum.
    """
    serving = deltas.instances_seen(seen, minutes, samples_seen)
    replicators = [n for n, key in enumerate(keys) if remote_cluster(key[-1]) is not None]
    topics = sorted({keys[n][: len(TOPIC_KEY_NAMES)] for n in replicators})
    if topics:
        of_topics = counted.grouped(backlog, topics, TOPIC_KEY_NAMES)
        together = deltas.instances_seen(of_topics, minutes, deltas.samples_seen(of_topics, minutes))
        index = {topic: n for n, topic in enumerate(topics)}
        for n in replicators:
            serving[n] = np.maximum(serving[n], together[index[keys[n][: len(TOPIC_KEY_NAMES)]]])
    return serving


def _serving(
    counted: _Counted, minutes: deltas.CounterMinutes, seen: deltas.Grouped
) -> tuple[np.ndarray, np.ndarray]:
    """Instance name at each minute's end (None: unknown), and whether it is another than a minute before."""
    with_one_before = deltas.CounterMinutes(minutes.start_ms - MINUTE_MS, minutes.count + 1)
    serving = deltas.serving_instances(seen, with_one_before)
    names = np.array([*(name or None for name in counted.instances), None], dtype=object)
    changed = (serving[:, 1:] != serving[:, :-1]) & (serving[:, 1:] >= 0) & (serving[:, :-1] >= 0)
    return names[serving[:, 1:]], changed


def _exempt(limits: Timeline, limit_rows: np.ndarray, ready_entries: np.ndarray) -> np.ndarray:
    """Whether no limiter counts what a subscription takes: it is caught up, and the broker exempts those (keys x minutes)."""
    flags = _flags(limits.facts["exempt_caught_up"])
    if not flags.any():
        return np.zeros(limit_rows.shape, np.bool_)
    return flags[limit_rows] & (limit_rows >= 0) & (ready_entries <= _CAUGHT_UP_ENTRIES)


def _uses(columns: Mapping[str, np.ndarray], keys: list[tuple], exempt: np.ndarray) -> dict[str, np.ndarray]:
    """What a subscription takes of limits per second over the span that was measured, and all subscriptions of its topic partition.

    A replicator has one limit, its own: it takes nothing of the topic's. What it takes is the broker's gauge, in entries.
    """
    out = {"exempt": exempt}
    topics: dict[tuple, list[int]] = {}
    replicators = np.array([remote_cluster(key[-1]) is not None for key in keys], np.bool_)[:, np.newaxis]
    for n, key in enumerate(keys):
        if not replicators[n, 0]:
            topics.setdefault(key[: len(TOPIC_KEY_NAMES)], []).append(n)
    read = ~np.isnan(columns["backlog_entries"])
    out["replicates"] = np.broadcast_to(replicators, read.shape)
    for unit, span, replicated in (
        ("msg", "delta_span_ms", "replication_entry_rate"),
        ("bytes", "bytes_span_ms", "replication_bytes_rate"),
    ):
        use = np.where(exempt, 0.0, columns[f"out_{unit}_delta"] / (columns[span] / 1000.0))
        use = np.where(replicators, columns[replicated], use)
        together = np.full_like(use, np.nan)
        for rows in topics.values():
            known = ~np.isnan(use[rows])
            total = np.where(known, use[rows], 0.0).sum(axis=0)
            # Part of a sum would say that the limit has room.
            whole = known.any(axis=0) & (known | ~read[rows]).all(axis=0)
            together[rows] = np.where(whole, total, np.nan)
        out[f"use_{unit}_per_s"], out[f"topic_use_{unit}_per_s"] = use, together
    out["topic_subscriptions_read"] = np.full(read.shape, np.nan)
    for rows in topics.values():
        out["topic_subscriptions_read"][rows] = read[rows].sum(axis=0)
    return out


# -- what was known at the minute's end ---------------------------------------------------------


def _limits_and_use(
    rows: Mapping[str, np.ndarray], limits: pa.Table, stats: pa.Table
) -> dict[str, np.ndarray | pa.Array]:
    """Limits and facts of each row, and the use of the limits of topic and subscription."""
    out: dict[str, np.ndarray | pa.Array] = {
        name: limits[name] for name in limits.column_names if name in _SIGNALS.names
    }
    out["subscription_type"] = stats["subscription_type"]
    observed_ms, changed_ms = _numbers(limits["observed_ms"]), _numbers(limits["last_change_ms"])
    end_ms = rows["minute_ms"] + MINUTE_MS
    out["limits_observed"] = ~np.isnan(observed_ms)
    out["limits_observed_ms"] = limits["answered_ms"]
    with np.errstate(invalid="ignore", divide="ignore"):
        out["limit_observed_later"] = (observed_ms > end_ms) & _flags(limits["is_new"])
        out["limits_changed"] = (changed_ms > rows["minute_ms"]) & (changed_ms <= end_ms)
        published_per_written = rows["in_msg_rate_5m"] / rows["write_entry_rate"]
        measured = _numbers(stats["messages_per_entry"])
        per_entry = np.where(measured > 0, measured, published_per_written)
        per_entry = np.where(np.isfinite(per_entry) & (per_entry > 0), per_entry, np.nan)
    out["messages_per_entry"] = per_entry
    relative = {level: limits[f"relative_{level}"] for level in LEVELS}
    any_relative = [_flags(column) for column in relative.values()]
    out["relative_to_publish"] = pa.array(np.logical_or.reduce(any_relative), mask=np.isnan(observed_ms))
    # The use of a limiter that counts entries is measured in entries.
    # What a replicator takes is measured in entries already.
    counts_entries = _flags(pc.equal(limits["limit_counts"], "entries")) & ~rows["replicates"]
    in_limit_units = np.where(counts_entries, per_entry, 1.0)
    uses = {
        ("subscription", "msg"): rows["use_msg_per_s"] / in_limit_units,
        ("subscription", "bytes"): rows["use_bytes_per_s"],
        ("topic", "msg"): rows["topic_use_msg_per_s"] / in_limit_units,
        ("topic", "bytes"): rows["topic_use_bytes_per_s"],
    }
    for (level, unit), per_s in uses.items():
        limit_per_s = _numbers(limits[f"limit_{level}_{unit}"]) / _numbers(limits[f"limit_{level}_period_s"])
        # A relative limit depends on a publish rate that the broker does not expose.
        # Nor is there a use of its own limit that means anything while a subscription is exempt from it.
        open_ = _flags(relative[level]) | (rows["exempt"] if level == "subscription" else False)
        out[f"rho_{level}_{unit}"] = np.where(open_, np.nan, per_s / limit_per_s)
    has_topic_limit = np.logical_or.reduce(
        [limits[f"limit_topic_{unit}"].is_valid().to_numpy() for unit in UNITS]
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        read_share = np.minimum(
            1.0, rows["topic_subscriptions_read"] / _numbers(limits["topic_subscriptions"])
        )
    out["topic_read_share"] = np.where(has_topic_limit, read_share, np.nan)
    # A replicator takes nothing of its broker's limit.
    for unit in UNITS:
        out[f"use_{unit}_per_s"] = np.where(rows["replicates"], 0.0, uses["subscription", unit])
    return out


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """A column as float64, NaN where NULL."""
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _flags(column: pa.ChunkedArray) -> np.ndarray:
    """A column as bool, False where NULL."""
    return column.fill_null(False).to_numpy(zero_copy_only=False)


# -- rows ---------------------------------------------------------------------------------------


def _table(rows: Mapping[str, np.ndarray | pa.Array], keys: list[tuple], row_key: np.ndarray) -> pa.Table:
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {
        name: pa.array([key[n] for key in keys]).take(pa.array(row_key))
        for n, name in enumerate(SUBSCRIPTION_KEY_NAMES)
    }
    hours_ms = (rows["minute_ms"] - rows["minute_ms"] % BLOCK_MS).tolist()
    dates = {hour_ms: date_of(hour_ms) for hour_ms in set(hours_ms)}
    arrays["date"] = pa.array([dates[hour_ms] for hour_ms in hours_ms], pa.string())
    for field in SCHEMA:
        if field.name not in arrays:
            values = rows[field.name]
            if isinstance(values, np.ndarray):
                # Absence is NULL, and a NaN that a broker exposed says as little.
                values = pa.array(values, from_pandas=True)
            arrays[field.name] = values
    return pa.table([arrays[field.name].cast(field.type) for field in SCHEMA], schema=SCHEMA)


def _key(series: Series, names: tuple[str, ...] = SUBSCRIPTION_KEY_NAMES) -> tuple | None:
    return _key_of(series.labels, names)


def _key_of(labels: Mapping[str, str], names: tuple[str, ...] = SUBSCRIPTION_KEY_NAMES) -> tuple | None:
    """The key's labels as the contract types them; None where one is missing. A replicator's is that of its cursor."""
    labels = with_cursor(labels)
    try:
        return tuple(int(labels[name]) if name == "partition" else labels[name] for name in names)
    except (KeyError, ValueError):
        return None


def _catalogue(task: MinutesTask) -> pa.Table:
    columns = ["series_id", "metric_name", "cluster", "labels"]
    rows = pa.concat_tables(read_parquet(path, columns, use_threads=False) for path in task.series_files)
    metrics = {file.partition["metric_name"] for file in task.sample_files}
    mine = pc.is_in(rows["cluster"], pa.array(sorted(task.newest_ms)))
    elsewhere = pc.is_in(rows["cluster"], pa.array(sorted(task.other_clusters), pa.string()))
    remote = pc.and_(elsewhere, pc.is_in(rows["metric_name"], pa.array(REMOTE_METRICS)))
    read = pc.is_in(rows["metric_name"], pa.array(sorted(metrics)))
    return rows.filter(pc.and_(pc.or_(mine, remote), read))


def _rows_of_topics(table: str, paths: Sequence[str], topics: pa.Array, task: MinutesTask) -> pa.Table:
    """Rows of ``limits`` or ``topic_stats`` that speak of the task's topics."""
    schema = TABLES[table].loose_schema
    if not paths:
        return schema.empty_table()
    mine = pc.field("cluster").isin(sorted(task.newest_ms)) & pc.field("topic").isin(topics)
    with reporting_store_errors(paths[0]):
        return dataset(paths, schema).to_table(filter=mine, use_threads=False)
