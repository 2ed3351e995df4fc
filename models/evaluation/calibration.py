"""Is a confidence of 0.85 right in 85 of 100 cases? In: settled windows. Out: reliability, Brier score, calibration error.

Only windows with an answer count: ``unknown`` states no confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from throttlescope.models.diagnosis.causes import GRADES
from throttlescope.models.evaluation.settled import Settled
from throttlescope.models.evaluation.shares import Share, share_of
from throttlescope.models.messages.catalogue import sentence

#: Bounds of the bins of confidence: a bin holds [low, high), the last one its high end as well. Nothing is named below 0.5.
BINS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Reliability:
    """Windows of similar confidence.

    Attributes
    ----------
    stated : float or None
        Their mean confidence.
    right : Share
        Those whose cause is right.
    """

    name: str
    stated: float | None
    right: Share


@dataclass(frozen=True)
class Calibration:
    """How far the stated confidence is from what came out.

    Attributes
    ----------
    brier : float or None
        Mean square of confidence minus right (1) or wrong (0).
    expected_error : float or None
        Mean distance of stated and measured over the bins, weighed by their windows.
    bins, grades : list of Reliability
    """

    answered: int
    brier: float | None
    expected_error: float | None
    bins: list[Reliability]
    grades: list[Reliability]


def bin_name(low: float, high: float) -> str:
    """A bin as the stored figures name it."""
    return f"{low:.1f} to {high:.1f}"


def bin_labels() -> dict[str, str]:
    """By the stored name of a bin, how it is written in the current language."""
    return {
        bin_name(low, high): sentence("label.range_words", low=f"{low:.1f}", high=f"{high:.1f}")
        for low, high in pairwise(BINS)
    }


def calibration_of(windows: Sequence[Settled]) -> Calibration:
    """Hold the stated confidence against what is true."""
    answered = [window for window in windows if window.judged.cause != "unknown"]
    last = len(BINS) - 2
    bins = [
        _reliability(
            bin_name(low, high),
            answered,
            lambda w, low=low, high=high, n=n: (
                low <= w.judged.confidence and (n == last or w.judged.confidence < high)
            ),
        )
        for n, (low, high) in enumerate(pairwise(BINS))
    ]
    grades = [
        _reliability(grade, answered, lambda w, grade=grade: w.judged.grade == grade) for grade in GRADES
    ]
    brier = error = None
    if answered:
        brier = sum((w.judged.confidence - _is_right(w)) ** 2 for w in answered) / len(answered)
        error = sum(abs(one.stated - one.right.value) * one.right.of for one in bins if one.right.of) / len(
            answered
        )
    return Calibration(len(answered), brier, error, bins, grades)


def _reliability(name: str, windows: Sequence[Settled], belongs: Callable[[Settled], bool]) -> Reliability:
    mine = [window for window in windows if belongs(window)]
    stated = sum(window.judged.confidence for window in mine) / len(mine) if mine else None
    return Reliability(name, stated, share_of(mine, _is_right))


def _is_right(window: Settled) -> bool:
    return window.judged.cause == window.true_cause
