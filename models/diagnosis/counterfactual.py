"""What if a cause were away? In: an observed window and the causes that live in it. Out: what each one's removal drains.

Each hypothesis is lifted by itself in a replay from the window's end on: the limiter it names is taken away, or the consumers
take all they are given. The primary cause is the one whose removal leaves the smallest backlog. Where neither alone helps
and both together do, it is *both*. What consumers can do is taken from when it was seen, never from a window in which a
limiter hid it; where it never was, the answer is an interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes import CAUSES
from throttlescope.models.messages.catalogue import Message
from throttlescope.models.throttling.replay import (
    Capacity,
    Change,
    Forecast,
    Ground,
    Observed,
    ReplayAnswer,
    replay,
)
from throttlescope.models.throttling.replay.replay_answer import SAME_SHARE, Outlook

#: How far ahead the futures are compared.
HORIZON_S = 1_800
#: A consumer that is no brake at all.
NO_WORK_MS = 0.0

_LIMITERS = {cause.name for cause in CAUSES if cause.lever in ("limiter", "both")}
_CONSUMERS = {cause.name for cause in CAUSES if cause.lever in ("consumers", "both")}


@dataclass(frozen=True)
class CounterfactualSpan:
    """A number with the least and the greatest that the samples allow; ``likely`` is None where it is not known."""

    low: float
    likely: float | None
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2 if self.likely is None else self.likely


@dataclass(frozen=True)
class Counterfactual:
    """One lever and what it does.

    Attributes
    ----------
    lever : str
        ``limiter``, ``consumers`` or ``together``.
    limiter : str or None
        The limiter that was lifted.
    change : Change
        What was different.
    entries : CounterfactualSpan
        Backlog at the horizon.
    gain_entries : CounterfactualSpan
        How much less that is than without the change.
    earliest_drain_s, latest_drain_s : float or None
        When the backlog is gone; None: not within the horizon.
    held_by : str
        What holds the drain then.
    effect : str
        ``none``, ``sooner``, ``later`` or ``open``.
    """

    lever: str
    limiter: str | None
    change: Change
    entries: CounterfactualSpan
    gain_entries: CounterfactualSpan
    earliest_drain_s: float | None
    latest_drain_s: float | None
    held_by: str
    effect: str


@dataclass(frozen=True)
class Counterfactuals:
    """All levers of one window.

    Attributes
    ----------
    backlog_entries : int
        At the window's end.
    as_is_entries : CounterfactualSpan
        At the horizon, if nothing changes.
    rows : tuple of Counterfactual
        By what they gain, most first.
    primary : str or None
        ``limiter``, ``consumers`` or ``both``; None where no lever changes anything measurable.
    error_share : float
        How far the replay of the window itself was from what was recorded, over the largest backlog.
    is_far_off : bool
        Whether that is too far to trust any of the figures.
    not_modelled : str or None
        The cause at the window's end that no replay has, see :func:`not_modelled`: then the rows say nothing.
    is_drained : bool
        Whether there is no backlog at the window's end: then no lever can help.
    capacity : Capacity
        What the consumers were seen to do, and how long ago.
    notes : list of Message
        What makes the answer less sure.
    """

    backlog_entries: int
    horizon_s: int
    as_is_entries: CounterfactualSpan
    rows: tuple[Counterfactual, ...]
    primary: str | None
    error_share: float
    is_far_off: bool
    not_modelled: str | None
    is_drained: bool
    capacity: Capacity
    notes: list[Message]

    def row_of(self, lever: str) -> Counterfactual | None:
        return next((row for row in self.rows if row.lever == lever), None)


def live_limiters(verdicts: Iterable[Mapping[str, Any]], observed: Observed) -> tuple[str, ...]:
    """Limiters that verdicts name as cause or contributing cause, and that the window has; those named most first."""
    named: dict[str, int] = {}
    for verdict in verdicts:
        for one in (verdict, *(verdict.get("contributing") or ())):
            if one["cause"] in _LIMITERS and one["limiter"]:
                named[one["limiter"]] = named.get(one["limiter"], 0) + 1
    there = set(limiters_of(observed))
    return tuple(name for name in sorted(named, key=lambda name: (-named[name], name)) if name in there)


def limiters_of(observed: Observed) -> tuple[str, ...]:
    """Limiters with a limit at the window's end, in the closed list's order."""
    return tuple(
        f"{level}.{unit}"
        for level in LEVELS
        for unit in UNITS
        if any(
            row.get(f"rate_{unit}") for (at, _, name), row in observed.limits.items()
            if at == level and name in ("", None, observed.subscription)
        )
    )  # fmt: skip


def hypotheses_alive(verdicts: Iterable[Mapping[str, Any]]) -> int:
    """How many different levers the causes of some verdicts ask for; from two on a counterfactual has to decide."""
    causes = {one["cause"] for verdict in verdicts for one in (verdict, *(verdict.get("contributing") or ()))}
    return int(bool(causes & _LIMITERS)) + int(bool(causes & _CONSUMERS))


def counterfactuals(
    observed: Observed,
    limiters: Sequence[str] = (),
    *,
    history: Observed | None = None,
    horizon_s: int = HORIZON_S,
    ground: Ground | None = None,
    only_reliable: bool = False,
) -> Counterfactuals:
    """Lift each hypothesis from the window's end on.

    Parameters
    ----------
    observed
        The window.
    limiters : sequence of str
        Limiters to lift, each by itself; by default all that have a limit. None at all: only consumers are looked at.
    history
        A longer window with the same end, in which the consumers' capacity is looked for.
    ground
        What earlier replays of the same window found; ``history`` is its own then.
    only_reliable
        No rows where the replay is far off or lacks the cause: the first lever shows that, and the others are not replayed.

    Raises
    ------
    InputError
        The window cannot be replayed.
    """
    ground = ground or Ground(observed, history or observed)
    limiters = tuple(limiters) or limiters_of(observed)
    consumers = _free_consumers(observed)
    levers = [("limiter", name, Change({name: None})) for name in limiters]
    levers.append(("consumers", None, consumers))
    if limiters:
        all_away = Change(dict.fromkeys(limiters), consumers.consumers, consumers.processing_ms)
        levers.append(("together", None, all_away))

    def replayed(change: Change) -> ReplayAnswer:
        return replay(observed, change, ground=ground, horizon_s=horizon_s)

    first, missing = replayed(levers[0][2]), not_modelled(observed)
    answers, rows = [first], []
    if not (only_reliable and (first.is_far_off or missing)):
        answers += [replayed(change) for _, _, change in levers[1:]]
        rows = [_row(*lever, answer) for lever, answer in zip(levers, answers, strict=True)]
    # What gains as much is listed in the order of the levers.
    rows.sort(key=lambda row: -row.gain_entries.middle)
    notes = list({note.text: note for answer in answers for note in answer.notes}.values())
    return Counterfactuals(
        backlog_entries=first.backlog_entries,
        horizon_s=horizon_s,
        as_is_entries=_span(first.as_is),
        rows=tuple(rows),
        primary=_primary(rows, first) if rows else None,
        error_share=first.speed.error_share,
        is_far_off=first.is_far_off,
        not_modelled=missing,
        is_drained=first.backlog_entries <= first.drained_below_entries,
        capacity=ground.capacity,
        notes=notes,
    )


def not_modelled(observed: Observed) -> str | None:
    """What the window ends with and a replay does not do: it delivers every message once, and takes each for acknowledged once it is processed."""
    if observed.is_blocked:
        return "blocked_on_unacked"
    dispatched = sum(float(item.out_msg.sum()) for item in observed.selected.values()) / observed.elapsed_s
    if observed.redelivered_msg_per_s > t.REDELIVERY_SHARE * dispatched > 0:
        return "redelivery"
    return None


def _free_consumers(observed: Observed) -> Change:
    """Consumers that take all they are given; one comes where there is none. A remote cluster is there or it is not."""
    there = observed.consumers(observed.subscription) or observed.is_replicator
    return Change(consumers=None if there else 1, processing_ms=NO_WORK_MS)


def _row(lever: str, limiter: str | None, change: Change, answer: ReplayAnswer) -> Counterfactual:
    after = _span(answer.changed)
    before = _span(answer.as_is)
    likely = None if before.likely is None or after.likely is None else before.likely - after.likely
    # The best and the worst are each compared with their own kind: more publishing makes both futures worse.
    gains = sorted((before.low - after.low, before.high - after.high))
    return Counterfactual(
        lever=lever,
        limiter=limiter,
        change=change,
        entries=after,
        gain_entries=CounterfactualSpan(gains[0], likely, gains[1]),
        earliest_drain_s=answer.changed.earliest_s,
        latest_drain_s=answer.changed.latest_s,
        held_by=answer.changed.all[0].held_by,
        effect=answer.effect,
    )


def _span(forecast: Forecast) -> CounterfactualSpan:
    low, high = sorted(_entries_at_end(item) for item in (forecast.best, forecast.worst))
    likely = None if forecast.fitted is None else _entries_at_end(forecast.fitted)
    return CounterfactualSpan(low, likely, high)


def _entries_at_end(outlook: Outlook) -> float:
    """Backlog at the horizon; what was drained before stays so."""
    return float(outlook.backlog_entries[-1])


def _primary(rows: Sequence[Counterfactual], first: ReplayAnswer) -> str | None:
    """The lever that gains most; both, where each alone gains next to nothing of what they gain together."""
    together = next((row for row in rows if row.lever == "together"), None)
    alone = [row for row in rows if row.lever != "together"]
    floor = max(
        SAME_SHARE * first.backlog_entries,
        SAME_SHARE * first.arrivals.msg_per_s * HORIZON_S,
        first.drained_below_entries,
    )
    best = max(alone, key=lambda row: row.gain_entries.middle)
    # Half: a lever that does less than half of what all do, however fast the consumers may be, leaves most of it standing.
    most = max(row.gain_entries.high for row in alone)
    if together is not None and together.gain_entries.middle > max(floor, 2 * most):
        return "both"
    if best.gain_entries.middle <= floor:
        return None
    return best.lever
