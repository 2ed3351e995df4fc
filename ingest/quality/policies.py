"""The gate after the admin API. In: ``policies``, ``limits`` and ``topic_stats`` of a range. Out: faults of these rows.

Why each check has its severity:

- A repeated key, an answer that does not fit its request, a limit or a period that is not above zero, a record
  that sets no rate although ``set_by`` names it: use of a limit is computed from these, and would be wrong. Ingest
  validation and the resolver refuse them. *Errors.*
- A level without a row where others have one: a request of its chain was not answered, so that level is unknown and
  verdicts say so. *Warning.*
- A negative count in the admin API's stats comes from the broker. *Warning.*
- Answers older than a day: every run reads policies, so there was no run, or no answer, for a whole day, and limits
  may have changed in it. *Warning.* A lake without any answer is one that has no admin API: verdicts say what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, block_start, dates_of, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality.checks import CHECK_LAKE, GateCheck, below_zero, counted
from throttlescope.ingest.quality.findings import GateResult, judge
from throttlescope.ingest.quality.frames import LocalFrame, counted_from, inside, rows_of
from throttlescope.ingest.sources.policy_answers import answer_fault

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Every run reads policies; a day without an answer is longer than a pause between two runs.
POLICY_AGE_MS = DAY_MS
#: How long limits are joined (transforms/limits): an older answer counts as none.
_LOOKED_BACK_MS = 7 * DAY_MS

ANSWER_CHECKS = (
    GateCheck(
        "answer_key_unique", "repeated_answers", "error", "repeated answers",
        f"one row per {', '.join(TABLES['policies'].key)}",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "answers_readable", "unreadable_answers", "error", "answers that do not fit the request",
        "the form that Pulsar documents for the request",
        fix="check that the address is a broker's or Pulsar proxy's web service, then read again",
    ),
    GateCheck(
        "policy_age", "stale_hours", "warning", "hours since the newest answer",
        f"an answer in the {POLICY_AGE_MS // BLOCK_MS} hours before the end of the samples",
        fix="run with --pulsar-admin, or check why the admin API does not answer",
    ),
)  # fmt: skip

_COUNTS = tuple(
    column.name for column in TABLES["topic_stats"].columns if column.name.startswith("throttled_")
)

LIMIT_CHECKS = (
    GateCheck(
        "limit_key_unique", "repeated_limits", "error", "repeated limits", f"one row per {', '.join(TABLES['limits'].key)}",
        tally="count(*) - count(DISTINCT concat(level, ' ', CAST(observed_ms AS STRING)))",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "rates_above_zero", "rates_not_above_zero", "error", "rates that are not above 0", "rates above 0; no limit is NULL",
        faulty="rate_msg <= 0 OR rate_bytes <= 0",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "period_above_zero", "periods_not_above_zero", "error", "periods that are not above 0", "periods of a second or more",
        faulty="period_s < 1",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "set_by_sets", "empty_records", "error", "limits whose record sets nothing, or the other way round",
        "a rate where set_by names a record, none where it says none",
        faulty="(set_by = 'none') <> (rate_msg IS NULL AND rate_bytes IS NULL)",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "levels_complete", "unknown_levels", "warning", "levels without a row where others have one",
        f"{len(LEVELS)} levels of a subscription at every observation",
        tally=f"{len(LEVELS)} * count(DISTINCT observed_ms) - count(*)",
        fix="check the run's failures of the admin API and the rights of its token",
    ),
)  # fmt: skip

STATS_CHECKS = (
    GateCheck(
        "stats_key_unique", "repeated_stats", "error", "repeated stats", f"one row per {', '.join(TABLES['topic_stats'].key)}",
        tally="count(*) - count(DISTINCT observed_ms)",
        fix=CHECK_LAKE,
    ),
    GateCheck(
        "stats_not_negative", "negative_stats", "warning", "negative counts", "counts >= 0",
        tally=below_zero((*_COUNTS, "backlog_entries", "delayed_entries", "consumers", "out_msg_total", "out_bytes_total")),
        fix="nothing: the broker reported it",
    ),
    GateCheck(
        "permits_in_order", "permits_out_of_order", "error", "permits out of order",
        "permits_min at most permits_max, both only where there are consumers",
        faulty="permits_min > permits_max OR (permits_min IS NULL) <> (consumers = 0)",
        fix=CHECK_LAKE,
    ),
)  # fmt: skip

_ANSWER_KEY = ["cluster", "scope", "key", "observed_ms"]


def check_policies(
    session: SparkSession | None, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> GateResult:
    """Check the answers of the admin API of some clusters in [start_ms, end_ms), and the limits that apply in it.

    Parameters
    ----------
    session : SparkSession, optional
        Without one everything is counted in this process.
    """
    clusters = sorted(set(clusters))
    answers = _answers(lake, clusters, start_ms, end_ms)
    return GateResult.of(
        [
            judge(
                LocalFrame(answers),
                ANSWER_CHECKS,
                gate="policies",
                table="policies",
                row_word="answers",
                run_id=run_id,
                example_columns=_ANSWER_KEY[1:],
                describe=_with_time,
                may_be_empty="the admin API was not queried",
            ),
            _of_subscriptions(
                session, lake, "limits", LIMIT_CHECKS, clusters, start_ms - DAY_MS, end_ms, run_id
            ),
            _of_subscriptions(session, lake, "topic_stats", STATS_CHECKS, clusters, start_ms, end_ms, run_id),
        ]
    )


def _answers(lake: Lake, clusters: list[str], start_ms: int, end_ms: int) -> pa.Table:
    """One row per answer in the range, and per cluster the newest before its end where that is too old."""
    dates = dates_of(end_ms - _LOOKED_BACK_MS, end_ms)
    looked_back = lake.read("policies", columns=_ANSWER_KEY, partition={"date": dates})
    looked_back = inside(looked_back, clusters, "observed_ms", end_ms - _LOOKED_BACK_MS, end_ms)
    own = lake.read(
        "policies", columns=[*_ANSWER_KEY, "body"], partition={"date": dates_of(start_ms, end_ms)}
    )
    own = inside(own, clusters, "observed_ms", start_ms, end_ms).to_pylist()
    times = Counter(tuple(row[name] for name in _ANSWER_KEY) for row in own)
    rows = []
    for row in own:
        key = tuple(row[name] for name in _ANSWER_KEY)
        rows.append(
            {name: row[name] for name in _ANSWER_KEY}
            | {
                "repeated_answers": times[key] - 1,
                "unreadable_answers": int(answer_fault(row["scope"], row["body"]) is not None),
                "stale_hours": 0,
            }
        )
    newest = looked_back.group_by("cluster").aggregate([("observed_ms", "max")]).to_pylist()
    until_ms = _data_until(lake, clusters, start_ms, end_ms)
    for row in newest:
        age_ms = until_ms.get(row["cluster"], 0) - row["observed_ms_max"]
        if age_ms > POLICY_AGE_MS:
            place = {
                "cluster": row["cluster"],
                "scope": "(newest)",
                "key": "(any)",
                "observed_ms": row["observed_ms_max"],
            }
            rows.append(
                place
                | {"repeated_answers": 0, "unreadable_answers": 0, "stale_hours": -(-age_ms // BLOCK_MS)}
            )
    schema = pa.schema(
        [
            *((name, TABLES["policies"].column(name).type) for name in _ANSWER_KEY),
            *((check.column, pa.int64()) for check in ANSWER_CHECKS),
        ]
    )
    return pa.Table.from_pylist(rows, schema=schema)


def _data_until(lake: Lake, clusters: list[str], start_ms: int, end_ms: int) -> dict[str, int]:
    """By cluster, the end of its samples in the range: limits have to be known for these, not for a time without any."""
    found: dict[str, int] = {}
    for file in lake.files("samples", between={"block_start_ms": (block_start(start_ms), end_ms - 1)}):
        if (cluster := file.minimum["cluster"]) in clusters:
            hour_end_ms = int(file.maximum["block_start_ms"]) + BLOCK_MS
            found[cluster] = max(found.get(cluster, 0), min(end_ms, hour_end_ms))
    return found


def _of_subscriptions(
    session: SparkSession | None,
    lake: Lake,
    table: str,
    checks: tuple[GateCheck, ...],
    clusters: list[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
) -> GateResult:
    """Count the faults of a table by subscription partition."""
    files = lake.files(
        table, partition={"date": dates_of(start_ms, end_ms)}, between={"observed_ms": (start_ms, end_ms - 1)}
    )
    columns = [column.name for column in TABLES[table].columns if column.name != "date"]
    rows = rows_of(session, lake, {table: files}, {table: columns})
    key = ", ".join(SUBSCRIPTION_KEY_NAMES)
    select = f"SELECT {key}, {counted(checks)} FROM {{{table}}} GROUP BY {key}"  # noqa: S608
    return judge(
        counted_from(
            session, {table: inside(rows[table], clusters, "observed_ms", start_ms, end_ms)}, select
        ),
        checks,
        gate="policies",
        table=table,
        row_word="subscriptions",
        run_id=run_id,
        example_columns=SUBSCRIPTION_KEY_NAMES,
        may_be_empty="the admin API was not queried",
    )


def _with_time(example: dict) -> dict:
    return {"scope": example["scope"], "key": example["key"], "observed": format_time(example["observed_ms"])}
