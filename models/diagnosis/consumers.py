"""Whether the consumers' queues are full. In: a window. Out: a :class:`QueueReading`.

Consumers at their capacity keep the broker waiting for permits; consumers that a limiter keeps waiting have room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

#: ``full``: the broker waits for the consumers. ``empty``: they have room. ``between``: neither is clear.
Queue = Literal["full", "between", "empty", "unknown"]

QUEUES: tuple[Queue, ...] = ("full", "between", "empty", "unknown")

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
    """

    queue: Queue
    starved_share: float | None
    fill_share: float | None
    idle_share: float | None
    shown_by: str | None


def read_queue(window: Window) -> QueueReading:
    """Read the state of the consumers' queues."""
    starved, fill, idle = starved_share(window), fill_share(window), idle_share(window)
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
    return QueueReading(queue, starved, fill, idle, shown_by)


def starved_share(window: Window) -> float | None:
    """Share of samples in which the dispatcher found no permits.

    A Shared subscription is dispatched to as long as *one* consumer has permits; of an Exclusive or Failover one only
    the active consumer counts, and those that stand by have all of theirs.
    """
    kind = window.last("subscription_type")
    several = (window.last("consumers") or 0) > 1
    if several and kind == "Shared":
        return window.share("permits_max", lambda permits: permits <= 0)
    exhausted = window.mean("permits_exhausted_share")
    if several and kind in ONE_ACTIVE and exhausted is not None:
        # The share is over all consumers' samples, and those that stand by are never exhausted.
        return min(1.0, exhausted * window.last("consumers"))
    return exhausted


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
    """Share of minutes at whose end consumers were connected and held no unacked message."""
    if not tracks_unacked(window):
        return None
    held = [
        unacked
        for unacked, consumers in zip(window.column("unacked_msg"), window.column("consumers"), strict=True)
        if unacked is not None and (consumers is None or consumers > 0)
    ]
    return sum(1 for unacked in held if unacked <= 0) / len(held) if held else None


def tracks_unacked(window: Window) -> bool:
    """Whether zero unacked is a measurement: only Shared and Key_Shared subscriptions count unacked messages."""
    kind = window.last("subscription_type")
    if kind is not None:
        return kind in TRACKS_UNACKED
    return any(unacked > 0 for unacked in window.known("unacked_msg"))


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
