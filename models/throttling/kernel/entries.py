"""A dispatcher's sorted lists of entries: to be read again, replayed, delayed, drained, acknowledged late.

In: an entry. Out: the list with it, or LIST_FULL.
"""

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
    """An entry before the read position is to be read again, unless it expired or was acknowledged meanwhile."""
    dispatcher = dispatcher_at(a, d)
    if not is_waited_for(a, d, entry):
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
    """An entry waits to be read by its number, unless it expired or was acknowledged meanwhile."""
    dispatcher = dispatcher_at(a, d)
    if not is_waited_for(a, d, entry):
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


@compiled
def is_waited_for(a, d, entry):
    """Whether the subscription still needs an entry: it has neither expired nor been acknowledged late."""
    dispatcher = dispatcher_at(a, d)
    if entry < a[dispatcher + D.EXPIRED_BELOW]:
        return False
    count = a[dispatcher + D.ACKED_LATE_COUNT]
    return count == 0 or find(a, list_at(a, H.ACKED_LATE, d, 0), count, entry) < 0


@compiled
def find(a, rows, count, entry):
    """Where an entry is in rows sorted by entry, or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if a[rows + middle * E.WIDTH + E.ENTRY] < entry:
            low = middle + 1
        else:
            high = middle
    return low if low < count and a[rows + low * E.WIDTH + E.ENTRY] == entry else -1


@compiled
def add_acked_late(a, d, entry):
    """An entry was acknowledged by a client that had given it back; it is read no more."""
    dispatcher = dispatcher_at(a, d)
    end = _insert(a, list_at(a, H.ACKED_LATE, d, 0), 0, a[dispatcher + D.ACKED_LATE_COUNT], entry, 0, 0)
    if end < 0:
        return LIST_FULL
    a[dispatcher + D.ACKED_LATE_COUNT] = end
    again = find(
        a,
        list_at(a, H.AGAIN, d, a[dispatcher + D.AGAIN_START]),
        a[dispatcher + D.AGAIN_END] - a[dispatcher + D.AGAIN_START],
        entry,
    )
    if again >= 0:
        a[dispatcher + D.AGAIN_END] -= 1
        for at in range(a[dispatcher + D.AGAIN_START] + again, a[dispatcher + D.AGAIN_END]):
            copy_row(a, list_at(a, H.AGAIN, d, at), list_at(a, H.AGAIN, d, at + 1), E.WIDTH)
        if a[dispatcher + D.AGAIN_START] == a[dispatcher + D.AGAIN_END]:
            a[dispatcher + D.AGAIN_START] = a[dispatcher + D.AGAIN_END] = 0
    waiting = find(a, list_at(a, H.REPLAY, d, 0), a[dispatcher + D.REPLAY_COUNT], entry)
    if waiting >= 0:
        a[dispatcher + D.REPLAY_COUNT] -= 1
        for at in range(waiting, a[dispatcher + D.REPLAY_COUNT]):
            copy_row(a, list_at(a, H.REPLAY, d, at), list_at(a, H.REPLAY, d, at + 1), E.WIDTH)
    return DONE


@compiled
def add_draining(a, d, p, entry):
    """A consumer holds an entry whose key belongs to another one now."""
    dispatcher = dispatcher_at(a, d)
    rows = list_at(a, H.DRAINING, d, 0)
    end = _insert(a, rows, 0, a[dispatcher + D.DRAINING_COUNT], entry, 0, 0)
    if end < 0:
        return LIST_FULL
    a[dispatcher + D.DRAINING_COUNT] = end
    a[rows + find(a, rows, end, entry) * E.WIDTH + E.PORT] = p
    return DONE
