"""The slow twin of ``app/presentation/figures/downsampling.py``: bucket by bucket, point by point."""

from __future__ import annotations

import math


def kept(values: list[float], *, buckets: int, most: int) -> list[int]:
    """Positions that are drawn: least and greatest of each bucket, both sides of a gap, and one point inside it."""
    count = len(values)
    if count <= most:
        return list(range(count))
    if all(math.isnan(value) for value in values):
        return [0]
    chosen = set()
    for bucket in range(buckets):
        mine = [at for at in range(count) if at * buckets // count == bucket and not math.isnan(values[at])]
        if mine:
            least, greatest = min(values[at] for at in mine), max(values[at] for at in mine)
            chosen.add(next(at for at in mine if values[at] == least))
            chosen.add(next(at for at in mine if values[at] == greatest))
    for at in range(count):
        before = at > 0 and not math.isnan(values[at - 1])
        after = at + 1 < count and not math.isnan(values[at + 1])
        if math.isnan(values[at]):
            if at == 0 or before:
                chosen.add(at)
        elif not before or not after:
            chosen.add(at)
    return sorted(chosen)


def fullest(totals: list[float], *, buckets: int) -> list[int]:
    """Of each bucket the first position of its greatest total above zero."""
    chosen = []
    for bucket in range(buckets):
        mine = [at for at in range(len(totals)) if at * buckets // len(totals) == bucket and totals[at] > 0]
        if mine:
            chosen.append(max(mine, key=lambda at: (totals[at], -at)))
    return chosen
