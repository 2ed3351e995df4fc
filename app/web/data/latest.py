"""The newest verdict of every subscription. In: rows of ``verdicts``. Out: the SQL that makes them one small table.

Beside the newest verdict stand since when it holds, and what held the subscription longest in the recent hours.
"""

from __future__ import annotations

from throttlescope.app.web.causes import ORDER
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.times import BLOCK_MS, DAY_MS, MINUTE_MS

KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)

#: How far back the overview looks for "since" and for the main cause.
LOOK_BACK_MS = DAY_MS
RECENT_MS = 6 * BLOCK_MS
#: A subscription whose last verdict is older than its cluster's newest by this is not current.
STALE_MS = 10 * MINUTE_MS

# One row per subscription: its newest verdict, since when, and what held it longest in the recent hours.
LATEST_SQL = f"""
CREATE TABLE latest AS
WITH recent AS (
    SELECT {KEY}, window_start_ms, window_end_ms, side, cause, limiter, confidence, naive_side,
           backlog_entries, backlog_growth_entries,
           max(window_end_ms) OVER (PARTITION BY cluster) AS cluster_end_ms
    FROM {{source}}
), newest AS (
    SELECT * FROM recent WHERE window_end_ms > cluster_end_ms - {LOOK_BACK_MS}
), stepped AS (
    SELECT *, max(window_end_ms) OVER (s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to_ms
    FROM newest WINDOW s AS (PARTITION BY {KEY} ORDER BY window_end_ms, window_start_ms)
), spoken AS (
    SELECT *, greatest(window_start_ms, coalesce(covered_to_ms, window_start_ms)) AS from_ms
    FROM stepped WHERE covered_to_ms IS NULL OR window_end_ms > covered_to_ms
), marked AS (
    SELECT *, covered_to_ms IS NULL OR from_ms > covered_to_ms AS follows_gap,
           cause IS DISTINCT FROM lag(cause) OVER s OR limiter IS DISTINCT FROM lag(limiter) OVER s AS turned
    FROM spoken WINDOW s AS (PARTITION BY {KEY} ORDER BY window_end_ms)
), numbered AS (
    SELECT *, sum(CASE WHEN follows_gap OR turned THEN 1 ELSE 0 END) OVER s AS run
    FROM marked WINDOW s AS (PARTITION BY {KEY} ORDER BY window_end_ms)
), runs AS (
    SELECT {KEY}, run, min(from_ms) AS since_ms, bool_or(follows_gap) AS since_at_least
    FROM numbered GROUP BY {KEY}, run
), held AS (
    SELECT {KEY}, cause AS main_cause, limiter AS main_limiter,
           sum(window_end_ms - greatest(from_ms, cluster_end_ms - {RECENT_MS})) AS main_held_ms,
           min(greatest(from_ms, cluster_end_ms - {RECENT_MS})) AS main_from_ms, max(window_end_ms) AS main_to_ms,
           avg(confidence) AS main_confidence, max(backlog_entries) AS main_peak_entries,
           min(side) AS main_side, mode(naive_side ORDER BY naive_side) AS main_naive_side
    FROM numbered WHERE window_end_ms > cluster_end_ms - {RECENT_MS}
    GROUP BY {KEY}, cause, limiter
), main AS (
    SELECT * FROM held
    QUALIFY row_number() OVER (
        PARTITION BY {KEY}
        ORDER BY main_cause = 'healthy', main_cause = 'unknown', main_held_ms DESC, main_to_ms DESC, main_cause,
                 main_limiter) = 1
)
SELECT numbered.* EXCLUDE (run, covered_to_ms, from_ms, follows_gap, turned),
       since_ms, since_at_least, main.* EXCLUDE ({KEY}),
       window_end_ms < cluster_end_ms - {STALE_MS} AS stale,
       starts_with(string_split(topic, '/')[-1], '__') AS own_topic,
       list_position({list(ORDER)!r}, cause) AS cause_rank,
       coalesce(list_position({list(ORDER)!r}, main_cause), {len(ORDER)}) AS main_rank
FROM numbered JOIN runs USING ({KEY}, run) LEFT JOIN main USING ({KEY})
QUALIFY row_number() OVER (PARTITION BY {KEY} ORDER BY window_end_ms DESC) = 1
"""  # noqa: S608
