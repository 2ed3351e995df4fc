"""What keeps an objective, as recommendations. In: a :class:`SloResult`. Out: the same records as those that drain, and what is not enough."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.recommendation.advice import limit_row, shared_limit_risks
from throttlescope.models.recommendation.commands import Command, more_partitions, set_limit
from throttlescope.models.recommendation.recommendation import Recommendation, RecommendedCheck
from throttlescope.models.recommendation.slo.result import Keep, SloResult
from throttlescope.models.throttling.replay import Ground, Observed


def recommendations(kept: SloResult, ground: Ground) -> tuple[Recommendation, ...]:
    """Each value with its command, its rollback, its risks and its checks; nothing is executed."""
    return tuple(_recommendation(one, kept, ground.observed) for one in kept.keeps)


def not_enough(kept: SloResult) -> tuple[Message, ...]:
    """Levers that do not meet the objective alone, whatever their value."""
    return tuple(
        message("advice.not_enough.consumers", factor=factor, p99_age_s=age_s)
        if name == "consumers"
        else message("advice.not_enough.limit", limiter=name, factor=factor, p99_age_s=age_s)
        for name, age_s, factor in kept.not_enough
    )


def _recommendation(one: Keep, kept: SloResult, observed: Observed) -> Recommendation:
    is_command = one.limiter is not None and one.lever != "partitions"
    command = _command(one, observed) if is_command else None
    apply = command and command.do
    if one.lever == "partitions":
        apply = more_partitions(observed.topic, one.value)
    return Recommendation(
        lever=one.lever,
        limiter=one.limiter,
        now=one.now,
        value=one.value,
        actions=_actions(one, observed),
        change="" if one.lever == "partitions" else one.change.words,
        next_limiting_factor=one.next_brake,
        p99_age_s=one.p99_age_s,
        apply=apply,
        roll_back=command and command.undo,
        risks=(*_risks(one, kept, observed), *(command.notes if command else ())),
        checks=_checks(one, kept, observed),
    )


def _actions(one: Keep, observed: Observed) -> tuple[Message, ...]:
    if one.lever == "partitions":
        return (message("advice.partitions.add", value=one.value, now=one.now, limiter=one.limiter),)
    if one.lever == "consumers":
        return (_consumers(one.value, one.now),)
    level, unit = one.limiter.split(".")
    row = limit_row(observed, level)
    period_s, rate = int(row["period_s"]), int(row[f"rate_{unit}"])
    if one.lever == "period":
        longer = (one.change.limits[one.limiter], one.value, unit)
        return (
            message("advice.period.lengthen", limiter=one.limiter, now=one.now, value=one.value, rate=longer),
        )
    limit = _limit(one, (rate, period_s, unit), (one.value, period_s, unit))
    if one.lever == "together":
        now = observed.consumers(observed.subscription)
        return (message("advice.together"), _consumers(one.change.consumers, now), limit)
    return (limit,)


def _consumers(value: int, now: int) -> Message:
    if value == now:
        return message("advice.consumers.keep", now=now)
    return message("advice.consumers.change", value=value, now=now)


def _limit(one: Keep, now: tuple, value: tuple) -> Message:
    if one.value == one.now:
        return message("advice.limit.keep", limiter=one.limiter, now=now)
    if one.value < one.now:
        return message("advice.limit.lower", limiter=one.limiter, now=now, value=value)
    return message("advice.limit.raise", limiter=one.limiter, now=now, value=value)


def _command(one: Keep, observed: Observed) -> Command:
    level, unit = one.limiter.split(".")
    row = limit_row(observed, level)
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


def _risks(one: Keep, kept: SloResult, observed: Observed) -> tuple[Message, ...]:
    if one.lever == "partitions":
        return (message("advice.risk.keys_move"),)
    found = []
    before, after = kept.as_is_service_msg_per_s, one.service_msg_per_s
    if after > before:
        found.append(message("advice.risk.faster_drain", after=after, before=before))
    if after < before:
        found.append(message("advice.risk.slower_drain", after=after, before=before))
    found += shared_limit_risks(observed, (one.limiter or "").split(".")[0])
    if one.lever in ("consumers", "together"):
        found.append(message("advice.risk.downstream"))
    if one.lever == "period":
        found.append(message("advice.risk.burst"))
    return tuple(found)


def _checks(one: Keep, kept: SloResult, observed: Observed) -> tuple[RecommendedCheck, ...]:
    where = promql.of_all_partitions(observed.topic, observed.subscription, observed.partition)
    topic = promql.of_all_partitions(observed.topic, None, observed.partition)
    return (
        RecommendedCheck(
            f"quantile_over_time(0.99, pulsar_storage_backlog_age_seconds{topic}[1d])",
            message("advice.check.age", target_s=kept.target_s),
        ),
        RecommendedCheck(
            f"sum(rate(pulsar_out_messages_total{promql.without_consumers(where)}[5m]))",
            message("advice.check.dispatched_draining", msg_per_s=one.service_msg_per_s),
        ),
    )
