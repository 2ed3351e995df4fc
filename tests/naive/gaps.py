"""Missing stretches, the slow way: a flag for every millisecond's second. In: times of samples and a range. Out: stretches."""

from __future__ import annotations

from collections.abc import Iterable


def silent(
    times_ms: Iterable[int], start_ms: int, end_ms: int, shortest_ms: int, began: bool
) -> list[tuple[int, int]]:
    """Stretches of [start, end) without a sample that are as long as the shortest, walked second by second.

    Times have to be whole seconds. A stretch behind a sample begins a millisecond after it.
    """
    there = {time_ms for time_ms in times_ms if start_ms <= time_ms < end_ms}
    found: list[tuple[int, int]] = []
    low = start_ms if began else None
    after_sample = False
    for at in [*range(start_ms, end_ms, 1000), end_ms]:
        if at in there or at == end_ms:
            if low is not None and at - low >= shortest_ms:
                found.append((low + after_sample, at))
            low, after_sample = at, True
    return found
