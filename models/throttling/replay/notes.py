"""What makes an answer less sure. In: what was observed, fitted and asked; out: sentences."""

from __future__ import annotations

import math

from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.models.throttling.replay.answer import Arrivals
from throttlescope.models.throttling.replay.capacity import Capacity
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import own_limits

#: Redeliveries and batches that are off by less than this share are not worth a word.
_WORTH_SHARE = 0.01
#: A replay that is off by so much of the window's peak says little of what comes after it.
FAR_OFF_SHARE = 0.2


def notes_of(
    observed: Observed,
    history: Observed,
    fitted: Capacity,
    capacity: Capacity,
    arrivals: Arrivals,
    change: Change,
    error_share: float,
) -> list[str]:
    """Everything that a reader of the answer should know, the weightiest first."""
    return [
        *_of_replay(error_share),
        *_of_capacity(observed, history, fitted, capacity),
        *_of_change(observed, change, capacity),
        *_of_samples(observed, arrivals),
        *_of_admin(observed, history),
    ]


def _of_replay(error_share: float) -> list[str]:
    if error_share < FAR_OFF_SHARE:
        return []
    return [
        f"the replay is off by {100 * error_share:.0f} % of the window's peak: something held it that is not in the samples,"
        " or changed within the window (a shorter --window may help)"
    ]


def _of_capacity(observed: Observed, history: Observed, fitted: Capacity, capacity: Capacity) -> list[str]:
    found = []
    if capacity.seen == "at_least":
        seen = f"at least {fitted.low_msg_per_s:,.0f} msg/s" if fitted.low_msg_per_s >= 1 else "nothing yet"
        found.append(
            f"the consumers were never seen at their limit in {_length(history)}: they manage {seen}, maybe far more;"
            " --set processing_ms=N says what one needs for a message"
        )
    elif fitted.seen == "saturated" and fitted.consumers != observed.consumers(observed.subscription):
        found.append(
            f"{fitted.consumers} consumers were connected when their capacity was seen,"
            f" {observed.consumers(observed.subscription)} are now: each is taken to manage the same"
        )
    return found


def _of_change(observed: Observed, change: Change, capacity: Capacity) -> list[str]:
    found = []
    before = own_limits(observed, Change())
    after = own_limits(observed, change)
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        old = before.get(level, {}).get(field)
        if old == value:
            found.append(
                f"{key}={value} is what holds already"
                if value is not None
                else f"there is no {key} limit to lift"
            )
        elif value is not None and field == "msg" and level != "broker" and capacity.msg_per_s is not None:
            parts = 1 if observed.partition is not None else len(observed.partitions)
            per_s = value / after[level]["period_s"] * parts
            if math.isfinite(capacity.msg_per_s) and per_s > capacity.msg_per_s:
                each = f" on each of {parts} partitions" if parts > 1 else ""
                found.append(
                    f"{key}={value}{each} cannot bind: the consumers manage {capacity.msg_per_s:,.0f} msg/s at most"
                )
    if change.consumers is not None:
        kind = observed.type_of(observed.subscription)
        active = observed.active(observed.subscription, change.consumers)
        if active < change.consumers:
            found.append(f"a subscription of type {kind} serves {active} of {change.consumers} consumers")
    if change.batch_msg is not None:
        found.append(
            f"what waits is taken as batched by {change.batch_msg:,} as well, and backlogs stay in the entries that were recorded"
        )
    if len(observed.partitions) > 1 and change.limits.keys() - {"broker.msg", "broker.bytes"}:
        found.append(
            f"limits of topic and subscription hold for each of the {len(observed.partitions)} partitions"
        )
    if any(level == "broker" for level in after) and observed.others_per_s:
        found.append(
            f"other topics of the broker take {observed.others_per_s.get('msg', 0):,.0f} msg/s of its limit, as on average"
            " in the window"
        )
    return found


def _of_samples(observed: Observed, arrivals: Arrivals) -> list[str]:
    found = []
    if observed.gaps:
        missing_s = sum(end - start for start, end in observed.gaps) / 1000
        gaps = "a gap" if len(observed.gaps) == 1 else f"{len(observed.gaps)} gaps"
        found.append(
            f"{gaps} of {missing_s:,.0f} s in all in the window's samples: what came then is spread evenly over it"
        )
    if observed.restarts_ms:
        times = sorted({time_ms // MINUTE_MS for time_ms in observed.restarts_ms})
        at = ", ".join(format_time(minute * MINUTE_MS)[11:16] for minute in times[:3])
        more = f" and {len(times) - 3} times more" if len(times) > 3 else ""
        found.append(
            f"counters restarted at {at}{more} UTC (an unload, a move or a restart of the broker): what was counted between"
            " the scrape before and that is missing"
        )
    if arrivals.lower_bound:
        found.append(
            "a publish limit held producers back: the arrivals are a lower bound, more may wait in the producers"
        )
    elif arrivals.lower_bound is None:
        found.append(
            "whether a publish limit held producers back was not recorded; if so, the arrivals are a lower bound"
        )
    mine = observed.asked.values()
    delayed = max(float(item.delayed_entries[-1]) for item in mine)
    if delayed:
        found.append(f"{delayed:,.0f} entries wait for their delivery time: taken as deliverable")
    expired = sum(float(item.expired_entries.sum()) for item in mine)
    if expired:
        found.append(f"{expired:,.0f} entries expired in the window: in a replay nothing does")
    if observed.redelivered_msg_per_s > _WORTH_SHARE * arrivals.msg_per_s:
        found.append(
            f"{observed.redelivered_msg_per_s:.1f} msg/s were delivered again: a replay delivers every message once"
        )
    if observed.batch_msg != observed.messages_per_entry:
        found.append(
            f"entries hold {observed.messages_per_entry:.2f} messages on average: in a replay all are alike"
        )
    return found


def _of_admin(observed: Observed, history: Observed) -> list[str]:
    found = []
    if not observed.limits:
        found.append("limits were never read (no admin API answers in the lake): none is taken to hold")
    elif all(row["observed_ms"] > observed.times_ms[-1] for row in observed.limits.values()):
        found.append("limits were read after the window only: they are taken to have held in it")
    if any(item.events_of is None for item in history.asked.values()):
        found.append(
            "this broker does not count its throttling: whether a limiter binds is taken from how much of it is used"
        )
    if observed.subscription not in observed.types:
        found.append("the subscription's type was not read: taken as Shared")
    if observed.broker_version is None:
        found.append("the broker's version was not read: taken as a current one")
    return found


def _length(history: Observed) -> str:
    seconds = history.elapsed_s
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
