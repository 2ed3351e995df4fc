"""The sample lake with samples: each subscription's backlog of ``signals`` as a series, so that PromQL and rules have something to read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.app.web.sample_lake import write_sample_lake
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.source import Series

_KEY = ["cluster", "namespace", "topic", "partition", "subscription"]


def write_sampled_lake(root: Path) -> Lake:
    """Write the sample lake, and ``pulsar_subscription_back_log`` once a minute, at the minute's end."""
    lake = write_sample_lake(root)
    rows = lake.read("signals", columns=[*_KEY, "minute_ms", "backlog_entries"]).to_pandas()
    series = [
        Series(
            {
                "__name__": "pulsar_subscription_back_log",
                **{name: str(value) for name, value in zip(_KEY, key, strict=True)},
            },
            mine["minute_ms"].to_numpy(np.int64) + MINUTE_MS,
            mine["backlog_entries"].to_numpy(float),
        )
        for key, mine in rows.sort_values("minute_ms").groupby(_KEY)
    ]
    return lake_of(root, series)
