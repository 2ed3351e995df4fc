"""Baselines. In: nothing. Out: the table ``baselines``: what was usual for each signal of a subscription partition at a midnight.

Only the newest ones of a cluster are kept. They spare the runs of a day the weeks before it; without them a run computes them again.
"""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.anomalies import ANOMALY_SIGNALS
from throttlescope.ingest.contracts.keys import DATE, SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table

_NUMBERS, _COUNTS, _FLAGS = pa.list_(pa.float64()), pa.list_(pa.int64()), pa.list_(pa.bool_())

#: What every baseline has; one number an hour before the first judged one, the others one a judged day.
_HISTORY = (
    Column("known_minutes", _COUNTS, "minutes that are known of each hour before the first judged one"),
    Column("ready", _FLAGS, "of each judged day: there is enough history"),
    Column(
        "points", _COUNTS, "of each judged day: minutes of the weeks before that are known and not masked"
    ),
)
#: Levels, of hours where nothing else is said; NULL in all of them: no day is judged by levels.
_LEVELS = (
    Column("masks_hold", pa.bool_(), "minutes of incidents are left out; else they are the habit", True),
    Column(
        "masked_share", _NUMBERS, "of each judged day: share of the known minutes that incidents masked", True
    ),
    Column("expected", _NUMBERS, "expected level, on the scale of the method", True),
    Column("moved", _NUMBERS, "sum of the new levels' steps", True),
    Column("former", _NUMBERS, "how far below the expected level the former one lies", True),
    Column("hourly_sigma", _NUMBERS, "spread of the hours' medians", True),
    Column("strayed", _NUMBERS, "deviations of the hours just before the first judged one", True),
    Column("sigma_up", _NUMBERS, "spread of minutes upwards", True),
    Column("sigma_down", _NUMBERS, "spread of minutes downwards; NULL: judged upwards only", True),
    Column("alarm_up", _NUMBERS, "of each judged day: the sums that raise an alarm upwards", True),
    Column("alarm_down", _NUMBERS, "the same downwards", True),
    Column("adopted_up", _COUNTS, "hours from which on a higher level counts", True),
    Column("adopted_down", _COUNTS, "the same of a lower one", True),
)
#: Gaps; NULL in all of them: none is judged.
_GAPS = (
    Column("gap_usual", _NUMBERS, "of each judged hour: what usually comes in a minute", True),
    Column("gap_longest", _NUMBERS, "of each day before: the longest gap that began on it", True),
    Column("gap_missed", pa.bool_(), "something is missed on the first judged day", True),
    Column("open_gap_start", pa.int64(), "minutes from the first judged one to where an open gap began; NULL: none is open", True),
    Column("open_gap_end", pa.int64(), "the same of where it was known last", True),
    Column("open_gap_length", pa.float64(), "what had been missed until then", True),
    Column("open_gap_after_mark", pa.bool_(), "it began after a restart or a move", True),
    Column("open_gap_masked", pa.bool_(), "it began in an incident", True),
)  # fmt: skip

BASELINES = Table(
    "baselines",
    "What was usual for one signal of one subscription partition at the midnight of the last judged day: kept for the runs of that day. "
    "Only the newest ones of a cluster are kept; a run for which they do not hold computes them again.",
    (
        *SUBSCRIPTION_KEY,
        Column("signal", pa.string(), "what is judged by it", words=ANOMALY_SIGNALS),
        Column("known_ms", pa.int64(), "that midnight: only what lies before it has a say"),
        Column(
            "inputs", pa.string(), "fingerprint of what it was computed from: files, weeks, time zone, rules"
        ),
        Column("share", pa.int32(), "number of the share in which it was computed"),
        Column("shares", pa.int32(), "how many shares there were: without one of them none holds"),
        *_HISTORY,
        *_LEVELS,
        *_GAPS,
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "signal", "known_ms", "inputs"),
    partition_by=("cluster", "date"),
)
