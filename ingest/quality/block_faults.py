"""The faults of a series' blocks in order: in, the files of one metric, cluster and shard; out, a row per block.

What :mod:`block_facts` counts inside a block is completed by what only the block before can tell: the hole between
the two, and the interval of a block that is too short to know its own. One hour is in memory at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from throttlescope.ingest.quality.block_facts import HOLE_INTERVALS, block_facts

BACKLOG_METRICS = ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed")

_COUNTER = re.compile(r"_(total|events)$")

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
        ("absent_backlog_scrapes", pa.int64()),
        ("negative_backlog", pa.int64()),
        ("negative_counter", pa.int64()),
        ("not_finite_values", pa.int64()),
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
    blocks: Sequence[str], catalogue: Sequence[str], metric_name: str
) -> Iterator[pa.RecordBatch]:
    """Read files of ``samples`` in the order given and yield the faults of each hour's blocks.

    Parameters
    ----------
    blocks : sequence of str
        Paths of files of one metric, cluster and shard, sorted by hour.
    catalogue : sequence of str
        Paths of the files of ``series`` that hold the shard.
    """
    known: set[str] = set()
    for path in catalogue:
        series = pq.read_table(path, columns=["series_id"], filters=pc.field("metric_name") == metric_name)
        known.update(series.column("series_id").to_pylist())
    before: dict[str, _Before] = {}
    facts = (fact for path in blocks for fact in block_facts(pq.read_table(path)).to_pylist())
    for _, hour in groupby(facts, key=lambda fact: fact["block_start_ms"]):
        rows = [_faults(fact, before.setdefault(fact["series_id"], _Before()), known) for fact in hour]
        yield pa.RecordBatch.from_pylist(rows, schema=FAULTS)


def _faults(fact: dict, before: _Before, known: set[str]) -> dict:
    border_missing, border_absent = _border_hole(fact, before)
    short_missing, short_absent = _short_hole(fact, before)
    is_backlog = fact["metric_name"] in BACKLOG_METRICS
    absent = fact["absent_scrapes"] + border_absent + short_absent
    faults = {name: fact[name] for name in FAULTS.names if name in fact} | {
        "repeated_blocks": int(before.block_start_ms == fact["block_start_ms"]),
        "unknown_series": int(fact["series_id"] not in known),
        "missing_scrapes": fact["missing_scrapes"] + border_missing + short_missing,
        "absent_backlog_scrapes": absent if is_backlog else 0,
        "negative_backlog": fact["negative_values"] if is_backlog else 0,
        "negative_counter": fact["negative_values"] if _COUNTER.search(fact["metric_name"]) else 0,
    }
    before.block_start_ms = fact["block_start_ms"]
    for name in ("last_ms", "last_stale_ms", "interval_ms"):
        if fact[name] is not None:
            setattr(before, name, fact[name])
    return faults


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
