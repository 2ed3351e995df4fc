"""An answer in words. In: an :class:`ReplayAnswer`. Out: short texts, as they are read at 3 AM."""

from __future__ import annotations

import math
from collections.abc import Callable

from throttlescope.models.messages.units import duration_text, minute_text, share
from throttlescope.models.throttling.replay import Capacity, Change, Forecast, Outlook, ReplayAnswer
from throttlescope.models.throttling.replay.rebuild import own_limits

#: A backlog that changes by less in a second stands still.
_STILL_ENTRIES_PER_S = 0.05
_HOUR_S = 3_600
#: What holds a drain, where that is no limiter.
HELD_BY = {
    "consumers": "the consumers",
    "reads": "nothing but the broker's own reading",
    "arrivals": "nothing: there is no backlog to drain",
}


def question(answer: ReplayAnswer) -> str:
    """What is asked, one clause per setting: ``subscription.msg is 800 per 1 s instead of 500``."""
    change, observed = answer.change, answer.observed
    clauses = []
    before = own_limits(observed, Change())
    after = own_limits(observed, change)
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        old = before.get(level, {}).get(field)
        period = f" per {after[level]['period_s']:g} s" if value is not None and field != "period_s" else ""
        was = "none" if old is None else f"{old:,}"
        clauses.append(f"{key} is {'lifted' if value is None else f'{value:,}{period}'} instead of {was}")
    if change.consumers is not None:
        now = observed.consumers(observed.subscription)
        clauses.append(f"{change.consumers:,} consumers are connected instead of {now:,}")
    if change.processing_ms is not None:
        clauses.append(f"a consumer needs {change.processing_ms:g} ms for a message")
    if change.rate_msg is not None:
        clauses.append(f"{change.rate_msg:,.12g} msg/s are published to the topic")
    if change.load is not None:
        clauses.append(f"{change.load:g} times as much is published")
    if change.batch_msg is not None:
        clauses.append(
            f"an entry holds {change.batch_msg:,} messages instead of {observed.messages_per_entry:.3g}"
        )
    return " and ".join(clauses) or "nothing changes"


def drained(forecast: Forecast) -> str:
    """When the backlog is gone: ``16 min 2 s``, ``at the earliest 7 s``, or how it goes on."""
    if forecast.fitted is not None:
        return _outlook(forecast.fitted)
    if forecast.best.drain_s is None:
        return _outlook(forecast.best)
    if forecast.latest_s == 0:
        return _outlook(forecast.best)
    return f"at the earliest {_seconds(forecast.best.drain_s)}"


def interval(forecast: Forecast, horizon_s: int) -> str:
    """From best to worst; a dash where both are the same."""
    first, last = (
        f"not within {span(horizon_s)}" if value is None else _seconds(value)
        for value in (forecast.earliest_s, forecast.latest_s)
    )
    return "-" if first == last else f"{first} to {last}"


def held_by(answer: ReplayAnswer, outlook: Outlook, change: Change) -> str:
    """What holds the drain."""
    if outlook.held_by == "consumers":
        observed = answer.observed
        number = (
            change.consumers if change.consumers is not None else observed.consumers(observed.subscription)
        )
        return HELD_BY["consumers"] if number else "no consumer is connected"
    if outlook.held_by in HELD_BY:
        return HELD_BY[outlook.held_by]
    level, _, unit = outlook.held_by.partition(".")
    limit = own_limits(answer.observed, change)[level]
    return f"the {level} limit of {limit_text(limit[unit], unit, limit['period_s'])}"


def limit_text(rate: int, unit: str, period_s: float) -> str:
    """As ``500 msg/s`` or ``1,000,000 B per 10 s``."""
    return f"{rate:,} {'msg' if unit == 'msg' else 'B'}{'/s' if period_s == 1 else f' per {period_s:g} s'}"


def effect(answer: ReplayAnswer) -> str:
    """What the change does, in a sentence."""
    changed = main(answer.changed)
    if answer.effect == "open":
        return (
            "It may help. How much depends on what the consumers can do, and that was never seen:"
            " add --set processing_ms=N."
        )
    if answer.effect == "none":
        if changed.held_by == "arrivals":
            return "It makes no difference: there is no backlog to drain."
        return f"It makes no difference: {held_by(answer, changed, answer.change)} {_holds(changed)}."
    before, after = _then(answer.as_is), _then(answer.changed)
    if answer.effect == "later":
        return f"It makes it worse: {after}. As it is: {before}."
    return f"{'It is not enough' if changed.drain_s is None else 'It helps'}: {after}. As it is: {before}."


def arrivals(answer: ReplayAnswer) -> str:
    """How much comes, with its interval."""
    found = answer.arrivals
    bound = "at least " if found.lower_bound else ""
    low, high = _rate(found.low_msg_per_s), _rate(found.high_msg_per_s)
    between = f" ({low} to {high} from minute to minute)" if low != high else ""
    held = "; a lower bound, as a publish limit held producers back" if found.lower_bound else ""
    return f"{bound}{_rate(found.msg_per_s)} msg/s{between}{held}"


def capacity(
    found: Capacity, moment: Callable[[int], str] = lambda at_ms: f"{minute_text(at_ms)} UTC"
) -> str:
    """What consumers can do, where and when that was seen; ``moment`` writes a time."""
    if found.seen == "given":
        rate = "any rate" if math.isinf(found.msg_per_s or 0) else f"{_rate(found.msg_per_s or 0)} msg/s"
        return f"{rate}, as --set processing_ms says for {_consumers(found.consumers)}"
    if found.seen == "at_least":
        if found.low_msg_per_s < 1:
            return "never seen"
        return f"at least {_rate(found.low_msg_per_s)} msg/s; never seen at its limit"
    low, high = _rate(found.low_msg_per_s), _rate(found.high_msg_per_s)
    between = f" ({low} to {high})" if low != high else ""
    age = "up to the end of the window" if not found.age_s else f"{_seconds(found.age_s)} before the end"
    return (
        f"{_rate(found.msg_per_s or 0)} msg/s{between} of {_consumers(found.consumers)}, seen saturated until"
        f" {moment(found.seen_ms)}, {age}"
    )


def own_error(answer: ReplayAnswer) -> str:
    """How well the window was replayed."""
    error = answer.speed.error_share
    return f"misses the recorded backlog by {'less than 1 %' if error < 0.01 else share(error)} of its peak on average"


def span(seconds: int) -> str:
    """A length that was asked for: ``24 h`` rather than ``1 d``."""
    if seconds % _HOUR_S == 0 and seconds <= 48 * _HOUR_S:
        return f"{seconds // _HOUR_S} h"
    return duration_text(1000 * seconds)


def main(forecast: Forecast) -> Outlook:
    """The likeliest; the best one where the consumers were never seen at their limit."""
    return forecast.fitted or forecast.best


def _outlook(outlook: Outlook) -> str:
    if outlook.drain_s is not None:
        return _seconds(outlook.drain_s) if outlook.drain_s else "nothing to drain"
    within = f"within {span(outlook.horizon_s)}"
    growth = outlook.growth_entries_per_s
    if growth > _STILL_ENTRIES_PER_S:
        return f"never {within}, grows by {_rate(growth)} entries/s"
    if growth < -_STILL_ENTRIES_PER_S:
        return f"not {within}, falls by {_rate(-growth)} entries/s"
    return f"never {within}, stays as it is"


def _then(forecast: Forecast) -> str:
    """As part of a sentence."""
    outlook = main(forecast)
    return f"drained after {drained(forecast)}" if outlook.drain_s else _outlook(outlook)


def _holds(outlook: Outlook) -> str:
    plural = outlook.held_by == "consumers"
    return f"hold{'' if plural else 's'} it either way"


def _seconds(value: float) -> str:
    return duration_text(round(1000 * value))


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:,.2g}"


def _consumers(number: int) -> str:
    return "1 consumer" if number == 1 else f"{number:,} consumers"
