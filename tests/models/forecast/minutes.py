"""Minutes of ``signals`` for tests of forecasts. In: backlogs by the minute. Out: rows and Arrow tables of the contract."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS, block_start, date_of

HOUR_MS = block_start(1_795_000_200_000)
NAMESPACE, TOPIC = "acme/shop", "persistent://acme/shop/orders"


def rows_of(backlogs: Sequence[float | None], subscription: str = "billing", **changed) -> list[dict]:
    """One row per minute from :data:`HOUR_MS` on; 100 messages of one entry come each second."""
    rows = []
    for n, backlog in enumerate(backlogs):
        minute_ms = HOUR_MS + n * MINUTE_MS
        row = dict.fromkeys(TABLES["signals"].schema.names)
        row |= {
            "cluster": "prod", "namespace": NAMESPACE, "topic": TOPIC, "partition": -1, "subscription": subscription,
            "minute_ms": minute_ms, "date": date_of(minute_ms), "coverage_share": 1.0, "counter_resets": 0,
            "broker_changed": False, "limits_observed": True, "limit_observed_later": False, "limits_changed": False,
            "backlog_entries": backlog, "backlog_ready_entries": backlog, "in_msg_delta": 6000.0, "messages_per_entry": 1.0,
            "consumers": 2.0, "in_span_ms": 60_000,
        }  # fmt: skip
        row |= {name: value[n] if isinstance(value, list) else value for name, value in changed.items()}
        rows.append(row)
    return rows


def table_of(rows: Sequence[dict]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=TABLES["signals"].loose_schema)


def end_ms(count: int) -> int:
    """When so many minutes are over."""
    return HOUR_MS + count * MINUTE_MS
