"""The dispatcher of Shared subscriptions. In: what a read brought. Out: entries at their consumers, or in the replay list."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.clients import add_to_busy, advance, deliver
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.delayed_delivery import arm_tick, is_not_due
from throttlescope.models.throttling.kernel.entries import add_delayed, add_replay
from throttlescope.models.throttling.kernel.fields import DONE, LIST_FULL, NEVER, D, E, G, H, P, R, T
from throttlescope.models.throttling.kernel.logs import bytes_of_range, bytes_of_rows
from throttlescope.models.throttling.kernel.meters import charge
from throttlescope.models.throttling.kernel.ports import next_available
from throttlescope.models.throttling.kernel.rows import dispatcher_at, log_of, port_at, read_at, totals_at
from throttlescope.models.throttling.kernel.sending import send_list, send_range


@compiled
def dispatch_shared(a, d, rows, first, count, now):
    """Deal a read out round the ring of consumers; returns a status and how many entries had a consumer."""
    dispatcher = dispatcher_at(a, d)
    log = log_of(a, dispatcher)
    msgs = a[log + G.MSGS]
    remaining = msgs * count
    start = 0
    sent_entries = 0
    sent_bytes = 0
    while start < count:
        p = next_available(a, d)
        if p < 0:
            break
        port = port_at(a, p)
        messages = min(remaining, a[port + P.PERMITS])
        if a[dispatcher + D.MAX_UNACKED_CONSUMER] > 0:
            messages = min(messages, max(a[dispatcher + D.MAX_UNACKED_CONSUMER] - a[port + P.UNACKED], 0))
        share = max(1, min(a[R.ROUND_ROBIN], -(-messages // msgs)))
        end = min(start + share, count)
        if a[log + G.DELIVER_AFTER_US] == 0:
            kept = end - start
            if first >= 0:
                size, status = send_range(a, d, p, first + start, kept, now)
            else:
                size, status = send_list(a, d, p, rows, start, end, now)
        else:
            kept = 0
            size, status = 0, DONE
            for at in range(start, end):
                entry = first + at if first >= 0 else a[rows + at * E.WIDTH + E.ENTRY]
                if is_not_due(a, d, entry, now):
                    if add_delayed(a, d, entry) != DONE:
                        return LIST_FULL, 0
                    arm_tick(a, d)
                    continue
                redeliveries = 0 if first >= 0 else a[rows + at * E.WIDTH + E.REDELIVERIES]
                acked = 0 if first >= 0 else a[rows + at * E.WIDTH + E.ACKED]
                row = read_at(a, H.READING, a[H.SPARE_READ], kept)
                a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED] = entry, redeliveries, acked
                kept += 1
            if kept > 0:
                size, status = send_list(a, d, p, read_at(a, H.READING, a[H.SPARE_READ], 0), 0, kept, now)
        if status != DONE:
            return status, 0
        sent_entries += kept
        sent_bytes += size
        remaining -= kept * msgs
        start += share
    for at in range(start, count):
        if first >= 0:
            status = add_replay(a, d, first + at, 0, 0)
        else:
            status = add_replay(
                a,
                d,
                a[rows + at * E.WIDTH + E.ENTRY],
                a[rows + at * E.WIDTH + E.REDELIVERIES],
                a[rows + at * E.WIDTH + E.ACKED],
            )
        if status != DONE:
            return status, 0
    charge(a, d, sent_entries, sent_entries * msgs, sent_bytes, now)
    return DONE, min(start, count)


@compiled
def dispatch_evenly(a, d, rows, first_entry, count, now):
    """Where every consumer could take all of a read, each gets its lots of the round in one step; else nothing happens.

    Only where it does not matter which entry a client holds: then the order of the lots does not matter.
    """
    dispatcher = dispatcher_at(a, d)
    ports = a[dispatcher + D.PORT_COUNT]
    first = a[H.DISPATCHER_PORTS] + a[dispatcher + D.FIRST_PORT]
    msgs = a[log_of(a, dispatcher) + G.MSGS]
    messages = count * msgs
    most = (
        a[dispatcher + D.MAX_UNACKED_CONSUMER] - messages
        if a[dispatcher + D.MAX_UNACKED_CONSUMER] > 0
        else NEVER
    )
    # Kept in variables: after every write into the array the machine would read these places anew.
    all_ports = a[H.PORTS]
    for index in range(ports):
        port = all_ports + a[first + index] * P.WIDTH
        if (
            a[port + P.PERMITS] < messages
            or a[port + P.UNACKED] >= most
            or a[port + P.CONNECTED] == 0
            or a[port + P.BLOCKED] == 1
        ):
            return DONE, False
    if ports == 0 or 0 < a[dispatcher + D.MAX_UNACKED_SUBSCRIPTION] <= a[dispatcher + D.UNACKED] + messages:
        return DONE, False
    lot = a[R.ROUND_ROBIN]
    lots = -(-count // lot)
    rounds = lots // ports
    more = lots - rounds * ports
    last = more - 1 if more > 0 else ports - 1
    index = a[dispatcher + D.ROUND_ROBIN]
    for offset in range(min(ports, lots)):
        entries = (rounds + 1 if offset < more else rounds) * lot
        if offset == last:
            # The last lot is what is left.
            entries -= lots * lot - count
        p = a[first + index]
        port = all_ports + p * P.WIDTH
        a[port + P.PERMITS] -= entries * msgs
        a[port + P.UNACKED] += entries * msgs
        a[port + P.MSGS_PER_ENTRY] = msgs
        if not add_to_busy(a, port, entries, entries * msgs, now):
            status = advance(a, a[port + P.WORKER], now)
            if status == DONE:
                status = deliver(a, p, 0, entries, 0, 0, now)
            if status != DONE:
                return status, False
        index = index + 1 if index + 1 < ports else 0
    a[dispatcher + D.ROUND_ROBIN] += more if a[dispatcher + D.ROUND_ROBIN] + more < ports else more - ports
    a[dispatcher + D.TOTAL_PERMITS] -= messages
    a[dispatcher + D.UNACKED] += messages
    if first_entry >= 0:
        size = bytes_of_range(a, a[dispatcher + D.LOG], first_entry, count)
    else:
        size = bytes_of_rows(a, d, rows, count)
    totals = totals_at(a, d)
    a[totals + T.OUT_MESSAGES] += messages
    a[totals + T.OUT_ENTRIES] += count
    a[totals + T.OUT_BYTES] += size
    charge(a, d, count, messages, size, now)
    return DONE, True
