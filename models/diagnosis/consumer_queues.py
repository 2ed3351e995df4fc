"""Whether the consumers' queues are full. In: a window. Out: a :class:`QueueReading`.

Consumers at their capacity keep the broker waiting for permits; consumers that a limiter keeps waiting have spare capacity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.history import HISTORY_MS
from throttlescope.models.diagnosis.stats_samples import StatsReading, read_stats
from throttlescope.models.diagnosis.window import Window

#: ``full``: the broker waits for the consumers. ``busy``: they are never idle. ``empty``: they have spare capacity. ``between``: none is clear.
Queue = Literal["full", "busy", "between", "empty", "unknown"]

QUEUES: tuple[Queue, ...] = ("full", "busy", "between", "empty", "unknown")

TRACKS_UNACKED = ("Shared", "Key_Shared")
ONE_ACTIVE = ("Exclusive", "Failover")


@dataclass(frozen=True, slots=True)
class QueueReading:
    """State of the consumers' queues.

    Attributes
    ----------
    starved_share : float or None
        Share of samples in which the broker had no permits to dispatch to.
    fill_share : float or None
        Unacked / (unacked + permits); None where either is not measured.
    idle_share : float or None
        Share of minutes at whose end no message was unacked.
    shown_by : str or None
        Which of the three decided: ``starved``, ``fill``, ``idle`` or ``unacked``.
    busy_minutes : int or None
        For so many minutes, this window's included, consumers were never idle and took messages at a constant rate.
    stats : StatsReading or None
        Where permits were not scraped: the snapshots of the admin API's stats that the first two shares come from.
    """

    queue: Queue
    starved_share: float | None
    fill_share: float | None
    idle_share: float | None
    shown_by: str | None
    busy_minutes: int | None = None
    stats: StatsReading | None = None


def read_queue(window: Window) -> QueueReading:
    """Read the state of the consumers' queues: from scraped permits, else from snapshots of the admin API's stats."""
    starved, fill, idle = starved_share(window), fill_share(window), idle_share(window)
    stats = None
    if starved is None and fill is None:
        stats = read_stats(window)
        starved, fill = stats.starved_share, stats.fill_share
    if starved is not None and starved >= t.STARVED_FULL_SHARE:
        queue, shown_by = "full", "starved"
    elif fill is not None and fill >= t.FILL_FULL_SHARE:
        queue, shown_by = "full", "fill"
    elif idle is not None and idle >= t.IDLE_SHARE:
        queue, shown_by = "empty", "idle"
    elif fill is not None:
        queue, shown_by = ("empty" if fill < t.FILL_EMPTY_SHARE else "between"), "fill"
    elif starved is not None:
        queue, shown_by = ("empty" if starved < t.STARVED_EMPTY_SHARE else "between"), "starved"
    elif _full_by_unacked(window):
        queue, shown_by = "full", "unacked"
    else:
        queue, shown_by = "unknown", None
    busy = busy_minutes(window) if queue in ("between", "unknown") else None
    if busy is not None:
        queue, shown_by = "busy", "idle"
    return QueueReading(queue, starved, fill, idle, shown_by, busy, stats)


def starved_share(window: Window) -> float | None:
    """Share of samples in which the dispatcher found no permits.

    A Shared subscription is dispatched to as long as *one* consumer has permits; of an Exclusive or Failover one only
    the active consumer counts, and standby consumers have all of theirs. Where the type is not known, permits of
    consumers that may only be on standby prove no spare capacity: None, unless both readings say the same.
    """
    kind = window.last("subscription_type")
    consumers = window.last("consumers") or 0
    if consumers > 1 and kind == "Shared":
        return window.share("permits_max", lambda permits: permits <= 0)
    exhausted = window.mean("permits_exhausted_share")
    if consumers <= 1 or exhausted is None or kind == "Key_Shared":
        return exhausted
    # The share is over all consumers' samples, and standby consumers are never exhausted.
    of_one = min(1.0, exhausted * consumers)
    if kind in ONE_ACTIVE:
        return of_one
    if tracks_unacked(window) or several_active(window):
        return exhausted
    if exhausted > 0 and window.known("unacked_msg"):
        # Consumers without permits hold messages. Those of a Shared subscription would be counted as unacked.
        return of_one
    undecided = exhausted < t.STARVED_FULL_SHARE and of_one >= t.STARVED_EMPTY_SHARE
    return None if undecided else exhausted


def several_active(window: Window) -> bool:
    """Whether every consumer is seen to acknowledge in most minutes, so that none of them is on standby."""
    share = window.share("consumer_ack_msg_rate_min", lambda rate: rate > 0)
    return share is not None and share > t.MAJORITY_SHARE


def fill_share(window: Window) -> float | None:
    """Unacked messages over what the consumers could hold, whatever the size of their queues."""
    if not tracks_unacked(window):
        return None
    shares = []
    for unacked, consumers, low, high in zip(
        *(window.column(name) for name in ("unacked_msg", "consumers", "permits_min", "permits_max")),
        strict=True,
    ):
        if None in (unacked, consumers, low, high):
            continue
        room = consumers * max(0.0, (low + high) / 2)
        if unacked + room > 0:
            shares.append(unacked / (unacked + room))
    return sum(shares) / len(shares) if shares else None


def idle_share(window: Window) -> float | None:
    """Share of minutes at whose end consumers were connected and had no unacked message."""
    if not tracks_unacked(window):
        return None
    counts = [
        unacked
        for unacked, consumers in zip(window.column("unacked_msg"), window.column("consumers"), strict=True)
        if unacked is not None and (consumers is None or consumers > 0)
    ]
    return sum(1 for unacked in counts if unacked <= 0) / len(counts) if counts else None


def busy_minutes(window: Window) -> int | None:
    """For how many minutes consumers have had messages at every minute's end while they were dispatched to at a constant rate.

    The window's minutes and those just before it; None where they are fewer than :data:`~thresholds.BUSY_MINUTES`, or where
    one of them shows otherwise or nothing.
    """
    if not tracks_unacked(window):
        return None
    seen = window.before(t.BUSY_MINUTES * MINUTE_MS, also_within=True)
    unacked, consumers = seen.array("unacked_msg"), seen.array("consumers")
    spans_ms = seen.array("delta_span_ms")
    rates = seen.array("out_msg_delta") / np.where(spans_ms > 0, spans_ms, np.nan)
    # NaN compares as False: what was not measured shows nothing.
    if len(rates) < t.BUSY_MINUTES or not (unacked > 0).all() or not (consumers == consumers[-1]).all():
        return None
    middle = float(rates.mean())
    flat = middle > 0 and float(rates.std()) / middle <= t.FLAT_CV
    return len(rates) if flat else None


def tracks_unacked(window: Window) -> bool:
    """Whether zero unacked is a measurement: only Shared and Key_Shared subscriptions count unacked messages."""
    kind = window.last("subscription_type")
    if kind is not None:
        return kind in TRACKS_UNACKED
    # Others show zero for ever, so one message is enough, also of a day ago.
    return bool((window.before(HISTORY_MS, also_within=True).array("unacked_msg") > 0).any())


def undelivered_entries(window: Window) -> list[float | None]:
    """Ready backlog that no consumer holds yet, per minute; unacked messages are backlog until they are acked."""
    return _undelivered(window, window.column("backlog_ready_entries"))


def peak_entries(window: Window) -> list[float | None]:
    """The same at the highest scrape of each minute; at its end where that was not recorded."""
    return _undelivered(window, _or_at_end(window, "backlog_ready_peak_entries"))


def low_entries(window: Window) -> list[float | None]:
    """The same at the lowest scrape of each minute."""
    return _undelivered(window, _or_at_end(window, "backlog_ready_low_entries"))


def _or_at_end(window: Window, name: str) -> list[float | None]:
    return [
        at_end if value is None else value
        for value, at_end in zip(window.column(name), window.column("backlog_ready_entries"), strict=True)
    ]


def _undelivered(window: Window, ready_entries: Sequence[float | None]) -> list[float | None]:
    per_entry = window.last("messages_per_entry")
    deduct = tracks_unacked(window) and per_entry is not None and per_entry > 0
    return [
        None
        if ready is None
        else max(0.0, ready - (unacked / per_entry if deduct and unacked is not None else 0.0))
        for ready, unacked in zip(ready_entries, window.column("unacked_msg"), strict=True)
    ]


def _full_by_unacked(window: Window) -> bool:
    consumers, unacked = window.mean("consumers"), window.mean("unacked_msg")
    return bool(consumers and unacked and unacked >= t.FILL_FULL_SHARE * t.RECEIVER_QUEUE_MSG * consumers)
