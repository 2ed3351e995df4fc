"""The gate between transforms and models. In: ``signals`` of a range. Out: what cannot be true in them.

Why each check has its severity:

- A repeated or crooked minute, a negative difference of a counter, a negative rate from counters, a negative use of a
  limit and a limit or period that is not above zero are faults of ours, not of a source: *errors*.
- A share outside 0 to 1 comes from scrapes that crowd into one minute, an age below zero from a broker's clock ahead of
  the Prometheus'. Healthy sources do that: *warnings*.
- A minute that is missing between two others says that no broker exposed the topic for longer than the look-back of five
  minutes: an unload, or a hole of the source. Windows with it carry less coverage: *warning*.
- A backlog that moves otherwise than what came in and went out (:mod:`flow_balance`): *warning*.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import flow_balance
from throttlescope.ingest.quality.checks import CHECK_LAKE, GateCheck, below_zero, counted, outside_share
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import counted_by_hour, counted_from, inside
from throttlescope.ingest.quality.verdicts import with_hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMES = tuple(column.name for column in TABLES["signals"].columns)
_DELTAS = tuple(name for name in _NAMES if name.endswith("_delta"))
_RATES = tuple(name for name in _NAMES if name.endswith("_rate_5m"))
_USES = tuple(name for name in _NAMES if name.startswith("rho_"))
_SHARES = tuple(name for name in _NAMES if name.endswith("_share") and name != "coverage_share")
_AGES = ("last_flow_age_s", "last_ack_age_s", "mark_delete_age_s")
_LIMITS = tuple(f"limit_{level}_{what}" for level in LEVELS for what in (*UNITS, "period_s"))

CHECKS = (
    GateCheck(
        "minute_key_unique", "repeated_minutes", "error", "repeated minutes",
        f"one row per {', '.join(TABLES['signals'].key)}", tally="count(*) - count(DISTINCT minute_ms)",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "minute_on_grid", "crooked_minutes", "error", "minutes off the grid", "minute_ms a multiple of 60 000",
        faulty=f"minute_ms % {MINUTE_MS} <> 0",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "deltas_not_negative", "negative_deltas", "error", "negative differences", "counter differences >= 0",
        tally=below_zero(_DELTAS),
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "counter_rates_not_negative", "negative_rates", "error", "negative rates of counters", "rates >= 0",
        tally=below_zero(_RATES),
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "use_not_negative", "negative_uses", "error", "negative uses of a limit", "rho >= 0", tally=below_zero(_USES),
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "limits_above_zero", "limits_not_above_zero", "error", "limits or periods that are not above 0",
        "rates and periods above 0; no limit is NULL",
        tally=" + ".join(f"sum(CASE WHEN {name} <= 0 THEN 1 ELSE 0 END)" for name in _LIMITS),
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "minutes_complete", "missing_minutes", "warning", "missing minutes",
        "a row for every minute between the first and the last of an hour",
        tally=f"(max(minute_ms) - min(minute_ms)) / {MINUTE_MS} + 1 - count(DISTINCT minute_ms)",
        fix="nothing if the topic was unloaded; otherwise look for missing scrapes",
    ),
    GateCheck(
        "coverage_is_share", "coverage_outside", "warning", "coverages outside 0 to 1", "coverage from 0 to 1",
        tally=outside_share(("coverage_share",)),
        fix="check scrape_interval: scrapes crowd into one minute",
    ),
    GateCheck(
        "shares_are_shares", "shares_outside", "warning", "shares outside 0 to 1", "shares from 0 to 1",
        tally=outside_share(_SHARES),
        fix="check scrape_interval: scrapes crowd into one minute",
    ),
    GateCheck(
        "ages_not_negative", "negative_ages", "warning", "ages below zero", "a broker's clock not ahead of the scrape",
        tally=below_zero(_AGES),
        fix="synchronise the clocks of the broker and of the Prometheus server",
    ),
)  # fmt: skip

SUITE = (*CHECKS, flow_balance.CHECK)

_READ = sorted(
    {
        *SUBSCRIPTION_KEY_NAMES, "minute_ms", "coverage_share", *_DELTAS, *_RATES, *_USES, *_SHARES, *_AGES, *_LIMITS,
        *flow_balance.COLUMNS,
    }
)  # fmt: skip


_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)
_HOUR = f"minute_ms - minute_ms % {BLOCK_MS}"
#: One row per subscription partition and UTC hour.
_SELECT = (
    f"SELECT {_KEY}, hour_ms, {', '.join(check.column for check in CHECKS)}, {flow_balance.JUDGED} "  # noqa: S608
    f"FROM (SELECT {_KEY}, {_HOUR} AS hour_ms, {counted(CHECKS)}, {flow_balance.MEASURES} "
    f"FROM {{signals}} GROUP BY {_KEY}, {_HOUR}) AS hours"
)


def check_signals(
    session: SparkSession | None,
    signals: Lake | pa.Table,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
) -> GateResult:
    """Check the signals of some clusters in [start_ms, end_ms).

    Parameters
    ----------
    session : SparkSession, optional
        Without one everything is counted in this process.
    signals : Lake or pyarrow.Table
        The lake with them, or rows with the columns of ``signals``.
    """
    clusters, times = sorted(set(clusters)), {"signals": "minute_ms"}
    if isinstance(signals, Lake):
        frame = counted_by_hour(
            session, signals, times, {"signals": _READ}, _SELECT, clusters, start_ms, end_ms
        )
    else:
        own = inside(signals, clusters, times["signals"], start_ms, end_ms)
        frame = counted_from(None, {"signals": own}, _SELECT)
    return judge(
        frame,
        SUITE,
        gate="signals",
        table="signals",
        row_word="subscription hours",
        run_id=run_id,
        example_columns=(*SUBSCRIPTION_KEY_NAMES, "hour_ms"),
        describe=with_hour,
    )
