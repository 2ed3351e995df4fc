"""How little is enough? In: a window, a lever and a target. Out: the smallest value that drains within it.

Each value is tried in a replay. More of a lever never drains later, so the smallest is found by halving the range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from throttlescope.models.throttling.replay import Change, Ground, Observed, ReplayAnswer, replay
from throttlescope.models.throttling.replay.replay_answer import Outlook

#: A limit is found to a hundredth, then written with so many digits, rounded up.
EXACT_SHARE, DIGITS = 0.01, 2
#: No more than so many times what there is, in halvings and doublings.
MOST_TIMES = 1024
#: More consumers than this is another design.
MOST_CONSUMERS_TIMES = 64


@dataclass(frozen=True, eq=False)
class TriedValue:
    """One value and what the replay said of it."""

    value: int
    change: Change
    answer: ReplayAnswer

    @property
    def outlook(self) -> Outlook:
        """The likeliest future; the best one where the consumers' capacity was never seen."""
        return self.answer.changed.fitted or self.answer.changed.best


def smallest_limit(
    observed: Observed,
    limiter: str,
    now: int,
    target_s: int,
    *,
    ground: Ground | None = None,
    also: Change | None = None,
) -> TriedValue | None:
    """The smallest limit, per period, with which the backlog is gone in time; None where no limit is high enough.

    Parameters
    ----------
    limiter : str
        Such as ``subscription.msg``; its period stays.
    now : int
        The limit per period as it is.
    ground : Ground, optional
        What earlier replays of the window found.
    also : Change, optional
        What is changed as well.
    """
    others, ground = also or Change(), ground or Ground(observed, observed)

    def attempt(value: int) -> TriedValue:
        change = replace(others, limits={**others.limits, limiter: value})
        return TriedValue(value, change, replay(observed, change, ground=ground, horizon_s=target_s))

    return _smallest(
        attempt, now, now * MOST_TIMES, target_s, exact=lambda low: max(1, int(low * EXACT_SHARE))
    )


def smallest_consumers(
    observed: Observed, target_s: int, *, ground: Ground | None = None, also: Change | None = None
) -> TriedValue | None:
    """The fewest consumers, each as fast as those that are there, with which the backlog is gone in time."""
    others, ground = also or Change(), ground or Ground(observed, observed)
    now = observed.consumers(observed.subscription)
    most = observed.active(observed.subscription, max(1, now) * MOST_CONSUMERS_TIMES)
    if most <= now or observed.is_replicator:
        return None

    def attempt(value: int) -> TriedValue:
        change = replace(others, consumers=value)
        return TriedValue(value, change, replay(observed, change, ground=ground, horizon_s=target_s))

    return _smallest(attempt, now, most, target_s, exact=lambda low: 1)


def drains(tried: TriedValue, target_s: int) -> bool:
    drain_s = tried.outlook.drain_s
    return drain_s is not None and drain_s <= target_s


def round_up(value: int) -> int:
    """To two digits, up: 1,234 becomes 1,300."""
    step = 10 ** max(0, len(str(value)) - DIGITS)
    return math.ceil(value / step) * step


def _smallest(
    attempt: Callable[[int], TriedValue], now: int, most: int, target_s: int, *, exact: Callable[[int], int]
) -> TriedValue | None:
    """Double until it drains, then halve what is between."""
    low, high = now, min(most, max(1, 2 * now))
    found = attempt(high)
    while not drains(found, target_s):
        if high >= most or _limited_elsewhere(found):
            return None
        low, high = high, min(most, 2 * high)
        found = attempt(high)
    while high - low > exact(low):
        middle = (low + high) // 2
        tried = attempt(middle)
        if drains(tried, target_s):
            high, found = middle, tried
        else:
            low = middle
    rounded = min(most, round_up(high))
    return found if rounded == found.value else attempt(rounded)


def _limited_elsewhere(tried: TriedValue) -> bool:
    """Whether something else is what holds now: then more of this lever changes nothing."""
    held_by = tried.outlook.held_by
    return held_by not in (
        *tried.change.limits,
        "consumers" if tried.change.consumers is not None else "",
        "arrivals",
    )
