"""A lake with refused rows. In: labels and samples. Out: rows of ``quarantine`` as ingest validation writes them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.quarantine.rows import kept_rows

HOUR = 1_795_161_600_000
BACKLOG = "pulsar_subscription_back_log"
GOOD = {
    "__name__": BACKLOG, "cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "subscription": "s",
}  # fmt: skip


def decoded(labels, times=(0, 15, 30), values=(1.0, 2.0, 3.0), stale=()):
    """A series as a source gives it; times are seconds of the hour."""
    at_ms = [np.array([HOUR + 1000 * one for one in some], np.int64) for some in (times, stale)]
    return DecodedSeries(tuple(sorted(labels.items())), at_ms[0], np.array(values, float), at_ms[1])


def refuse(lake: Lake, *series: DecodedSeries, run_id="run-1", tmp_path=None):
    """What a run leaves behind that read these series: those that cannot be placed."""
    buffer = BlockBuffer(LabelMapping(), tmp_path)
    for one in series:
        buffer.add(batch_of([one]))
    hold_refused(lake, [one.row() for one in buffer.refused.values()], run_id=run_id)
    return kept_rows(lake)


def hold_refused(lake: Lake, rows: list[dict], run_id="run-1", observed_ms=HOUR):
    """Rows of ``quarantine``; ``row`` may be a dict."""
    common = {
        "run_id": run_id,
        "cluster": None,
        "rows": 1,
        "observed_ms": observed_ms,
        "date": date_of(observed_ms),
    }
    told = [
        common | row | {"row": row["row"] if isinstance(row["row"], str) else json.dumps(row["row"])}
        for row in rows
    ]
    lake.upsert(
        "quarantine", pa.Table.from_pylist(told, schema=TABLES["quarantine"].loose_schema), run_id=run_id
    )


def without(*names, **changes):
    """Good labels but for some."""
    return {name: value for name, value in (GOOD | changes).items() if name not in names}
