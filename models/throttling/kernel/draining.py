"""Draining hashes of Key_Shared: keys that moved wait until their old owner has answered. In: a dispatcher, a consumer. Out: a status.

Only a consumer that comes or goes moves keys, so the entries that are waited for are looked up then; what is sent later is sent to the owner.
"""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.entries import add_draining, find
from throttlescope.models.throttling.kernel.fields import DONE, KEY_SHARED, NEVER, D, E, H, N, P, Q, R, W
from throttlescope.models.throttling.kernel.logs import key_of
from throttlescope.models.throttling.kernel.ports import owner_of
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    current_at,
    dispatcher_at,
    list_at,
    nack_at,
    port_at,
    ports_of,
    queue_at,
    worker_at,
)
from throttlescope.models.throttling.kernel.schedule import schedule_dispatcher

#: After a key has become free its dispatcher polls so much later.
UNBLOCKING_US = 10_000


@compiled
def is_draining(a, d, entry):
    """Whether a consumer that no longer owns the entry's key has not answered for all of it."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.DRAINING_COUNT] == 0:
        return False
    g = a[dispatcher + D.LOG]
    key = key_of(a, g, entry)
    for number in range(a[dispatcher + D.DRAINING_COUNT]):
        if key_of(a, g, a[list_at(a, H.DRAINING, d, number) + E.ENTRY]) == key:
            return True
    return False


@compiled
def drained(a, d, p, entry):
    """A consumer has answered for an entry; when that was its key's last one, poll a little later."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.DRAINING_COUNT] == 0:
        return
    found = find(a, list_at(a, H.DRAINING, d, 0), a[dispatcher + D.DRAINING_COUNT], entry)
    if found < 0 or a[list_at(a, H.DRAINING, d, found) + E.PORT] != p:
        return
    a[dispatcher + D.DRAINING_COUNT] -= 1
    for at in range(found, a[dispatcher + D.DRAINING_COUNT]):
        copy_row(a, list_at(a, H.DRAINING, d, at), list_at(a, H.DRAINING, d, at + 1), E.WIDTH)
    if not is_draining(a, d, entry) and a[dispatcher + D.TIMER_AT] == NEVER:
        a[dispatcher + D.TIMER_AT] = a[R.NOW] + UNBLOCKING_US
        schedule_dispatcher(a, d)


@compiled
def note_moves(a, d):
    """After a consumer came or went: what connected consumers have and no longer own is waited for."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.KIND] != KEY_SHARED or a[R.DRAINS_HASHES] == 0:
        return DONE
    a[dispatcher + D.DRAINING_COUNT] = 0
    for place in ports_of(a, dispatcher):
        p = a[place]
        port = port_at(a, p)
        if a[port + P.CONNECTED] == 0:
            continue
        status = _note_held(a, d, p)
        if status != DONE:
            return status
    for number in range(a[dispatcher + D.NEVER_ACKED_COUNT]):
        row = list_at(a, H.NEVER_ACKED, d, number)
        if a[port_at(a, a[row + E.PORT]) + P.CONNECTED] == 1:
            status = _note(a, d, a[row + E.PORT], a[row + E.ENTRY])
            if status != DONE:
                return status
    return DONE


@compiled
def _note_held(a, d, p):
    """Wait for what a client has of a port: in its queue, in its hands, or given back and not sent."""
    port = port_at(a, p)
    epoch = a[port + P.EPOCH]
    w = a[port + P.WORKER]
    worker = worker_at(a, w)
    for number in range(a[worker + W.QUEUE_HEAD], a[worker + W.QUEUE_TAIL]):
        item = queue_at(a, w, number)
        if a[item + Q.PORT] == p and a[item + Q.EPOCH] == epoch:
            status = _note(a, d, p, a[item + Q.ENTRY])
            if status != DONE:
                return status
    current = current_at(a, w)
    if a[worker + W.BUSY] == 1 and a[current + Q.PORT] == p and a[current + Q.EPOCH] == epoch:
        status = _note(a, d, p, a[current + Q.ENTRY])
        if status != DONE:
            return status
    for number in range(a[worker + W.NACKS_HEAD], a[worker + W.NACKS_TAIL]):
        row = nack_at(a, w, number)
        if a[row + N.PORT] == p and a[row + N.EPOCH] == epoch:
            status = _note(a, d, p, a[row + N.ENTRY])
            if status != DONE:
                return status
    return DONE


@compiled
def _note(a, d, p, entry):
    """Wait for an entry of a consumer, unless its key still belongs there."""
    return DONE if owner_of(a, d, entry) == p else add_draining(a, d, p, entry)
