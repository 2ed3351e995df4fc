"""Intervals for shares. In: counts, or one count per recording. Out: lower and upper bounds at 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

#: Two-sided 95 % quantile of the normal distribution.
_Z = 1.959963984540054
#: Resamples of the bootstrap: the ends of the interval are then steady to about a hundredth.
_RESAMPLES = 2000


def wilson(successes: int, trials: int) -> tuple[float, float] | None:
    """Wilson's score interval of a share; None without trials.

    It takes the trials to be independent. Windows of one recording are not: see :func:`clustered`.

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    if trials == 0:
        return None
    share, z2 = successes / trials, _Z * _Z
    centre = share + z2 / (2 * trials)
    spread = _Z * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    scale = 1 + z2 / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def clustered(
    successes: Sequence[int], trials: Sequence[int], *, seed: int = 20_261_120
) -> tuple[float, float] | None:
    """Percentile bootstrap of a share over clusters: whole recordings are drawn again, not their windows.

    Parameters
    ----------
    successes, trials : sequence of int
        Counts of each cluster, in the same order.
    seed : int
        Of the resampling; the same counts give the same interval.

    Returns
    -------
    tuple or None
        None with fewer than two clusters that have trials: one recording says nothing about others.
    """
    counts = np.array([pair for pair in zip(successes, trials, strict=True) if pair[1] > 0], dtype=np.int64)
    if len(counts) < 2:
        return None
    drawn = np.random.default_rng(seed).integers(0, len(counts), size=(_RESAMPLES, len(counts)))
    sums = counts[drawn].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)
