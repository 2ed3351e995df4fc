"""The advice. In: an observed window, its counterfactuals, a target. Out: changes that help, best first, and what does not.

Only levers that drain the backlog in a replay are recommended, each with the smallest value that is enough. Levers that change
nothing are listed as well, because people try them first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis.counterfactual import Counterfactuals, counterfactuals
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.recommendation.commands import Command, more_partitions, set_limit
from throttlescope.models.recommendation.recommendation import Recommendation, RecommendedCheck
from throttlescope.models.recommendation.smallest import TriedValue, smallest_consumers, smallest_limit
from throttlescope.models.throttling.replay import Change, Ground, Observed, replay

#: The backlog should be gone within this, unless another target is given.
TARGET_S = 1_800
#: Periods that are tried, in seconds, with the same mean rate.
PERIODS_S = (2, 5, 10, 30, 60)


@dataclass(frozen=True)
class Advice:
    """What to change, and what not.

    Attributes
    ----------
    recommendations : tuple of Recommendation
        The one to do first comes first; empty where nothing that was tried is enough, the replay is too far
        off to know or lacks the cause, or there is no backlog.
    not_helping : tuple of Message
        Levers that change nothing.
    counterfactuals : Counterfactuals
        The replays behind them.
    target_s : int
    """

    recommendations: tuple[Recommendation, ...]
    not_helping: tuple[Message, ...]
    counterfactuals: Counterfactuals
    target_s: int


def advise(
    observed: Observed,
    *,
    limiters: Sequence[str] = (),
    history: Observed | None = None,
    target_s: int = TARGET_S,
    ground: Ground | None = None,
) -> Advice:
    """Find the smallest changes with which the backlog of a window is gone in time.

    Parameters
    ----------
    limiters : sequence of str
        Limiters to lift; by default all that have a limit.
    target_s : int
        Seconds within which the backlog is to be gone.
    ground : Ground, optional
        Results of earlier replays of the window; its own ``history`` is used then.

    Raises
    ------
    InputError
        The window cannot be replayed.
    """
    ground = ground or Ground(observed, history or observed)
    found = counterfactuals(observed, limiters, ground=ground, horizon_s=target_s, only_reliable=True)
    if found.is_far_off or found.not_modelled or found.is_drained:
        return Advice((), (), found, target_s)
    levers: list[Recommendation] = []
    for row in found.rows:
        if row.lever == "limiter" and row.effect in ("sooner", "open"):
            levers += _limits(observed, row.limiter, ground, target_s)
        elif row.lever == "consumers" and row.effect in ("sooner", "open"):
            levers += _consumers(observed, ground, target_s)
    # Neither alone is enough, or the other would limit it at once.
    enough = any(item.lever in ("limit", "consumers", "processing") for item in levers)
    if found.row_of("together") is not None and (found.primary == "both" or (found.primary and not enough)):
        levers = _together(observed, found, ground, target_s) + levers
    return Advice(tuple(levers), _not_helping(found), found, target_s)


# -- levers -------------------------------------------------------------------------------------


def _limits(observed: Observed, limiter: str, ground: Ground, target_s: int) -> list[Recommendation]:
    level, unit = limiter.split(".")
    row = limit_row(observed, level)
    now, period_s = row[f"rate_{unit}"], row["period_s"]
    tried = smallest_limit(observed, limiter, now, target_s, ground=ground)
    if tried is None:
        return []
    rates = {"msg": row["rate_msg"], "bytes": row["rate_bytes"]} | {unit: tried.value}
    command = set_limit(
        row, observed.topic, observed.subscription, msg=rates["msg"], size=rates["bytes"], period_s=period_s
    )
    action = _raise_limit(limiter, now, tried.value, period_s)
    found = [
        _recommendation(
            "limit", limiter, now, (action,), tried, observed, command, risks=_risks(observed, level, tried)
        )
    ]
    if level != "broker":
        # Segments cannot be added like partitions: a split is an operation of its own, and new keys follow it at once.
        if set(observed.partitions) != {-1} and not is_scalable(observed.topic):
            found.append(_partitions(observed, limiter, tried, now))
        found += _period(observed, limiter, row, ground, target_s)
    return found


def _raise_limit(limiter: str, now: int, value: int, period_s: int) -> Message:
    unit = limiter.split(".")[1]
    return message(
        "advice.limit.raise", limiter=limiter, now=(now, period_s, unit), value=(value, period_s, unit)
    )


def _period(
    observed: Observed, limiter: str, row: Mapping[str, Any], ground: Ground, target_s: int
) -> list[Recommendation]:
    """The same mean rate in a longer period: fewer pauses of a second after it is exhausted."""
    level, unit = limiter.split(".")
    per_s = row[f"rate_{unit}"] / row["period_s"]
    if per_s <= _published_per_s(observed, unit):
        # The mean rate itself is too low, whatever the period.
        return []
    for period_s in PERIODS_S:
        if period_s <= row["period_s"]:
            continue
        rate = round(per_s * period_s)
        change = Change({limiter: rate, f"{level}.period_s": period_s})
        tried = TriedValue(period_s, change, replay(observed, change, ground=ground, horizon_s=target_s))
        if tried.outlook.drain_s is not None:
            rates = {"msg": row["rate_msg"], "bytes": row["rate_bytes"]}
            rates = {
                name: value and round(value / row["period_s"] * period_s) for name, value in rates.items()
            }
            command = set_limit(
                row,
                observed.topic,
                observed.subscription,
                msg=rates["msg"],
                size=rates["bytes"],
                period_s=period_s,
            )
            action = message(
                "advice.period.lengthen",
                limiter=limiter,
                now=row["period_s"],
                value=period_s,
                rate=(rate, period_s, unit),
            )
            if unit == "bytes":
                risk = message("advice.risk.burst_bytes", value=rate)
            else:
                risk = message("advice.risk.burst_msg", value=rate)
            return [
                _recommendation(
                    "period", limiter, row["period_s"], (action,), tried, observed, command, risks=(risk,)
                )
            ]
    return []


def _published_per_s(observed: Observed, unit: str) -> float:
    """Publish rate of the topic's busiest partition, in the limit's unit."""
    of = [getattr(item, f"in_{unit}").sum() for item in observed.partitions.values()]
    return float(max(of)) / observed.elapsed_s


def _partitions(observed: Observed, limiter: str, tried: TriedValue, now: int) -> Recommendation:
    """Every partition has limits of its own, so partitions multiply them."""
    count = max(1, len(observed.partitions))
    wanted = math.ceil(count * tried.value / now)
    return Recommendation(
        lever="partitions",
        limiter=limiter,
        now=count,
        value=wanted,
        actions=(message("advice.partitions.add", value=wanted, now=count, limiter=limiter),),
        change="",
        next_limiting_factor=tried.outlook.held_by,
        apply=more_partitions(observed.topic, wanted),
        risks=(message("advice.risk.backlog_stays"), message("advice.risk.keys_move")),
    )


def _consumers(observed: Observed, ground: Ground, target_s: int) -> list[Recommendation]:
    if observed.is_replicator:
        # The remote cluster is as fast as it is; it shows under its own subscriptions why.
        return []
    tried = smallest_consumers(observed, target_s, ground=ground)
    if tried is None:
        return _faster(observed, ground, target_s)
    now = observed.consumers(observed.subscription)
    action = _connect(tried.value, now)
    risks = (message("advice.risk.downstream"),)
    return [_recommendation("consumers", None, now, (action,), tried, observed, None, risks=risks)]


def _connect(wanted: int, now: int) -> Message:
    if now:
        return message("advice.consumers.change", value=wanted, now=now)
    if wanted == 1:
        return message("advice.consumers.connect_one")
    return message("advice.consumers.connect", value=wanted)


def _faster(observed: Observed, ground: Ground, target_s: int) -> list[Recommendation]:
    """Where more consumers cannot work at the same time, each has to be faster: the longest time a message may take."""
    capacity = ground.capacity
    active = observed.active(observed.subscription, observed.consumers(observed.subscription))
    # Consumers that were seen to process nothing have no time per message that could be shortened.
    if not capacity.msg_per_s or not active:
        return []
    arrivals = ground.arrivals.msg_per_s
    wanted = arrivals + float(observed.backlog_entries[-1]) * observed.messages_per_entry / target_s
    before_ms = 1000 * active / capacity.msg_per_s
    # Dispatch in bursts and pauses takes a little longer than the mean rate suggests.
    for margin in (1.0, 1.1, 1.25, 1.5):
        change = Change(processing_ms=float(f"{1000 * active / (wanted * margin):.2g}"))
        tried = TriedValue(
            change.processing_ms, change, replay(observed, change, ground=ground, horizon_s=target_s)
        )
        if tried.outlook.drain_s is not None:
            action = message("advice.processing.faster", value=change.processing_ms, now=before_ms)
            return [
                _recommendation("processing", None, before_ms, (action,), tried, observed, None, risks=())
            ]
    return []


def _together(
    observed: Observed, found: Counterfactuals, ground: Ground, target_s: int
) -> list[Recommendation]:
    """The fewest consumers without the limit, then the smallest limit that they need."""
    limiters = [row.limiter for row in found.rows if row.lever == "limiter"]
    free = smallest_consumers(observed, target_s, ground=ground, also=Change(dict.fromkeys(limiters)))
    if free is None:
        return []
    also = Change(consumers=free.value)
    for limiter in limiters:
        level, unit = limiter.split(".")
        row = limit_row(observed, level)
        now, period_s = row[f"rate_{unit}"], row["period_s"]
        tried = smallest_limit(observed, limiter, now, target_s, ground=ground, also=also)
        if tried is None:
            continue
        rates = {"msg": row["rate_msg"], "bytes": row["rate_bytes"]} | {unit: tried.value}
        command = set_limit(
            row,
            observed.topic,
            observed.subscription,
            msg=rates["msg"],
            size=rates["bytes"],
            period_s=period_s,
        )
        actions = (
            message("advice.together"),
            _connect(free.value, observed.consumers(observed.subscription)),
            _raise_limit(limiter, now, tried.value, period_s),
        )
        risks = _risks(observed, level, tried)
        return [_recommendation("together", limiter, now, actions, tried, observed, command, risks=risks)]
    return []


# -- records ------------------------------------------------------------------------------------


def _recommendation(
    lever: str,
    limiter: str | None,
    now: float,
    actions: tuple[Message, ...],
    tried: TriedValue,
    observed: Observed,
    command: Command | None,
    *,
    risks: tuple[Message, ...],
) -> Recommendation:
    changed = tried.answer.changed
    return Recommendation(
        lever=lever,
        limiter=limiter,
        now=now,
        value=tried.value,
        actions=actions,
        change=tried.change.words,
        next_limiting_factor=tried.outlook.held_by,
        earliest_drain_s=changed.earliest_s,
        likely_drain_s=None if changed.fitted is None else changed.fitted.drain_s,
        latest_drain_s=changed.latest_s,
        apply=command and command.do,
        roll_back=command and command.undo,
        risks=(*risks, *(command.notes if command else ())),
        checks=_checks(observed, tried),
    )


def _checks(observed: Observed, tried: TriedValue) -> tuple[RecommendedCheck, ...]:
    drain_s, per_s = tried.outlook.drain_s, -tried.outlook.growth_entries_per_s
    if drain_s:
        gone = message("advice.check.backlog_gone", entries_per_s=per_s, drain_s=drain_s)
    else:
        gone = message("advice.check.backlog_falls")
    backlog, dispatched = promql.backlog_and_dispatch(
        observed.topic, observed.subscription, observed.partition
    )
    if observed.is_replicator:
        entries_per_s = tried.outlook.out_msg_per_s / observed.messages_per_entry
        sent = message("advice.check.replicated", entries_per_s=entries_per_s)
    else:
        sent = message("advice.check.dispatched", msg_per_s=tried.outlook.out_msg_per_s)
    return RecommendedCheck(backlog, gone), RecommendedCheck(dispatched, sent)


def _risks(observed: Observed, level: str, tried: TriedValue) -> tuple[Message, ...]:
    before, after = tried.answer.as_is.all[0].out_msg_per_s, tried.outlook.out_msg_per_s
    load = () if before <= 0 else (message("advice.risk.load_on_broker", after=after, before=before),)
    return (*load, *shared_limit_risks(observed, level))


def shared_limit_risks(observed: Observed, level: str) -> tuple[Message, ...]:
    """Who else uses a limit of that level."""
    others = sorted({name for name, _ in observed.readers} - {observed.subscription})
    if level == "topic" and others:
        return (message("advice.risk.shared_topic_limit", others=others),)
    if level == "broker":
        return (message("advice.risk.shared_broker_limit"),)
    return ()


def _not_helping(found: Counterfactuals) -> tuple[Message, ...]:
    """Levers that change nothing in a replay."""
    rows = [row for row in found.rows if row.effect == "none"]
    return tuple(
        message("advice.no_help.consumers", factor=row.held_by)
        if row.lever == "consumers"
        else message("advice.no_help.limit", limiter=row.limiter, factor=row.held_by)
        for row in rows
        if row.lever in ("consumers", "limiter")
    )


def limit_row(observed: Observed, level: str) -> Mapping[str, Any]:
    """The row of ``limits`` of one level that applies to the subscription."""
    return next(
        row
        for (at, _, name), row in sorted(observed.limits.items())
        if at == level and name in ("", None, observed.subscription)
    )
