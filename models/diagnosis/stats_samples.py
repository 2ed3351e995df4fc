"""What snapshots of the admin API's stats say of the consumers. In: a window. Out: a :class:`StatsReading`.

Brokers show permits of consumers only where ``exposeConsumerLevelMetricsInPrometheus`` is on; the admin API's stats have
them always. A snapshot is one instant of a value that swings many times a second, so only shares of several are read.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message, message


@dataclass(frozen=True, slots=True)
class StatsReading:
    """The snapshots of one window.

    Attributes
    ----------
    samples : int
        How many there are; under :data:`~thresholds.STATS_SAMPLES` every share is None.
    newest_ms : int or None
        When the newest was taken; it may be a little later than the window's end.
    starved_share : float or None
        Share of them in which the dispatcher found no permits; of Key_Shared, share of consumers without permits.
    fill_share : float or None
        Unacked / (unacked + permits).
    uneven_share : float or None
        Share of them in which some consumers had no permits while others had some.
    blocked_share : float or None
        Share of them in which every consumer had reached its own limit of unacked messages.
    draining_share : float or None
        Share of them with hashes that wait for the consumer that had them before (Key_Shared).
    """

    samples: int
    newest_ms: int | None
    starved_share: float | None = None
    fill_share: float | None = None
    uneven_share: float | None = None
    blocked_share: float | None = None
    draining_share: float | None = None


_SHARES = ("starved_share", "fill_share", "uneven_share", "blocked_share", "draining_share")


def read_stats(window: Window) -> StatsReading:
    """Read the snapshots of a window."""
    counts = window.column("stats_samples")
    samples = int(sum(count for count in counts if count is not None))
    newest_ms = window.last("stats_newest_ms")
    if samples < t.STATS_SAMPLES:
        return StatsReading(samples, newest_ms)
    return StatsReading(samples, newest_ms, *(_share(window, name) for name in _SHARES))


def _share(window: Window, name: str) -> float | None:
    """A share over all snapshots of the window: each minute's counts as often as it has snapshots."""
    pairs = [
        (share, count)
        for share, count in zip(window.column(f"stats_{name}"), window.column("stats_samples"), strict=True)
        if share is not None and count
    ]
    counted = sum(count for _, count in pairs)
    return sum(share * count for share, count in pairs) / counted if counted else None


def origin(window: Window, stats: StatsReading) -> Message:
    """Where the shares come from: how many snapshots there are, and how near the newest is to the window's end."""
    if stats.newest_ms is None:
        return message("snapshots.at_no_known_time", samples=stats.samples)
    apart_s = (window.end_ms - stats.newest_ms) / SECOND_MS
    if apart_s >= 0:
        return message("snapshots.before_end", samples=stats.samples, apart_s=apart_s)
    return message("snapshots.after_end", samples=stats.samples, apart_s=-apart_s)
