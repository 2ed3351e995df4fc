"""Fewer points for the same picture. In: values on a grid of minutes, NaN where nothing is known. Out: which of them are kept.

A chart is some hundred pixels wide, and a week has 10,080 minutes. Of each run of neighbouring minutes that share a pixel the least
and the greatest value stay, at their own times: no spike is lost and none is made up. A gap stays a gap: where it begins
and ends the last and the first known value stay, with one missing one between them.

The slow twin is ``tests/naive/thin.py``.
"""

from __future__ import annotations

import numpy as np

#: A chart's width in buckets; wider screens show two of a bucket's points next to each other.
BUCKETS = 720
#: Up to here nothing is left out: a day of minutes, and a little more.
MOST_POINTS = 2 * BUCKETS + 60


def bucket_of(count: int, buckets: int = BUCKETS) -> np.ndarray:
    """The bucket of each of ``count`` neighbouring points; rising, all as wide within one point."""
    return np.arange(count) * buckets // max(count, 1)


def kept(values: np.ndarray, *, buckets: int = BUCKETS, most: int = MOST_POINTS) -> np.ndarray:
    """Positions of the values that are drawn.

    Parameters
    ----------
    values : ndarray of float64
        Evenly spaced; NaN is a gap.
    most : int
        So many values are all kept.

    Returns
    -------
    ndarray of int64
        Rising. Of each bucket the first least and the first greatest value; the known values at both sides of a gap, the first
        and the last of all among them; of each gap its first position.
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    known = ~np.isnan(values)
    if not known.any():
        return np.array([0])
    bucket = bucket_of(count, buckets)
    here = np.flatnonzero(known)
    # Sorted by bucket, then by value, then by position: the first of each bucket is its least.
    by_least = here[np.lexsort((here, values[here], bucket[here]))]
    by_greatest = here[np.lexsort((here, -values[here], bucket[here]))]
    begins = np.flatnonzero(known & ~np.r_[False, known[:-1]])
    ends = np.flatnonzero(known & ~np.r_[known[1:], False])
    gaps = np.flatnonzero(~known & np.r_[True, known[:-1]])
    extremes = (_first_of_each(by_least, bucket), _first_of_each(by_greatest, bucket))
    return np.unique(np.concatenate([*extremes, begins, ends, gaps]))


def fullest(totals: np.ndarray, *, buckets: int = BUCKETS) -> np.ndarray:
    """Of each bucket the position of its greatest total; buckets without one above zero are left out. NaN is none."""
    here = np.flatnonzero(totals > 0)
    bucket = bucket_of(len(totals), buckets)
    return np.sort(_first_of_each(here[np.lexsort((here, -totals[here], bucket[here]))], bucket))


def _first_of_each(positions: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """The first position of every bucket; positions come bucket by bucket."""
    mine = bucket[positions]
    return positions[np.r_[True, mine[1:] != mine[:-1]]] if len(positions) else positions
