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
    while True:
        times, points = times_s[first:], values[first:]
        count = len(times)
        tried = [
            (_error(times[:place], points[:place]) + _error(times[place:], points[place:]), place)
            for place in range(3, count - 1)
        ]
        if not tried:
            break
        error, place = min(tried)
        gain = count * log((_error(times, points) + floor * count) / (error + floor * count))
        if gain < 6 * log(count):
            break
        first += place
    slopes = [
        (points[j] - points[i]) / (times[j] - times[i]) for i in range(count) for j in range(i + 1, count)
    ]
    return first, count, median(slopes), sqrt(_error(times, points) / count)


def _error(times: list[float], values: list[float]) -> float:
    if len(times) < 3:
        return 0.0
    shifted = np.array(times) - times[0]
    slope, height = np.polyfit(shifted, values, 1)
    return float(((np.array(values) - slope * shifted - height) ** 2).sum())
