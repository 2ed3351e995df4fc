"""What do the limiters do? In: a window and the readings of its limiters. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.limiters import LimiterReading, limits_age_s
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import duration, number, per_period, share

_UNIT_WORDS = {"msg": "message", "bytes": "byte"}

NO_LIMIT = "No limit is set."
NO_EVENT = "No limiter lowered a single read plan."


def limiter_at_limit(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Some limiter is used up to its limit."""
    name = "limiter_at_limit"
    used = [limiter for limiter in limiters if limiter.rho is not None and limiter.zone != "unknown"]
    if not used:
        known = all(limiter.observed for limiter in limiters)
        text = NO_LIMIT if known else "How much of a limit is used is not known."
        return Symptom(name, False if known else None, text, threshold=t.RHO_AT_LIMIT, unit="use / limit")
    top = max(used, key=lambda limiter: limiter.rho)
    return limiter_use(window, top, name)


def limiter_use(window: Window, limiter: LimiterReading, name: str = "limiter_at_limit") -> Symptom:
    """How much of one limiter's limit is used."""
    query = promql.use(window.key, limiter.level, limiter.unit, window.last("broker"), window.length_ms)
    return Symptom(
        name, limiter.zone in ("at", "near"), use_text(limiter), limiter.rho,
        t.RHO_NEAR_LIMIT if limiter.zone == "near" else t.RHO_AT_LIMIT, "use / limit",
        limiter.rho_at_ms, query, limiter.name,
    )  # fmt: skip


def use_text(limiter: LimiterReading) -> str:
    text = f"{_limit_words(limiter)} is used to {share(limiter.rho)}"
    if limiter.shared and limiter.own_rho is not None:
        text += (
            f" by the subscriptions that were read, to {share(min(limiter.own_rho, limiter.rho))} by this one"
        )
    return text + "."


def limits_far(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Every limiter is known and far from its limit, or there is none."""
    zones = [limiter.believed_zone for limiter in limiters]
    holds: bool | None = all(zone == "far" for zone in zones)
    if not holds and all(zone in ("far", "unknown") for zone in zones):
        holds = None
    set_ = [limiter for limiter in limiters if limiter.limit is not None]
    if holds and not set_:
        text = "No dispatch limit is set on the subscription, its topic or its broker."
        return Symptom("limits_far", True, text)
    used = [limiter for limiter in limiters if limiter.rho is not None]
    if not used:
        return Symptom("limits_far", holds, "The dispatch limits are not known.")
    top = max(used, key=lambda limiter: limiter.rho)
    text = f"{_limit_words(top)} is the one used most, to {share(top.rho)}."
    query = promql.use(window.key, top.level, top.unit, window.last("broker"), window.length_ms)
    return Symptom(
        "limits_far", holds, text, top.rho, t.RHO_POSSIBLE, "use / limit", top.rho_at_ms, query, top.name
    )


def throttle_events(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Some limiter lowered read plans."""
    query = promql.all_events(window.key, window.length_ms)
    if all(limiter.events is None for limiter in limiters):
        return Symptom("throttle_events", None, "The throttle counters are not there.", promql=query)
    ticking = [limiter for limiter in limiters if limiter.events]
    if not ticking:
        return Symptom("throttle_events", False, NO_EVENT, 0.0, 0.0, "events", window.end_ms, query)
    return limiter_events(window, max(ticking, key=lambda limiter: limiter.events))


def limiter_events(window: Window, limiter: LimiterReading) -> Symptom:
    """What one limiter's counter shows, and whether it proves anything."""
    query = promql.events(window.key, limiter.level, limiter.unit, window.length_ms)
    holds = bool(limiter.events) if limiter.events is not None else None
    return Symptom(
        "throttle_events", holds, events_text(limiter), limiter.events_per_s, limiter.wanted_per_s, "events/s",
        limiter.events_at_ms, query, limiter.name,
    )  # fmt: skip


def events_text(limiter: LimiterReading) -> str:
    which = f"{limiter.level} {_UNIT_WORDS[limiter.unit]} limit"
    rate = limiter.events_per_s or 0.0
    counted = f"The {which} lowered {number(limiter.events or 0)} read plans ({number(rate)}/s)"
    if not limiter.events:
        text = f"The {which} lowered no read plan."
    elif limiter.activity == "sparse":
        text = f"{counted}, fewer than a limiter that holds a subscription back."
    elif limiter.informative:
        text = f"{counted}, as a limiter does that is used up again and again."
    elif limiter.informative is False:
        planned = "one read plans for" if limiter.unit == "msg" else "one read may fetch"
        text = (
            f"{counted}; that proves nothing, because a period's tokens are fewer than {planned}, "
            "so every read of a healthy subscription counts too."
        )
    elif limiter.doubt == "old":
        text = f"{counted}; the limit was read too long ago to say whether that means anything."
    elif limiter.limit is not None:
        text = f"{counted}; whether that means anything depends on dispatcherMaxReadBatchSize, which was not read."
    else:
        text = f"{counted}; without the limit nobody can say whether that means anything."
    return text


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
        text = "A dispatch limit was changed in this window; the broker then starts with a full period of tokens."
        return Symptom("limit_changed", True, text, float(len(changed)), 0.0, "changes", changed[-1])
    return Symptom("limit_changed", False, "No dispatch limit was changed.")


def limit_observed_later(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """The limits were read only after the window and may have been others in it."""
    holds = window.any("limit_observed_later")
    observed_ms = window.last("limits_observed_ms")
    text = (
        "The limits were read after this window; they may have been others then."
        if holds
        else "The limits were read before or in this window."
    )
    if not any(limiter.observed for limiter in limiters):
        return Symptom("limit_observed_later", None, "The limits were not read.")
    return Symptom("limit_observed_later", holds, text, at_ms=observed_ms)


def limits_old(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """The limits were read so long before or after the window that others may have been in force."""
    age_s, observed_ms = limits_age_s(window), window.last("limits_observed_ms")
    if age_s is None or not any(limiter.observed for limiter in limiters):
        return Symptom("limits_old", None, "The limits were not read.", None, t.LIMITS_OLD_S, "s")
    text = f"The limits were read {limits_age_words(age_s)}."
    return Symptom("limits_old", abs(age_s) > t.LIMITS_OLD_S, text, age_s, t.LIMITS_OLD_S, "s", observed_ms)


def limits_age_words(age_s: float) -> str:
    return f"{duration(abs(age_s))} {'before' if age_s >= 0 else 'after'} the window's end"


def limit_not_in_force(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """More was delivered than a limit can let through: the limit that was read is not the one in force."""
    broken = [limiter for limiter in limiters if not limiter.in_force]
    if not broken:
        return Symptom("limit_not_in_force", False, "No limit was exceeded for the length of the window.")
    top = max(broken, key=lambda limiter: limiter.rho)
    text = (
        f"{_limit_words(top)} was exceeded {number(top.rho)} times over the whole window, "
        "so it is not what the broker enforces."
    )
    return Symptom(
        "limit_not_in_force", True, text, top.rho, t.RHO_NOT_IN_FORCE, "use / limit", top.rho_at_ms,
        limiter=top.name,
    )  # fmt: skip


def _limit_words(limiter: LimiterReading) -> str:
    limit = per_period(limiter.limit, limiter.period_s or 1, limiter.unit)
    return f"The {limiter.level}'s {_UNIT_WORDS[limiter.unit]} limit ({limit})"
