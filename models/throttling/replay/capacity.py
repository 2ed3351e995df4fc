"""What consumers can do, as far as it was seen. In: an :class:`Observed` and a subscription; out: a :class:`Capacity`.

While a limiter holds a subscription back its consumers are idle between the deliveries, and what they could do is not in any
rate. It shows in **saturated** spans alone: entries to deliver throughout, and no limiter that binds. Then the rate at which
messages were acknowledged is the capacity. Without such a span only a lower bound is known: they did what was seen, unless :mod:`bursts` shows
more. (The unacknowledged messages of a throttled subscription hold a hint, too. On recordings it was off by a factor of up to four, so it
is not used.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from throttlescope.models.throttling.replay.binding import bound
from throttlescope.models.throttling.replay.observed import Observed, ReaderSamples

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
        Median of the chunks, or the likeliest; None where only a lower bound is known.
    low_msg_per_s, high_msg_per_s : float
        Least and greatest chunk, or the ends of an interval; ``inf`` where nothing bounds it.
    seen : str
        ``saturated``, ``bursts`` (see :mod:`bursts`), ``at_least`` or ``given``.
    seen_ms : int or None
        End of the newest saturated chunk.
    age_s : float or None
        From there to the end of the window.
    consumers : int
        Connected when it was seen.
    """

    msg_per_s: float | None
    low_msg_per_s: float
    high_msg_per_s: float
    seen: Literal["saturated", "bursts", "at_least", "given"]
    seen_ms: int | None
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
    consumers = np.max([item.consumers for item in mine.values()], axis=0).astype(int)
    acked = acked_msg(observed, subscription)
    known = (observed.seconds > 0) & ~disturbed(observed)
    steady = (np.diff(consumers, prepend=consumers[:1]) == 0) & (consumers > 0)
    steady &= ~np.any([item.blocked for item in mine.values()], axis=0)
    steady &= ~np.any([bound(observed, subscription, partition) for partition in mine], axis=0)
    waiting = np.min([waiting_entries(item, observed.messages_per_entry) for item in mine.values()], axis=0)
    full = (waiting >= WAITING_ENTRIES) & (np.r_[0.0, waiting[:-1]] >= WAITING_ENTRIES)
    chunks = _chunks(known & steady & full, consumers, acked, observed)
    if len(chunks) >= CHUNKS_LEAST:
        newest = chunks[-CHUNKS:]
        _, seen_ms, count = newest[-1]
        active = observed.active(subscription, count)
        rates = np.array(
            [rate / observed.active(subscription, number) * active for rate, _, number in newest]
        )
        age_s = (int(observed.times_ms[-1]) - seen_ms) / 1000
        return Capacity(
            float(np.median(rates)),
            float(rates.min()),
            float(rates.max()),
            "saturated",
            seen_ms,
            age_s,
            count,
        )
    most, count = _most_of_a_minute(observed, subscription, known, consumers, acked)
    return Capacity(None, most, math.inf, "at_least", None, None, count)


def acked_msg(observed: Observed, subscription: str) -> np.ndarray:
    """Messages acknowledged in every span: what came, less what expired and what the backlog grew by."""
    total = np.zeros(len(observed.times_ms))
    for partition, item in observed.of(subscription).items():
        grown = np.diff(item.backlog_entries, prepend=item.backlog_entries[:1])
        gone = (grown + item.expired_entries) * observed.messages_per_entry
        total += observed.partitions[partition].in_msg - gone
    return np.maximum(total, 0)


def waiting_entries(item: ReaderSamples, messages_per_entry: float) -> np.ndarray:
    """Entries that the broker could deliver at once."""
    return item.backlog_entries - item.delayed_entries - item.unacked_msg / messages_per_entry


def disturbed(observed: Observed) -> np.ndarray:
    """Spans that end a gap, and the minute after a restart: clients reconnect, queues fill."""
    inside = np.zeros(len(observed.times_ms), bool)
    for _, end_ms in observed.gaps:
        inside |= observed.times_ms == end_ms
    for time_ms in observed.restarts_ms:
        inside |= (observed.times_ms >= time_ms) & (observed.times_ms < time_ms + CHUNK_S * 1000)
    return inside


def _most_of_a_minute(
    observed: Observed, subscription: str, known: np.ndarray, consumers: np.ndarray, acked: np.ndarray
) -> tuple[float, int]:
    """The most messages per second of any minute, for each consumer, times the consumers that there are at most."""
    seconds = np.cumsum(observed.seconds)
    messages, unknown = np.cumsum(acked), np.cumsum(~known)
    last = np.searchsorted(seconds, seconds + min(CHUNK_S, float(seconds[-1])))
    first = np.flatnonzero(last < len(seconds))
    until = last[first]
    counts = np.maximum.reduceat(np.r_[consumers, 0], np.column_stack([first, until + 1]).ravel())[::2]
    active_of = {count: observed.active(subscription, count) for count in np.unique(counts).tolist()}
    active = np.array([active_of[count] for count in counts.tolist()])
    seen = (active > 0) & (unknown[until] == unknown[first])
    first, until = first[seen], until[seen]
    rates = (messages[until] - messages[first]) / (seconds[until] - seconds[first]) / active[seen]
    most = float(rates.max(initial=0.0))
    count = int(consumers.max())
    return most * observed.active(subscription, count), count


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
