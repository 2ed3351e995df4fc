"""What a window says about each of the six limiters. In: a window. Out: one :class:`LimiterReading` per limiter.

A reading puts a limiter into a ``zone`` (how much of its limit is used) and an ``activity`` (what its throttle counter
can prove). The two, with the state of the consumers' queues, are the axes of the truth table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from throttlescope.ingest.contracts.vocabulary import LEVELS, LIMITERS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

#: Share of the limit that is used: at it, near it, possibly limited by it, far from it (or no limit), or not measurable.
Zone = Literal["at", "near", "possible", "far", "unknown"]

#: Why the share that is used does not exclude a limiter: its limit was read too long before or after the window, or only
#: part of those that share it was read.
Doubt = Literal["old", "partial"]

#: What the counter shows: ``continuous`` as often as a binding limiter must, and each event means something;
#: ``ticking`` as often, but every read of a healthy subscription would do the same; ``sparse`` less often;
#: ``silent`` never; ``unseen`` there is no counter.
Activity = Literal["continuous", "ticking", "sparse", "silent", "unseen"]

ZONES: tuple[Zone, ...] = ("at", "near", "possible", "far", "unknown")
ACTIVITIES: tuple[Activity, ...] = ("continuous", "ticking", "sparse", "silent", "unseen")


@dataclass(frozen=True, slots=True)
class LimiterReading:
    """One limiter in one window.

    Attributes
    ----------
    name : str
        Level and unit, one of the closed list of limiters.
    observed : bool
        The level's limit was read from the admin API, be it "none".
    limit, period_s : int or None
        Messages (or entries) or bytes per period; None where there is no limit or none is known.
    rho : float or None
        Use / limit, mean over the window, use summed over all that share the limiter.
    rho_at_ms : int or None
        When the use was highest.
    own_rho : float or None
        The part of it that this subscription uses itself.
    events, events_per_s, duty_share : float or None
        Reads that the limiter throttled, their rate, and the share of scrape intervals with at least one.
    informative : bool or None
        False where every read of a healthy subscription would count as an event.
    in_force : bool
        False where more was delivered than this limit can let through.
    wanted_per_s : float
        Events per second that a binding limiter shows at least.
    doubt : str or None
        Why the zone excludes nothing; None where it can be believed.
    """

    name: str
    level: str
    unit: str
    observed: bool
    limit: int | None
    period_s: int | None
    rho: float | None
    rho_at_ms: int | None
    own_rho: float | None
    events: float | None
    events_per_s: float | None
    events_at_ms: int | None
    duty_share: float | None
    informative: bool | None
    in_force: bool
    zone: Zone
    activity: Activity
    wanted_per_s: float
    doubt: Doubt | None

    @property
    def believed_zone(self) -> Zone:
        """The zone, but ``unknown`` where a limiter would be excluded by a share that is in doubt."""
        return "unknown" if self.doubt and self.zone in ("far", "possible") else self.zone

    @property
    def shared(self) -> bool:
        """Other subscriptions draw on the same tokens."""
        return self.level != "subscription"

    @property
    def limit_per_s(self) -> float | None:
        return None if self.limit is None else self.limit / (self.period_s or 1)


def read_limiters(window: Window) -> tuple[LimiterReading, ...]:
    """Read all six limiters, in the order of the closed list."""
    return tuple(read_limiter(window, level, unit) for level in LEVELS for unit in UNITS)


def read_limiter(window: Window, level: str, unit: str) -> LimiterReading:
    """Read one limiter; by the minutes since its limit was set or changed, where these say that it is used up."""
    minutes = _minutes_since_set(window, level, unit)
    if minutes is None:
        return _read(window, level, unit)
    if minutes:
        since = replace(window, start_ms=window.end_ms - minutes * MINUTE_MS, low=window.high - minutes)
        reading = _read(since, level, unit)
        if reading.zone in ("at", "near"):
            return reading
    reading = _read(window, level, unit)
    if minutes >= t.MAJORITY_SHARE * (window.high - window.low):
        return reading
    # Most of the window is of the time before, which says nothing of this limit; that it throttled no read says enough.
    return replace(reading, zone="unknown", activity="unseen" if reading.events else reading.activity)


def _minutes_since_set(window: Window, level: str, unit: str) -> int | None:
    """Whole minutes since the limit that holds at the window's end was set within it; None where it was the same all along, or there is none.

    A minute that was not seen is not whole.
    """
    limits = [limit if limit and limit > 0 else None for limit in window.column(f"limit_{level}_{unit}")]
    observed = [set_by is not None for set_by in window.column(f"limit_{level}_set_by")]
    if not limits or limits[-1] is None or all(limit == limits[-1] for limit in limits):
        return None
    others = [n for n, limit in enumerate(limits) if observed[n] and limit != limits[-1]]
    # The first minute that shows it is in part of the time before.
    return len(limits) - others[-1] - 2 if others else None


def _read(window: Window, level: str, unit: str) -> LimiterReading:
    set_by = window.last(f"limit_{level}_set_by")
    limit, period_s = _limit_in_force(window, level, unit)
    rho, rho_at_ms, own_rho = None, None, None
    if limit is not None and not is_exempt(window):
        own = own_use(window, unit)
        if own is not None:
            own_rho = own / (limit / period_s + _on_top(window, level, unit))
        highest = window.highest(f"rho_{level}_{unit}")
        if highest is not None:
            rho, rho_at_ms = window.mean(f"rho_{level}_{unit}"), highest.at_ms
        elif level == "subscription" and window.last("relative_to_publish"):
            # Signals leave the rho of a limit open that moves with the publish rate; of our own we know the use.
            rho, rho_at_ms = own_rho, window.end_ms
    name = f"throttled_{unit}_events_{level}_delta"
    events, events_per_s = window.total(name), window.rate(name)
    most = window.highest(name) if events else None
    duty_share = window.mean(f"throttled_{unit}_duty_{level}_share")
    in_force = rho is None or rho <= t.RHO_NOT_IN_FORCE + period_s / window.length_s
    old = limits_are_old(window)
    # A limit that is not the broker's, or was so once, says nothing about what its events mean.
    believed = limit if in_force and not old else None
    informative = is_informative(window, unit, believed, events)
    known = set_by is not None and not (limit is None and _counted_last(window, name))
    zone = _zone(window, known, limit, period_s, rho if in_force else None)
    wanted_per_s = _wanted_per_s(zone, rho, period_s)
    if events is None:
        activity = "unseen"
    elif events == 0:
        activity = "silent" if len(window.known(name)) * 2 > window.minutes else "unseen"
    elif events_per_s is None:
        # In how much time they came is not known: neither that there are few of them nor that there are many.
        activity = "unseen"
    elif not _as_often_as_binding(events_per_s, duty_share, wanted_per_s, period_s):
        activity = "sparse"
    elif informative and not _is_only_trimmed(window, unit, zone, believed, rho, events):
        activity = "continuous"
    else:
        activity = "ticking"
    return LimiterReading(
        name=LIMITERS[LEVELS.index(level) * len(UNITS) + UNITS.index(unit)],
        level=level,
        unit=unit,
        observed=set_by is not None,
        limit=limit,
        period_s=period_s,
        rho=rho,
        rho_at_ms=rho_at_ms,
        own_rho=own_rho,
        events=events,
        events_per_s=events_per_s,
        events_at_ms=most.at_ms if most else None,
        duty_share=duty_share,
        informative=informative,
        in_force=in_force,
        zone=zone,
        activity=activity,
        wanted_per_s=wanted_per_s,
        doubt=_doubt(window, level, set_by is not None, limit, old=old),
    )


def limits_age_s(window: Window) -> float | None:
    """Seconds from the reading of the limits to the window's end; negative where they were read later."""
    observed_ms = window.last("limits_observed_ms")
    return None if observed_ms is None else (window.end_ms - observed_ms) / SECOND_MS


def limits_are_old(window: Window) -> bool:
    """Whether the limits were read so long before or after the window that others may have been in force."""
    age_s = limits_age_s(window)
    return age_s is not None and abs(age_s) > t.LIMITS_OLD_S


def read_share(window: Window, level: str) -> float | None:
    """How much of what shares a topic's or a broker's limit was read; None where that is not known."""
    return window.mean(f"{level}_read_share")


def is_exempt(window: Window) -> bool:
    """Whether no limiter is applied to the subscription: it is caught up, and its broker exempts those."""
    if not window.last("exempt_caught_up"):
        return False
    caught_up = window.share("backlog_ready_entries", lambda entries: entries <= t.INACTIVE_ENTRIES)
    return caught_up is not None and caught_up >= t.MAJORITY_SHARE


def is_informative(window: Window, unit: str, limit: int | None, events: float | None) -> bool | None:
    """Whether this limiter's events mean anything: a period's tokens hold at least the read that is planned.

    A plan asks for min(permits, read batch) entries and for the read size in bytes. Below that every read counts,
    also that of a subscription which is caught up. Permits could make the planned read smaller than the batch, but a
    scrape sees one instant of a fast swing, so they are not believed here: under the batch an event is never proof.
    Where the batch was not read, both of Pulsar's defaults are possible.

    Where the limit is not known it can still be shown to be large enough: reads bring at most one batch, so more than
    a batch dispatched per event means that not every read was counted.
    """
    if limit is not None:
        smallest, largest = planned_reads(window, unit)
        if limit >= largest:
            return True
        if limit < smallest:
            return False
    return _more_than_a_read_per_event(window, events)


def planned_reads(window: Window, unit: str) -> tuple[float, float]:
    """The smallest and the largest read that may be planned: entries, or bytes."""
    if unit == "bytes":
        size = window.last("read_size_bytes") or t.READ_SIZE_BYTES
        return size, size
    batch = window.last("read_batch_entries")
    if batch and not limits_are_old(window):
        return batch, batch
    return min(batch or t.READ_BATCH_ENTRIES, t.READ_BATCH_ENTRIES), max(batch or 0, t.READ_BATCH_ENTRIES_5)


def _more_than_a_read_per_event(window: Window, events: float | None) -> bool | None:
    per_entry = window.last("messages_per_entry")
    out_msg = window.total("out_msg_delta")
    if not events or out_msg is None or not per_entry or per_entry <= 0:
        return None
    return True if out_msg / per_entry > planned_reads(window, "msg")[1] * events else None


def _is_only_trimmed(
    window: Window, unit: str, zone: Zone, limit: int | None, rho: float | None, events: float | None
) -> bool:
    """Whether reads are counted although the limit is not used up: what is left of a period's tokens is less than a read.

    Used only far from the limit: nearer to it a limiter that binds leaves as little.
    """
    if zone != "far" or limit is None or rho is None or _more_than_a_read_per_event(window, events):
        return False
    return limit * (1 - rho) < planned_reads(window, unit)[1]


def _limit_in_force(window: Window, level: str, unit: str) -> tuple[int | None, int | None]:
    # A rate of zero or less is no limit to the broker.
    known = [limit for limit in window.known(f"limit_{level}_{unit}") if limit > 0]
    # A limit that was lifted early in the window no longer holds anything at its end.
    if not known or len(known) < t.MAJORITY_SHARE * (window.high - window.low):
        return None, None
    period_s = window.last(f"limit_{level}_period_s")
    return known[-1], max(1, period_s or 1)


def _counted_last(window: Window, name: str) -> bool:
    """Whether a limiter throttled reads in the last minute that was counted: then it has a limit, whatever was read."""
    counted = window.last(name)
    return counted is not None and counted > 0


def own_use(window: Window, unit: str) -> float | None:
    """What a subscription takes of a limit, per second: messages, or entries where those are counted, or bytes."""
    use = window.rate(f"out_{unit}_delta")
    if unit == "msg" and use is not None and window.last("limit_counts") == "entries":
        per_entry = window.last("messages_per_entry")
        return use / per_entry if per_entry else None
    return use


def _doubt(window: Window, level: str, observed: bool, limit: int | None, *, old: bool) -> Doubt | None:
    if not observed:
        return None
    if old:
        return "old"
    if level == "subscription" or limit is None:
        return None
    share = read_share(window, level)
    # A broker's figure lags behind, a topic's subscriptions are counted.
    whole = share is not None and share >= (t.READ_SHARE if level == "broker" else 1.0)
    return None if whole else "partial"


def _on_top(window: Window, level: str, unit: str) -> float:
    """What a limit relative to the publish rate lets through on top of it, per second; a broker's limit never is."""
    if level == "broker" or not window.last("relative_to_publish"):
        return 0.0
    return window.rate(f"in_{unit}_delta") or 0.0


def _zone(window: Window, observed: bool, limit: int | None, period_s: int | None, rho: float | None) -> Zone:
    if limit is None:
        return "far" if observed else "unknown"
    # Less than two whole periods: the window may hold one burst of a full bucket, or none.
    if rho is None or period_s * 2 > window.length_s:
        return "unknown"
    if rho >= t.RHO_AT_LIMIT:
        return "at"
    if rho >= t.RHO_NEAR_LIMIT:
        return "near"
    return "possible" if rho >= t.RHO_POSSIBLE else "far"


def _wanted_per_s(zone: Zone, rho: float | None, period_s: int | None) -> float:
    """Events per second that a limiter shows at least while it limits a subscription.

    It throttles a read at least once per use of a full period's tokens; while it is exhausted, the dispatcher tries again every
    second. Without a known limit the usual period of one second is assumed. Far from its limit no limiter binds: there
    the events are compared with those of a limit that is used up, because that is what they would have to show.
    """
    used = 1.0 if rho is None or zone in ("unknown", "far") else min(1.0, rho)
    return t.EVENTS_PER_PERIOD * used / (period_s or 1)


def _as_often_as_binding(
    events_per_s: float, duty_share: float | None, wanted_per_s: float, period_s: int | None
) -> bool:
    if duty_share is not None and duty_share < t.EVENT_DUTY_SHARE and (period_s or 1) <= 1:
        return False
    return events_per_s >= wanted_per_s
