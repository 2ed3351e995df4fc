"""A lake of a few rows that every command which reads has something to print of. In: a folder. Out: the lake's path."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.app.lake_of_verdicts import HOUR, healthy, lake_with, verdict
from tests.models.episodes.scenes import fill
from tests.models.episodes.scenes import minutes as rows_of
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.promql.source import Series


def write_lake(folder: Path) -> str:
    """Samples of a metric ``m``, verdicts whose backlogs' ages have to be estimated, and their signals."""
    times_ms = HOUR + 15_000 * np.arange(200)
    lake_of(folder, [Series({"__name__": "m", "cluster": "prod"}, times_ms, times_ms / 1000)])
    lake = lake_with(folder, [healthy(4), verdict(5, backlog_entries=600.0)])
    key = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 3, "billing")
    signals = rows_of(
        [600.0] * 30, key=key, start_ms=HOUR, in_msg_delta=60.0, in_span_ms=MINUTE_MS, messages_per_entry=1.0,
        backlog_entries=600.0,
    )  # fmt: skip
    fill(lake, "signals", signals, "minute_ms")
    return str(lake.root)
