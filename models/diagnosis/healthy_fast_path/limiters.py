"""What all windows of some subscriptions say about a limiter. In: a frame. Out: the numbers of a reading, as arrays.

The twin of :func:`~throttlescope.models.diagnosis.limiters.read_limiter`, as far as windows go that need no thought: limits that
move with the publish rate, and limits that were exceeded, are left to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS, LIMITERS, UNITS
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.healthy_fast_path.frame import Frame
from throttlescope.models.diagnosis.limiters import LimiterReading, Zone

#: Whether events mean something: not known, no, yes.
UNKNOWN, NO, YES = -1, 0, 1
_INFORMATIVE = {UNKNOWN: None, NO: False, YES: True}


@dataclass
class FastReading:
    """One limiter in all windows; every array is subscriptions x windows, NaN where there is no number.

    Attributes
    ----------
    measured : array of bool
        Its use is known and means something: the zone is not ``unknown``.
    near : array of bool
        The zone is ``near``.
    sparse : array of bool
        Fewer events than a limiter has that binds.
    informative : array of int
        :data:`UNKNOWN`, :data:`NO` or :data:`YES`.
    broken : array of bool
        More was delivered than it can let through.
    wanted_per_s : array
        Events per second that a binding limiter shows at least.
    old : array of bool
        It was read too long before or after.
    changed : array of bool
        It did not hold all along: windows that are left to the rules.
    """

    level: str
    unit: str
    observed: np.ndarray
    limit: np.ndarray
    period_s: np.ndarray
    rho: np.ndarray
    rho_at_ms: np.ndarray
    own_rho: np.ndarray
    measured: np.ndarray
    near: np.ndarray
    events: np.ndarray
    events_per_s: np.ndarray
    events_at_ms: np.ndarray
    sparse: np.ndarray
    informative: np.ndarray
    broken: np.ndarray
    wanted_per_s: np.ndarray
    old: np.ndarray
    changed: np.ndarray

    @property
    def name(self) -> str:
        return LIMITERS[LEVELS.index(self.level) * len(UNITS) + UNITS.index(self.unit)]

    @property
    def used_up(self) -> np.ndarray:
        """At or near the limit."""
        return self.measured & (self.rho >= t.RHO_NEAR_LIMIT)

    def one(self, at: tuple[int, int]) -> LimiterReading:
        """The reading of one window, with all that sentences about it need."""

        def number(values: np.ndarray) -> float | None:
            value = values.item(at)
            return None if isnan(value) else value

        limit = number(self.limit)
        return LimiterReading(
            name=self.name,
            level=self.level,
            unit=self.unit,
            observed=bool(self.observed[at]),
            limit=None if limit is None else int(limit),
            period_s=None if limit is None else int(self.period_s[at]),
            rho=number(self.rho),
            rho_at_ms=int(self.rho_at_ms[at]),
            own_rho=number(self.own_rho),
            events=number(self.events),
            events_per_s=number(self.events_per_s),
            events_at_ms=int(self.events_at_ms[at]),
            duty_share=None,
            informative=_INFORMATIVE[int(self.informative[at])],
            in_force=not self.broken[at],
            zone=self._zone(at),
            activity="sparse" if self.sparse[at] else "ticking",
            wanted_per_s=self.wanted_per_s.item(at),
            doubt="old" if self.old[at] and self.observed[at] else None,
        )

    def _zone(self, at: tuple[int, int]) -> Zone:
        if not self.measured[at]:
            return "unknown"
        if self.near[at]:
            return "near"
        return "at" if self.rho[at] >= t.RHO_AT_LIMIT else "far"


def read(frame: Frame) -> list[FastReading]:
    """All six limiters, in the order of the closed list."""
    shared = _Shared(frame)
    return [_read(frame, shared, level, unit) for level in LEVELS for unit in UNITS]


class _Shared:
    """What several limiters ask for."""

    def __init__(self, frame: Frame) -> None:
        self.per_entry = frame.last("messages_per_entry")
        age_s = (frame.grid.starts_ms + frame.grid.length_ms - frame.last("limits_observed_ms")) / SECOND_MS
        self.old = np.abs(age_s) > t.LIMITS_OLD_S
        read_size = or_(frame.last("read_size_bytes"), t.READ_SIZE_BYTES)
        self.exempt = _exempt(frame)
        self.planned = {"msg": _planned_entries(frame, self.old), "bytes": (read_size, read_size)}
        counts, words = frame.words("limit_counts")
        entries = words.index("entries") if "entries" in words else -1
        self.counts_entries = frame.last(counts) == entries
        self.out_msg = frame.total("out_msg_delta")
        self._rates: dict[str, np.ndarray] = {}
        self._frame = frame

    def own_use(self, unit: str) -> np.ndarray:
        """Of this subscription, per second, as the limit counts."""
        if unit not in self._rates:
            rate = self._frame.rate(f"out_{unit}_delta")
            if unit == "msg":
                with np.errstate(divide="ignore", invalid="ignore"):
                    entries = np.where(self.per_entry == 0, np.nan, rate / self.per_entry)
                rate = np.where(self.counts_entries, entries, rate)
            self._rates[unit] = rate
        return self._rates[unit]


def _read(frame: Frame, shared: _Shared, level: str, unit: str) -> FastReading:
    grid, nothing = frame.grid, frame.nothing
    observed = ~np.isnan(frame.last(f"limit_{level}_set_by"))
    limit, period_s = _limit_in_force(frame, level, unit)
    limited = ~np.isnan(limit)
    rho, own_rho, rho_at_ms = nothing(), nothing(), np.zeros(frame.shape, np.int64)
    if limited.any():
        own_rho = np.where(limited, shared.own_use(unit) / (limit / period_s), np.nan)
        use = f"rho_{level}_{unit}"
        _, rho_at_ms = frame.highest(use)
        rho = np.where(limited, frame.mean(use), np.nan)
        rho[shared.exempt] = own_rho[shared.exempt] = np.nan
    broken = rho > t.RHO_NOT_IN_FORCE + period_s / grid.length_s
    measured = ~np.isnan(rho) & ~(period_s * 2 > grid.length_s)
    name = f"throttled_{unit}_events_{level}_delta"
    events, events_per_s = frame.total(name), nothing()
    events_at_ms, sparse = np.zeros(frame.shape, np.int64), np.zeros(frame.shape, bool)
    used = np.where(measured & (rho >= t.RHO_POSSIBLE), np.minimum(1.0, rho), 1.0)
    wanted_per_s = t.EVENTS_PER_PERIOD * used / period_s
    informative = np.full(frame.shape, UNKNOWN)
    if (events > 0).any():
        events_per_s = frame.rate(name)
        _, events_at_ms = frame.highest(name)
        duty_share = frame.mean(f"throttled_{unit}_duty_{level}_share")
        sparse = ~(events_per_s >= wanted_per_s) | ((duty_share < t.EVENT_DUTY_SHARE) & (period_s <= 1))
        smallest, largest = shared.planned[unit]
        with np.errstate(divide="ignore", invalid="ignore"):
            dispatched = np.where(shared.per_entry > 0, shared.out_msg / shared.per_entry, np.nan)
            skipped = dispatched > shared.planned["msg"][1] * events
        informative = np.where(skipped & (events > 0), YES, UNKNOWN)
        believed = limited & ~shared.old
        informative[believed & (limit < smallest)] = NO
        informative[believed & (limit >= largest)] = YES
    return FastReading(
        level=level, unit=unit, observed=observed, limit=limit, period_s=period_s, rho=rho, rho_at_ms=rho_at_ms,
        own_rho=own_rho, measured=measured, near=(rho >= t.RHO_NEAR_LIMIT) & (rho < t.RHO_AT_LIMIT),
        events=events, events_per_s=events_per_s, events_at_ms=events_at_ms, sparse=sparse,
        informative=informative, broken=broken, wanted_per_s=wanted_per_s, old=shared.old,
        changed=_changed(frame, level, unit),
    )  # fmt: skip


def _limits(frame: Frame, level: str, unit: str) -> tuple[np.ndarray, np.ndarray] | None:
    """The limit of every minute (NaN: none), and how many minutes of each window have one; None: no minute has any."""
    name = f"limit_{level}_{unit}"
    if frame.unknown(name):
        return None
    limits = frame.numbers(name)
    limits = np.where(limits > 0, limits, np.nan)
    return limits, frame.total(np.where(np.isnan(limits), 0.0, 1.0))


def _changed(frame: Frame, level: str, unit: str) -> np.ndarray:
    """Some minutes have a limit, and others none or another one."""
    found = _limits(frame, level, unit)
    if found is None:
        return np.zeros(frame.shape, bool)
    limits, count = found
    high, low = frame.highest(limits)[0], -frame.highest(-limits)[0]
    return (count > 0) & ((count < frame.rows_in) | (high != low))


def _limit_in_force(frame: Frame, level: str, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """The limit (NaN: none) and its period; a period of one second where none is known."""
    found = _limits(frame, level, unit)
    if found is None:
        return frame.nothing(), np.ones(frame.shape)
    limits, count = found
    limit = np.where(count < t.MAJORITY_SHARE * frame.rows_in, np.nan, frame.last(limits))
    period_s = frame.last(f"limit_{level}_period_s")
    period_s = np.where(np.isnan(limit) | ~(period_s > 1), 1.0, period_s)
    return limit, period_s


def _exempt(frame: Frame) -> np.ndarray:
    """Caught up, on a broker that applies no limiter then."""
    flags = frame.last("exempt_caught_up") == 1
    if flags.any():
        entries = frame.numbers("backlog_ready_entries")
        flags &= frame.share(entries <= t.INACTIVE_ENTRIES, ~np.isnan(entries)) >= t.MAJORITY_SHARE
    return flags


def _planned_entries(frame: Frame, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest read that may be planned, in entries."""
    batch = or_(frame.last("read_batch_entries"), np.nan)
    known = ~np.isnan(batch) & ~old
    smallest = np.where(known, batch, np.fmin(batch, t.READ_BATCH_ENTRIES))
    return smallest, np.where(known, batch, np.fmax(batch, t.READ_BATCH_ENTRIES_5))


def or_(values: np.ndarray, otherwise: float) -> np.ndarray:
    """As Python's ``or``: neither unknown nor zero."""
    return np.where(np.isnan(values) | (values == 0), otherwise, values)
