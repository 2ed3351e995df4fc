"""What a window says about each of the six limiters. In: a window. Out: one :class:`LimiterReading` per limiter.

A reading puts a limiter into a ``zone`` (how much of its limit is used) and an ``activity`` (what its throttle counter
can prove). The two, with the state of the consumers' queues, are the axes of the truth table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from throttlescope.ingest.contracts.words import LEVELS, LIMITERS, UNITS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

#: Share of the limit that is used: at it, near it, possibly held by it, far from it (or no limit), or not measurable.
Zone = Literal["at", "near", "possible", "far", "unknown"]

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
        Plans that the limiter lowered, their rate, and the share of scrape intervals with at least one.
    informative : bool or None
        False where every read of a healthy subscription would count as an event.
    in_force : bool
        False where more was delivered than this limit can let through.
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
    """Read one limiter."""
    set_by = window.last(f"limit_{level}_set_by")
    limit, period_s = _limit_in_force(window, level, unit)
    rho, rho_at_ms, own_rho = None, None, None
    if limit is not None:
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
    # A limit that is not the broker's says nothing about what its events mean.
    informative = is_informative(window, unit, limit if in_force else None, events)
    zone = _zone(window, set_by is not None, limit, period_s, rho if in_force else None)
    if events is None:
        activity = "unseen"
    elif events == 0:
        activity = "silent" if len(window.known(name)) * 2 > window.minutes else "unseen"
    elif not _as_often_as_binding(events_per_s, duty_share, rho if zone != "unknown" else None, period_s):
        activity = "sparse"
    else:
        activity = "continuous" if informative else "ticking"
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
    )


def is_informative(window: Window, unit: str, limit: int | None, events: float | None) -> bool | None:
    """Whether this limiter's events mean anything: a period's tokens hold at least the read that is planned.

    A plan asks for min(permits, read batch) entries and for the read size in bytes. Below that every read counts,
    also that of a subscription which is caught up. Permits could make the planned read smaller than the batch, but a
    scrape sees one instant of a fast swing, so they are not believed here: under the batch an event is never proof.

    Where the limit is not known it can still be shown to be large enough: reads bring at most one batch, so more than
    a batch dispatched per event means that not every read was counted.
    """
    if limit is not None:
        if unit == "msg":
            return limit >= (window.last("read_batch_entries") or t.READ_BATCH_ENTRIES)
        return limit >= (window.last("read_size_bytes") or t.READ_SIZE_BYTES)
    per_entry = window.last("messages_per_entry")
    out_msg = window.total("out_msg_delta")
    if not events or out_msg is None or not per_entry or per_entry <= 0:
        return None
    batch = window.last("read_batch_entries") or t.READ_BATCH_ENTRIES
    return True if out_msg / per_entry > batch * events else None


def _limit_in_force(window: Window, level: str, unit: str) -> tuple[int | None, int | None]:
    # A rate of zero or less is no limit to the broker.
    known = [limit for limit in window.known(f"limit_{level}_{unit}") if limit > 0]
    # A limit that was lifted early in the window no longer holds anything at its end.
    if not known or len(known) < t.MAJORITY_SHARE * (window.high - window.low):
        return None, None
    period_s = window.last(f"limit_{level}_period_s")
    return known[-1], max(1, period_s or 1)


def own_use(window: Window, unit: str) -> float | None:
    """What a subscription takes of a limit, per second: messages, or entries where those are counted, or bytes."""
    use = window.rate(f"out_{unit}_delta")
    if unit == "msg" and use is not None and window.last("limit_counts") == "entries":
        per_entry = window.last("messages_per_entry")
        return use / per_entry if per_entry else None
    return use


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


def _as_often_as_binding(
    events_per_s: float | None, duty_share: float | None, rho: float | None, period_s: int | None
) -> bool:
    """Whether there are as many events as a limiter shows that holds a subscription back.

    It lowers a plan at least once per use of a full period's tokens; while it is dry, the dispatcher asks again every
    second. Without a known limit the usual period of one second is assumed.
    """
    wanted_per_s = t.EVENTS_PER_PERIOD * min(1.0, 1.0 if rho is None else rho) / (period_s or 1)
    if duty_share is not None and duty_share < t.EVENT_DUTY_SHARE and (period_s or 1) <= 1:
        return False
    return events_per_s is not None and events_per_s >= wanted_per_s
