"""Logs: when an entry is published, how large it is, which key it has. In: the number of a log and an entry. Out: whole numbers.

As ``world.Log``; entries are found by bisection.
"""

from __future__ import annotations

import numpy as np

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import NEVER, D, E, G, H, LogSegment, LogSize
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_at


@compiled
def mixed(number, salt):
    """The finalizer of splitmix64, its upper 32 bits."""
    z = (
        np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
        + np.uint64(salt) * np.uint64(0xBF58476D1CE4E5B9)
        + np.uint64(0x94D049BB133111EB)
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(32))


@compiled
def published(a, g, before):
    """Entries of a log that were published before a time."""
    log = log_at(a, g)
    if a[log + G.TICK_US] > 0:
        before = (before - 1) // a[log + G.TICK_US] * a[log + G.TICK_US] + 1
    if a[log + G.LISTED_COUNT] >= 0:
        low, high = 0, a[log + G.LISTED_COUNT]
        while low < high:
            middle = (low + high) // 2
            if a[a[H.LISTED] + a[log + G.FIRST_LISTED] + middle] < before:
                low = middle + 1
            else:
                high = middle
        return low
    # The last segment that begins before the time; what the earlier ones hold is its first entry's number.
    low, high = 0, a[log + G.SEGMENT_COUNT]
    first = a[H.SEGMENTS] + a[log + G.FIRST_SEGMENT] * LogSegment.WIDTH
    while low < high:
        middle = (low + high) // 2
        if a[first + middle * LogSegment.WIDTH + LogSegment.START_AT] < before:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0
    row = first + (low - 1) * LogSegment.WIDTH
    end = (
        a[row + LogSegment.WIDTH + LogSegment.START_AT]
        if low < a[log + G.SEGMENT_COUNT]
        else a[log + G.END_AT]
    )
    return a[row + LogSegment.FIRST_ENTRY] - (
        -(min(before, end) - a[row + LogSegment.START_AT]) * a[row + LogSegment.PER_1000_S] // 1_000_000_000
    )


@compiled
def time_of(a, g, entry):
    """When an entry is published."""
    at = _own_time_of(a, g, entry)
    tick = a[log_at(a, g) + G.TICK_US]
    return -(-at // tick) * tick if tick > 0 and at < NEVER else at


@compiled
def _own_time_of(a, g, entry):
    """The same without the lots in which entries come."""
    log = log_at(a, g)
    if a[log + G.LISTED_COUNT] >= 0:
        return a[a[H.LISTED] + a[log + G.FIRST_LISTED] + entry] if entry < a[log + G.LISTED_COUNT] else NEVER
    if entry >= a[log + G.ENTRY_COUNT]:
        return NEVER
    # The last segment that begins at or before the entry; an empty one holds nothing, the one after it has the same first entry.
    low, high = 0, a[log + G.SEGMENT_COUNT]
    first = a[H.SEGMENTS] + a[log + G.FIRST_SEGMENT] * LogSegment.WIDTH
    while low < high:
        middle = (low + high) // 2
        if a[first + middle * LogSegment.WIDTH + LogSegment.FIRST_ENTRY] <= entry:
            low = middle + 1
        else:
            high = middle
    while low > 0 and a[first + (low - 1) * LogSegment.WIDTH + LogSegment.PER_1000_S] == 0:
        low -= 1
    if low == 0:
        return NEVER
    row = first + (low - 1) * LogSegment.WIDTH
    return (
        a[row + LogSegment.START_AT]
        + (entry - a[row + LogSegment.FIRST_ENTRY]) * 1_000_000_000 // a[row + LogSegment.PER_1000_S]
    )


@compiled
def bytes_of(a, g, entry):
    """Stored bytes of an entry."""
    log = log_at(a, g)
    first = a[log + G.FIRST_SIZE]
    if a[log + G.SIZE_COUNT] == 1:
        return a[a[H.SIZES] + first * LogSize.WIDTH + LogSize.BYTES]
    drawn = mixed(entry, a[log + G.SALT])
    for at in range(first, first + a[log + G.SIZE_COUNT]):
        if drawn < a[a[H.SIZES] + at * LogSize.WIDTH + LogSize.BELOW]:
            return a[a[H.SIZES] + at * LogSize.WIDTH + LogSize.BYTES]
    return a[a[H.SIZES] + (first + a[log + G.SIZE_COUNT] - 1) * LogSize.WIDTH + LogSize.BYTES]


@compiled
def bytes_of_range(a, g, first, count):
    """Stored bytes of entries that follow each other."""
    log = log_at(a, g)
    if a[log + G.SIZE_COUNT] == 1:
        return a[a[H.SIZES] + a[log + G.FIRST_SIZE] * LogSize.WIDTH + LogSize.BYTES] * count
    total = 0
    for entry in range(first, first + count):
        total += bytes_of(a, g, entry)
    return total


@compiled
def bytes_of_rows(a, d, rows, count):
    """Stored bytes of the entries of a list."""
    g = a[dispatcher_at(a, d) + D.LOG]
    size = 0
    for at in range(count):
        size += bytes_of(a, g, a[rows + at * E.WIDTH + E.ENTRY])
    return size


@compiled
def key_of(a, g, entry):
    """Number of the entry's key."""
    log = log_at(a, g)
    drawn = mixed(entry, a[log + G.SALT] + 1)
    return drawn % a[log + G.KEYS] if a[log + G.KEYS] > 0 else drawn
