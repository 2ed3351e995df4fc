"""Per-partition stats of a topic. In: the JSON text that Pulsar's admin API answered. Out: rows of ``topic_stats``.

The same for a live cluster and for a recording. What an older broker does not tell is refused rather than read as zero.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import date_of

_LEVELS = {"broker": "Broker", "topic": "Topic", "subscription": "Subscription"}
_UNITS = {"msg": "Msg", "bytes": "Bytes"}

#: Column to the field of the answer: reads that each limiter throttled.
THROTTLE_FIELDS = {
    f"throttled_{unit}_events_{level}": f"dispatchThrottled{unit_word}EventsBy{level_word}Limit"
    for unit, unit_word in _UNITS.items()
    for level, level_word in _LEVELS.items()
}


def stats_rows(
    cluster: str, namespace: str, topic: str, partition: int, observed_ms: int, body: str
) -> list[dict[str, Any]]:
    """One row per subscription of a topic partition.

    Parameters
    ----------
    topic : str
        Without the partition suffix.
    body : str
        Answer of ``/admin/v2/persistent/.../stats``; empty or ``null`` where the topic was not there.

    Raises
    ------
    InputError
        Not JSON, not such an answer, or of a broker without the throttle counters (before 4.0.4 and 4.1).
    """
    where = f"The stats of {topic} partition {partition}"
    try:
        stats = json.loads(body) if body else None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} are not JSON", got=str(error)) from None
    if stats is None:
        return []
    if not isinstance(stats, dict) or not isinstance(stats.get("subscriptions"), dict):
        raise InputError(f"{where} are no stats", got=body[:80], expected="an object with subscriptions")
    place = {
        "cluster": cluster,
        "namespace": namespace,
        "topic": topic,
        "partition": partition,
        "observed_ms": observed_ms,
        "date": date_of(observed_ms),
    }
    rows = []
    for name, sub in stats["subscriptions"].items():
        try:
            of_topic = {
                "subscription": name,
                "owner_broker": stats.get("ownerBroker"),
                "backlog_age_s": _backlog_age_s(stats, name, observed_ms),
            }
            rows.append(place | _row(sub) | of_topic)
        except KeyError as missing:
            raise InputError(
                f"{where} lack a field",
                got=f"subscription {name} without {missing.args[0]}",
                expected="stats of Pulsar 4.0.4, 4.1 or newer",
                fix="upgrade the broker; without the field the throttle counts come from Prometheus alone",
            ) from None
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"{where} are no stats", got=f"subscription {name}: {error}") from None
    try:
        stats_table(rows)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        # A field of another kind, a number of more than 64 bits, half of a surrogate pair.
        raise InputError(f"{where} are no stats", got=str(error)) from None
    return rows


def stats_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as Arrow, as the contract wants them."""
    contract = TABLES["topic_stats"]
    return contract.conform(
        pa.Table.from_pylist(rows, schema=pa.schema([(c.name, c.type) for c in contract.columns]))
    )


def _row(sub: dict[str, Any]) -> dict[str, Any]:
    consumers = sub["consumers"]
    permits = [consumer["availablePermits"] for consumer in consumers]
    # 0 means that nothing was sent to this consumer yet.
    per_entry = [
        consumer["avgMessagesPerEntry"] for consumer in consumers if consumer.get("avgMessagesPerEntry")
    ]
    kind = sub.get("type")
    ack_rates = [rate for consumer in consumers if (rate := consumer.get("messageAckRate")) is not None]
    return {
        "subscription_type": kind if kind and kind != "None" else None,
        **{column: sub[field] for column, field in THROTTLE_FIELDS.items()},
        "backlog_entries": sub["msgBacklog"],
        "delayed_entries": sub["msgDelayed"],
        "unacked_msg": sub["unackedMessages"],
        "blocked_on_unacked": sub["blockedSubscriptionOnUnackedMsgs"],
        "consumers": len(consumers),
        "permits_min": min(permits, default=None),
        "permits_max": max(permits, default=None),
        "messages_per_entry": sum(per_entry) / len(per_entry) if per_entry else None,
        "draining_hashes": sub.get("drainingHashesCount", 0),
        "out_msg_total": sub["msgOutCounter"],
        "out_bytes_total": sub["bytesOutCounter"],
        "active_permits": _active_permits(sub),
        "consumers_without_permits": sum(permits_msg <= 0 for permits_msg in permits),
        "consumers_blocked": sum(
            bool(consumer.get("blockedConsumerOnUnackedMsgs")) for consumer in consumers
        ),
        "replay_entries": sub.get("msgInReplay"),
        "ack_msg_rate_min": min(ack_rates, default=None),
        "ack_msg_rate_max": max(ack_rates, default=None),
        "replicated": sub.get("isReplicated"),
    }


def _backlog_age_s(stats: dict[str, Any], name: str, observed_ms: int) -> float | None:
    """Age of a subscription's oldest backlog: by its oldest entry where that was requested (``getEarliestTimeInBacklog``).

    Otherwise newer brokers estimate it; older ones have only the topic's estimate, and whose it is.
    """
    sub = stats["subscriptions"][name]
    # 0: not requested; -1: no backlog.
    earliest_ms = sub.get("earliestMsgPublishTimeInBacklog") or 0
    if earliest_ms > 0:
        return max(0.0, (observed_ms - earliest_ms) / 1000)
    age_s = sub.get("oldestBacklogMessageAgeSeconds")
    if age_s is None and stats.get("oldestBacklogMessageSubscriptionName") == name:
        age_s = stats.get("oldestBacklogMessageAgeSeconds")
    # -1: not known.
    return float(age_s) if age_s is not None and age_s >= 0 else None


def _active_permits(sub: dict[str, Any]) -> int | None:
    """Permits of the one consumer that is dispatched to; of the others all are free, and that says nothing."""
    if sub.get("type") not in ("Exclusive", "Failover"):
        return None
    name = sub.get("activeConsumerName")
    named = [
        consumer["availablePermits"] for consumer in sub["consumers"] if consumer.get("consumerName") == name
    ]
    if not named and len(sub["consumers"]) == 1:
        named = [sub["consumers"][0]["availablePermits"]]
    # Two consumers may have one name: then it is not known which of them is active.
    return named[0] if len(named) == 1 else None
