"""The faults of a series' blocks in order. In: the files of one metric, cluster and shard. Out: a row per block.

What :mod:`block_facts` counts inside a block is completed by what only the block before can tell: the hole between
the two, and the interval of a block that is too short to know its own; and by the scrapes of the series' target
(:mod:`scrapes`). One hour is in memory at a time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import pyarrow as pa

from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.lake.parquet import read_parquet
from throttlescope.ingest.quality.block_facts import HOLE_INTERVALS, block_facts
from throttlescope.ingest.quality.scrapes import Target, scrapes_of, targets_of, unread_scrapes

BACKLOG_METRICS = ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed")

_COUNTER = re.compile(r"_(total|events)$")
#: Pulsar says -1 for "none" and "unknown" here, and permits fall below zero when a batch is sent on few of them.
_MAY_BE_NEGATIVE = frozenset(
    (
        *BACKLOG_METRICS,
        "pulsar_consumer_available_permits",
        "pulsar_storage_backlog_age_seconds",
        "pulsar_subscription_storage_backlog_age_seconds",
        "pulsar_storage_backlog_quota_limit",
        "pulsar_storage_backlog_quota_limit_time",
        "pulsar_ml_reads_inflight_bytes",
        "pulsar_ml_reads_available_inflight_bytes",
    )
)
#: With more restarts in an hour than it has windows of five minutes, no window is without one.
RESTARTS_IN_AN_HOUR = 12
#: Rows of faults that are handed on at once.
_ROWS_AT_ONCE = 10_000

FAULTS = pa.schema(
    [
        ("cluster", pa.string()),
        ("metric_name", pa.string()),
        ("series_id", pa.string()),
        ("block_start_ms", pa.int64()),
        ("repeated_blocks", pa.int64()),
        ("repeated_timestamps", pa.int64()),
        ("falling_timestamps", pa.int64()),
        ("surplus_values", pa.int64()),
        ("outside_block", pa.int64()),
        ("unknown_series", pa.int64()),
        ("missing_scrapes", pa.int64()),
        ("unread_scrapes", pa.int64()),
        ("without_up", pa.int64()),  # 1: no up of the series' target to hold it against
        ("went_away", pa.int64()),  # 1: a marker says that the series was not exposed all the time
        ("absent_backlog_scrapes", pa.int64()),
        ("negative_backlog", pa.int64()),
        ("negative_counter", pa.int64()),
        ("negative_gauge", pa.int64()),
        ("not_finite_values", pa.int64()),
        ("shallow_falls", pa.int64()),
        ("frequent_restarts", pa.int64()),
        ("failed_scrapes", pa.int64()),
        ("ahead_of_clock", pa.int64()),
    ]
)


@dataclass
class _Before:
    """What a series' earlier blocks leave behind."""

    block_start_ms: int | None = None
    last_ms: int | None = None
    last_stale_ms: int | None = None
    interval_ms: int | None = None


def faults_of_files(
    blocks: Sequence[str],
    catalogue: Sequence[str],
    metric_name: str,
    up_blocks: Sequence[str] = (),
    up_catalogue: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Read files of ``samples`` in the order given and yield the faults of each hour's blocks.

    Parameters
    ----------
    blocks : sequence of str
        Paths of files of one metric, cluster and shard, sorted by hour.
    catalogue : sequence of str
        Paths of the files of ``series`` that hold the shard.
    up_blocks, up_catalogue : sequence of str
        The same of the metric ``up`` of the cluster; none where the lake does not have it.
    """
    # A metric that is not a broker's own may come by a rule, at times of its own.
    scrapes = (
        scrapes_of(tuple(up_blocks), tuple(up_catalogue)) if up_blocks and metric_name in METRICS else {}
    )
    known = _series_by_metric(tuple(catalogue)).get(metric_name, frozenset())
    targets = _targets(tuple(catalogue), metric_name) if scrapes else {}
    before: dict[str, _Before] = {}
    rows: list[dict] = []
    for path in blocks:
        # A task is one of several on this machine, and a file is small: threads of its own only wait for each other.
        for fact in block_facts(read_parquet(path, use_threads=False)).to_pylist():
            times = scrapes.get(targets.get(fact["series_id"]))
            rows.append(_faults(fact, before.setdefault(fact["series_id"], _Before()), known, times))
        if len(rows) >= _ROWS_AT_ONCE:
            yield pa.RecordBatch.from_pylist(rows, schema=FAULTS)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=FAULTS)


@functools.lru_cache(maxsize=2)
def _series(catalogue: tuple[str, ...]) -> list[pa.Table]:
    """Rows of ``series`` of a shard. Files never change, and the tasks of a worker need the same shards many times."""
    return [
        read_parquet(path, ["series_id", "metric_name", "labels"], use_threads=False) for path in catalogue
    ]


@functools.lru_cache(maxsize=2)
def _series_by_metric(catalogue: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Series of a shard by metric."""
    found: dict[str, set[str]] = {}
    for series in _series(catalogue):
        for name, series_id in zip(
            *(series[column].to_pylist() for column in ("metric_name", "series_id")), strict=True
        ):
            found.setdefault(name, set()).add(series_id)
    return {name: frozenset(some) for name, some in found.items()}


def _targets(catalogue: tuple[str, ...], metric_name: str) -> dict[str, Target | None]:
    """Targets of the series of one metric: labels of all would cost several times what a task does."""
    found: dict[str, Target | None] = {}
    for series in _series(catalogue):
        found |= targets_of(series, metric_name)
    return found


def _faults(
    fact: dict,
    before: _Before,
    known: Set[str],
    scrapes: list[list[int]] | None,
) -> dict:
    border_missing, border_absent = _border_hole(fact, before)
    short_missing, short_absent = _short_hole(fact, before)
    name = fact["metric_name"]
    is_backlog, is_counter = name in BACKLOG_METRICS, _is_counter(name)
    is_time = name in METRICS and METRICS[name].unit == "epoch_ms"
    is_gauge = name in METRICS and not is_counter and name not in _MAY_BE_NEGATIVE
    unread, without_up, went_away = _beside_up(fact, before, scrapes)
    absent = fact["absent_scrapes"] + border_absent + short_absent
    faults = {name: fact[name] for name in FAULTS.names if name in fact} | {
        "repeated_blocks": int(before.block_start_ms == fact["block_start_ms"]),
        "unknown_series": int(fact["series_id"] not in known),
        "missing_scrapes": fact["missing_scrapes"] + border_missing + short_missing,
        "unread_scrapes": unread,
        "without_up": without_up,
        "went_away": went_away,
        "absent_backlog_scrapes": absent if is_backlog else 0,
        "negative_backlog": fact["negative_values"] if is_backlog else 0,
        "negative_counter": fact["negative_values"] if is_counter else 0,
        "negative_gauge": fact["negative_values"] if is_gauge else 0,
        "shallow_falls": fact["shallow_falls"] if is_counter else 0,
        "frequent_restarts": fact["falls"] if is_counter and fact["falls"] > RESTARTS_IN_AN_HOUR else 0,
        "failed_scrapes": fact["zero_values"] if name == "up" else 0,
        "ahead_of_clock": fact["ahead_of_clock"] if is_time else 0,
    }
    before.block_start_ms = fact["block_start_ms"]
    for name in ("last_ms", "last_stale_ms", "interval_ms"):
        if fact[name] is not None:
            setattr(before, name, fact[name])
    return faults


def _beside_up(fact: dict, before: _Before, scrapes: list[list[int]] | None) -> tuple[int, int, int]:
    """Scrapes of the target that the series lacks, and 1 for the reason why nothing is said of it."""
    if scrapes is None:
        return 0, 1, 0
    if not fact["samples"]:
        return 0, 0, 1
    ended = None not in (before.last_ms, before.last_stale_ms) and before.last_stale_ms > before.last_ms
    if ended or (fact["first_stale_ms"] is not None and fact["first_stale_ms"] < fact["last_ms"]):
        return 0, 0, 1
    span = before.last_ms, fact["first_ms"], fact["last_ms"]
    return unread_scrapes(scrapes, *span, fact["samples"]), 0, 0


def _is_counter(metric_name: str) -> bool:
    metric = METRICS.get(metric_name)
    return metric.kind == "counter" if metric is not None else bool(_COUNTER.search(metric_name))


def _border_hole(fact: dict, before: _Before) -> tuple[int, int]:
    """Scrapes missing, and absent after a marker, between the block before and this one."""
    usual_ms = before.interval_ms or fact["interval_ms"]
    if usual_ms is None or before.last_ms is None or fact["first_ms"] is None:
        return 0, 0
    hole_ms = fact["first_ms"] - before.last_ms
    if hole_ms <= HOLE_INTERVALS * usual_ms:
        return 0, 0
    scrapes = round(hole_ms / usual_ms) - 1
    ended = before.last_stale_ms is not None and before.last_stale_ms > before.last_ms
    began_late = fact["first_stale_ms"] is not None and fact["first_stale_ms"] < fact["first_ms"]
    return (0, scrapes) if ended or began_late else (scrapes, 0)


def _short_hole(fact: dict, before: _Before) -> tuple[int, int]:
    """The same inside a block that has too few samples to know its interval."""
    usual_ms = before.interval_ms
    if usual_ms is None or fact["interval_ms"] is not None or fact["samples"] < 2:
        return 0, 0
    span_ms = fact["last_ms"] - fact["first_ms"]
    if span_ms <= HOLE_INTERVALS * usual_ms:
        return 0, 0
    scrapes = round(span_ms / usual_ms) + 1 - fact["samples"]
    first_stale_ms, last_stale_ms = fact["first_stale_ms"], fact["last_stale_ms"]
    marked = (
        first_stale_ms is not None and first_stale_ms < fact["last_ms"] and last_stale_ms > fact["first_ms"]
    )
    return (0, scrapes) if marked else (scrapes, 0)
