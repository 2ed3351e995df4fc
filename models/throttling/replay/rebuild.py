"""From what was observed to a world that can be simulated. In: an :class:`Observed`, capacities, a change; out: a world.

Two worlds come from one window: the window itself, with the arrivals of every scrape (what the replay is judged by), and the time
after it, which begins with the backlog that was seen last.

Every entry of a simulated topic holds the same whole number of messages. Where the mean is none, a simulated message
represents so many real ones that entries come, wait and go as they did (:func:`real_messages`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.models.diagnosis.thresholds import READ_BATCH_ENTRIES
from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.change import Change
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.scenario import Scenario
from throttlescope.models.throttling.world import Log, Segment, World

TOPIC = "topic"
_SELECTED = "asked"
BACKLOG_AGE_US = 3_600_000_000
#: A backlog that does not end while something is measured.
FULL_ENTRIES = 200_000
#: Consumers that were never seen to do anything.
MAX_PROCESSING_MS = 86_400_000.0


@dataclass(frozen=True)
class Assumed:
    """What is taken for true in one run.

    Attributes
    ----------
    processing_ms : mapping
        What a consumer takes for a message, by subscription; 0 where consumers never hold it back.
    rate_msg : float
        Messages per second published to the topic after the window.
    """

    processing_ms: Mapping[str, float]
    rate_msg: float = 0.0


def names_of(observed: Observed) -> dict[str, str]:
    """Name in the scenario by subscription; the selected one comes first."""
    others = sorted({name for name, _ in observed.readers} - {observed.subscription})
    return {
        observed.subscription: _SELECTED,
        **{name: f"other-{number}" for number, name in enumerate(others)},
    }


def real_messages(observed: Observed) -> float:
    """Messages that one simulated message represents."""
    return observed.messages_per_entry / observed.batch_msg


def batched(observed: Observed, change: Change) -> Observed:
    """The same messages in the entries of a change: an entry holds others, so fewer or more of them wait."""
    if change.batch_msg is None:
        return observed
    times = observed.messages_per_entry / change.batch_msg
    readers = {
        key: replace(item, backlog_entries=item.backlog_entries * times)
        for key, item in observed.readers.items()
    }
    return replace(observed, messages_per_entry=float(change.batch_msg), readers=readers)


def full_backlog(observed: Observed, change: Change) -> Observed:
    """The same window with a full backlog of the selected subscription."""
    waiting = FULL_ENTRIES / max(
        1.0, observed.messages_per_entry / batched(observed, change).messages_per_entry
    )
    readers = dict(observed.readers)
    for partition, item in observed.selected.items():
        backlog = item.backlog_entries.copy()
        backlog[-1] = waiting
        readers[observed.subscription, partition] = replace(item, backlog_entries=backlog)
    return replace(observed, readers=readers)


def recorded_entries(observed: Observed, change: Change) -> float:
    """Recorded entries that one entry of the changed scenario represents."""
    return 1.0 if change.batch_msg is None else change.batch_msg / observed.messages_per_entry


def future_world(
    observed: Observed, assumed: Assumed, change: Change, duration_s: int, machine: Machine
) -> World:
    """The time after the window, from the backlogs that were seen last."""
    observed = batched(observed, change)
    world = _world(observed, assumed, change, duration_s, machine)
    rate_msg = assumed.rate_msg * _load(change) if change.rate_msg is None else change.rate_msg
    shares = _shares(observed)
    for log in world.logs:
        entries_per_s = rate_msg / observed.messages_per_entry * shares.get(log.partition, 0.0)
        segments = [Segment(0, 0, round(entries_per_s * 1000))]
        _place(world, log, observed, -1, segments, duration_s * 1_000_000)
    return world


def window_world(
    observed: Observed, assumed: Assumed, machine: Machine, change: Change | None = None
) -> World:
    """The window as it was observed, or as it had been with a change from its beginning on."""
    change = change or Change()
    observed = batched(observed, change)
    duration_s = max(1, int(observed.elapsed_s))
    world = _world(observed, assumed, change, duration_s, machine)
    shares = _shares(observed)
    starts_us = (observed.times_ms - observed.times_ms[0]) * 1000
    for log in world.logs:
        seen = observed.partitions.get(log.partition)
        published = np.zeros(len(starts_us)) if seen is None else np.cumsum(seen.in_msg) * _load(change)
        if change.rate_msg is not None:
            published = starts_us / 1_000_000 * change.rate_msg * shares.get(log.partition, 0.0)
        entries = np.round(published / observed.messages_per_entry).astype(np.int64)
        segments = []
        for at in range(len(starts_us) - 1):
            span_us = int(starts_us[at + 1] - starts_us[at])
            segments.append(
                Segment(int(starts_us[at]), 0, int(entries[at + 1] - entries[at]) * 10**9 // span_us)
            )
        _place(world, log, observed, 0, segments, duration_s * 1_000_000)
    return world


def selected_dispatchers(world: World, partition: int | None = None) -> list[int]:
    """Numbers of the dispatchers of the selected partitions."""
    return [
        number
        for number, item in enumerate(world.dispatchers)
        if item.subscription == _SELECTED and partition in (None, world.logs[item.log].partition)
    ]


def processing_ms(observed: Observed, subscription: str, consumers: int, msg_per_s: float) -> float:
    """What each of so many consumers takes for a message when together they manage a rate."""
    active = observed.active(subscription, consumers)
    if math.isinf(msg_per_s):
        return 0.0
    if msg_per_s <= 0 or not active:
        return MAX_PROCESSING_MS
    return min(1000 * active / msg_per_s, MAX_PROCESSING_MS)


def _load(change: Change) -> float:
    return 1.0 if change.load is None else change.load


def _shares(observed: Observed) -> dict[int, float]:
    """Share of what is published that goes to each partition."""
    sums = {partition: float(item.in_msg.sum()) for partition, item in observed.partitions.items()}
    total = sum(sums.values())
    return {partition: value / total if total else 1 / len(sums) for partition, value in sums.items()}


def _world(observed: Observed, assumed: Assumed, change: Change, duration_s: int, machine: Machine) -> World:
    scenario = _scenario(observed, assumed, change, duration_s)
    check(scenario)
    world = compile_scenario(scenario, machine)
    size = max(1, round(_bytes_per_msg(observed) * observed.messages_per_entry))
    for log in world.logs:
        log.msgs = observed.batch_msg
        log.sizes, log.estimate_bytes = [(size, 1 << 32)], size
    return world


def _place(
    world: World, log: Log, observed: Observed, scrape: int, segments: list[Segment], end_us: int
) -> None:
    """Put a backlog in front of the arrivals; a subscription with a smaller one begins further on."""
    number = next(number for number, item in enumerate(world.logs) if item is log)
    by_name = {name: real for real, name in names_of(observed).items()}
    waiting = {}
    for at, item in enumerate(world.dispatchers):
        if item.log == number:
            samples = observed.readers.get((by_name[item.subscription], log.partition))
            waiting[at] = 0 if samples is None else max(0, int(samples.backlog_entries[scrape]))
    most = max(waiting.values(), default=0)
    for at, entries in waiting.items():
        world.dispatchers[at].first = most - entries
    # The backlog was published within a microsecond, long enough ago to be in no cache.
    placed = [Segment(-BACKLOG_AGE_US, 0, most * 10**9), Segment(1 - BACKLOG_AGE_US, most, 0)] if most else []
    first = most
    for index, item in enumerate(segments):
        until = segments[index + 1].start_us if index + 1 < len(segments) else end_us
        placed.append(Segment(item.start_us, first, item.per_1000_s))
        first += -(-(until - item.start_us) * item.per_1000_s // 10**9)
    log.segments, log.listed_us, log.end_us = placed, None, end_us


def _scenario(observed: Observed, assumed: Assumed, change: Change, duration_s: int) -> Scenario:
    names = names_of(observed)
    partitions = sorted(observed.partitions)
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "replay",
            "broker": _broker(observed),
            "topics": [{"name": TOPIC, "partitions": 0 if partitions == [-1] else partitions[-1] + 1}],
            "limits": _limits(observed, change),
            "subscriptions": [
                _subscription(observed, assumed, change, real, name) for real, name in names.items()
            ],
            "timeline": [{"name": "replay", "duration_s": duration_s}],
        }
    )


def _broker(observed: Observed) -> dict:
    row = next(iter(observed.limits.values()), None)
    settings = {}
    if row is not None:
        settings = {
            "dispatcherMaxReadBatchSize": row["read_batch_entries"] or READ_BATCH_ENTRIES,
            "dispatcherMaxReadSizeBytes": row["read_size_bytes"],
            "dispatchThrottlingOnBatchMessageEnabled": row["counts"] == "entries",
            "dispatchThrottlingOnNonBacklogConsumerEnabled": not row["exempt_caught_up"],
        }
    found = {"settings": settings}
    if observed.broker_version is not None:
        found["version"] = observed.broker_version
    return found


def _subscription(observed: Observed, assumed: Assumed, change: Change, real: str, name: str) -> dict:
    consumers = observed.consumers(real)
    kind = observed.type_of(real)
    takes_ms = assumed.processing_ms[real]
    if name == _SELECTED and change.processing_ms is not None:
        takes_ms = change.processing_ms
    if name == _SELECTED and change.consumers is not None:
        consumers = change.consumers
    return {
        "name": name,
        "topic": TOPIC,
        "type": kind,
        "consumers": min(consumers, 1) if kind == "Exclusive" else consumers,
        "processing_ms": min(takes_ms * real_messages(observed), MAX_PROCESSING_MS),
        "receiver_queue": max(1, observed.receiver_queue or 1000),
    }


def limits_after(observed: Observed, change: Change) -> list[dict]:
    """Limits on the topic and its subscriptions with a change, in real messages and bytes; only those that hold something.

    Returns
    -------
    list of dict
        ``level``, ``subscription`` (of subscription limits), ``msg``, ``bytes``, ``period_s``, ``relative_to_publish``.
    """
    found = []
    partition = min(observed.partitions) if observed.partition is None else observed.partition
    for name in names_of(observed):
        for level in ("broker", "topic", "subscription"):
            is_selected = name == observed.subscription
            if level != "subscription" and not is_selected:
                continue
            row = observed.limits.get((level, partition, name)) or {}
            limit = {
                "level": level,
                "subscription": name if level == "subscription" else None,
                "msg": row.get("rate_msg"),
                "bytes": row.get("rate_bytes"),
                "period_s": row.get("period_s") or 1,
                "relative_to_publish": bool(row.get("relative_to_publish")) and level != "broker",
            }
            if is_selected:
                for key, value in change.limits.items():
                    at, _, field = key.partition(".")
                    if at == level:
                        limit[field] = value
            if limit["msg"] or limit["bytes"]:
                found.append(limit)
    return found


def own_limits(observed: Observed, change: Change) -> dict[str, dict]:
    """Limits that apply to the selected subscription, by level."""
    found = limits_after(observed, change)
    return {item["level"]: item for item in found if item["subscription"] in (None, observed.subscription)}


def _limits(observed: Observed, change: Change) -> list[dict]:
    names = names_of(observed)
    by_entries = any(row["counts"] == "entries" for row in observed.limits.values())
    found = []
    for limit in limits_after(observed, change):
        rates = {"msg": limit["msg"], "bytes": limit["bytes"]}
        if limit["level"] == "broker":
            # Other topics of the broker go on taking their part.
            rates = {
                unit: rate and rate - observed.others_per_s.get(unit, 0.0) for unit, rate in rates.items()
            }
        if rates["msg"] and not by_entries:
            rates["msg"] /= real_messages(observed)
        rates = {unit: rate and max(1, round(rate)) for unit, rate in rates.items()}
        place = {"set_at": limit["level"]}
        if limit["level"] != "broker":
            place["topic"] = TOPIC
        if limit["level"] == "subscription":
            place["subscription"] = names[limit["subscription"]]
        found.append(
            {name: limit[name] for name in ("level", "period_s", "relative_to_publish")} | place | rates
        )
    return found


def _bytes_per_msg(observed: Observed) -> float:
    """Mean stored bytes of a message: what is charged."""
    mine = observed.of(observed.subscription).values()
    published = observed.partitions.values()
    for messages, size in (
        (sum(item.out_msg.sum() for item in mine), sum(item.out_bytes.sum() for item in mine)),
        (sum(item.in_msg.sum() for item in published), sum(item.in_bytes.sum() for item in published)),
    ):
        if messages > 0:
            return float(size / messages)
    return 1.0
