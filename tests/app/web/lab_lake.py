"""A lake for the What-if lab: what would have been scraped of a simulated subscription, and verdicts to find it by.

In: a folder. Out: a lake. Samples come from the simulator, so what a replay has to find is known.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from tests.models.throttling.replay.samples import START_MS, key, scenario, simulated_lake
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake

SECONDS = 900
BILLING = SubscriptionPartition("prod", key()["topic"], -1, "billing")
END_MS = START_MS + 1000 * SECONDS + 1
ADDRESS = WhatIfAddress(BILLING, start_ms=END_MS - 600_000, end_ms=END_MS, ahead="1h")


def write_lab_lake(
    root: Path, *, seconds: int = SECONDS, every_s: int = 5, until_s: int | None = None, **fields
) -> Lake:
    """600 msg/s under a limit of 500: a growing backlog, and consumers that were never observed at their limit."""
    until_s = until_s or seconds
    lake = simulated_lake(root, scenario(duration_s=seconds, **fields), until_s, every_s=every_s)
    end_ms = START_MS + 1000 * until_s
    verdict = dict.fromkeys(column.name for column in TABLES["verdicts"].columns) | key() | {
        "window_start_ms": end_ms - 300_000, "window_end_ms": end_ms, "side": "throttle", "cause": "throttled",
        "limiter": "subscription.msg", "confidence": 0.9, "evidence": [], "missing_evidence": [], "naive_side": "throttle",
        "rules_version": "0-sample", "backlog_entries": 1000.0, "backlog_growth_entries": 10.0, "date": date_of(end_ms - 300_000),
    }  # fmt: skip
    rows = pa.Table.from_pylist([verdict], schema=TABLES["verdicts"].loose_schema)
    lake.upsert("verdicts", rows, run_id="sample")
    return lake
