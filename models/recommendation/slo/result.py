"""The smallest value that would have kept an age. In: weeks of minutes and today's window. Out: limits, periods, consumers, partitions.

More service never makes a message wait longer, so each lever's smallest value is found by doubling and halving. Levers are
tried one by one, each with everything else as it is today; where none is enough alone, consumers and a limit together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from throttlescope.models.diagnosis.counterfactual import limiters_of
from throttlescope.models.messages.catalogue import Message, message
from throttlescope.models.recommendation.slo.age import backlog_msg, oldest_age_s
from throttlescope.models.recommendation.slo.arrivals import ArrivalMinutes
from throttlescope.models.recommendation.slo.check import SloCheck, check
from throttlescope.models.recommendation.slo.service import limiting_factor_of, service_msg_per_s
from throttlescope.models.recommendation.smallest import (
    EXACT_SHARE,
    MOST_CONSUMERS_TIMES,
    MOST_TIMES,
    round_up,
)
from throttlescope.models.throttling.replay import Change, Ground

#: Periods that are tried, in seconds, with the same mean rate.
PERIODS_S = (2, 5, 10, 30, 60)
#: More partitions than so many times today's are another design.
MOST_PARTITIONS_TIMES = 64
STEP_S = 60.0


@dataclass(frozen=True)
class Keep:
    """One value that would have kept the age.

    Attributes
    ----------
    lever : str
        ``limit``, ``period``, ``consumers``, ``partitions`` or ``together``.
    limiter : str or None
        Which limit.
    now, value : int
        Today's and the smallest that is enough: a limit per period, seconds, consumers or partitions.
    change : Change
        As a replay would try it; of partitions nothing.
    p99_age_s : float
        What the age would have been.
    service_msg_per_s : float
        What is served then while messages wait.
    next_brake : str
        What holds the service when this lever is out of the way.
    """

    lever: str
    limiter: str | None
    now: int
    value: int
    change: Change
    p99_age_s: float
    service_msg_per_s: float
    next_brake: str


@dataclass(frozen=True)
class SloResult:
    """What would have kept an objective.

    Attributes
    ----------
    target_s : float
        The age that a share of the minutes (99 of 100, or as the objective says) is to stay at or below.
    recorded_p99_s, measured_p99_s : float or None
        What it was: from the recorded backlog and arrivals, and by the broker (of the subscription, else of the topic partition).
    recorded_share, measured_share : float or None
        The share of the minutes that kept the objective by either.
    as_is_p99_s : float
        What the fluid says of today's limits and consumers.
    as_is_service_msg_per_s : float
        What those serve.
    keeps : tuple of Keep
    not_enough : tuple of (str, float, str)
        Levers that are not enough however large: their name, the age without them, and what holds it then.
    check : SloCheck or None
        The fluid compared with the replay; None: there was no backlog.
    notes : list of Message
    """

    target_s: float
    minutes: ArrivalMinutes
    recorded_p99_s: float | None
    measured_p99_s: float | None
    recorded_share: float | None
    measured_share: float | None
    as_is_p99_s: float
    as_is_service_msg_per_s: float
    keeps: tuple[Keep, ...]
    not_enough: tuple[tuple[str, float, str], ...]
    check: SloCheck | None
    notes: list[Message] = field(default_factory=list)


def keep_age(
    ground: Ground,
    minutes: ArrivalMinutes,
    target_s: float,
    *,
    worst: Ground | None = None,
    notes: tuple[Message, ...] = (),
) -> SloResult:
    """Find the smallest values that would have kept an age over the minutes that are known.

    Parameters
    ----------
    ground : Ground
        Today's window: its limits, its consumers, its broker's speed.
    minutes : ArrivalMinutes
        What was published, and what waited.
    target_s : float
        The age of the oldest message that the objective's share of the minutes is to stay at or below.
    worst : Ground, optional
        A window with a backlog, best the largest one, for the check.

    Raises
    ------
    InputError
        The window cannot be replayed.
    """
    sweep = Sweep(ground, minutes, target_s)
    keeps: list[Keep] = []
    not_enough: list[tuple[str, float, str]] = []
    limiters = limiters_of(ground.observed)
    for limiter in limiters:
        free = Change({limiter: None})
        if not sweep.is_kept(free):
            not_enough.append((limiter, sweep.p99_s(free), limiting_factor_of(ground, free)))
            continue
        keeps += sweep.limit(limiter)
    if ground.capacity.msg_per_s is not None:
        free = Change(processing_ms=0.0)
        if sweep.is_kept(free):
            keeps += sweep.consumers(Change())
        else:
            not_enough.append(("consumers", sweep.p99_s(free), limiting_factor_of(ground, free)))
    if not keeps and limiters and ground.capacity.msg_per_s is not None:
        keeps += sweep.together(limiters)
    return SloResult(
        target_s=target_s,
        minutes=minutes,
        recorded_p99_s=minutes.quantile_s(minutes.recorded_age_s),
        measured_p99_s=minutes.quantile_s(minutes.measured_age_s),
        recorded_share=minutes.kept_share(minutes.recorded_age_s, target_s),
        measured_share=minutes.kept_share(minutes.measured_age_s, target_s),
        as_is_p99_s=sweep.p99_s(Change()),
        as_is_service_msg_per_s=sweep.service(Change()),
        keeps=tuple(keeps),
        not_enough=tuple(not_enough),
        check=None if worst is None else check(worst),
        notes=[*notes, *_notes(ground, minutes)],
    )


class Sweep:
    """Values tried on one history; what was simulated is kept."""

    def __init__(self, ground: Ground, minutes: ArrivalMinutes, target_s: float) -> None:
        self._ground, self._minutes, self._target_s = ground, minutes, target_s
        self._served: dict[str, float] = {}

    def service(self, change: Change) -> float:
        """Messages per second while messages wait."""
        if change.words not in self._served:
            self._served[change.words] = service_msg_per_s(self._ground, change)
        return self._served[change.words]

    def p99_s(self, change: Change, arrivals_share: float = 1.0) -> float:
        """Age with so much of the arrivals; infinite where nothing is served."""
        served = self.service(change) * STEP_S
        arrived = self._minutes.arrived_msg * arrivals_share
        ages = oldest_age_s(arrived, backlog_msg(arrived, served), STEP_S)
        return self._minutes.quantile_s(ages) or 0.0

    def is_kept(self, change: Change, arrivals_share: float = 1.0) -> bool:
        return self.p99_s(change, arrivals_share) <= self._target_s

    def limit(self, limiter: str, also: Change | None = None) -> list[Keep]:
        """The smallest limit in its period; the shortest period with its mean; the fewest partitions with it."""
        also = also or Change()
        level, unit = limiter.split(".")
        row = self._row(level)
        now, period_s = int(row[f"rate_{unit}"]), int(row["period_s"])

        def change(value: int) -> Change:
            return replace(also, limits={**also.limits, limiter: value})

        found = smallest(
            lambda value: self.is_kept(change(value)),
            now,
            now * MOST_TIMES,
            lambda low: max(1, int(low * EXACT_SHARE)),
        )
        if found is None:
            return []
        found = round_up(found)
        free = replace(also, limits={**also.limits, limiter: None})
        lever = "together" if also.consumers is not None else "limit"
        keeps = [self._keep(lever, limiter, now, found, change(found), free)]
        if also.consumers is None and level != "broker":
            keeps += self._period(limiter, now, period_s, free) + self._partitions(limiter, free)
        return keeps

    def consumers(self, also: Change) -> list[Keep]:
        """The fewest consumers, each as fast as those that are there."""
        observed = self._ground.observed
        now = observed.consumers(observed.subscription)
        most = observed.active(observed.subscription, max(1, now) * MOST_CONSUMERS_TIMES)

        def change(value: int) -> Change:
            return replace(also, consumers=value)

        found = smallest(lambda value: self.is_kept(change(value)), max(1, now), most, lambda low: 1)
        if found is None:
            return []
        return [self._keep("consumers", None, now, found, change(found), replace(also, processing_ms=0.0))]

    def together(self, limiters: tuple[str, ...]) -> list[Keep]:
        """The fewest consumers without any limit, then the smallest limit that they need."""
        for few in self.consumers(Change(dict.fromkeys(limiters))):
            for limiter in limiters:
                keeps = self.limit(limiter, Change(consumers=few.value))
                if keeps:
                    return keeps
        return []

    def _period(self, limiter: str, now: int, period_s: int, free: Change) -> list[Keep]:
        """The shortest longer period with the same mean rate, which pauses less often; nothing where today's is enough."""
        level = limiter.split(".")[0]
        longer = () if self.is_kept(Change()) else [one for one in PERIODS_S if one > period_s]
        for seconds in longer:
            rate = round(now * seconds / period_s)
            change = Change({limiter: rate, f"{level}.period_s": seconds})
            if self.is_kept(change):
                return [self._keep("period", limiter, period_s, seconds, change, free)]
        return []

    def _partitions(self, limiter: str, free: Change) -> list[Keep]:
        """The fewest partitions: each has the whole limit and its part of the messages; consumers read all of them."""
        observed = self._ground.observed
        now = len(observed.partitions)
        if set(observed.partitions) == {-1} or self.is_kept(Change()):
            return []

        def enough(count: int) -> bool:
            return self.is_kept(Change(processing_ms=0.0), now / count)

        found = smallest(enough, now, now * MOST_PARTITIONS_TIMES, lambda low: 1)
        if found is None or found <= now:
            return []
        age_s = max(self.p99_s(Change(processing_ms=0.0), now / found), self.p99_s(free))
        # Per partition; all of them together serve so many times more.
        service = self.service(Change()) * found / now
        return [
            Keep(
                "partitions",
                limiter,
                now,
                found,
                Change(),
                age_s,
                service,
                limiting_factor_of(self._ground, free),
            )
        ]

    def _keep(
        self, lever: str, limiter: str | None, now: int, value: int, change: Change, free: Change
    ) -> Keep:
        return Keep(
            lever,
            limiter,
            now,
            value,
            change,
            self.p99_s(change),
            self.service(change),
            limiting_factor_of(self._ground, free),
        )

    def _row(self, level: str):
        observed = self._ground.observed
        return next(
            row
            for (at, _, name), row in sorted(observed.limits.items())
            if at == level and name in ("", None, observed.subscription)
        )


def smallest(enough: Callable[[int], bool], now: int, most: int, exact: Callable[[int], int]) -> int | None:
    """The smallest value that is enough, from 1 on, within ``exact``; None where ``most`` is not.

    Parameters
    ----------
    enough : callable
        False up to some value, True from there on.
    now : int
        Where the search begins, 1 or more.
    """
    low, high = 0, min(now, most)
    if enough(high):
        # Down: twice less until it is not enough.
        while high > 1 and enough(half := max(1, high // 2)):
            high = half
        low = 0 if high == 1 else high // 2
    else:
        while True:
            if high >= most:
                return None
            low, high = high, min(most, 2 * high)
            if enough(high):
                break
    while high - low > max(1, exact(low)):
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _notes(ground: Ground, minutes: ArrivalMinutes) -> list[Message]:
    found = []
    missing = 1 - float(minutes.known.mean())
    if missing > 0:
        found.append(message("advice.slo.minutes_missing", percent=100 * missing))
    if ground.capacity.msg_per_s is None:
        found.append(message("advice.slo.capacity_unknown"))
    if ground.arrivals.lower_bound:
        found.append(message("advice.slo.producers_limited"))
    if ground.observed.partition is None and len(ground.observed.partitions) > 1:
        found.append(message("advice.slo.partitions_together"))
    found.append(message("advice.slo.fluid", minutes=len(minutes.known)))
    return found
