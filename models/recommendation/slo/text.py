"""What keeps an objective, in words and commands. In: a :class:`SloResult`. Out: recommendations like those that drain, and what is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.models.diagnosis import promql
from throttlescope.models.messages.rounded import duration, number, per_period
from throttlescope.models.recommendation.advice import Recommendation
from throttlescope.models.recommendation.commands import Command, set_limit
from throttlescope.models.recommendation.slo.result import Keep, SloResult
from throttlescope.models.throttling.replay import Ground, Observed

_UNITS = {"msg": "message", "bytes": "byte"}
_HELD = {"consumers": "what the consumers can do", "reads": "the broker's reading"}


def recommendations(kept: SloResult, ground: Ground) -> tuple[Recommendation, ...]:
    """Each value with its command, its way back, what it risks and how to see that it works; nothing is executed."""
    return tuple(_recommendation(one, kept, ground) for one in kept.keeps)


def not_enough(kept: SloResult) -> tuple[str, ...]:
    """Levers that do not keep it by themselves, however large."""
    found = []
    for name, age_s, held_by in kept.not_enough:
        what = "More consumers alone" if name == "consumers" else f"A higher {name} alone"
        found.append(
            f"{what} would not have kept it: {_held(held_by)} would have held it, and the p99 age been {age_text(age_s)}."
        )
    return tuple(found)


def age_text(age_s: float | None) -> str:
    """``4 min``; ``unknown`` without one."""
    return "unknown" if age_s is None else duration(age_s)


def _recommendation(one: Keep, kept: SloResult, ground: Ground) -> Recommendation:
    observed = ground.observed
    do, undo, notes = None, None, ()
    if one.limiter is not None and one.lever != "partitions":
        command = _command(one, observed)
        do, undo, notes = command.do, command.undo, command.notes
    if one.lever == "partitions":
        do = f"pulsar-admin topics update-partitioned-topic {observed.topic} -p {one.value}"
    return Recommendation(
        lever=one.lever,
        words=f"{_sentence(one, observed)} The p99 age would have been {age_text(one.p99_age_s)}.",
        change="" if one.lever == "partitions" else one.change.words,
        earliest_drain_s=None,
        likely_drain_s=None,
        latest_drain_s=None,
        next_brake=one.next_brake,
        do=do,
        undo=undo,
        risks=(*_risks(one, kept, observed), *notes),
        verify=_verify(one, kept, observed),
    )


def _sentence(one: Keep, observed: Observed) -> str:
    if one.lever == "partitions":
        return f"Give the topic {one.value} partitions instead of {one.now}: each has the whole limit {one.limiter}."
    if one.lever == "consumers":
        if one.value == one.now:
            return f"Keep the {number(one.now)} consumers: fewer would not have kept it."
        return f"Have {number(one.value)} consumers instead of {number(one.now)}, each as fast as those that are there."
    level, unit = one.limiter.split(".")
    row = _row(observed, level)
    period_s, rate = int(row["period_s"]), int(row[f"rate_{unit}"])
    name = f"the {level}'s {_UNITS[unit]} limit"
    if one.lever == "period":
        return (
            f"Keep the mean of {name} and lengthen its period from {one.now} s to {one.value} s: "
            f"{per_period(one.change.limits[one.limiter], one.value, unit)}."
        )
    before, after = per_period(rate, period_s, unit), per_period(one.value, period_s, unit)
    if one.value == one.now:
        move = f"Keep {name} at {before}: less would not have kept it."
    elif one.value < one.now:
        move = f"{name[0].upper()}{name[1:]} could be lowered from {before} to {after}."
    else:
        move = f"Raise {name} from {before} to {after}."
    if one.lever == "together":
        now = observed.consumers(observed.subscription)
        return f"One alone is not enough: have {number(one.change.consumers)} consumers instead of {number(now)}. {move}"
    return move


def _command(one: Keep, observed: Observed) -> Command:
    level, unit = one.limiter.split(".")
    row = _row(observed, level)
    rates = {"msg": row["rate_msg"], "bytes": row["rate_bytes"]}
    period_s = int(row["period_s"])
    if one.lever == "period":
        rates = {name: value and round(value * one.value / period_s) for name, value in rates.items()}
        period_s = one.value
    else:
        rates[unit] = one.value
    return set_limit(
        row, observed.topic, observed.subscription, msg=rates["msg"], size=rates["bytes"], period_s=period_s
    )


def _risks(one: Keep, kept: SloResult, observed: Observed) -> tuple[str, ...]:
    if one.lever == "partitions":
        return ("keys move to other partitions, and partitions cannot be taken away again",)
    found = []
    before, after = kept.as_is_service_msg_per_s, one.service_msg_per_s
    if after > before:
        found.append(
            f"while a backlog drains the broker reads and sends up to {number(after)} msg/s instead of {number(before)}"
        )
    if after < before:
        found.append(
            f"a backlog drains at {number(after)} msg/s instead of {number(before)}: a busier day than these would wait longer"
        )
    level = (one.limiter or "").split(".")[0]
    others = sorted({name for name, _ in observed.readers} - {observed.subscription})
    if level == "topic" and others:
        found.append(f"the limit is shared: {', '.join(others)} may take of it as well")
    if level == "broker":
        found.append("every subscription of every broker shares it")
    if one.lever in ("consumers", "together"):
        found.append("what the consumers call (databases, services) has to take the load")
    if one.lever == "period":
        found.append("all of a period's messages may come at once")
    return tuple(found)


def _verify(one: Keep, kept: SloResult, observed: Observed) -> tuple[str, ...]:
    where = promql.of_all_partitions(observed.topic, observed.subscription, observed.partition)
    topic = where.replace(f',subscription="{observed.subscription}"', "")
    return (
        f"quantile_over_time(0.99, pulsar_storage_backlog_age_seconds{topic}[1d]) should stay at or below {number(kept.target_s)} "
        "(the topic's oldest backlog, of all its subscriptions)",
        f"sum(rate(pulsar_out_messages_total{promql.without_consumers(where)}[5m])) should come to about "
        f"{number(one.service_msg_per_s)} msg/s while a backlog drains",
    )


def _held(held_by: str) -> str:
    return _HELD.get(held_by, f"the limit {held_by}")


def _row(observed: Observed, level: str) -> Mapping[str, Any]:
    return next(
        row
        for (at, _, name), row in sorted(observed.limits.items())
        if at == level and name in ("", None, observed.subscription)
    )
