"""The gate between transforms and models: in, ``signals`` of a range; out, what cannot be true in them.

A repeated or crooked minute, a negative difference of a counter and a negative use of a limit are faults of ours, not
of a source: *errors*. A share outside 0 to 1 comes from scrapes that crowd into one minute: *warning*.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality.expectations import Check
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.times import MINUTE_MS, block_start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHECKS = (
    Check(
        "minute_key_unique", "repeated_minutes", "error", "repeated minutes",
        f"one row per {', '.join(TABLES['signals'].key)}",
    ),
    Check("minute_on_grid", "crooked_minutes", "error", "minutes off the grid", "minute_ms a multiple of 60 000"),
    Check("deltas_not_negative", "negative_deltas", "error", "negative differences", "counter differences >= 0"),
    Check("use_not_negative", "negative_uses", "error", "negative uses of a limit", "rho >= 0"),
    Check("coverage_is_share", "coverage_outside", "warning", "coverages outside 0 to 1", "coverage from 0 to 1"),
    Check("shares_are_shares", "shares_outside", "warning", "shares outside 0 to 1", "shares from 0 to 1"),
)  # fmt: skip

_NAMES = tuple(column.name for column in TABLES["signals"].columns)
_DELTAS = tuple(name for name in _NAMES if name.endswith("_delta"))
_USES = tuple(name for name in _NAMES if name.startswith("rho_"))
_SHARES = tuple(name for name in _NAMES if name.endswith("_share") and name != "coverage_share")


def check_signals(
    session: SparkSession,
    signals: Lake | DataFrame,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
) -> GateResult:
    """Check the signals of some clusters in [start_ms, end_ms).

    Parameters
    ----------
    signals : Lake or DataFrame
        The lake that holds them, or a frame with the columns of ``signals``.
    """
    from pyspark.sql import functions as F

    clusters = sorted(set(clusters))
    if isinstance(signals, Lake):
        between = {"minute_ms": (block_start(start_ms), end_ms - 1)}
        files = signals.files("signals", partition={"cluster": clusters}, between=between)
        signals = signals.spark(session, "signals", files)
    chosen = signals.where(
        F.col("cluster").isin(clusters) & (F.col("minute_ms") >= start_ms) & (F.col("minute_ms") < end_ms)
    )

    def faults(condition):
        return F.count_if(condition)

    def any_of(names, test):
        return sum((faults(test(F.col(name))) for name in names), F.lit(0))

    def below_zero(value):
        return (value < 0) | F.isnan(value)

    def no_share(value):
        return (value < 0) | (value > 1)

    frame = (
        chosen.groupBy(*SUBSCRIPTION_KEY_NAMES)
        .agg(
            (F.count("*") - F.count_distinct("minute_ms")).alias("repeated_minutes"),
            faults(F.col("minute_ms") % MINUTE_MS != 0).alias("crooked_minutes"),
            any_of(_DELTAS, below_zero).alias("negative_deltas"),
            any_of(_USES, below_zero).alias("negative_uses"),
            any_of(("coverage_share",), no_share).alias("coverage_outside"),
            any_of(_SHARES, no_share).alias("shares_outside"),
        )
        .persist()
    )
    try:
        return judge(
            frame,
            CHECKS,
            gate="signals",
            table="signals",
            row_word="subscriptions",
            run_id=run_id,
            example_columns=SUBSCRIPTION_KEY_NAMES,
        )
    finally:
        frame.unpersist()
