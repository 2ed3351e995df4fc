"""Which windows need no thought? In: a frame. Out: a mask of the quiet ones, and the numbers that their verdicts tell.

A window is quiet where the rules answer *healthy*, name nothing next to it, and show no more than how much waits, whether it
grows, how much of a limit is used and how often the counters ticked. Where that is not certain, the window is left to
:func:`~throttlescope.models.diagnosis.verdict.diagnose`: a condition here may be stricter than the rule, never laxer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumer_queues import ONE_ACTIVE, TRACKS_UNACKED
from throttlescope.models.diagnosis.healthy_fast_path.frame import Frame
from throttlescope.models.diagnosis.healthy_fast_path.limiters import FastReading, or_, read

#: All that is read of ``signals`` to judge quiet windows.
COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "minute_ms", "backlog_ready_entries",
    "backlog_ready_peak_entries", "subscription_backlog_age_s", "delayed_entries", "unacked_msg", "consumers",
    "permits_min", "permits_max", "permits_exhausted_share", "stats_samples", "in_msg_delta", "out_msg_delta", "out_bytes_delta",
    "expired_msg_delta", "quota_evictions_5m", "write_entry_rate", "delta_span_ms", "in_span_ms", "events_span_ms",
    "coverage_share", "counter_resets", "broker", "broker_changed", "brokers_serving", "limits_changed", "limits_observed_ms", "limit_counts",
    "exempt_caught_up", "relative_to_publish", "read_batch_entries",
    "read_size_bytes", "subscription_type", "messages_per_entry",
    *(f"limit_{level}_{what}" for level in LEVELS for what in ("set_by", "period_s", *UNITS)),
    *(f"rho_{level}_{unit}" for level in LEVELS for unit in UNITS),
    *(f"throttled_{unit}_{what}" for level in LEVELS for unit in UNITS
      for what in (f"events_{level}_delta", f"duty_{level}_share")),
)  # fmt: skip

#: Shares are sums of quotients; a digit more or less at their end must not decide what is quiet.
_CLOSE = 1e-9
#: Whole numbers beyond it are not exact as float64.
_EXACT = 2.0**53


@dataclass
class Screened:
    """Every window of a frame; arrays are subscriptions x windows, NaN where there is no number.

    Attributes
    ----------
    there : array of bool
        The window has a minute, so that it gets a verdict.
    left : dict of str to array of bool
        What is not quiet about it, by reason.
    waiting_entries, floor_entries : array
        Undelivered entries at its end, and up to how many are no backlog.
    publish_entry_rate : array
    ready_entries, growth_entries, growth_threshold_entries : array
        Ready backlog at its end, its change, and up to which change it is noise.
    readings : list of FastReading
    """

    frame: Frame
    there: np.ndarray
    left: dict[str, np.ndarray]
    waiting_entries: np.ndarray
    floor_entries: np.ndarray
    publish_entry_rate: np.ndarray
    ready_entries: np.ndarray
    growth_entries: np.ndarray
    growth_threshold_entries: np.ndarray
    readings: list[FastReading]

    @property
    def quiet(self) -> np.ndarray:
        """Windows that this screen judges; all others that are there are left."""
        return self.there & ~reduce(np.logical_or, self.left.values())


def screen(frame: Frame) -> Screened:
    """Look at all windows of a frame."""
    consumers = _Consumers(frame)
    readings = read(frame)
    batch = _read_entries(frame)
    publish = _publish_entry_rate(frame, consumers.per_entry)
    known_publish = np.where(np.isnan(publish), 0.0, publish)
    floor = np.maximum(batch, t.HELD_S * known_publish)
    undelivered = [consumers.undelivered(minute) for minute in range(frame.grid.length)]
    waiting = frame.nothing()
    for entries in undelivered:
        np.copyto(waiting, entries, where=~np.isnan(entries))
    ready = frame.last("backlog_ready_entries")
    growth = frame.growth("backlog_ready_entries")
    growth_threshold = np.maximum(batch, t.GROWTH_SHARE * (known_publish * frame.grid.length_s))
    left = {
        "odd rows": np.broadcast_to(frame.odd[:, None], frame.shape),
        "coverage": ~(_seen_share(frame) >= t.COVERAGE_FULL_SHARE + _CLOSE),
        "served twice": _highest(frame, "brokers_serving") > 1,
        "backlog not measured": np.isnan(waiting) | np.isnan(ready),
        "backlog present": ~(waiting <= floor),
        "backlog old": (waiting > t.LEAST_ENTRIES)
        & ((frame.total("out_msg_delta") == 0) | (frame.last("subscription_backlog_age_s") >= t.OLD_S)),
        "backlog growing": (growth >= growth_threshold) & (ready > batch),
        "backlog draining": (growth < 0) & (ready > floor),
        "backlog in bursts": _bursts(frame, undelivered, floor, consumers.per_entry, readings),
        "delayed": frame.last("delayed_entries") > t.READ_BATCH_ENTRIES,
        "expiring": frame.any("expired_msg_delta"),
        "evicting": frame.any("quota_evictions_5m"),
        "no consumers": consumers.away & (waiting > 0),
        "queues full": consumers.full(),
        "snapshots of consumers": frame.total("stats_samples") >= t.STATS_SAMPLES,
        "topic moved": frame.any("counter_resets") | frame.any("broker_changed"),
        "limit changed": frame.any("limits_changed")
        | reduce(np.logical_or, (reading.changed for reading in readings)),
        "limit relative to publishing": frame.any("relative_to_publish"),
        "limit not in force": reduce(np.logical_or, (reading.broken for reading in readings)),
        "numbers out of range": reduce(
            np.logical_or, ((reading.limit >= _EXACT) | (reading.events < 0) for reading in readings)
        ),
        "events in no known time": reduce(
            np.logical_or,
            ((reading.events > 0) & np.isnan(reading.events_per_s) for reading in readings),
        ),
    }
    return Screened(
        frame, frame.rows_in > 0, left, waiting, floor, publish, ready, growth, growth_threshold, readings
    )


def _highest(frame: Frame, name: str) -> np.ndarray:
    """The highest value of each window."""
    return frame.nothing() if frame.unknown(name) else reduce(np.fmax, frame.each(name))


def _seen_share(frame: Frame) -> np.ndarray:
    seen = frame.total("coverage_share")
    return np.where(np.isnan(seen), 0.0, seen) / frame.grid.length


def _read_entries(frame: Frame) -> np.ndarray:
    """Entries of one read, counted in messages where entries are known to be batches."""
    batch = or_(frame.last("read_batch_entries"), t.READ_BATCH_ENTRIES)
    per_entry = reduce(np.fmin, frame.each("messages_per_entry"))
    with np.errstate(divide="ignore", invalid="ignore"):
        in_messages = np.maximum(np.minimum(batch, t.LEAST_ENTRIES), batch / per_entry)
    return np.where(per_entry > 1, in_messages, batch)


def _publish_entry_rate(frame: Frame, per_entry: np.ndarray) -> np.ndarray:
    published = frame.rate("in_msg_delta")
    with np.errstate(divide="ignore", invalid="ignore"):
        entries = published / per_entry
    return np.where(~np.isnan(published) & (per_entry > 0), entries, frame.mean("write_entry_rate"))


def _bursts(
    frame: Frame,
    undelivered: list[np.ndarray],
    floor: np.ndarray,
    per_entry: np.ndarray,
    readings: list[FastReading],
) -> np.ndarray:
    """The backlog was higher than a limiter's period lets through, at an end of a minute or between two."""
    between = reduce(
        np.fmax,
        (
            frame.grid.at(frame.numbers("backlog_ready_peak_entries"), minute)
            for minute in range(frame.grid.length)
        ),
    )
    divisor = or_(per_entry, 1.0)
    for reading in readings:
        if reading.unit == "msg":
            floor = np.fmax(floor, reading.limit / divisor)
    return (reduce(np.fmax, undelivered) > floor) | (between > floor)


class _Consumers:
    """What the consumers do, as far as it decides about quiet windows; the twin of :mod:`consumers`."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.per_entry = frame.last("messages_per_entry")
        kinds, words = frame.words("subscription_type")
        kind = frame.last(kinds)
        self._kind = {word: kind == code for code, word in enumerate(words)}
        unacked = frame.numbers("unacked_msg")
        some_unacked = frame.total(np.where(unacked > 0, 1.0, 0.0)) > 0
        self.kind_unknown = np.isnan(kind)
        self.tracks_unacked = np.where(self.kind_unknown, some_unacked, self._is(TRACKS_UNACKED))
        self._deducts = self.tracks_unacked & (self.per_entry > 0)
        counts = frame.numbers("consumers")
        self.last_count = frame.last(counts)
        away = frame.share(counts <= 0, ~np.isnan(counts))
        self.away = (away >= t.MAJORITY_SHARE) & (self.last_count <= 0)

    def _is(self, kinds: tuple[str, ...]) -> np.ndarray:
        nowhere = np.zeros(self.frame.shape, bool)
        return reduce(np.logical_or, (self._kind.get(kind, nowhere) for kind in kinds))

    def undelivered(self, minute: int) -> np.ndarray:
        """Ready backlog that no consumer holds yet, at the end of one minute of every window."""
        frame = self.frame
        ready = frame.grid.at(frame.numbers("backlog_ready_entries"), minute)
        unacked = frame.grid.at(frame.numbers("unacked_msg"), minute)
        with np.errstate(divide="ignore", invalid="ignore"):
            unacked_entries = unacked / self.per_entry
        left = ready - np.where(self._deducts & ~np.isnan(unacked), unacked_entries, 0.0)
        return np.where(np.isnan(ready), np.nan, np.where(left > 0, left, 0.0))

    def full(self) -> np.ndarray:
        """The queues may be full."""
        frame = self.frame
        starved = self._starved_share()
        fill = np.where(self.tracks_unacked, self._fill_share(), np.nan)
        unacked, counts = frame.mean("unacked_msg"), frame.mean("consumers")
        by_unacked = unacked >= t.FILL_FULL_SHARE * t.RECEIVER_QUEUE_MSG * counts - _CLOSE
        by_unacked &= np.isnan(starved) & np.isnan(fill) & (unacked != 0) & (counts != 0)
        return (starved >= t.STARVED_FULL_SHARE - _CLOSE) | (fill >= t.FILL_FULL_SHARE - _CLOSE) | by_unacked

    def _starved_share(self) -> np.ndarray:
        frame = self.frame
        several = self.last_count > 1
        exhausted = frame.mean("permits_exhausted_share")
        of_all = np.fmin(1.0, exhausted * self.last_count)
        # Where the type is not known, only one of them may be active.
        one_active = self._is(ONE_ACTIVE) | self.kind_unknown
        exhausted = np.where(several & one_active & ~np.isnan(exhausted), of_all, exhausted)
        most = frame.numbers("permits_max")
        return np.where(several & self._is(("Shared",)), frame.share(most <= 0, ~np.isnan(most)), exhausted)

    def _fill_share(self) -> np.ndarray:
        numbers = self.frame.numbers
        low, high, unacked = numbers("permits_min"), numbers("permits_max"), numbers("unacked_msg")
        room = numbers("consumers") * np.maximum(0.0, (low + high) / 2)
        whole = unacked + room
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.frame.mean(np.where(whole > 0, unacked / whole, np.nan))
