"""One scale for counts and for large rates. In: counts per minute. Out: numbers whose noise is about alike everywhere.

``2 sqrt(r) asinh(sqrt(n / r))`` is ``2 sqrt(n)`` where n is far below r, where the noise of a count is one unit whatever
n is, and a logarithm far above it, where a share of the value is the same step everywhere: a tenth is one unit at r = 100.
"""

from __future__ import annotations

import numpy as np

#: Where counts turn into shares: noise of 10 % of a large value weighs as much as the noise of a small count.
_R = 100.0
_SCALE = 2.0 * np.sqrt(_R)


def stabilised(counts: np.ndarray) -> np.ndarray:
    """Counts per minute (float64, NaN unknown) on the scale of the method; below zero is taken as zero."""
    return _SCALE * np.arcsinh(np.sqrt(np.maximum(counts, 0.0) / _R))


def restored(steady: np.ndarray | float) -> np.ndarray | float:
    """The counts per minute that :func:`stabilised` made these numbers of; below zero there is nothing."""
    return _R * np.sinh(np.maximum(steady, 0.0) / _SCALE) ** 2
