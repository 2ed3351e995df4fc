"""The newest straight stretch, the slow way. In: times in seconds and values. Out: first index, points, slope per second, scatter.

Every possible cut is tried with ``numpy.polyfit``; nothing is summed up beforehand.
"""

from __future__ import annotations

from math import log, sqrt
from statistics import median

import numpy as np


def newest_stretch(times_s: list[float], values: list[float]) -> tuple[int, int, float, float]:
    """As in ``models/forecast/line.py``: 40 points at most, cuts by the information criterion, median of pairwise slopes."""
    first = max(0, len(times_s) - 40)
    floor = max(1.0, 0.002 * max(abs(value) for value in values[first:])) ** 2
    while (cut := _newest_cut(times_s[first:], values[first:], floor)) is not None:
        first += cut
    times, points = times_s[first:], values[first:]
    count = len(times)
    slopes = [
        (points[j] - points[i]) / (times[j] - times[i]) for i in range(count) for j in range(i + 1, count)
    ]
    return first, count, median(slopes), sqrt(_error(times, points) / count)


def _newest_cut(times: list[float], points: list[float], floor: float) -> int | None:
    begin = 0
    while len(times) - begin >= 5:
        cut = _cut(times[begin:], points[begin:], floor)
        if cut is not None:
            return begin + cut
        begin += max(1, (len(times) - begin) // 2)
    return None


def _cut(times: list[float], points: list[float], floor: float) -> int | None:
    count = len(times)
    error, place = min(
        (_error(times[:place], points[:place]) + _error(times[place:], points[place:]), place)
        for place in range(3, count - 1)
    )
    # Variance per degree of freedom: a line takes two.
    gain = count * log((_error(times, points) / (count - 2) + floor) / (error / (count - 4) + floor))
    return place if gain >= 6 * log(count) else None


def _error(times: list[float], values: list[float]) -> float:
    if len(times) < 3:
        return 0.0
    shifted = np.array(times) - times[0]
    slope, height = np.polyfit(shifted, values, 1)
    return float(((np.array(values) - slope * shifted - height) ** 2).sum())
