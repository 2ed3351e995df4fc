"""How good *throttled* is as an alarm. In: settled windows and what is said of them. Out: recall, false alarms, and precision in a fleet.

A lab makes throttled windows on purpose; in a fleet perhaps one in a hundred is. Precision there follows from the share of
throttled windows that are found and the share of others that are called throttled (Bayes' rule).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from throttlescope.models.evaluation.settled import THROTTLED_SIDES, Settled
from throttlescope.models.evaluation.shares import Share, share_of

#: Share of subscriptions that are truly throttled in the fleet for which precision is stated.
BASE_RATE = 0.01


@dataclass(frozen=True)
class Alarm:
    """How good "a limiter holds it" is as an alarm.

    Attributes
    ----------
    recall : Share
        Windows called ``throttle`` or ``both``, of those that are.
    false_alarms : Share
        Windows called so, of those that are not.
    precision : float or None
        Where :data:`BASE_RATE` of the windows are throttled.
    precision_between : pair of float or None
        From the worse to the better ends of both Wilson intervals.
    """

    recall: Share
    false_alarms: Share
    base_rate: float
    precision: float | None
    precision_between: tuple[float, float] | None


def alarm_of(windows: Sequence[Settled], side: Callable[[Settled], str]) -> Alarm:
    """Judge a rule by the side that it names."""

    def called(window: Settled) -> bool:
        return side(window) in THROTTLED_SIDES

    recall = share_of([window for window in windows if window.is_throttled], called)
    false_alarms = share_of([window for window in windows if not window.is_throttled], called)
    precision, between = None, None
    if recall.of and false_alarms.of:
        precision = precision_at(BASE_RATE, recall.value, false_alarms.value)
        between = (
            precision_at(BASE_RATE, recall.wilson[0], false_alarms.wilson[1]),
            precision_at(BASE_RATE, recall.wilson[1], false_alarms.wilson[0]),
        )
    return Alarm(recall, false_alarms, BASE_RATE, precision, between)


def precision_at(base_rate: float, recall: float, false_alarms: float) -> float | None:
    """Share of alarms that are right; None where there would be none.

    Examples
    --------
    >>> round(precision_at(0.01, 1.0, 0.26), 3)
    0.037
    """
    right, wrong = base_rate * recall, (1 - base_rate) * false_alarms
    return right / (right + wrong) if right + wrong > 0 else None
