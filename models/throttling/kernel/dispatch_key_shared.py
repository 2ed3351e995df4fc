"""The dispatcher of Key_Shared subscriptions. In: what a read brought. Out: entries at the owners of their keys, or in the replay list."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.delayed_delivery import arm_tick, is_not_due
from throttlescope.models.throttling.kernel.draining import is_draining
from throttlescope.models.throttling.kernel.entries import add_delayed, add_replay
from throttlescope.models.throttling.kernel.fields import DONE, LIST_FULL, D, E, G, H, P
from throttlescope.models.throttling.kernel.logs import key_of
from throttlescope.models.throttling.kernel.meters import charge
from throttlescope.models.throttling.kernel.ports import owner_of
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    dispatcher_at,
    list_at,
    log_of,
    port_at,
    ports_of,
    read_at,
)
from throttlescope.models.throttling.kernel.sending import send_list


@compiled
def dispatch_keys(a, d, rows, count, now):
    """Send to the owners of the keys; what its owner cannot take waits in the replay list with all that follows of its key."""
    dispatcher = dispatcher_at(a, d)
    log = log_of(a, dispatcher)
    msgs = a[log + G.MSGS]
    # A read's rows come sorted, but those read again may follow later ones.
    for at in range(1, count):
        move = at
        while move > 0 and a[rows + (move - 1) * E.WIDTH + E.ENTRY] > a[rows + move * E.WIDTH + E.ENTRY]:
            for field in range(E.WIDTH):
                a[rows + move * E.WIDTH + field], a[rows + (move - 1) * E.WIDTH + field] = (
                    a[rows + (move - 1) * E.WIDTH + field],
                    a[rows + move * E.WIDTH + field],
                )
            move -= 1
    for place in ports_of(a, dispatcher):
        a[a[H.SCRATCH] + a[place]] = a[port_at(a, a[place]) + P.PERMITS]
    ports = a[H.PORT_COUNT]
    processed = 0
    for at in range(count):
        entry = a[rows + at * E.WIDTH + E.ENTRY]
        owner = owner_of(a, d, entry)
        fits = owner >= 0 and a[port_at(a, owner) + P.BLOCKED] == 0 and a[a[H.SCRATCH] + owner] > 0
        if not fits or is_draining(a, d, entry) or _older_waits(a, d, entry):
            status = add_replay(
                a, d, entry, a[rows + at * E.WIDTH + E.REDELIVERIES], a[rows + at * E.WIDTH + E.ACKED]
            )
            if status != DONE:
                return status, 0
            a[a[H.SCRATCH] + ports + at] = -1
            continue
        # A batch counts once here; only what is sent takes permits by the message.
        a[a[H.SCRATCH] + owner] -= 1
        a[a[H.SCRATCH] + ports + at] = owner
        processed += 1
    sent_entries = 0
    sent_bytes = 0
    spare = read_at(a, H.READING, a[H.SPARE_READ], 0)
    for place in ports_of(a, dispatcher):
        p = a[place]
        kept = 0
        for at in range(count):
            if a[a[H.SCRATCH] + ports + at] != p:
                continue
            if a[log + G.DELIVER_AFTER_US] > 0 and is_not_due(a, d, a[rows + at * E.WIDTH + E.ENTRY], now):
                if add_delayed(a, d, a[rows + at * E.WIDTH + E.ENTRY]) != DONE:
                    return LIST_FULL, 0
                arm_tick(a, d)
                continue
            copy_row(a, spare + kept * E.WIDTH, rows + at * E.WIDTH, E.WIDTH)
            kept += 1
        if kept > 0:
            size, status = send_list(a, d, p, spare, 0, kept, now)
            if status != DONE:
                return status, 0
            sent_entries += kept
            sent_bytes += size
    charge(a, d, sent_entries, sent_entries * msgs, sent_bytes, now)
    return DONE, processed


@compiled
def _older_waits(a, d, entry):
    """Whether an older entry of the same key waits."""
    g = a[dispatcher_at(a, d) + D.LOG]
    key = key_of(a, g, entry)
    for number in range(a[dispatcher_at(a, d) + D.REPLAY_COUNT]):
        other = a[list_at(a, H.REPLAY, d, number) + E.ENTRY]
        if other >= entry:
            break
        if key_of(a, g, other) == key:
            return True
    return False
