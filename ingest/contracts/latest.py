"""The current state of every subscription. In: nothing. Out: the table ``verdict_latest``: newest verdict, when it started, main cause of recent hours."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS, SIDES

VERDICT_LATEST = Table(
    "verdict_latest",
    "One subscription partition that was judged in the 24 hours before its cluster's newest verdict, with its cause. The rows of "
    "a cluster are replaced together whenever verdicts of it were written; all of them follow from `verdicts`.",
    (
        *SUBSCRIPTION_KEY,
        Column("window_start_ms", pa.int64(), "start of the newest window"),
        Column("window_end_ms", pa.int64(), "its end, exclusive"),
        Column("side", pa.string(), "which side causes the backlog", words=SIDES),
        Column("cause", pa.string(), "the cause", words=CAUSES),
        Column("limiter", pa.string(), "the limiter that binds; NULL: none", True, LIMITERS),
        Column("confidence", pa.float64(), "0 to 1: the probability that cause is right"),
        Column(
            "naive_side", pa.string(), "what backlog > 1000 with any throttle event would say", words=SIDES
        ),
        Column("backlog_entries", pa.float64(), "ready backlog at the window's end", True),
        Column("backlog_growth_entries", pa.float64(), "its change over the window", True),
        Column(
            "since_ms",
            pa.int64(),
            "start of the first window from which on every window names this cause and limiter",
        ),
        Column(
            "since_at_least",
            pa.bool_(),
            "it may have started earlier: nothing was judged right before, or the 24 hours began",
        ),
        Column(
            "main_cause",
            pa.string(),
            "main cause in its cluster's newest 6 hours, anything else before healthy and unknown; NULL: not judged in them",
            True,
            CAUSES,
        ),
        Column("main_limiter", pa.string(), "its limiter; NULL: none", True, LIMITERS),
        Column("main_held_ms", pa.int64(), "total duration of the main cause in these hours", True),
        Column("main_from_ms", pa.int64(), "its first start in them", True),
        Column("main_to_ms", pa.int64(), "end of its last window in them", True),
        Column("main_confidence", pa.float64(), "mean confidence of its windows", True),
        Column("main_peak_entries", pa.float64(), "largest ready backlog at their ends", True),
        Column("main_side", pa.string(), "side of that cause", True, SIDES),
        Column("main_naive_side", pa.string(), "what the naive rule said most often in them", True, SIDES),
    ),
    key=SUBSCRIPTION_KEY_NAMES,
    partition_by=("cluster",),
)
