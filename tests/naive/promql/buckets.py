"""Histograms of classic buckets. In: a vector whose series have ``le``. Out: a vector of quantiles or fractions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tests.naive.promql.data import Labels, Vector, inserted, nameless, value_of, with_label
from tests.naive.promql.sums import divide

_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NUMBER = re.compile(r"nan|[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x(?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)p[+-]?\d+", re.IGNORECASE)
#: What rounding makes of equal counts.
_TOLERANCE = 1e-12
_SMALLEST_NORMAL = 2.0**-1022


@dataclass
class Bucket:
    """How many observations were at most ``upper``."""

    upper: float
    count: float


def quantiles(q: float, vector: Vector) -> Vector:
    """``histogram_quantile`` at one moment."""
    return nameless({labels: _quantile(q, buckets) for labels, buckets in _histograms(vector).items()})


def fractions(low: float, high: float, vector: Vector) -> Vector:
    """``histogram_fraction`` at one moment."""
    return nameless(
        {labels: _fraction(low, high, buckets) for labels, buckets in _histograms(vector).items()}
    )


def _histograms(vector: Vector) -> dict[Labels, list[Bucket]]:
    """The buckets of each label set without ``le``, by their upper bounds; what has no number there is no bucket."""
    histograms: dict[Labels, list[Bucket]] = {}
    for labels, count in vector.items():
        upper = _bound(value_of(labels, "le"))
        if upper is not None:
            histograms.setdefault(with_label(labels, "le", ""), []).append(Bucket(upper, count))
    # A bound that is NaN is neither below nor above another, and stops it on its way.
    return {labels: inserted(buckets, _is_below) for labels, buckets in histograms.items()}


def _is_below(a: Bucket, b: Bucket) -> bool:
    return a.upper < b.upper


def _bound(text: str) -> float | None:
    """A number as Go reads it. One too large for 64 bits is none."""
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    try:
        if _HEXADECIMAL.fullmatch(text):
            return float.fromhex(text)
        if _NUMBER.fullmatch(text):
            value = float(text)
            return None if math.isinf(value) else value
    except (OverflowError, ValueError):
        pass
    return None


def _merged(buckets: list[Bucket]) -> list[Bucket]:
    """One bucket per bound."""
    out: list[Bucket] = []
    for bucket in buckets:
        if out and out[-1].upper == bucket.upper:
            out[-1].count += bucket.count
        else:
            out.append(Bucket(bucket.upper, bucket.count))
    return out


def _rising(buckets: list[Bucket]) -> list[Bucket]:
    """Counts that do not fall: what is smaller than before, or equal but for rounding, is what it was before."""
    before = buckets[0].count
    for bucket in buckets[1:]:
        if _nearly_equal(before, bucket.count) or bucket.count < before:
            bucket.count = before
        else:
            before = bucket.count
    return buckets


def _nearly_equal(a: float, b: float) -> bool:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    together, apart = abs(a) + abs(b), abs(a - b)
    if a == 0 or b == 0 or together < _SMALLEST_NORMAL:
        return apart < _TOLERANCE * _SMALLEST_NORMAL
    return apart / min(together, math.nextafter(math.inf, 0)) < _TOLERANCE


def _quantile(q: float, buckets: list[Bucket]) -> float:
    if math.isnan(q):
        return math.nan
    if q < 0:
        return -math.inf
    if q > 1:
        return math.inf
    if buckets[-1].upper != math.inf:
        return math.nan
    buckets = _rising(_merged(buckets))
    total = buckets[-1].count
    if len(buckets) < 2 or total == 0:
        return math.nan
    rank = q * total
    index = _first_with(buckets[:-1], rank)
    if index == len(buckets) - 1:
        return buckets[-2].upper
    here, below = buckets[index], Bucket(0.0, 0.0)
    if index == 0 and here.upper <= 0:
        return here.upper
    if index > 0:
        below = buckets[index - 1]
    share = divide(rank - below.count, here.count - below.count)
    return below.upper + (here.upper - below.upper) * share


def _first_with(buckets: list[Bucket], rank: float) -> int:
    """The first bucket that holds ``rank``, halving what is left: it matters where a count is NaN."""
    low, high = 0, len(buckets)
    while low < high:
        middle = (low + high) // 2
        if buckets[middle].count >= rank:
            high = middle
        else:
            low = middle + 1
    return low


def _fraction(low: float, high: float, buckets: list[Bucket]) -> float:
    if buckets[-1].upper != math.inf:
        return math.nan
    buckets = _merged(buckets)
    total = buckets[-1].count
    if total == 0 or math.isnan(low) or math.isnan(high):
        return math.nan
    if low >= high:
        return 0.0
    return divide(_rank_of(high, buckets) - _rank_of(low, buckets), total)


def _rank_of(value: float, buckets: list[Bucket]) -> float:
    """How many observations are below a value, in proportion inside a bucket."""
    total = buckets[-1].count
    lower, below = -math.inf, 0.0
    for bucket in buckets:
        rank = None
        if lower >= value:
            rank = below
        elif lower < value < bucket.upper:
            rank = below + divide((bucket.count - below) * (value - lower), bucket.upper - lower)
        if rank is not None:
            return total if rank > total else rank
        lower, below = bucket.upper, bucket.count
    return total
