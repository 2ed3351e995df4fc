"""Signals without Spark and without a lake. In: a recording. Out: rows of ``signals``, the very ones that a run writes.

What a task of a run does is called here (:func:`~throttlescope.transforms.minutes.minute_rows`). The one step that Spark does
across tasks, the use of a broker's limit, is done by :func:`with_broker_use`; ``tests/test_demo.py`` compares both.
"""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from tests.accuracy.recorded import Recorded
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.ingest.core.metrics import BACKLOG_METRICS
from throttlescope.ingest.core.times import BLOCK_MS, block_start
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource


def signals_of(recorded: Recorded) -> pa.Table:
    """Rows of ``signals`` of every whole hour that the recording touches."""
    times = [one.timestamps_ms for one in recorded.series if len(one.timestamps_ms)]
    start_ms = block_start(int(min(t[0] for t in times)))
    end_ms = block_start(int(max(t[-1] for t in times))) + BLOCK_MS
    newest_ms: dict[str, int] = defaultdict(int)
    for one in recorded.series:
        if one.labels["__name__"] in BACKLOG_METRICS and len(one.timestamps_ms):
            cluster = one.labels["cluster"]
            newest_ms[cluster] = max(newest_ms[cluster], int(one.timestamps_ms[-1]))
    source = MemorySource(recorded.series)
    return with_broker_use(
        minute_rows(source, recorded.limits, recorded.topic_stats, start_ms, end_ms, newest_ms)
    )


def with_broker_use(minutes: pa.Table) -> pa.Table:
    """Compare the use of all subscriptions that one broker serves with its limit, row by row."""
    rows = minutes.sort_by([(name, "ascending") for name in SUBSCRIPTION_KEY_NAMES]).to_pylist()
    for unit in UNITS:
        used: dict[tuple, float] = {}
        for row in rows:
            if row[f"use_{unit}_per_s"] is not None:
                served = (row["cluster"], row["broker"], row["minute_ms"])
                used[served] = used.get(served, 0.0) + row[f"use_{unit}_per_s"]
        for row in rows:
            limit, period_s = row[f"limit_broker_{unit}"], row["limit_broker_period_s"]
            use = used.get((row["cluster"], row["broker"], row["minute_ms"]))
            known = row["broker"] is not None and None not in (limit, period_s, use)
            row[f"rho_broker_{unit}"] = use / (limit / period_s) if known else None
    _add_read_shares(rows)
    return pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)


def _add_read_shares(rows: list[dict]) -> None:
    """What the subscriptions of each broker dispatched, over what the broker says of itself."""
    dispatched: dict[tuple, float] = {}
    for row in rows:
        if row["out_msg_delta"] is not None and (row["delta_span_ms"] or 0) > 0:
            served = (row["cluster"], row["broker"], row["minute_ms"])
            per_s = row["out_msg_delta"] / (row["delta_span_ms"] / 1000.0)
            dispatched[served] = dispatched.get(served, 0.0) + per_s
    for row in rows:
        read = dispatched.get((row["cluster"], row["broker"], row["minute_ms"]))
        by_itself = row["broker_out_msg_rate"]
        limited = row["limit_broker_msg"] is not None or row["limit_broker_bytes"] is not None
        row["broker_read_share"] = None
        if limited and row["broker"] is not None and by_itself is not None:
            if by_itself == 0:
                row["broker_read_share"] = 1.0
            elif read is not None:
                row["broker_read_share"] = min(1.0, read / by_itself)
