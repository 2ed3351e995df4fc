"""Whether two answers are the same. In: the JSON that two sides gave as ``data``. Out: nothing, or where they differ.

Large answers are read series by series, so that memory is bounded by the texts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import orjson

RELATIVE = 1e-12
_SERIES = b'{"metric":'


def difference(theirs: bytes, ours: bytes) -> str | None:
    """The first difference of two matrices; None where there is none.

    Series are compared in the order of their labels, times exactly and values to 1e-12 relative; NaN equals NaN.
    """
    left, right = _places(theirs), _places(ours)
    if len(left) != len(right):
        return f"{len(left)} series and {len(right)}"
    for (labels, times, values), (our_labels, our_times, our_values) in zip(
        _in_order(theirs, left), _in_order(ours, right), strict=True
    ):
        if labels != our_labels:
            return f"series {labels} and {our_labels}"
        if not np.array_equal(times, our_times):
            return f"{len(times)} points and {len(our_times)}, or other times, of {labels}"
        near = np.isclose(our_values, values, rtol=RELATIVE, atol=0.0, equal_nan=True)
        if not near.all():
            i = int(np.flatnonzero(~near)[0])
            return f"{values[i]!r} and {our_values[i]!r} at {times[i]} of {labels}"
    return None


def points(answer: bytes) -> int:
    """Points of a matrix."""
    return sum(len(_read(answer, place)["values"]) for place in _places(answer))


def _places(answer: bytes) -> list[tuple[int, int]]:
    """Where each series stands in the text, with the comma or the ends that follow it."""
    starts, at = [], answer.find(_SERIES)
    while at >= 0:
        starts.append(at)
        at = answer.find(_SERIES, at + 1)
    return list(pairwise([*starts, len(answer)])) if starts else []


def _read(answer: bytes, place: tuple[int, int]) -> dict:
    text = answer[slice(*place)]
    return orjson.loads(text[: text.rindex(b"]]}") + 3])


def _in_order(
    answer: bytes, places: list[tuple[int, int]]
) -> Iterator[tuple[tuple[tuple[str, str], ...], np.ndarray, np.ndarray]]:
    labelled = []
    for low, high in places:
        # Labels first: the points of one series at a time are in memory.
        metric = orjson.loads(answer[low + len(_SERIES) : answer.index(b',"values":', low)])
        labelled.append((tuple(sorted(metric.items())), (low, high)))
    for labels, place in sorted(labelled):
        values = _read(answer, place)["values"]
        yield (
            labels,
            np.array([point[0] for point in values], float),
            np.array([float(point[1]) for point in values]),
        )
