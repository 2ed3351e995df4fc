"""Does the backlog move as its flows say? In: the minutes of a subscription's hour. Out: by how many entries it does not.

What a backlog gains is what came in, less what was acknowledged and what expired: ``d(backlog) = in - ack - expired``. Where
the two sides differ, something else moved it (seek, skip, clear-backlog), or the broker's count drifts, as it does without
``exposePreciseBacklogInPrometheus``; verdicts that rest on the backlog's growth have to doubt it.

Backlog, publishing and expiry are read by the same scrapes and their differences are exact. Acknowledgements are only known
as a gauge that the broker computes every 60 s, which sets the tolerance:

- A gauge's minute ended up to 60 s before it was read, and reads are up to 60 s apart, so at either end of the range
  up to a minute of flow is on the wrong side, and one of the broker's minutes may be read twice or not at all: three
  minutes of the hour's greatest flow.
- Rates are cut to three decimals: up to 3.6 messages an hour that are nowhere. With them 4 entries.

That is what can happen, not what usually does: on recordings of a real broker that no verdict is judged by, hours of shared
subscriptions were apart by at most half a minute's greatest flow.

It says nothing where its terms do not mean what they should:

- less than 15 minutes: the tolerance would be a fifth of the flow and more;
- subscriptions that may acknowledge cumulatively (Exclusive, Failover): the gauge counts such an acknowledgement once,
  whatever it acknowledges, and others of theirs not at all. Shared and Key_Shared are known from the admin API, or from unacked messages, which only they
  have;
- batches: flows are messages, backlogs entries, and only the mean of messages per entry is known;
- a restart or a move, evictions by a backlog quota, entry filters (the broker acknowledges what they reject, and its gauge
  does not count that): flows that are not in the terms;
- minutes without a row or a value.
"""

from __future__ import annotations

from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.ingest.quality.checks import GateCheck

#: Minutes of the greatest flow that may be missing or counted twice.
EDGE_MINUTES = 3
#: What rates lose in an hour by being cut to three decimals, rounded up.
CUT_ENTRIES = 4
#: Fewer minutes are not judged.
LEAST_MINUTES = 15
#: An unbatched topic has one message per entry; the mean may be off by its own rounding.
UNBATCHED = (0.99, 1.01)

COLUMNS = (
    "minute_ms", "backlog_entries", "in_msg_delta", "expired_msg_delta", "ack_msg_rate", "messages_per_entry",
    "subscription_type", "unacked_msg", "counter_resets", "broker_changed", "quota_evictions_5m",
    "filter_rejected_entry_rate_5m",
)  # fmt: skip

_MINUTE_S = MINUTE_MS // SECOND_MS


def _count(test: str) -> str:
    return f"CAST(sum(CASE WHEN {test} THEN 1 ELSE 0 END) AS BIGINT)"


def _first(column: str) -> str:
    """What the first minute has; a minute without a value has none, in Spark as in DuckDB."""
    return f"min_by(coalesce({column}, 0), minute_ms)"


_IS_BATCHED = f"messages_per_entry IS NULL OR messages_per_entry < {UNBATCHED[0]} OR messages_per_entry > {UNBATCHED[1]}"
_IS_SHARED = "subscription_type IN ('Shared', 'Key_Shared') OR unacked_msg > 0"
_IS_EXCLUSIVE = "subscription_type IN ('Exclusive', 'Failover')"
_FLOWS_OTHERWISE = (
    "counter_resets > 0 OR broker_changed OR quota_evictions_5m > 0 OR filter_rejected_entry_rate_5m > 0"
)

#: Of a subscription's hour. The flows of its first minute led to the first backlog and are left out.
MEASURES = ", ".join(
    (
        f"CAST((max(minute_ms) - min(minute_ms)) / {MINUTE_MS} AS BIGINT) + 1 AS flow_span",
        "count(*) AS flow_minutes",
        "count(backlog_entries) AS flow_backlogs",
        "count(in_msg_delta) AS flow_ins",
        "count(ack_msg_rate) AS flow_acks",
        "max_by(backlog_entries, minute_ms) - min_by(backlog_entries, minute_ms) AS flow_gained",
        f"sum(in_msg_delta) - {_first('in_msg_delta')} AS flow_in",
        f"coalesce(sum(expired_msg_delta), 0) - {_first('expired_msg_delta')} AS flow_expired",
        f"{_MINUTE_S} * (sum(ack_msg_rate) - {_first('ack_msg_rate')}) AS flow_ack",
        f"greatest(max(in_msg_delta), {_MINUTE_S} * max(ack_msg_rate)) AS flow_peak",
        f"{_count(_IS_BATCHED)} AS flow_batched",
        f"{_count(_IS_SHARED)} AS flow_shared",
        f"{_count(_IS_EXCLUSIVE)} AS flow_exclusive",
        f"{_count(_FLOWS_OTHERWISE)} AS flow_otherwise",
    )
)

_SHORT = f"flow_minutes < {LEAST_MINUTES}"
_HOLES = "flow_span <> flow_minutes OR flow_backlogs < flow_minutes OR flow_acks < flow_minutes OR flow_ins < flow_minutes - 1"
_CUMULATIVE = "flow_exclusive > 0 OR flow_shared = 0"
_BATCHED = "flow_batched > 0"
_OTHERWISE = "flow_otherwise > 0"
_WHY = (
    ("flow_not_judged_short", _SHORT, f"shorter than {LEAST_MINUTES} minutes"),
    ("flow_not_judged_holes", _HOLES, "with minutes or values missing"),
    ("flow_not_judged_cumulative", _CUMULATIVE, "that may acknowledge cumulatively"),
    ("flow_not_judged_batched", _BATCHED, "in batches, or not known not to be"),
    ("flow_not_judged_otherwise", _OTHERWISE, "moved, evicted or filtered"),
)


def _judged() -> str:
    """The first reason not to judge counts, alone; without one, the entries beyond the tolerance."""
    columns, before = [], []
    for column, test, _ in _WHY:
        unless = "".join(f" AND NOT ({one})" for one in before)
        columns.append(f"CASE WHEN ({test}){unless} THEN 1 ELSE 0 END AS {column}")
        before.append(test)
    apart = "abs(flow_gained - (flow_in - flow_ack - flow_expired))"
    tolerance = f"({EDGE_MINUTES} * flow_peak + {CUT_ENTRIES})"
    columns.append(
        f"CASE WHEN {' OR '.join(f'({one})' for one in before)} OR {apart} <= {tolerance} THEN 0 "
        f"ELSE CAST(ceil({apart}) AS BIGINT) END AS unbalanced_entries"
    )
    return ", ".join(columns)


JUDGED = _judged()

CHECK = GateCheck(
    "flow_balance",
    "unbalanced_entries",
    "warning",
    "entries that neither publishing, acknowledgements nor expiry explain",
    f"d(backlog) = in - ack - expired, within {EDGE_MINUTES} minutes of the greatest flow and {CUT_ENTRIES} entries",
    not_judged=tuple((column, words) for column, _, words in _WHY),
    fix="check whether messages were skipped or cleared; set exposePreciseBacklogInPrometheus=true on the brokers",
)
