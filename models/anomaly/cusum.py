"""When straying adds up. In: deviations per minute in sigmas. Out: runs in which their sum passes the alarm level.

The sum is one-sided: S = max(0, S + z - slack). An unknown minute adds nothing and takes nothing away. The way back is found
by a sum of the other direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.anomaly.rules import AnomalyRules


@dataclass(frozen=True)
class CusumRun:
    """Minutes [start, end) that stray to one side; the alarm is at ``alarm``. ``score``: greatest sum / alarm level."""

    start: int
    alarm: int
    end: int
    score: float
    open: bool


def one_sided(z: np.ndarray, slack: float, cap: float) -> np.ndarray:
    """The sum after each minute.

    Parameters
    ----------
    z : ndarray of float64, shape (minutes,)
        Deviations to the side in question, NaN unknown.
    slack, cap : float
        What is forgiven per minute, and the most that a minute may count.
    """
    steps = np.where(np.isnan(z), 0.0, np.minimum(z, cap) - slack)
    total = np.cumsum(steps)
    return total - np.minimum(np.minimum.accumulate(total), 0.0)


def runs(z: np.ndarray, slack: float, limit: np.ndarray, rules: AnomalyRules) -> list[CusumRun]:
    """All runs in time order.

    Parameters
    ----------
    z, limit : ndarray of float64, shape (minutes,)
        Deviations to one side; the alarm level of each minute.
    """
    found, at = [], 0
    while at < len(z):
        sums = one_sided(z[at:], slack, rules.cap_sigmas)
        over = sums > limit[at:]
        alarm = int(np.argmax(over))
        if not over[alarm]:
            break
        start = _after_zero(sums, alarm)
        back = one_sided(rules.end_sigmas - z[at + alarm + 1 :], 0.0, rules.cap_sigmas)
        ended = back > rules.end_sum
        far = int(np.argmax(ended)) if ended.any() else -1
        over_long = start + rules.most_minutes
        if (far < 0 or alarm + 1 + far >= over_long) and over_long < len(z) - at:
            far, end = 0, max(alarm + 1, over_long)
            far_at = end
        elif far < 0:
            end = far_at = len(z) - at
        else:
            far_at = alarm + 1 + far + 1
            end = max(alarm + 1, alarm + 1 + _after_zero(back, far))
        score = float(np.max(sums[alarm:end] / limit[at + alarm : at + end]))
        found.append(CusumRun(at + start, at + alarm, at + end, score, far < 0))
        at += far_at
    return found


def joined(found: list[CusumRun], gap: int) -> list[CusumRun]:
    """Runs that touch, or are at most ``gap`` minutes apart, made one."""
    out: list[CusumRun] = []
    for run in sorted(found, key=lambda run: (run.start, run.alarm)):
        if out and run.start <= out[-1].end + gap:
            one = out[-1]
            out[-1] = CusumRun(
                one.start,
                min(one.alarm, run.alarm),
                max(one.end, run.end),
                max(one.score, run.score),
                one.open or run.open,
            )
        else:
            out.append(run)
    return out


def _after_zero(sums: np.ndarray, at: int) -> int:
    """First minute of the rise that reaches ``at``."""
    zeros = np.flatnonzero(sums[: at + 1] <= 0.0)
    return int(zeros[-1]) + 1 if len(zeros) else 0
