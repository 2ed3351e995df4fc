"""The text of a replay's answer. In: a :class:`ReplayAnswer` and how values are written. Out: short texts, worded by the catalogue."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from throttlescope.models.messages.catalogue import message
from throttlescope.models.messages.units import duration_text, minute_text, percent, rate
from throttlescope.models.throttling.replay import (
    Capacity,
    Change,
    Forecast,
    Observed,
    Outlook,
    ReplayAnswer,
)
from throttlescope.models.throttling.replay.rebuild import own_limits

#: A backlog that changes by less per second is steady.
_STEADY_ENTRIES_PER_S = 0.05
_HOUR_S = 3_600


@dataclass(frozen=True)
class ValueStyle:
    """How a front end writes values.

    Attributes
    ----------
    setting : callable
        Value, key of a change and period in seconds to text with its unit; None for no limit.
    duration, span : callable
        Seconds to text: measured ones, and those that a user selected.
    msg_rate, entries_rate : callable
        Rates to text with their unit.
    moment : callable
        Epoch milliseconds to text with the time zone.
    """

    setting: Callable[[float | None, str, float | None], str]
    duration: Callable[[float], str]
    span: Callable[[int], str]
    msg_rate: Callable[[float], str]
    entries_rate: Callable[[float], str]
    moment: Callable[[int], str]


def changes(observed: Observed, change: Change, style: ValueStyle) -> list[str]:
    """One clause per setting: ``subscription.msg is 800 msg/s instead of 500 msg/s``."""
    before, after = own_limits(observed, Change()), own_limits(observed, change)
    clauses = []
    for key, value in change.limits.items():
        level, _, field = key.partition(".")
        was, then = before.get(level, {}), after.get(level, {})
        now = style.setting(was.get(field), key, was.get("period_s"))
        if value is None:
            clauses.append(message("whatif.change.limit_lifted", setting=key, now=now))
        else:
            new = style.setting(value, key, then.get("period_s"))
            clauses.append(message("whatif.change.limit", setting=key, value=new, now=now))
    if change.consumers is not None:
        now = style.setting(observed.consumers(observed.subscription), "consumers", None)
        new = style.setting(change.consumers, "consumers", None)
        clauses.append(message("whatif.change.consumers", value=new, now=now))
    if change.processing_ms is not None:
        needs = style.setting(change.processing_ms, "processing_ms", None)
        clauses.append(message("whatif.change.processing", value=needs))
    if change.rate_msg is not None:
        clauses.append(message("whatif.change.rate", value=style.setting(change.rate_msg, "rate_msg", None)))
    if change.load is not None:
        clauses.append(message("whatif.change.load", value=change.load))
    if change.batch_msg is not None:
        new, now = f"{change.batch_msg:,}", f"{observed.messages_per_entry:.3g}"
        clauses.append(message("whatif.change.batching", value=new, now=now))
    return [one.text for one in clauses]


def question(answer: ReplayAnswer) -> str:
    """All clauses of a change, for plain text."""
    clauses = changes(answer.observed, answer.change, PLAIN)
    return " and ".join(clauses) or message("whatif.change.nothing").text


def headline(answer: ReplayAnswer) -> str:
    """The question as a whole sentence."""
    return message("whatif.headline", changes=question(answer)).text


def drained(forecast: Forecast, style: ValueStyle) -> str:
    """When the backlog is gone: ``16 min 2 s``, ``at the earliest 7 s``, or its growth."""
    found = main(forecast)
    if found.drain_s and forecast.fitted is None and forecast.latest_s != 0:
        return message("whatif.gone.at_the_earliest", after=style.duration(found.drain_s)).text
    return _outlook(found, style)


def interval(forecast: Forecast, horizon_s: int, style: ValueStyle) -> str:
    """From best to worst; a dash where both are the same."""
    first, last = (
        message("whatif.gone.never", horizon=style.span(horizon_s)).text
        if value is None
        else style.duration(value)
        for value in (forecast.earliest_s, forecast.latest_s)
    )
    return "-" if first == last else message("label.range_words", low=first, high=last).text


def limited_by(answer: ReplayAnswer, outlook: Outlook, change: Change, style: ValueStyle) -> str:
    """The limiting factor of the drain."""
    if outlook.held_by == "consumers":
        now = answer.observed.consumers(answer.observed.subscription)
        number = now if change.consumers is None else change.consumers
        return _LIMITED_BY["consumers" if number else "no_consumer"].text
    return _factor(answer, outlook.held_by, change, style)


def next_limit(answer: ReplayAnswer, outlook: Outlook, change: Change, style: ValueStyle) -> str:
    """What limits the drain without the present limiting factor, and from which rate on."""
    found = outlook.next_brake
    if found is not None:
        name, msg_per_s = found
        factor = _factor(answer, name, change, style)
        return message("whatif.next_limit", factor=factor, rate=style.msg_rate(msg_per_s)).text
    is_unknown = main(answer.changed).used.get("consumers") == 0
    if outlook.held_by not in ("reads", "arrivals") and is_unknown:
        return message("whatif.next_limit_unknown").text
    return "-"


_LIMITED_BY = {
    "consumers": message("whatif.limited_by.consumers"),
    "no_consumer": message("whatif.limited_by.no_consumer"),
    "reads": message("whatif.limited_by.reads"),
    "arrivals": message("whatif.limited_by.arrivals"),
}


def _factor(answer: ReplayAnswer, name: str, change: Change, style: ValueStyle) -> str:
    if name in _LIMITED_BY:
        return _LIMITED_BY[name].text
    level, _, unit = name.partition(".")
    limit = own_limits(answer.observed, change)[level]
    value = style.setting(limit[unit], name, limit["period_s"])
    return message("whatif.limited_by.limit", limiter=name, value=value).text


def effect(answer: ReplayAnswer) -> str:
    """What the change does, as plain text."""
    changed = main(answer.changed)
    if answer.effect == "open":
        return message("whatif.effect.open").text
    if answer.effect == "none":
        if changed.held_by == "arrivals":
            return message("whatif.effect.no_backlog").text
        factor = limited_by(answer, changed, answer.change, PLAIN)
        return message("whatif.effect.none", factor=factor).text
    now, then = _then(answer.as_is), _then(answer.changed)
    if answer.effect == "later":
        return message("whatif.effect.worse", then=then, now=now).text
    if changed.drain_s is None:
        return message("whatif.effect.not_enough", then=then, now=now).text
    return message("whatif.effect.helps", then=then, now=now).text


def arrivals(answer: ReplayAnswer, style: ValueStyle) -> str:
    """The publish rate with its interval."""
    found = answer.arrivals
    usual, low, high = map(style.msg_rate, (found.msg_per_s, found.low_msg_per_s, found.high_msg_per_s))
    if found.lower_bound:
        return message("whatif.arrivals.lower_bound", rate=usual, low=low, high=high).text
    if low == high:
        return message("whatif.arrivals.exact", rate=usual).text
    return message("whatif.arrivals.interval", rate=usual, low=low, high=high).text


def capacity(found: Capacity, style: ValueStyle) -> str:
    """What the consumers can process, and when that was observed."""
    if found.seen == "given":
        if math.isinf(found.msg_per_s or 0):
            return message("whatif.capacity.any", consumers=found.consumers).text
        usual = style.msg_rate(found.msg_per_s or 0)
        return message("whatif.capacity.given", rate=usual, consumers=found.consumers).text
    if found.seen == "at_least":
        if found.low_msg_per_s < 1:
            return message("whatif.capacity.unknown").text
        return message("whatif.capacity.at_least", low=style.msg_rate(found.low_msg_per_s)).text
    usual, low, high = map(style.msg_rate, (found.msg_per_s or 0, found.low_msg_per_s, found.high_msg_per_s))
    if found.seen == "bursts":
        return message(
            "whatif.capacity.bursts", rate=usual, low=low, high=high, consumers=found.consumers
        ).text
    if not found.age_s:
        return message("whatif.capacity.now", rate=usual, low=low, high=high, consumers=found.consumers).text
    return message(
        "whatif.capacity.before", rate=usual, low=low, high=high, consumers=found.consumers,
        seen=style.moment(found.seen_ms), age=style.duration(found.age_s),
    ).text  # fmt: skip


def own_error(answer: ReplayAnswer) -> str:
    """How well the window was replayed."""
    error = answer.speed.error_share
    if error < 0.01:
        return message("whatif.error.small").text
    return message("whatif.error.share", share=percent(error)).text


def main(forecast: Forecast) -> Outlook:
    """The likeliest; the best one where the consumers were never observed at their limit."""
    return forecast.fitted or forecast.best


def _outlook(outlook: Outlook, style: ValueStyle) -> str:
    if outlook.drain_s is not None:
        if not outlook.drain_s:
            return message("whatif.gone.nothing_to_drain").text
        return message("whatif.gone.after", after=style.duration(outlook.drain_s)).text
    horizon, growth = style.span(outlook.horizon_s), outlook.growth_entries_per_s
    change = style.entries_rate(abs(growth))
    if growth > _STEADY_ENTRIES_PER_S:
        return message("whatif.gone.never_growing", horizon=horizon, rate=change).text
    if growth < -_STEADY_ENTRIES_PER_S:
        return message("whatif.gone.never_falling", horizon=horizon, rate=change).text
    return message("whatif.gone.never_steady", horizon=horizon).text


def _then(forecast: Forecast) -> str:
    """As part of a sentence."""
    outlook = main(forecast)
    if outlook.drain_s:
        return message("whatif.drained_after", after=drained(forecast, PLAIN)).text
    return _outlook(outlook, PLAIN)


# -- plain text ---------------------------------------------------------------------------------


def _setting(value: float | None, key: str, period_s: float | None) -> str:
    if value is None:
        return "none"
    if key.endswith("period_s"):
        return f"{value:g} s"
    if key.endswith((".msg", ".bytes")):
        unit = "msg" if key.endswith(".msg") else "B"
        return f"{value:,} {unit}{'/s' if (period_s or 1) == 1 else f' per {period_s:g} s'}"
    if key == "processing_ms":
        return f"{value:g} ms"
    return f"{value:,.12g} msg/s" if key == "rate_msg" else f"{value:,}"


def _span(seconds: int) -> str:
    """``24 h`` rather than ``1 d``."""
    if seconds % _HOUR_S == 0 and seconds <= 48 * _HOUR_S:
        return f"{seconds // _HOUR_S} h"
    return duration_text(1000 * seconds)


PLAIN = ValueStyle(
    setting=_setting,
    duration=lambda seconds: duration_text(round(1000 * seconds)),
    span=_span,
    msg_rate=lambda value: f"{rate(value)} msg/s",
    entries_rate=lambda value: f"{rate(value)} entries/s",
    moment=lambda at_ms: f"{minute_text(at_ms)} UTC",
)
