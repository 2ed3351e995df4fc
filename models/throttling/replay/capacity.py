"""What consumers can do, as far as it was seen. In: an :class:`Observed` and a subscription; out: a :class:`Capacity`.

While a limiter holds a subscription back its consumers are idle between the deliveries, and what they could do is not in any
rate. It shows in **saturated** spans alone: entries to deliver throughout, and no limiter that binds. Then the rate at which
messages were acknowledged is the capacity. Without such a span only a lower bound is known: they did what was seen. (The
unacknowledged messages of a throttled subscription hold a hint, too: a burst is worked off at full speed. On recordings it
was off by a factor of up to four, so it is not used.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from throttlescope.ingest.contracts.words import LEVELS, UNITS
from throttlescope.models.throttling.replay.observed import Observed, ReaderSamples

#: A limiter of which less than this share is used over a minute does not bind (a binding one was seen at 0.90 and more).
BINDS_FROM_SHARE = 0.8
#: Entries that must wait at both ends of a span: a dispatcher reads 100 at once.
WAITING_ENTRIES = 200
#: Spans are put together until they are so long: requests for more messages come in lots of half a receiver queue.
CHUNK_S = 60.0
#: Newest chunks that count, and how many there must be: one alone may be an unload or half a change.
CHUNKS, CHUNKS_LEAST = 10, 2


@dataclass(frozen=True)
class Capacity:
    """Messages per second of all consumers of a subscription together.

    Attributes
    ----------
    msg_per_s : float or None
        Median of the chunks; None where only a lower bound is known.
    low_msg_per_s, high_msg_per_s : float
        Least and greatest chunk; ``inf`` where nothing bounds it.
    seen : str
        ``saturated``, ``at_least`` or ``given``.
    age_s : float or None
        From the end of the newest chunk to the end of the window.
    consumers : int
        Connected when it was seen.
    """

    msg_per_s: float | None
    low_msg_per_s: float
    high_msg_per_s: float
    seen: Literal["saturated", "at_least", "given"]
    age_s: float | None
    consumers: int


def fit_capacity(observed: Observed, subscription: str) -> Capacity:
    """What the consumers of a subscription can do.

    Parameters
    ----------
    observed
        As long a history as there is: what consumers can do shows when no limiter binds.
    subscription
        One of its subscriptions; all partitions count, as its consumers read all of them.
    """
    mine = observed.of(subscription)
    consumers = np.max([item.consumers for item in mine.values()], axis=0)
    steady = (np.diff(consumers, prepend=consumers[:1]) == 0) & (consumers > 0)
    steady &= ~np.any([item.blocked for item in mine.values()], axis=0)
    bound = np.any([_bound(observed, subscription, partition) for partition in mine], axis=0)
    acked = acked_msg(observed, subscription)
    waiting = np.min([_waiting(item, observed.messages_per_entry) for item in mine.values()], axis=0)
    spans = steady & ~bound & (observed.seconds > 0) & ~_disturbed(observed)
    full = spans & (waiting >= WAITING_ENTRIES) & (np.r_[0.0, waiting[:-1]] >= WAITING_ENTRIES)
    chunks = _chunks(full, consumers, acked, observed)
    if len(chunks) >= CHUNKS_LEAST:
        newest = chunks[-CHUNKS:]
        count = newest[-1][2]
        rates = np.array([rate / number * count for rate, _, number in newest])
        age_s = (int(observed.times_ms[-1]) - newest[-1][1]) / 1000
        return Capacity(
            float(np.median(rates)), float(rates.min()), float(rates.max()), "saturated", age_s, count
        )
    some = observed.seconds > 0
    rates = acked[some] / observed.seconds[some]
    most = float(np.quantile(rates, 0.9)) if len(rates) else 0.0
    return Capacity(None, most, math.inf, "at_least", None, int(consumers.max()))


def acked_msg(observed: Observed, subscription: str) -> np.ndarray:
    """Messages acknowledged in every span: what came less what the backlog grew by."""
    total = np.zeros(len(observed.times_ms))
    for partition, item in observed.of(subscription).items():
        grown = np.diff(item.backlog_entries, prepend=item.backlog_entries[:1]) * observed.messages_per_entry
        total += observed.partitions[partition].in_msg - grown
    return np.maximum(total, 0)


def _waiting(item: ReaderSamples, messages_per_entry: float) -> np.ndarray:
    return item.backlog_entries - item.unacked_msg / messages_per_entry


def _disturbed(observed: Observed) -> np.ndarray:
    """Spans that end a gap, and the minute after a restart: clients reconnect, queues fill."""
    inside = np.zeros(len(observed.times_ms), bool)
    for _, end_ms in observed.gaps:
        inside |= observed.times_ms == end_ms
    for time_ms in observed.restarts_ms:
        inside |= (observed.times_ms >= time_ms) & (observed.times_ms < time_ms + CHUNK_S * 1000)
    return inside


def _bound(observed: Observed, subscription: str, partition: int) -> np.ndarray:
    """Spans in which a limiter may have held this subscription partition back."""
    item = observed.readers[subscription, partition]
    result = np.zeros(len(observed.times_ms), bool)
    for level in LEVELS:
        row = observed.limits.get((level, partition, subscription))
        for unit in UNITS:
            ticks = item.events_of[f"{level}.{unit}"] > 0
            rate = row[f"rate_{unit}"] if row is not None else None
            if rate is None:
                # A counter that rises without a known limit: the limit was lifted, or never read.
                result |= ticks
                continue
            informative = rate >= (row["read_batch_entries"] if unit == "msg" else row["read_size_bytes"])
            if informative or level == "broker":
                # Where a full budget covers a whole read, only a binding limit ticks. Who else uses a broker is not in the
                # window, so that its counter is all there is.
                result |= ticks
                continue
            use = _over_a_minute(_use(observed, level, unit, subscription, partition), observed)
            result |= use >= BINDS_FROM_SHARE * rate / row["period_s"]
    return result


def _over_a_minute(added: np.ndarray, observed: Observed) -> np.ndarray:
    """The highest rate per second of all stretches of a minute that a span lies in."""
    seconds = (observed.times_ms - observed.times_ms[0]) / 1000
    total = np.cumsum(added)
    last = np.minimum(np.searchsorted(seconds, seconds + CHUNK_S), len(seconds) - 1)
    length = seconds[last] - seconds
    rate = np.divide(total[last] - total, length, out=np.zeros(len(total)), where=length > 0)
    highest = np.zeros(len(total))
    for first, (until, value) in enumerate(zip(last, rate, strict=True)):
        inside = slice(first + 1, until + 1)
        highest[inside] = np.maximum(highest[inside], value)
    return highest


def _use(observed: Observed, level: str, unit: str, subscription: str, partition: int) -> np.ndarray:
    if level == "subscription":
        items = [observed.readers[subscription, partition]]
    else:
        items = [item for (_, number), item in observed.readers.items() if number == partition]
    return np.sum([item.out_msg if unit == "msg" else item.out_bytes for item in items], axis=0)


def _chunks(
    full: np.ndarray, consumers: np.ndarray, acked: np.ndarray, observed: Observed
) -> list[tuple[float, int, int]]:
    """(messages per second, end, consumers) of every run of spans that is long enough."""
    found = []
    messages = seconds = 0.0
    for at in range(1, len(full)):
        if not full[at] or consumers[at] != consumers[at - 1]:
            messages = seconds = 0.0
            continue
        messages += float(acked[at])
        seconds += float(observed.seconds[at])
        if seconds >= CHUNK_S:
            found.append((messages / seconds, int(observed.times_ms[at]), int(consumers[at])))
            messages = seconds = 0.0
    return found
