"""What makes an answer less sure. In: what was observed, what was fitted, and the change. Out: messages."""

from __future__ import annotations

import math

from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.throttling.replay.capacity import Capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import own_limits
from throttlescope.models.throttling.replay.replay_answer import FAR_OFF_SHARE, Arrivals

#: Redeliveries and batches below this share are not mentioned.
_WORTH_SHARE = 0.01


def notes_of(
    observed: Observed,
    history: Observed,
    fitted: Capacity,
    capacity: Capacity,
    arrivals: Arrivals,
    change: Change,
    error_share: float,
) -> list[Message]:
    """Everything that a reader of the answer should know, the most important first."""
    return [
        *_of_replay(error_share),
        *_of_capacity(observed, history, fitted, capacity),
        *_of_change(observed, change, capacity),
        *_of_samples(observed, arrivals),
        *_of_admin(observed, history),
    ]


def _of_replay(error_share: float) -> list[Message]:
    if error_share < FAR_OFF_SHARE:
        return []
    return [message("whatif.replay_far_off", percent=100 * error_share)]


def _of_capacity(
    observed: Observed, history: Observed, fitted: Capacity, capacity: Capacity
) -> list[Message]:
    now = observed.consumers(observed.subscription)
    if capacity.seen == "at_least":
        seen_s, msg_per_s = history.elapsed_s, fitted.low_msg_per_s
        if msg_per_s < 1:
            return [message("whatif.capacity_never_seen", seen_s=seen_s)]
        return [message("whatif.capacity_at_least", seen_s=seen_s, msg_per_s=msg_per_s)]
    if capacity.seen == "bursts":
        return [message("whatif.capacity_from_bursts")]
    if fitted.seen == "saturated" and fitted.consumers != now:
        return [message("whatif.capacity_of_others", then=fitted.consumers, now=now)]
    return []


def _of_change(observed: Observed, change: Change, capacity: Capacity) -> list[Message]:
    found = _of_limits(observed, change, capacity)
    after = own_limits(observed, change)
    if change.consumers is not None:
        kind = observed.type_of(observed.subscription)
        active = observed.active(observed.subscription, change.consumers)
        if active < change.consumers:
            found.append(
                message("whatif.type_serves_fewer", type=kind, active=active, consumers=change.consumers)
            )
    if change.batch_msg is not None:
        found.append(message("whatif.batching", batch_msg=change.batch_msg))
    if len(observed.partitions) > 1 and change.limits.keys() - {"broker.msg", "broker.bytes"}:
        found.append(message("whatif.limits_per_partition", partitions=len(observed.partitions)))
    if any(level == "broker" for level in after) and observed.others_per_s:
        found.append(message("whatif.other_topics", msg_per_s=observed.others_per_s.get("msg", 0)))
    return found


def _of_limits(observed: Observed, change: Change, capacity: Capacity) -> list[Message]:
    """Limits that the change sets in vain."""
    found = []
    before, after = own_limits(observed, Change()), own_limits(observed, change)
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        old = before.get(level, {}).get(field)
        if old == value and value is not None:
            found.append(message("whatif.limit_unchanged", setting=key, value=value))
        elif old == value:
            found.append(message("whatif.no_limit_to_lift", setting=key))
        elif value is not None and field == "msg" and level != "broker" and capacity.msg_per_s is not None:
            parts = 1 if observed.partition is not None else len(observed.partitions)
            most = capacity.high_msg_per_s if capacity.seen == "bursts" else capacity.msg_per_s
            value_msg = value * (observed.messages_per_entry if _counts_entries(observed, level) else 1)
            if not math.isfinite(most) or value_msg / after[level]["period_s"] * parts <= most:
                continue
            if parts == 1:
                found.append(message("whatif.limit_cannot_bind", setting=key, value=value, msg_per_s=most))
            else:
                found.append(
                    message(
                        "whatif.partitions_limit_cannot_bind",
                        setting=key,
                        value=value,
                        msg_per_s=most,
                        partitions=parts,
                    )
                )
    return found


def _counts_entries(observed: Observed, level: str) -> bool:
    row = observed.limits.get((level, min(observed.selected), observed.subscription))
    return row is not None and row["counts"] == "entries"


def _of_samples(observed: Observed, arrivals: Arrivals) -> list[Message]:
    found = []
    gaps = len(observed.gaps)
    missing_s = sum(end - start for start, end in observed.gaps) / 1000
    if gaps == 1:
        found.append(message("whatif.gap", missing_s=missing_s))
    elif gaps:
        found.append(message("whatif.gaps", gaps=gaps, missing_s=missing_s))
    if observed.restarts_ms:
        minutes = sorted({time_ms // MINUTE_MS for time_ms in observed.restarts_ms})
        times = [format_time(minute * MINUTE_MS)[11:16] for minute in minutes[:3]]
        if len(minutes) > 3:
            found.append(message("whatif.many_restarts", times=times, more=len(minutes) - 3))
        else:
            found.append(message("whatif.restarts", times=times))
    if arrivals.lower_bound:
        found.append(message("whatif.producers_limited"))
    elif arrivals.lower_bound is None:
        found.append(message("whatif.producers_unknown"))
    mine = observed.selected.values()
    if observed.is_blocked:
        found.append(message("whatif.blocked"))
    delayed = max(float(item.delayed_entries[-1]) for item in mine)
    if delayed:
        found.append(message("whatif.delayed", entries=delayed))
    expired = sum(float(item.expired_entries.sum()) for item in mine)
    if expired:
        found.append(message("whatif.expired", entries=expired))
    if observed.redelivered_msg_per_s > _WORTH_SHARE * arrivals.msg_per_s:
        found.append(message("whatif.redelivered", msg_per_s=observed.redelivered_msg_per_s))
    if observed.batch_msg != observed.messages_per_entry:
        found.append(message("whatif.batches_vary", messages=observed.messages_per_entry))
    return found


def _of_admin(observed: Observed, history: Observed) -> list[Message]:
    found = []
    if not observed.limits:
        found.append(message("whatif.limits_never_read"))
    elif all(row["observed_ms"] > observed.times_ms[-1] for row in observed.limits.values()):
        found.append(message("whatif.limits_read_later"))
    if observed.is_replicator:
        found.append(message("whatif.replicator"))
    elif any(item.events_of is None for item in history.selected.values()):
        found.append(message("whatif.throttling_not_counted"))
    if observed.subscription not in observed.types:
        found.append(message("whatif.type_unknown"))
    if observed.broker_version is None:
        found.append(message("whatif.version_unknown"))
    return found
