"""Whether two answers are the same. In: the JSON that two sides gave as ``data``. Out: nothing, or where they differ.

Large answers are read series by series, so that memory is bounded by the texts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import orjson

RELATIVE = 1e-12
_SERIES = b'{"metric":'


def difference(theirs: bytes, ours: bytes) -> str | None:
    """The first difference of two matrices; None where there is none.

    Series are compared in the order of their labels, times exactly and values to 1e-12 relative; NaN equals NaN.
    """
    left, right = _starts(theirs), _starts(ours)
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
    return sum(len(one["values"]) for one in _series(answer, _starts(answer)))


def _starts(answer: bytes) -> list[int]:
    found, at = [], answer.find(_SERIES)
    while at >= 0:
        found.append(at)
        at = answer.find(_SERIES, at + 1)
    return found


def _series(answer: bytes, starts: list[int]) -> Iterator[dict]:
    for low, high in zip(starts, [*starts[1:], len(answer)], strict=True):
        # Up to the next one is this one, and a comma or the ends of what holds it all.
        text = answer[low:high]
        yield orjson.loads(text[: text.rindex(b"]]}") + 3])


def _in_order(answer: bytes, starts: list[int]) -> Iterator[tuple[tuple, np.ndarray, np.ndarray]]:
    pieces = []
    for one, low in zip(_series(answer, starts), starts, strict=True):
        pieces.append((tuple(sorted(one["metric"].items())), low))
        del one
    pieces.sort()
    ends = dict(zip(starts, [*starts[1:], len(answer)], strict=True))
    for labels, low in pieces:
        (one,) = _series(answer[low : ends[low]], [0])
        times = np.array([point[0] for point in one["values"]], float)
        yield labels, times, np.array([float(point[1]) for point in one["values"]])
