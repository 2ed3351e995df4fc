"""The advice. In: an observed window, its counterfactuals, a target. Out: changes that help, best first, and what does not.

Only levers that a replay says will drain the backlog are recommended, each as small as is enough. What changes nothing is
said as plainly, because it is what people try first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis.counterfactual import Counterfactuals, counterfactuals
from throttlescope.models.messages.rounded import duration, number, per_period
from throttlescope.models.recommendation.commands import Command, set_limit
from throttlescope.models.recommendation.smallest import Tried, smallest_consumers, smallest_limit
from throttlescope.models.throttling.replay import Change, Ground, Observed, replay

#: The backlog should be gone within this, unless another target is given.
TARGET_S = 1_800
#: Periods that are tried, in seconds, with the same mean rate.
PERIODS_S = (2, 5, 10, 30, 60)

_LIMIT_WORDS = {"msg": "message", "bytes": "byte"}


@dataclass(frozen=True)
class Recommendation:
    """One change.

    Attributes
    ----------
    lever : str
        ``limit``, ``period``, ``consumers``, ``processing``, ``partitions`` or ``together``.
    words : str
        What to do, in one sentence.
    change : str
        The same as ``--set`` writes it; empty where a replay cannot try it.
    earliest_drain_s, likely_drain_s, latest_drain_s : float or None
        When the backlog is gone then; None: cannot be told, or not within the target.
    next_brake : str
        What holds the drain then: a limiter, ``consumers`` or ``reads``.
    do, undo : str or None
        Commands, not executed.
    risks, verify : tuple of str
        What it costs, and how to see that it works.
    """

    lever: str
    words: str
    change: str
    earliest_drain_s: float | None
    likely_drain_s: float | None
    latest_drain_s: float | None
    next_brake: str
    do: str | None
    undo: str | None
    risks: tuple[str, ...]
    verify: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """What to change, and what not.

    Attributes
    ----------
    recommendations : tuple of Recommendation
        The one to do first comes first; empty where nothing that was tried is enough.
    not_helping : tuple of str
        Levers that change nothing, in words.
    counterfactuals : Counterfactuals
        What they rest on.
    target_s : int
    """

    recommendations: tuple[Recommendation, ...]
    not_helping: tuple[str, ...]
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
        Limiters that are said to hold; by default all that have a limit.
    target_s : int
        Seconds within which the backlog is to be gone.
    ground : Ground, optional
        What earlier replays of the window found; ``history`` is its own then.

    Raises
    ------
    InputError
        The window cannot be replayed.
    """
    ground = ground or Ground(observed, history or observed)
    found = counterfactuals(observed, limiters, ground=ground, horizon_s=target_s)
    levers: list[Recommendation] = []
    for row in found.rows:
        if row.lever == "limiter" and row.effect in ("sooner", "open"):
            levers += _limits(observed, row.limiter, ground, target_s)
        elif row.lever == "consumers" and row.effect in ("sooner", "open"):
            levers += _consumers(observed, ground, target_s)
    # Neither alone, or one that the other would stop right away.
    enough = any(item.lever in ("limit", "consumers", "processing") for item in levers)
    if found.row_of("together") is not None and (found.primary == "both" or (found.primary and not enough)):
        levers = _together(observed, found, ground, target_s) + levers
    return Advice(tuple(levers), _not_helping(found), found, target_s)


# -- levers -------------------------------------------------------------------------------------


def _limits(observed: Observed, limiter: str, ground: Ground, target_s: int) -> list[Recommendation]:
    level, unit = limiter.split(".")
    row = _row_of(observed, level)
    now, period_s = row[f"rate_{unit}"], row["period_s"]
    tried = smallest_limit(observed, limiter, now, target_s, ground=ground)
    if tried is None:
        return []
    rates = {"msg": row["rate_msg"], "bytes": row["rate_bytes"]} | {unit: tried.value}
    command = set_limit(
        row, observed.topic, observed.subscription, msg=rates["msg"], size=rates["bytes"], period_s=period_s
    )
    words = (
        f"Raise the {level}'s {_LIMIT_WORDS[unit]} limit from {per_period(now, period_s, unit)} "
        f"to {per_period(tried.value, period_s, unit)}."
    )
    found = [
        _recommendation("limit", words, tried, observed, command, risks=_risks(observed, level, now, tried))
    ]
    if level != "broker":
        if set(observed.partitions) != {-1}:
            found.append(_partitions(observed, tried, now))
        found += _period(observed, limiter, row, ground, target_s)
    return found


def _period(
    observed: Observed, limiter: str, row: Mapping[str, Any], ground: Ground, target_s: int
) -> list[Recommendation]:
    """The same mean rate in a longer period: fewer pauses of a second after it is used up."""
    level, unit = limiter.split(".")
    per_s = row[f"rate_{unit}"] / row["period_s"]
    if per_s <= _published_per_s(observed, unit):
        # However long the period, as much is missing.
        return []
    for period_s in PERIODS_S:
        if period_s <= row["period_s"]:
            continue
        rate = round(per_s * period_s)
        change = Change({limiter: rate, f"{level}.period_s": period_s})
        tried = Tried(rate, change, replay(observed, change, ground=ground, horizon_s=target_s))
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
            words = (
                f"Keep the {level}'s mean {_LIMIT_WORDS[unit]} rate and lengthen its period from {row['period_s']} s "
                f"to {period_s} s: {per_period(rate, period_s, unit)}."
            )
            risk = f"up to {number(rate)} {'B' if unit == 'bytes' else unit} may come at once"
            return [_recommendation("period", words, tried, observed, command, risks=(risk,))]
    return []


def _published_per_s(observed: Observed, unit: str) -> float:
    """What is published to one partition of the topic, the busiest, in the limit's unit."""
    of = [getattr(item, f"in_{unit}").sum() for item in observed.partitions.values()]
    return float(max(of)) / observed.elapsed_s


def _partitions(observed: Observed, tried: Tried, now: int) -> Recommendation:
    """Every partition has limits of its own, so partitions multiply them."""
    count = max(1, len(observed.partitions))
    wanted = math.ceil(count * tried.value / now)
    return Recommendation(
        lever="partitions",
        words=f"Or give the topic {wanted} partitions instead of {count}: each has the whole limit.",
        change="",
        earliest_drain_s=None,
        likely_drain_s=None,
        latest_drain_s=None,
        next_brake=tried.outlook.held_by,
        do=f"pulsar-admin topics update-partitioned-topic {observed.topic} -p {wanted}",
        undo=None,
        risks=(
            "the backlog that is there stays in its partition; only new messages spread",
            "keys move to other partitions, and partitions cannot be taken away again",
        ),
        verify=(),
    )


def _consumers(observed: Observed, ground: Ground, target_s: int) -> list[Recommendation]:
    tried = smallest_consumers(observed, target_s, ground=ground)
    if tried is None:
        return _faster(observed, ground, target_s)
    now = observed.consumers(observed.subscription)
    words = _connect(tried.value, now)
    risks = ("what the consumers call (databases, services) has to take the load",)
    return [_recommendation("consumers", words, tried, observed, None, risks=risks)]


def _connect(wanted: int, now: int) -> str:
    if not now:
        return f"Connect {number(wanted)} consumer{'' if wanted == 1 else 's'}: nobody is there."
    return (
        f"Connect {number(wanted)} consumers instead of {number(now)}, each as fast as those that are there."
    )


def _faster(observed: Observed, ground: Ground, target_s: int) -> list[Recommendation]:
    """Where no more consumers can work at once, each has to do more: the longest a message may take."""
    capacity = ground.capacity
    active = observed.active(observed.subscription, observed.consumers(observed.subscription))
    if capacity.msg_per_s is None or not active:
        return []
    arrivals = ground.arrivals.msg_per_s
    wanted = arrivals + float(observed.backlog_entries[-1]) * observed.messages_per_entry / target_s
    before_ms = 1000 * active / capacity.msg_per_s
    # What flows in lots and pauses takes a little longer than the mean says.
    for margin in (1.0, 1.1, 1.25, 1.5):
        change = Change(processing_ms=float(f"{1000 * active / (wanted * margin):.2g}"))
        tried = Tried(0, change, replay(observed, change, ground=ground, horizon_s=target_s))
        if tried.outlook.drain_s is not None:
            words = (
                f"Make each consumer faster: a message may take {number(change.processing_ms)} ms instead of "
                f"{number(before_ms)} ms. More consumers would stand by, or there are as many as can work at once."
            )
            return [_recommendation("processing", words, tried, observed, None, risks=())]
    return []


def _together(
    observed: Observed, found: Counterfactuals, ground: Ground, target_s: int
) -> list[Recommendation]:
    """The fewest consumers without the limit, then the smallest limit that they need."""
    limiters = [row.limiter for row in found.rows if row.lever == "limiter"]
    free = smallest_consumers(observed, target_s, ground=ground, beside=Change(dict.fromkeys(limiters)))
    if free is None:
        return []
    beside = Change(consumers=free.value)
    for limiter in limiters:
        level, unit = limiter.split(".")
        row = _row_of(observed, level)
        now, period_s = row[f"rate_{unit}"], row["period_s"]
        tried = smallest_limit(observed, limiter, now, target_s, ground=ground, beside=beside)
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
        words = (
            f"One alone is not enough: connect {number(free.value)} consumers instead of "
            f"{number(observed.consumers(observed.subscription))}, and raise the {level}'s {_LIMIT_WORDS[unit]} limit "
            f"from {per_period(now, period_s, unit)} to {per_period(tried.value, period_s, unit)}."
        )
        risks = _risks(observed, level, now, tried)
        return [_recommendation("together", words, tried, observed, command, risks=risks)]
    return []


# -- words --------------------------------------------------------------------------------------


def _recommendation(
    lever: str,
    words: str,
    tried: Tried,
    observed: Observed,
    command: Command | None,
    *,
    risks: tuple[str, ...],
) -> Recommendation:
    changed = tried.answer.changed
    return Recommendation(
        lever=lever,
        words=words,
        change=tried.change.words,
        earliest_drain_s=changed.earliest_s,
        likely_drain_s=None if changed.fitted is None else changed.fitted.drain_s,
        latest_drain_s=changed.latest_s,
        next_brake=tried.outlook.held_by,
        do=command and command.do,
        undo=command and command.undo,
        risks=(*risks, *(command.notes if command else ())),
        verify=_verify(observed, tried),
    )


def _verify(observed: Observed, tried: Tried) -> tuple[str, ...]:
    where = promql.of_all_partitions(observed.topic, observed.subscription, observed.partition)
    drain_s, per_s = tried.outlook.drain_s, -tried.outlook.growth_entries_per_s
    falls = (
        f"should fall by {number(per_s)} entries/s and be gone in {duration(drain_s)}"
        if drain_s
        else "should fall"
    )
    return (
        f"sum(pulsar_subscription_back_log{where}) {falls}",
        f"sum(rate(pulsar_out_messages_total{promql.without_consumers(where)}[5m])) "
        f"should come to about {number(tried.outlook.out_msg_per_s)} msg/s",
    )


def _risks(observed: Observed, level: str, now: int, tried: Tried) -> tuple[str, ...]:
    before, after = tried.answer.as_is.all[0].out_msg_per_s, tried.outlook.out_msg_per_s
    found = []
    if before > 0:
        found.append(
            f"the broker reads and sends {number(after)} msg/s instead of {number(before)} while it drains, "
            "from the bookies where its cache does not have them"
        )
    others = sorted({name for name, _ in observed.readers} - {observed.subscription})
    if level == "topic" and others:
        found.append(f"the limit is shared: {', '.join(others)} may take of it as well")
    if level == "broker":
        found.append("every subscription of every broker may take of it")
    return tuple(found)


def _not_helping(found: Counterfactuals) -> tuple[str, ...]:
    """What a replay says changes nothing."""
    words = []
    for row in found.rows:
        if row.effect != "none":
            continue
        if row.lever == "consumers":
            words.append(
                f"Adding consumers will not help: {_held_words(row.held_by)} holds the backlog, however fast they are."
            )
        elif row.lever == "limiter":
            words.append(
                f"Raising {row.limiter} will not help: {_held_words(row.held_by)} holds the backlog without it, too."
            )
    return tuple(words)


def _held_words(held_by: str) -> str:
    return {
        "consumers": "what the consumers can do",
        "reads": "the broker's reading",
        "arrivals": "what is published",
    }.get(held_by, f"the limit {held_by}")


def _row_of(observed: Observed, level: str) -> Mapping[str, Any]:
    """The row of ``limits`` that holds what was asked for."""
    return next(
        row
        for (at, _, name), row in sorted(observed.limits.items())
        if at == level and name in ("", None, observed.subscription)
    )
