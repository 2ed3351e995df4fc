"""The gate after the diagnosis. In: ``verdicts`` of a range and the ``signals`` they were made from. Out: what cannot be true in them.

Episodes, forecasts, alerts and pages read verdicts without checking them, so a verdict that contradicts itself and a subscription
without verdicts are faults of ours that would mislead: *errors*. A verdict without evidence and one by other rules
than its neighbours are right as far as they go, and have to be looked at: *warnings*.

Severity says nothing of how good a verdict is: that is what its confidence and the accuracy pages are for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality.checks import CHECK_LAKE, GateCheck, counted, outside_share
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import counted_by_hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MINUTES = BLOCK_MS // MINUTE_MS

CHECKS = (
    GateCheck(
        "window_key_unique", "repeated_windows", "error", "repeated windows",
        f"one row per {', '.join(TABLES['verdicts'].key)}",
        tally="count(*) - count(DISTINCT concat(CAST(window_start_ms AS STRING), ' ', CAST(window_end_ms AS STRING)))",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "window_on_grid", "crooked_windows", "error", "windows off the grid", "whole minutes, the end after the start",
        faulty=f"window_start_ms % {MINUTE_MS} <> 0 OR window_end_ms % {MINUTE_MS} <> 0 OR window_end_ms <= window_start_ms",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "confidence_is_share", "confidence_outside", "error", "confidences outside 0 to 1", "confidence from 0 to 1",
        tally=outside_share(("confidence",)),
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "side_of_cause", "sides_apart", "error", "sides that are not their cause's",
        "healthy: neither, throttled: throttle, both: both, unknown: unknown",
        faulty="(cause = 'healthy' AND side <> 'neither') OR (cause IN ('throttled', 'micro_burst_throttled') AND side <> "
        "'throttle') OR ((cause = 'both') <> (side = 'both')) OR ((cause = 'unknown') <> (side = 'unknown'))",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "limiter_where_throttled", "limiters_apart", "error", "limiters without throttling, or throttling without one",
        "a limiter where the side is throttle or both, else none; a remote cluster's publish limit is none of this cluster's limiters",
        faulty="(limiter IS NOT NULL) <> (side IN ('throttle', 'both') AND cause <> 'remote_publish_limit')",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "evidence_given", "without_evidence", "warning", "verdicts that name a cause without evidence",
        "evidence for every cause but healthy; unknown says what is missing",
        faulty="cause <> 'healthy' AND {len}(evidence) + {len}(missing_evidence) = 0",
        fix="report it: a rule named a cause without evidence",
    ),
    GateCheck(
        "one_rules_version", "further_versions", "warning", "further versions of the rules", "one version in an hour",
        tally="count(DISTINCT rules_version) - 1",
        fix="diagnose the hour again, so that one version judges all of it",
    ),
)  # fmt: skip

#: Checks whether a subscription's hour in ``signals`` has verdicts at all.
JUDGED_CHECK = GateCheck(
    "subscriptions_judged", "hours_not_judged", "error", "hours with signals and without a verdict",
    "a verdict for every subscription with a whole hour of signals, where the hour was judged",
    fix=CHECK_LAKE,
)  # fmt: skip

SUITE = (*CHECKS, JUDGED_CHECK)

_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)
_ON_KEY = " AND ".join(f"measured.{name} = judged.{name}" for name in (*SUBSCRIPTION_KEY_NAMES, "hour_ms"))
_EITHER_KEY = ", ".join(
    f"coalesce(judged.{name}, measured.{name}) AS {name}" for name in (*SUBSCRIPTION_KEY_NAMES, "hour_ms")
)
_OWN = ", ".join(f"coalesce(judged.{check.column}, 0) AS {check.column}" for check in CHECKS)
#: One row per subscription partition and UTC hour that has verdicts or signals. An hour that had not ended yet was not
#: judged for any subscription, so one without a verdict is missed only where others of its cluster have some.
_SELECT = (
    f"WITH judged AS (SELECT {_KEY}, window_start_ms - window_start_ms % {BLOCK_MS} AS hour_ms, {counted(CHECKS)} "  # noqa: S608
    f"FROM {{verdicts}} GROUP BY {_KEY}, window_start_ms - window_start_ms % {BLOCK_MS}), "
    f"measured AS (SELECT {_KEY}, minute_ms - minute_ms % {BLOCK_MS} AS hour_ms, count(DISTINCT minute_ms) AS minutes "
    f"FROM {{signals}} GROUP BY {_KEY}, minute_ms - minute_ms % {BLOCK_MS}), "
    "hours AS (SELECT DISTINCT cluster, hour_ms FROM judged), "
    f"found AS (SELECT {_EITHER_KEY}, {_OWN}, CASE WHEN judged.cluster IS NULL AND measured.minutes = {_MINUTES} THEN 1 ELSE 0 "
    f"END AS missed FROM measured FULL OUTER JOIN judged ON {_ON_KEY}) "
    f"SELECT found.*, CAST(CASE WHEN hours.cluster IS NULL THEN 0 ELSE found.missed END AS BIGINT) AS {JUDGED_CHECK.column} "
    "FROM found LEFT OUTER JOIN hours ON found.cluster = hours.cluster AND found.hour_ms = hours.hour_ms"
)


def check_verdicts(
    session: SparkSession | None, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> GateResult:
    """Check the verdicts of the UTC hours that touch [start_ms, end_ms) of some clusters.

    Parameters
    ----------
    session : SparkSession, optional
        Without one everything is counted in this process.
    """
    clusters = sorted(set(clusters))
    first_ms, last_ms = block_start(start_ms), block_start(end_ms - 1) + BLOCK_MS
    times = {"verdicts": "window_start_ms", "signals": "minute_ms"}
    columns = {
        "verdicts": [
            *SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "side", "cause", "limiter", "confidence",
            "evidence", "missing_evidence", "rules_version",
        ],
        "signals": [*SUBSCRIPTION_KEY_NAMES, "minute_ms"],
    }  # fmt: skip
    return judge(
        counted_by_hour(session, lake, times, columns, _SELECT, clusters, first_ms, last_ms),
        SUITE,
        gate="verdicts",
        table="verdicts",
        row_word="subscription hours",
        run_id=run_id,
        example_columns=(*SUBSCRIPTION_KEY_NAMES, "hour_ms"),
        describe=with_hour,
    )


def with_hour(example: dict) -> dict:
    """An example whose hour a reader understands."""
    return {name: value for name, value in example.items() if name != "hour_ms"} | {
        "hour": format_time(example["hour_ms"])
    }
