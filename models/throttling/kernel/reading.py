"""The broker side, first half: when a dispatcher polls, what it plans, and what a read brings. In: a dispatcher and a time. Out: a read."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.draining import is_draining
from throttlescope.models.throttling.kernel.entries import add_replay
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    KEY_SHARED,
    LIST_FULL,
    NEVER,
    SINGLE,
    D,
    E,
    G,
    H,
    M,
    P,
    R,
    T,
)
from throttlescope.models.throttling.kernel.logs import mixed, published, time_of
from throttlescope.models.throttling.kernel.meters import available
from throttlescope.models.throttling.kernel.ports import active_port, connected_port, owner_of
from throttlescope.models.throttling.kernel.rows import (
    copy_row,
    dispatcher_at,
    list_at,
    log_of,
    port_at,
    ports_of,
    read_at,
    totals_at,
)

BACKOFF_US = 1_000_000
RETRY_MAX_US = 10_000


@compiled
def poll(a, d, now):
    """Run the dispatcher's routine that tries to read more.

    One function for all kinds of dispatchers: cut into smaller ones, as the twin's, the kernel polls 6 percent more slowly.
    """
    dispatcher = dispatcher_at(a, d)
    if a[log_of(a, dispatcher) + G.PERSISTENT] == 0:
        return DONE
    single = a[dispatcher + D.KIND] == SINGLE
    if a[R.PASS_US] > 0 and not single:
        if now < a[dispatcher + D.PASS_UNTIL]:
            # The pass that runs makes one more after it, for all who ask meanwhile.
            a[dispatcher + D.FOLLOW_UP_AT] = a[dispatcher + D.PASS_UNTIL]
            return DONE
        a[dispatcher + D.PASS_UNTIL] = now + a[R.PASS_US]
    a[totals_at(a, d) + T.POLLS] += 1
    if single:
        if a[dispatcher + D.READING_DONE_AT] != NEVER or a[dispatcher + D.ARMED_COUNT] > 0:
            return DONE
        p = active_port(a, d)
        if p < 0 or a[port_at(a, p) + P.PERMITS] <= 0:
            return DONE
        permits = a[port_at(a, p) + P.PERMITS]
    else:
        first = 0
        for place in ports_of(a, dispatcher):
            port = port_at(a, a[place])
            if a[port + P.CONNECTED] == 1 and a[port + P.PERMITS] > 0 and a[port + P.BLOCKED] == 0:
                first = a[port + P.PERMITS]
                break
        if first <= 0:
            return DONE
        permits = max(a[dispatcher + D.TOTAL_PERMITS], first)
        p = -1
    entries = permits
    if a[R.PRECISE] == 1:
        if not single:
            _, count = connected_port(a, d, 0)
            drawn = (
                mixed(
                    a[totals_at(a, d) + T.POLLS],
                    a[log_of(a, dispatcher) + G.SALT] + 3,
                )
                % count
            )
            p, _ = connected_port(a, d, drawn)
        per_entry = max(1, a[port_at(a, p) + P.MSGS_PER_ENTRY])
        entries = -(-permits // per_entry)
    entries = min(entries, a[R.READ_BATCH])
    size = a[R.READ_BYTES]
    if a[R.LIMITS_CAUGHT_UP] == 1 or a[dispatcher + D.ACTIVE] == 0:
        # Kept in variables: after every write into the array the machine would read these places anew.
        engine = a[R.ENGINE]
        meters = a[H.METERS]
        events = totals_at(a, d) + T.EVENTS
        for level in range(3):
            meter = meters + a[dispatcher + D.BROKER_LIMITER + level] * 2 * M.WIDTH
            if a[meter + M.RATE] > 0:
                most = available(a, meter, engine, now)
                if most < entries:
                    entries = most
                    a[events + 2 * level] += 1
            meter += M.WIDTH
            if a[meter + M.RATE] > 0:
                most = available(a, meter, engine, now)
                if most < size:
                    size = most
                    a[events + 2 * level + 1] += 1
            if entries == 0 or size == 0:
                if a[dispatcher + D.TIMER_AT] == NEVER:
                    a[dispatcher + D.TIMER_AT] = now + BACKOFF_US + a[R.TIMER_LATE_US]
                return DONE
    entries = max(entries, 1)
    size = max(size, 1)
    if not single:
        if a[dispatcher + D.REPLAYING_DONE_AT] != NEVER:
            return DONE
        chosen = 0
        if (
            a[dispatcher + D.REPLAY_COUNT] > 0
            or a[dispatcher + D.DELAYED_START] < a[dispatcher + D.DELAYED_END]
        ):
            chosen = _choose_replay(a, d, entries, size, now)
            if chosen < 0:
                return LIST_FULL
        if chosen > 0:
            a[dispatcher + D.REPLAYING_COUNT] = chosen
            oldest = published(a, a[dispatcher + D.LOG], now - a[R.CACHE_US])
            stored = 0
            for at in range(chosen):
                if a[read_at(a, H.REPLAYING, d, at) + E.ENTRY] < oldest:
                    stored += 1
            a[dispatcher + D.REPLAYING_DONE_AT] = now + _read_us(a, stored, chosen)
            return DONE
        if (
            a[dispatcher + D.BLOCKED] == 1
            or a[dispatcher + D.READING_DONE_AT] != NEVER
            or a[dispatcher + D.ARMED_COUNT] > 0
        ):
            return DONE
        if a[dispatcher + D.KIND] == KEY_SHARED:
            _, count = connected_port(a, d, 0)
            if a[dispatcher + D.REPLAY_COUNT] >= min(a[R.LOOK_AHEAD_PER_CONSUMER] * count, a[R.LOOK_AHEAD]):
                retry(a, d, now)
                return DONE
    _read(a, d, entries, size, now)
    return DONE


@compiled
def retry(a, d, now):
    """Poll again after 1 to 10 ms; shares its timer with the rate back-off."""
    dispatcher = dispatcher_at(a, d)
    if a[dispatcher + D.TIMER_AT] == NEVER:
        a[dispatcher + D.TIMER_AT] = now + a[dispatcher + D.BACKOFF_US]
    a[dispatcher + D.BACKOFF_US] = min(2 * a[dispatcher + D.BACKOFF_US], RETRY_MAX_US)


@compiled
def _entries_for(a, d, entries, size):
    """Entries that fit into a plan, by the mean of their size."""
    mean = max(1, a[log_of(a, dispatcher_at(a, d)) + G.ESTIMATE_BYTES]) + a[R.ESTIMATE_EXTRA_BYTES]
    if entries * mean <= size:
        return max(1, entries)
    return max(1, size // mean)


@compiled
def _read_us(a, stored, found):
    """What a read takes: ``stored`` of its entries are too old for the broker's cache."""
    if stored == 0:
        return a[R.CACHED_READ_US] + found * a[R.CACHED_ENTRY_US]
    return a[R.READ_US] + stored * a[R.READ_ENTRY_US] + (found - stored) * a[R.CACHED_ENTRY_US]


@compiled
def _read(a, d, entries, size, now):
    """Read from the position on, or wait for new entries."""
    dispatcher = dispatcher_at(a, d)
    wanted = _entries_for(a, d, entries, size)
    found = take(a, d, wanted, now)
    if found > 0:
        a[dispatcher + D.READING_COUNT] = found
        stored = 0
        if a[dispatcher + D.READING_FIRST] >= 0:
            if a[dispatcher + D.READING_FIRST] + found > a[dispatcher + D.OLDEST_CACHED]:
                a[dispatcher + D.OLDEST_CACHED] = published(a, a[dispatcher + D.LOG], now - a[R.CACHE_US])
            stored = min(found, max(0, a[dispatcher + D.OLDEST_CACHED] - a[dispatcher + D.READING_FIRST]))
        else:
            oldest = published(a, a[dispatcher + D.LOG], now - a[R.CACHE_US])
            for at in range(found):
                if a[read_at(a, H.READING, d, at) + E.ENTRY] < oldest:
                    stored += 1
        a[dispatcher + D.READING_DONE_AT] = now + _read_us(a, stored, found)
        return
    a[dispatcher + D.ARMED_COUNT] = wanted
    arm(a, d)


@compiled
def arm(a, d):
    """Have the read that waits complete when the next entry is published."""
    dispatcher = dispatcher_at(a, d)
    at = time_of(a, a[dispatcher + D.LOG], a[dispatcher + D.POSITION])
    a[dispatcher + D.ARMED_DONE_AT] = at + a[R.NOTIFY_US] if at < NEVER else NEVER


@compiled
def take(a, d, most, now):
    """Take up to so many entries from the read position into the dispatcher's reading; a range where possible."""
    dispatcher = dispatcher_at(a, d)
    waiting = a[dispatcher + D.AGAIN_END] - a[dispatcher + D.AGAIN_START]
    from_again = min(most, waiting)
    fresh = most - from_again
    # What was published before still is: where that is enough, no recount is needed.
    if a[dispatcher + D.PUBLISHED_SEEN] - a[dispatcher + D.POSITION] < fresh:
        a[dispatcher + D.PUBLISHED_SEEN] = published(a, a[dispatcher + D.LOG], now + 1)
        fresh = max(0, min(fresh, a[dispatcher + D.PUBLISHED_SEEN] - a[dispatcher + D.POSITION]))
    if from_again == 0 and a[dispatcher + D.EXACT] == 0:
        a[dispatcher + D.READING_FIRST] = a[dispatcher + D.POSITION]
    else:
        a[dispatcher + D.READING_FIRST] = -1
        for at in range(from_again):
            copy_row(
                a,
                read_at(a, H.READING, d, at),
                list_at(a, H.AGAIN, d, a[dispatcher + D.AGAIN_START] + at),
                E.WIDTH,
            )
        for at in range(fresh):
            row = read_at(a, H.READING, d, from_again + at)
            a[row + E.ENTRY], a[row + E.REDELIVERIES], a[row + E.ACKED] = (
                a[dispatcher + D.POSITION] + at,
                0,
                0,
            )
        a[dispatcher + D.AGAIN_START] += from_again
        if a[dispatcher + D.AGAIN_START] == a[dispatcher + D.AGAIN_END]:
            a[dispatcher + D.AGAIN_START] = a[dispatcher + D.AGAIN_END] = 0
    a[dispatcher + D.POSITION] += fresh
    return from_again + fresh


@compiled
def _choose_replay(a, d, entries, size, now):
    """Move delayed entries that are due to the replay list, and choose from its beginning what is read now."""
    dispatcher = dispatcher_at(a, d)
    delay = a[log_of(a, dispatcher) + G.DELIVER_AFTER_US]
    while a[dispatcher + D.DELAYED_START] < a[dispatcher + D.DELAYED_END]:
        entry = a[list_at(a, H.DELAYED, d, a[dispatcher + D.DELAYED_START]) + E.ENTRY]
        if time_of(a, a[dispatcher + D.LOG], entry) + delay > now + a[R.DELAY_TICK_US]:
            break
        a[dispatcher + D.DELAYED_START] += 1
        if add_replay(a, d, entry, 0, 0) != DONE:
            return -1
    most = _entries_for(a, d, entries, size)
    chosen = 0
    keyed = a[dispatcher + D.KIND] == KEY_SHARED
    if keyed:
        for place in ports_of(a, dispatcher):
            a[a[H.SCRATCH] + a[place]] = a[port_at(a, a[place]) + P.PERMITS]
    kept = 0
    number = 0
    count = a[dispatcher + D.REPLAY_COUNT]
    while number < count:
        if chosen == most:
            break
        fits = True
        if keyed:
            owner = owner_of(a, d, a[list_at(a, H.REPLAY, d, number) + E.ENTRY])
            if (
                owner < 0
                or a[port_at(a, owner) + P.BLOCKED] == 1
                or a[a[H.SCRATCH] + owner] <= 0
                or is_draining(a, d, a[list_at(a, H.REPLAY, d, number) + E.ENTRY])
            ):
                fits = False
            else:
                a[a[H.SCRATCH] + owner] -= 1
        if fits:
            copy_row(a, read_at(a, H.REPLAYING, d, chosen), list_at(a, H.REPLAY, d, number), E.WIDTH)
            chosen += 1
        else:
            if kept != number:
                copy_row(a, list_at(a, H.REPLAY, d, kept), list_at(a, H.REPLAY, d, number), E.WIDTH)
            kept += 1
        number += 1
    if kept != number:
        for rest in range(number, count):
            copy_row(a, list_at(a, H.REPLAY, d, kept), list_at(a, H.REPLAY, d, rest), E.WIDTH)
            kept += 1
        a[dispatcher + D.REPLAY_COUNT] = kept
    return chosen
