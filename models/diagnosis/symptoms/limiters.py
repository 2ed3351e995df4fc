"""What do the limiters do? In: a window and the readings of its limiters. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.limiters import LimiterReading, limits_age_s
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message, message

LIMITER_AT_LIMIT = SymptomKind(
    "limiter_at_limit", ("no_limit", "not_known", "used", "used_shared"), "use / limit"
)
LIMITS_FAR = SymptomKind("limits_far", ("no_limit", "not_known", "used_most"), "use / limit")
THROTTLE_EVENTS = SymptomKind(
    "throttle_events",
    (
        "no_counters", "none", "none_of_limiter", "sparse", "in_bursts", "every_period", "often_every_period",
        "as_if_exhausted", "every_read", "limit_old", "batch_not_read", "limit_not_read",
    ),
    "events/s",
)  # fmt: skip
LIMIT_CHANGED = SymptomKind("limit_changed", ("changed", "unchanged"), "changes")
LIMIT_OBSERVED_LATER = SymptomKind("limit_observed_later", ("not_read", "in_time", "later"))
LIMITS_OLD = SymptomKind("limits_old", ("not_read", "before", "after"), "s")
LIMIT_NOT_IN_FORCE = SymptomKind("limit_not_in_force", ("none", "exceeded"), "use / limit")

#: Fewer throttled reads per period than this are about one.
_TWO = 2

NO_LIMIT = LIMITER_AT_LIMIT.says("no_limit")
NO_EVENT = THROTTLE_EVENTS.says("none")


def limiter_at_limit(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Some limiter is used up to its limit."""
    used = [limiter for limiter in limiters if limiter.rho is not None and limiter.zone != "unknown"]
    if used:
        return limiter_use(window, max(used, key=lambda limiter: limiter.rho))
    if all(limiter.observed for limiter in limiters):
        return LIMITER_AT_LIMIT.answer(False, NO_LIMIT, threshold=t.RHO_AT_LIMIT)
    return LIMITER_AT_LIMIT.answer(None, LIMITER_AT_LIMIT.says("not_known"), threshold=t.RHO_AT_LIMIT)


def limiter_use(window: Window, limiter: LimiterReading) -> Symptom:
    """How much of one limiter's limit is used."""
    query = promql.use(window.key, limiter.level, limiter.unit, window.last("broker"), window.length_ms)
    return LIMITER_AT_LIMIT.answer(
        limiter.zone in ("at", "near"), use_finding(limiter), limiter.rho,
        t.RHO_NEAR_LIMIT if limiter.zone == "near" else t.RHO_AT_LIMIT, limiter.rho_at_ms, query, limiter.name,
    )  # fmt: skip


def use_finding(limiter: LimiterReading) -> Message:
    """How much of a limit is used, and how much of it by this subscription where others use it too."""
    if limiter.shared and limiter.own_rho is not None:
        own = min(limiter.own_rho, limiter.rho)
        return LIMITER_AT_LIMIT.says("used_shared", **_limit(limiter), rho=limiter.rho, own=own)
    return LIMITER_AT_LIMIT.says("used", **_limit(limiter), rho=limiter.rho)


def limits_far(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Every limiter is known and far from its limit, or there is none."""
    zones = [limiter.believed_zone for limiter in limiters]
    holds: bool | None = all(zone == "far" for zone in zones)
    if not holds and all(zone in ("far", "unknown") for zone in zones):
        holds = None
    if holds and all(limiter.limit is None for limiter in limiters):
        return LIMITS_FAR.answer(True, LIMITS_FAR.says("no_limit"))
    used = [limiter for limiter in limiters if limiter.rho is not None]
    if not used:
        return LIMITS_FAR.answer(holds, LIMITS_FAR.says("not_known"))
    top = max(used, key=lambda limiter: limiter.rho)
    query = promql.use(window.key, top.level, top.unit, window.last("broker"), window.length_ms)
    finding = LIMITS_FAR.says("used_most", **_limit(top), rho=top.rho)
    return LIMITS_FAR.answer(holds, finding, top.rho, t.RHO_POSSIBLE, top.rho_at_ms, query, top.name)


def throttle_events(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Some limiter throttled reads: it reduced how much the broker read at once."""
    ticking = [limiter for limiter in limiters if limiter.events]
    if ticking:
        return limiter_events(window, max(ticking, key=lambda limiter: limiter.events))
    query = promql.all_events(window.key, window.length_ms)
    if all(limiter.events is None for limiter in limiters):
        return THROTTLE_EVENTS.unknown("no_counters", query)
    return THROTTLE_EVENTS.answer(False, NO_EVENT, 0.0, 0.0, window.end_ms, query, unit="events")


def limiter_events(window: Window, limiter: LimiterReading) -> Symptom:
    """What one limiter's counter shows, and whether it proves anything."""
    query = promql.events(window.key, limiter.level, limiter.unit, window.length_ms)
    holds = bool(limiter.events) if limiter.events is not None else None
    return THROTTLE_EVENTS.answer(
        holds, events_finding(limiter), limiter.events_per_s, limiter.wanted_per_s, limiter.events_at_ms, query,
        limiter.name,
    )  # fmt: skip


def events_finding(limiter: LimiterReading) -> Message:
    """How many reads a limiter throttled, and what that shows."""
    level, kind = message(f"limiting.level.{limiter.level}"), message(f"limiting.kind.{limiter.unit}")
    if not limiter.events:
        return THROTTLE_EVENTS.says("none_of_limiter", level=level, kind=kind)
    return THROTTLE_EVENTS.says(
        _meaning(limiter), level=level, kind=kind, events=limiter.events, rate=limiter.events_per_s or 0.0
    )


def _meaning(limiter: LimiterReading) -> str:
    """What a limiter's events show: one of the situations of ``throttle_events``."""
    if limiter.activity == "sparse":
        # As many as of a limiter that binds, but not spread over the window as its are.
        enough = limiter.events_per_s is not None and limiter.events_per_s >= limiter.wanted_per_s
        return "in_bursts" if enough else "sparse"
    if limiter.informative:
        if limiter.zone not in ("at", "near"):
            return "as_if_exhausted"
        per_period = (limiter.events_per_s or 0.0) * (limiter.period_s or 1)
        return "every_period" if per_period < _TWO else "often_every_period"
    if limiter.informative is False:
        return "every_read"
    if limiter.doubt == "old":
        return "limit_old"
    return "limit_not_read" if limiter.limit is None else "batch_not_read"


def limit_changed(window: Window) -> Symptom:
    """A limit was changed in the window."""
    changed = [
        minute_ms
        for minute_ms, flag in zip(
            window.column("minute_ms"), window.column("limits_changed"), strict=True
        )
        if flag
    ]  # fmt: skip
    if changed:
        return LIMIT_CHANGED.answer(
            True, LIMIT_CHANGED.says("changed"), float(len(changed)), 0.0, changed[-1]
        )
    return LIMIT_CHANGED.answer(False, LIMIT_CHANGED.says("unchanged"))


def limit_observed_later(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """The limits were read only after the window and may have been others in it."""
    if not any(limiter.observed for limiter in limiters):
        return LIMIT_OBSERVED_LATER.unknown("not_read")
    later = window.any("limit_observed_later")
    finding = LIMIT_OBSERVED_LATER.says("later" if later else "in_time")
    return LIMIT_OBSERVED_LATER.answer(later, finding, at_ms=window.last("limits_observed_ms"))


def limits_old(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """The limits were read so long before or after the window that others may have been in force."""
    age_s, observed_ms = limits_age_s(window), window.last("limits_observed_ms")
    if age_s is None or not any(limiter.observed for limiter in limiters):
        return LIMITS_OLD.answer(None, LIMITS_OLD.says("not_read"), None, t.LIMITS_OLD_S)
    finding = LIMITS_OLD.says("before" if age_s >= 0 else "after", age_s=abs(age_s))
    return LIMITS_OLD.answer(abs(age_s) > t.LIMITS_OLD_S, finding, age_s, t.LIMITS_OLD_S, observed_ms)


def limit_not_in_force(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """More was delivered than a limit can let through: the limit that was read is not the one in force."""
    broken = [limiter for limiter in limiters if not limiter.in_force]
    if not broken:
        return LIMIT_NOT_IN_FORCE.answer(False, LIMIT_NOT_IN_FORCE.says("none"))
    top = max(broken, key=lambda limiter: limiter.rho)
    finding = LIMIT_NOT_IN_FORCE.says("exceeded", **_limit(top), rho=top.rho)
    return LIMIT_NOT_IN_FORCE.answer(
        True, finding, top.rho, t.RHO_NOT_IN_FORCE, top.rho_at_ms, limiter=top.name
    )


def _limit(limiter: LimiterReading) -> dict[str, object]:
    """A limit as the sentences name it: whose it is, of what, and how much."""
    return {
        "level": message(f"limiting.level.{limiter.level}"),
        "kind": message(f"limiting.kind.{limiter.unit}"),
        "limit": (limiter.limit, limiter.period_s or 1, limiter.unit),
    }
