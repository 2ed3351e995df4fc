"""A dispatcher's sorted lists of entries: to be read again, to be replayed, delayed. In: an entry. Out: the list with it, or LIST_FULL."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import DONE, LIST_FULL, D, E, H
from throttlescope.models.throttling.kernel.rows import copy_row, dispatcher_at, list_at


@compiled
def _insert(a, rows, first, end, entry, redeliveries, acked):
    """Insert into rows sorted by entry; an entry that is there already is replaced. Returns the new end, or -1 when full."""
    low, high = first, end
    if high > low and a[rows + (high - 1) * E.WIDTH + E.ENTRY] < entry:
        low = high
    while low < high:
        middle = (low + high) // 2
        if a[rows + middle * E.WIDTH + E.ENTRY] < entry:
            low = middle + 1
        else:
            high = middle
    if low == end or a[rows + low * E.WIDTH + E.ENTRY] != entry:
        if end == a[H.LIST_SIZE]:
            return -1
        for at in range(end, low, -1):
            copy_row(a, rows + at * E.WIDTH, rows + (at - 1) * E.WIDTH, E.WIDTH)
        end += 1
    a[rows + low * E.WIDTH + E.ENTRY] = entry
    a[rows + low * E.WIDTH + E.REDELIVERIES] = redeliveries
    a[rows + low * E.WIDTH + E.ACKED] = acked
    return end


@compiled
def add_again(a, d, entry, redeliveries, acked):
    """An entry before the read position is to be read again, unless it expired meanwhile."""
    dispatcher = dispatcher_at(a, d)
    if entry < a[dispatcher + D.EXPIRED_BELOW]:
        return DONE
    if a[dispatcher + D.AGAIN_END] == a[H.LIST_SIZE] and a[dispatcher + D.AGAIN_START] > 0:
        count = a[dispatcher + D.AGAIN_END] - a[dispatcher + D.AGAIN_START]
        for at in range(count):
            copy_row(
                a,
                list_at(a, H.AGAIN, d, at),
                list_at(a, H.AGAIN, d, a[dispatcher + D.AGAIN_START] + at),
                E.WIDTH,
            )
        a[dispatcher + D.AGAIN_START], a[dispatcher + D.AGAIN_END] = 0, count
    end = _insert(
        a,
        list_at(a, H.AGAIN, d, 0),
        a[dispatcher + D.AGAIN_START],
        a[dispatcher + D.AGAIN_END],
        entry,
        redeliveries,
        acked,
    )
    if end < 0:
        return LIST_FULL
    a[dispatcher + D.AGAIN_END] = end
    return DONE


@compiled
def add_replay(a, d, entry, redeliveries, acked):
    """An entry waits to be read by its number, unless it expired meanwhile."""
    dispatcher = dispatcher_at(a, d)
    if entry < a[dispatcher + D.EXPIRED_BELOW]:
        return DONE
    end = _insert(
        a, list_at(a, H.REPLAY, d, 0), 0, a[dispatcher + D.REPLAY_COUNT], entry, redeliveries, acked
    )
    if end < 0:
        return LIST_FULL
    a[dispatcher + D.REPLAY_COUNT] = end
    return DONE


@compiled
def add_delayed(a, d, entry):
    """An entry waits for its delivery time."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.DELAYED_END] == a[H.LIST_SIZE] and a[dispatcher + D.DELAYED_START] > 0:
        count = a[dispatcher + D.DELAYED_END] - a[dispatcher + D.DELAYED_START]
        for at in range(count):
            copy_row(
                a,
                list_at(a, H.DELAYED, d, at),
                list_at(a, H.DELAYED, d, a[dispatcher + D.DELAYED_START] + at),
                E.WIDTH,
            )
        a[dispatcher + D.DELAYED_START], a[dispatcher + D.DELAYED_END] = 0, count
    end = _insert(
        a,
        list_at(a, H.DELAYED, d, 0),
        a[dispatcher + D.DELAYED_START],
        a[dispatcher + D.DELAYED_END],
        entry,
        0,
        0,
    )
    if end < 0:
        return LIST_FULL
    a[dispatcher + D.DELAYED_END] = end
    return DONE
