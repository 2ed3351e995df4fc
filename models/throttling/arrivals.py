"""Arrival times of entries. In: a producer of a scenario and a seed; out: one :class:`Log` per partition.

Even distances stay a formula (a day of 1000 messages per second is two segments, not 86 million rows); a Poisson producer, one behind
a publish limit or one that waits for receipts is written out.
"""

from __future__ import annotations

import zlib

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.publishing import Publisher, PublishLimits, throttled_times
from throttlescope.models.throttling.scenario import (
    Producer,
    Scenario,
    ScenarioError,
    SetRate,
    Subscription,
    Topic,
)
from throttlescope.models.throttling.world import Log, Segment

#: Written-out entries of one scenario; more would not fit into memory.
MAX_LISTED = 50_000_000


def logs_of(scenario: Scenario, topic: Topic, machine: Machine, seed: int) -> list[Log]:
    """Lay out the entries of a topic's partitions.

    Parameters
    ----------
    scenario, topic
        The topic's producer may be absent: then nothing is published.
    machine
        Bytes that are stored in addition to payloads.
    seed
        Draws Poisson distances, sizes and keys.

    Raises
    ------
    ScenarioError
        A producer whose times would have to be written out has too many entries.
    """
    producer = next((item for item in scenario.producers if item.topic == topic.name), None)
    duration_us = round(scenario.duration_s * 1_000_000)
    partitions = scenario.partitions_of(topic.name)
    salt = (seed * 1_000_003 + zlib.crc32(topic.name.encode())) & 0xFFFFFFFF
    logs = []
    for number, partition in enumerate(partitions):
        log = Log(
            topic=topic.name,
            partition=partition,
            segments=[],
            end_us=duration_us,
            listed_us=None,
            msgs=1,
            sizes=[(0, 1 << 32)],
            estimate_bytes=0,
            persistent=topic.persistent,
            tick_us=machine.publish_tick_us,
            ttl_us=(topic.ttl_s or 0) * 1_000_000,
            salt=salt + 7 * number,
        )
        if producer is not None:
            _fill(log, scenario, topic, producer, number, len(partitions), machine)
        logs.append(log)
    return logs


def retry_log(scenario: Scenario, subscription: Subscription, machine: Machine, seed: int) -> Log:
    """Lay out a retry-letter topic: empty at the start, single messages of its first topic's sizes, delivered after the delay."""
    retry = subscription.retry_letter
    assert retry is not None
    producer = next((item for item in scenario.producers if item.topic == subscription.reads[0]), None)
    sizes = [(0, 1 << 32)] if producer is None else _sizes(producer, 1, machine)
    return Log(
        topic=subscription.retry_topic,
        partition=-1,
        segments=[],
        end_us=round(scenario.duration_s * 1_000_000),
        listed_us=None,
        msgs=1,
        sizes=sizes,
        estimate_bytes=_mean(sizes),
        deliver_after_us=retry.delay_ms * 1000,
        salt=(seed * 1_000_003 + zlib.crc32(subscription.retry_topic.encode())) & 0xFFFFFFFF,
        is_retry=True,
    )


def limit_publishing(logs: list[Log], scenario: Scenario, machine: Machine) -> None:
    """Delay what publish limits and waiting for receipts delay; topics that share a limit are delayed together."""
    limits = PublishLimits(scenario)
    groups: dict[object, list[Publisher]] = {}
    for log in logs:
        producer = next((item for item in scenario.producers if item.topic == log.topic), None)
        if producer is None or log.listed_us is None:
            continue
        topic = scenario.topic(log.topic)
        publisher = Publisher(log, limits.gates(topic), waits=producer.send == "sync")
        if publisher.gates or publisher.waits:
            groups.setdefault(limits.shared_by(topic) or id(log), []).append(publisher)
    for group in groups.values():
        for publisher, times in zip(group, throttled_times(group, machine), strict=True):
            publisher.log.listed_us = times


def _fill(
    log: Log,
    scenario: Scenario,
    topic: Topic,
    producer: Producer,
    number: int,
    partitions: int,
    machine: Machine,
) -> None:
    share = producer.share_of(number, partitions)
    if not share:
        return
    # Round robin takes turns; what goes to a partition by its share does not wait for the others.
    spread = partitions if producer.routing in ("round_robin", "key") else 1
    # A duplicate is refused by the broker: it is charged to publish limits and never stored.
    stored = 1 - producer.duplicate_share if topic.deduplication else 1
    rates = _rates(scenario, producer)
    log.msgs = _messages_per_entry(producer, max((rate for _, rate in rates), default=0))
    log.sizes = _sizes(producer, log.msgs, machine)
    log.estimate_bytes = _mean(log.sizes)
    log.keys = producer.keys or 0
    log.deliver_after_us = (producer.deliver_after_ms or 0) * 1000
    entry_rates = [(at_us, rate * stored / log.msgs * share) for at_us, rate in rates]
    log.segments = _segments(entry_rates, log.end_us, number if spread > 1 else 0, spread)
    limited = PublishLimits(scenario).limits(topic) or producer.send == "sync"
    if producer.shape != "poisson" and not limited:
        return
    count = log.published(log.end_us)
    if count > MAX_LISTED:
        raise ScenarioError(
            f"producers.{producer.topic}: {count} entries would have to be written out; expected at most {MAX_LISTED};"
            " shorten the timeline or use an even shape"
        )
    if producer.shape == "poisson":
        times = _poisson(log, entry_rates)
    else:
        times = np.array([log.time_us(entry) for entry in range(count)], np.int64)
    log.listed_us = times
    log.segments = []


def _rates(scenario: Scenario, producer: Producer) -> list[tuple[int, float]]:
    """Messages per second from each time on."""
    changes = {0: producer.rate_msg}
    at_s = 0.0
    for state in scenario.timeline:
        for step in state.interventions:
            if isinstance(step, SetRate) and step.topic == producer.topic:
                changes[round(at_s * 1_000_000)] = step.rate_msg
        at_s += state.duration_s
    factors = {round(at_s * 1_000_000): factor for at_s, factor in producer.factors(scenario.duration_s)}
    result = []
    base = factor = 1.0
    for at_us in sorted({*changes, *factors}):
        base, factor = changes.get(at_us, base), factors.get(at_us, factor)
        result.append((at_us, base * factor))
    return result


def _messages_per_entry(producer: Producer, rate_msg: float) -> int:
    """Messages that come together within the batching delay at the highest rate, at most a full batch."""
    if producer.batching is None:
        return 1
    return max(
        1,
        min(producer.batching.max_messages, int(rate_msg * producer.batching.max_delay_ms / 1000) + 1),
    )


def _sizes(producer: Producer, msgs: int, machine: Machine) -> list[tuple[int, int]]:
    def entry(payload: float) -> int:
        per_message = machine.message_overhead_bytes if msgs > 1 else 0
        return machine.entry_overhead_bytes + msgs * (per_message + round(payload * producer.stored_share))

    # The mean of a batch of mixed sizes varies little; the size of a single message varies fully.
    if not producer.sizes or msgs > 1:
        return [(entry(producer.mean_bytes / producer.stored_share), 1 << 32)]
    total = sum(item.share for item in producer.sizes)
    below, result = 0.0, []
    for item in producer.sizes:
        below += item.share / total
        result.append((entry(item.size_bytes), min(1 << 32, round(below * (1 << 32)))))
    result[-1] = (result[-1][0], 1 << 32)
    return result


def _mean(sizes: list[tuple[int, int]]) -> int:
    before, total = 0, 0
    for size, below in sizes:
        total += size * (below - before)
        before = below
    return total >> 32


def _segments(rates: list[tuple[int, float]], end_us: int, number: int, spread: int) -> list[Segment]:
    segments: list[Segment] = []
    first = 0
    for index, (at_us, rate) in enumerate(rates):
        until = rates[index + 1][0] if index + 1 < len(rates) else end_us
        per_1000_s = round(rate * 1000)
        # Round robin: the partitions take turns within the distance of two entries.
        shift = round(1_000_000 / rate * number / spread) if per_1000_s else 0
        start = min(at_us + shift, until)
        segments.append(Segment(start, first, per_1000_s))
        if per_1000_s and until > start:
            first += -(-(until - start) * per_1000_s // 10**9)
    return segments


def _poisson(log: Log, rates: list[tuple[int, float]]) -> np.ndarray:
    random = np.random.default_rng(log.salt)
    parts = []
    for index, (at_us, rate) in enumerate(rates):
        until = rates[index + 1][0] if index + 1 < len(rates) else log.end_us
        if rate <= 0 or until <= at_us:
            continue
        count = random.poisson(rate * (until - at_us) / 1e6)
        parts.append(np.sort(random.integers(at_us, until, count)))
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
