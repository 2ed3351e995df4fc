"""Who can take something: a dispatcher's consumers. In: a dispatcher. Out: the number of a port, or -1."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import D, H, P
from throttlescope.models.throttling.kernel.logs import key_of
from throttlescope.models.throttling.kernel.rows import dispatcher_at, port_at, ports_of


@compiled
def active_port(a, d):
    """The one consumer that a single-active dispatcher serves, or -1."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.PORT_COUNT] == 1:
        p = a[a[H.DISPATCHER_PORTS] + a[dispatcher + D.FIRST_PORT]]
        return p if a[port_at(a, p) + P.CONNECTED] == 1 else -1
    connected = 0
    for place in ports_of(a, dispatcher):
        connected += a[port_at(a, a[place]) + P.CONNECTED]
    if connected == 0:
        return -1
    wanted = a[dispatcher + D.ACTIVE_OFFSET] % connected
    for place in ports_of(a, dispatcher):
        p = a[place]
        if a[port_at(a, p) + P.CONNECTED] == 1:
            if wanted == 0:
                return p
            wanted -= 1
    return -1


@compiled
def connected_port(a, d, wanted):
    """The ``wanted``-th connected port and how many there are."""
    dispatcher = dispatcher_at(a, d)
    count = 0
    found = -1
    for place in ports_of(a, dispatcher):
        p = a[place]
        if a[port_at(a, p) + P.CONNECTED] == 1:
            if count == wanted:
                found = p
            count += 1
    return found, count


@compiled
def owner_of(a, d, entry):
    """The consumer that owns an entry's key, or -1."""
    _, count = connected_port(a, d, 0)
    if count == 0:
        return -1
    found, _ = connected_port(a, d, key_of(a, a[dispatcher_at(a, d) + D.LOG], entry) % count)
    return found


@compiled
def next_available(a, d):
    """The next consumer in the ring that takes something now, or -1."""
    dispatcher = dispatcher_at(a, d)
    _, count = connected_port(a, d, 0)
    for step in range(count):
        wanted = (a[dispatcher + D.ROUND_ROBIN] + step) % count
        p, _ = connected_port(a, d, wanted)
        if a[port_at(a, p) + P.PERMITS] > 0 and a[port_at(a, p) + P.BLOCKED] == 0:
            a[dispatcher + D.ROUND_ROBIN] = (wanted + 1) % count
            return p
    return -1
