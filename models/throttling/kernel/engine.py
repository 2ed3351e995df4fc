"""The simulation, compiled. In: a world packed into one array (``layout.py``); out: totals at every sample.

The same rules as ``twin/``, which is the place to read them; here entries travel in ranges where nothing tells them apart,
publishing and processing are formulas that are evaluated when somebody looks, and the clock jumps from one thing that matters to the next.

All state is one array of int64: ``a[state + D_BLOCKED]`` is a field of the dispatcher that begins at ``state``. (Two dozen arrays in a
tuple took minutes to compile and fifty times as long to run, as every call handed all of them over.)

Everything is in this file because Numba's cache forgets a compiled function when its own file changes, not when a file
changes whose functions or constants it uses.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from throttlescope.models.throttling.world import EXPONENTIAL

_compiled = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
_entry = njit(cache=True, nogil=True, error_model="numpy")

NEVER = 1 << 62
NO_METER = -(1 << 62)

#: Why a run stops early: a container was too small; the caller doubles it and starts again.
DONE, QUEUE_FULL, LIST_FULL, RING_FULL = range(4)

# -- columns of the arrays --------------------------------------------------------------------

# rules
(R_ENGINE, R_BATCH, R_BYTES, R_ROBIN, R_PRECISE, R_PER_ENTRY, R_CAUGHT_UP, R_EXTRA, R_RETRY, R_TICK, R_STATS, R_EXPIRY,
 R_BACKLOGGED, R_KEEPS_ACTIVE, R_READ, R_READ_ENTRY, R_NOTIFY, R_SEND, R_FLOW, R_LATE, R_RECONNECT, R_DURATION, R_EVERY,
 R_ANY_TTL, R_ANONYMOUS, R_CACHE, R_CACHED, R_CACHED_ENTRY, R_COUNT) = range(29)  # fmt: skip
# meters: limiter x (msg, bytes) x field
M_RATE, M_PERIOD, M_TOKENS, M_PENDING, M_ANCHOR, M_REST, M_SLOT, M_CONFIGURED, M_RELATIVE, M_COUNT = range(10)
# logs
(G_MSGS, G_ESTIMATE, G_KEYS, G_DELAY, G_PERSISTENT, G_TTL, G_SALT, G_END, G_SEGMENT, G_SEGMENTS, G_LISTED, G_LISTED_COUNT,
 G_SIZE, G_SIZES, G_TOTAL, G_AVERAGE_MSG, G_AVERAGE_BYTES, G_TICK, G_COUNT) = range(19)  # fmt: skip
# dispatchers
SINGLE, SHARED, KEY_SHARED = range(3)
(D_KIND, D_LOG, D_BROKER, D_TOPIC, D_SUBSCRIPTION, D_MAX_CONSUMER, D_MAX_UNACKED, D_NACK_BELOW, D_NACK_TIMES, D_NACK_DELAY,
 D_MAX_REDELIVER, D_ACKS, D_INDEX_ACK, D_EXACT, D_PORT, D_PORTS, D_OFFSET,
 D_POSITION, D_AGAIN, D_AGAIN_END, D_REPLAY, D_DELAYED, D_DELAYED_END, D_READING, D_READ_FIRST, D_READ_AT, D_REPLAYING,
 D_REPLAY_AT, D_ARMED, D_ARM_AT, D_TIMER_AT, D_TICK_AT, D_LAST_TICK, D_BACKOFF, D_POLL_AT, D_ROBIN, D_PERMITS, D_UNACKED,
 D_BLOCKED, D_ACTIVE, D_GONE, D_EXPIRED_BELOW, D_SEND, D_SENDS, D_HELD, D_NEXT, D_NACK_TIMER, D_PUBLISHED, D_OLDEST, D_COUNT) = range(50)  # fmt: skip
# totals of a dispatcher, in the order of columns.COUNTS
(T_PUBLISHED, T_OUT_MESSAGES, T_OUT_BYTES, T_OUT_ENTRIES, T_REDELIVERED, T_ACKED, T_EXPIRED, T_DEAD, T_DROPPED, T_POLLS,
 T_EVENTS) = range(11)  # fmt: skip
T_COUNT = T_EVENTS + 6
# gauges follow the totals in a sample, in the order of columns.GAUGES
S_BACKLOG, S_UNACKED, S_PERMITS, S_REPLAY, S_DELAYED, S_TOKENS = range(T_COUNT, T_COUNT + 6)
S_COUNT = S_TOKENS + 6
# ports
(P_WORKER, P_DISPATCHER, P_QUEUE, P_CONNECTED, P_PERMITS, P_PARKED, P_UNACKED, P_BLOCKED, P_TAKEN, P_EPOCH, P_SESSION,
 P_WAITING, P_RECONNECT_AT, P_PER_ENTRY, P_NACK_AT, P_COUNT) = range(16)  # fmt: skip
# workers
(W_PROCESSING, W_JOINED, W_HUNG, W_HUNG_LEFT, W_BUSY, W_UNTIL, W_PORT, W_PORTS, W_HEAD, W_TAIL, W_FLOW, W_FLOWS, W_BACK,
 W_BACKS, W_NEXT, W_EXPONENTIAL, W_COUNT) = range(17)  # fmt: skip
# an item in a worker's queue, and the current one: port, epoch, first entry, entries, redeliveries, acked messages, messages left
(I_PORT, I_EPOCH, I_ENTRY, I_ENTRIES, I_REDELIVERIES, I_ACKED, I_LEFT, I_COUNT) = range(8)
# steps
(RATES, PROCESSING, JOIN, LEAVE, HANG, RESUME, UNLOAD, SEEK) = range(8)
X_AT, X_KIND, X_NUMBER, X_VALUE, X_MSG, X_BYTES, X_PERIOD, X_RELATIVE, X_COUNT = range(9)
# an entry in a list: number, redeliveries, acked messages
E_ENTRY, E_REDELIVERIES, E_ACKED, E_PORT, E_COUNT = range(5)
ENGINE_A0, ENGINE_A, ENGINE_B, ENGINE_C = range(4)

# where each table begins, how many rows some have, and how large the containers are
(H_METERS, H_LIMITER_LOG, H_LOGS, H_SEGMENTS, H_LISTED, H_SIZES, H_DISPATCHERS, H_TOTALS, H_PORTS, H_PORTS_OF, H_WORKERS,
 H_PORTS_OF_WORKER, H_QUEUE, H_CURRENT, H_FLOWS, H_BACKS, H_AGAIN, H_REPLAY, H_DELAYED, H_READING, H_REPLAYING, H_HELD,
 H_SENDS, H_STEPS, H_SCRATCH, H_N_LIMITERS, H_N_LOGS, H_N_DISPATCHERS, H_N_PORTS, H_N_WORKERS, H_N_STEPS, H_QUEUE_SIZE,
 H_RING, H_LISTS, H_READ_SIZE, H_SPARE, H_COUNT) = range(R_COUNT + 1, R_COUNT + 38)  # fmt: skip

FLOW_COUNT, BACK_COUNT, SEND_COUNT = 4, 6, 5

BACKOFF_US = 1_000_000
RETRY_MAX_US = 10_000
SLOT_US = 16_000
LOOK_AHEAD_PER_CONSUMER = 2_000
LOOK_AHEAD = 20_000


@_compiled
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


# -- where things are in the array -----------------------------------------------------------------


@_compiled
def _copy(a, to, source, count):
    for number in range(count):
        a[to + number] = a[source + number]


@_compiled
def _meter_at(a, limiter, unit):
    return a[H_METERS] + (limiter * 2 + unit) * M_COUNT


# Sizes of rings are powers of two.


@_compiled
def _queue_at(a, w, number):
    return a[H_QUEUE] + (w * a[H_QUEUE_SIZE] + (number & (a[H_QUEUE_SIZE] - 1))) * I_COUNT


@_compiled
def _flow_at(a, w, number):
    return a[H_FLOWS] + (w * a[H_RING] + (number & (a[H_RING] - 1))) * FLOW_COUNT


@_compiled
def _back_at(a, w, number):
    return a[H_BACKS] + (w * a[H_LISTS] + (number & (a[H_LISTS] - 1))) * BACK_COUNT


@_compiled
def _send_at(a, d, number):
    return a[H_SENDS] + (d * a[H_RING] + (number & (a[H_RING] - 1))) * SEND_COUNT


@_compiled
def _list_at(a, table, d, number):
    return a[table] + (d * a[H_LISTS] + number) * E_COUNT


@_compiled
def _read_at(a, table, d, number):
    return a[table] + (d * a[H_READ_SIZE] + number) * E_COUNT


# -- meters -------------------------------------------------------------------------------------


@_compiled
def _grown(elapsed, rate, period):
    """Tokens of a time and what is left of it, without leaving 64 bits."""
    whole = elapsed // period
    part = elapsed - whole * period
    tokens = part * rate // period
    return whole * rate + tokens, part - tokens * period // rate


@_compiled
def _tick_window(a, meter, engine, now):
    if a[meter + M_ANCHOR] <= now:
        ticks = (now - a[meter + M_ANCHOR]) // a[meter + M_PERIOD] + 1
        a[meter + M_ANCHOR] += ticks * a[meter + M_PERIOD]
        if engine == ENGINE_A0:
            a[meter + M_TOKENS] = 0
        else:
            a[meter + M_TOKENS] = max(0, a[meter + M_TOKENS] - ticks * a[meter + M_RATE])


@_compiled
def _flush_slot(a, meter, amount, now):
    if now // SLOT_US <= a[meter + M_SLOT]:
        return False
    a[meter + M_SLOT] = now // SLOT_US
    new, rest = _grown(now - a[meter + M_ANCHOR] + a[meter + M_REST], a[meter + M_RATE], a[meter + M_PERIOD])
    a[meter + M_REST] = rest
    a[meter + M_ANCHOR] = now
    a[meter + M_TOKENS] = min(a[meter + M_TOKENS] + new, a[meter + M_RATE]) - (a[meter + M_PENDING] + amount)
    a[meter + M_PENDING] = 0
    return True


@_compiled
def available(a, meter, engine, now):
    """Permits of a meter that exists."""
    if engine == ENGINE_C:
        if now > a[meter + M_ANCHOR] + a[meter + M_PERIOD]:
            new, rest = _grown(
                now - a[meter + M_ANCHOR] + a[meter + M_REST], a[meter + M_RATE], a[meter + M_PERIOD]
            )
            a[meter + M_REST] = rest
            a[meter + M_ANCHOR] = now
            a[meter + M_TOKENS] = min(a[meter + M_TOKENS] + new - a[meter + M_PENDING], a[meter + M_RATE])
            a[meter + M_PENDING] = 0
        return max(0, a[meter + M_TOKENS] - a[meter + M_PENDING])
    if engine == ENGINE_B:
        _flush_slot(a, meter, 0, now)
        return max(0, a[meter + M_TOKENS])
    _tick_window(a, meter, engine, now)
    return max(0, a[meter + M_RATE] - a[meter + M_TOKENS])


@_compiled
def charge_meter(a, meter, engine, amount, now):
    """Charge a meter that exists."""
    if engine == ENGINE_C:
        a[meter + M_PENDING] += amount
    elif engine == ENGINE_B:
        if not _flush_slot(a, meter, amount, now):
            a[meter + M_PENDING] += amount
    else:
        _tick_window(a, meter, engine, now)
        if a[meter + M_ANCHOR] == NEVER:
            a[meter + M_ANCHOR] = now + a[meter + M_PERIOD]
        if engine == ENGINE_A:
            a[meter + M_TOKENS] += amount
        elif amount > a[meter + M_RATE]:
            a[meter + M_TOKENS] = a[meter + M_RATE]
        elif a[meter + M_TOKENS] < a[meter + M_RATE]:
            a[meter + M_TOKENS] += amount


@_compiled
def _balance(a, meter, engine):
    if a[meter + M_RATE] == 0:
        return NO_METER
    if engine in (ENGINE_B, ENGINE_C):
        return a[meter + M_TOKENS] - a[meter + M_PENDING]
    return a[meter + M_RATE] - a[meter + M_TOKENS]


@_entry
def renew(a, meter, engine, configured, relative, average, period, now, fresh):
    """Take a new rate as the engine does: A keeps what was used (unless ``fresh``), the others start full."""
    rate = 0
    if configured > 0:
        rate = configured + average if relative else configured
    a[meter + M_CONFIGURED] = configured
    a[meter + M_RELATIVE] = relative
    if rate == 0:
        a[meter + M_RATE] = 0
        return
    if engine == ENGINE_A and a[meter + M_RATE] > 0 and not fresh:
        _tick_window(a, meter, engine, now)
        a[meter + M_RATE] = rate
        a[meter + M_PERIOD] = period
        if a[meter + M_ANCHOR] != NEVER:
            a[meter + M_ANCHOR] = now + period
        return
    a[meter + M_RATE] = rate
    a[meter + M_PERIOD] = period
    a[meter + M_PENDING] = 0
    a[meter + M_REST] = 0
    a[meter + M_SLOT] = -1
    if engine in (ENGINE_B, ENGINE_C):
        a[meter + M_TOKENS] = rate
        a[meter + M_ANCHOR] = now
    else:
        a[meter + M_TOKENS] = 0
        a[meter + M_ANCHOR] = NEVER


# -- logs -----------------------------------------------------------------------------------------


@_compiled
def published(a, log, before):
    """Entries of a log that were published before a time."""
    g = a[H_LOGS] + log * G_COUNT
    if a[g + G_TICK] > 0:
        before = (before - 1) // a[g + G_TICK] * a[g + G_TICK] + 1
    if a[g + G_LISTED_COUNT] >= 0:
        low, high = 0, a[g + G_LISTED_COUNT]
        while low < high:
            middle = (low + high) // 2
            if a[a[H_LISTED] + a[g + G_LISTED] + middle] < before:
                low = middle + 1
            else:
                high = middle
        return low
    # The last segment that begins before the time; what the earlier ones hold is its first entry's number.
    low, high = 0, a[g + G_SEGMENTS]
    first = a[H_SEGMENTS] + a[g + G_SEGMENT] * 3
    while low < high:
        middle = (low + high) // 2
        if a[first + middle * 3] < before:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0
    row = first + (low - 1) * 3
    end = a[row + 3] if low < a[g + G_SEGMENTS] else a[g + G_END]
    return a[row + 1] - (-(min(before, end) - a[row]) * a[row + 2] // 1_000_000_000)


@_compiled
def time_of(a, log, entry):
    """When an entry is published."""
    at = _own_time_of(a, log, entry)
    tick = a[a[H_LOGS] + log * G_COUNT + G_TICK]
    return -(-at // tick) * tick if tick > 0 and at < NEVER else at


@_compiled
def _own_time_of(a, log, entry):
    g = a[H_LOGS] + log * G_COUNT
    if a[g + G_LISTED_COUNT] >= 0:
        return a[a[H_LISTED] + a[g + G_LISTED] + entry] if entry < a[g + G_LISTED_COUNT] else NEVER
    if entry >= a[g + G_TOTAL]:
        return NEVER
    # The last segment that begins at or before the entry; an empty one holds nothing, the one after it has the same first entry.
    low, high = 0, a[g + G_SEGMENTS]
    first = a[H_SEGMENTS] + a[g + G_SEGMENT] * 3
    while low < high:
        middle = (low + high) // 2
        if a[first + middle * 3 + 1] <= entry:
            low = middle + 1
        else:
            high = middle
    while low > 0 and a[first + (low - 1) * 3 + 2] == 0:
        low -= 1
    if low == 0:
        return NEVER
    row = first + (low - 1) * 3
    return a[row] + (entry - a[row + 1]) * 1_000_000_000 // a[row + 2]


@_compiled
def _bytes_of(a, log, entry):
    g = a[H_LOGS] + log * G_COUNT
    first = a[g + G_SIZE]
    if a[g + G_SIZES] == 1:
        return a[a[H_SIZES] + first * 2 + 0]
    drawn = mixed(entry, a[g + G_SALT])
    for at in range(first, first + a[g + G_SIZES]):
        if drawn < a[a[H_SIZES] + at * 2 + 1]:
            return a[a[H_SIZES] + at * 2 + 0]
    return a[a[H_SIZES] + (first + a[g + G_SIZES] - 1) * 2 + 0]


@_compiled
def _bytes_of_range(a, log, first, count):
    g = a[H_LOGS] + log * G_COUNT
    if a[g + G_SIZES] == 1:
        return a[a[H_SIZES] + (a[g + G_SIZE]) * 2 + 0] * count
    total = 0
    for entry in range(first, first + count):
        total += _bytes_of(a, log, entry)
    return total


@_compiled
def _key_of(a, log, entry):
    g = a[H_LOGS] + log * G_COUNT
    drawn = mixed(entry, a[g + G_SALT] + 1)
    return drawn % a[g + G_KEYS] if a[g + G_KEYS] > 0 else drawn


# -- lists of entries ---------------------------------------------------------------------------


@_compiled
def _insert(a, rows, first, end, entry, redeliveries, acked):
    """Insert into rows sorted by entry; an entry that is there already is replaced. Returns the new end, or -1 when full."""
    low, high = first, end
    if high > low and a[rows + (high - 1) * E_COUNT + E_ENTRY] < entry:
        low = high
    while low < high:
        middle = (low + high) // 2
        if a[rows + middle * E_COUNT + E_ENTRY] < entry:
            low = middle + 1
        else:
            high = middle
    if low == end or a[rows + low * E_COUNT + E_ENTRY] != entry:
        if end == a[H_LISTS]:
            return -1
        for at in range(end, low, -1):
            _copy(a, rows + at * E_COUNT, rows + (at - 1) * E_COUNT, E_COUNT)
        end += 1
    a[rows + low * E_COUNT + E_ENTRY] = entry
    a[rows + low * E_COUNT + E_REDELIVERIES] = redeliveries
    a[rows + low * E_COUNT + E_ACKED] = acked
    return end


@_compiled
def _add_again(a, d, entry, redeliveries, acked):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if entry < a[state + D_EXPIRED_BELOW]:
        return DONE
    if a[state + D_AGAIN_END] == a[H_LISTS] and a[state + D_AGAIN] > 0:
        count = a[state + D_AGAIN_END] - a[state + D_AGAIN]
        for at in range(count):
            _copy(a, _list_at(a, H_AGAIN, d, at), _list_at(a, H_AGAIN, d, a[state + D_AGAIN] + at), E_COUNT)
        a[state + D_AGAIN], a[state + D_AGAIN_END] = 0, count
    end = _insert(
        a, _list_at(a, H_AGAIN, d, 0), a[state + D_AGAIN], a[state + D_AGAIN_END], entry, redeliveries, acked
    )
    if end < 0:
        return LIST_FULL
    a[state + D_AGAIN_END] = end
    return DONE


@_compiled
def _add_replay(a, d, entry, redeliveries, acked):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if entry < a[state + D_EXPIRED_BELOW]:
        return DONE
    end = _insert(a, _list_at(a, H_REPLAY, d, 0), 0, a[state + D_REPLAY], entry, redeliveries, acked)
    if end < 0:
        return LIST_FULL
    a[state + D_REPLAY] = end
    return DONE


@_compiled
def _add_delayed(a, d, entry):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_DELAYED_END] == a[H_LISTS] and a[state + D_DELAYED] > 0:
        count = a[state + D_DELAYED_END] - a[state + D_DELAYED]
        for at in range(count):
            _copy(
                a,
                _list_at(a, H_DELAYED, d, at),
                _list_at(a, H_DELAYED, d, a[state + D_DELAYED] + at),
                E_COUNT,
            )
        a[state + D_DELAYED], a[state + D_DELAYED_END] = 0, count
    end = _insert(
        a, _list_at(a, H_DELAYED, d, 0), a[state + D_DELAYED], a[state + D_DELAYED_END], entry, 0, 0
    )
    if end < 0:
        return LIST_FULL
    a[state + D_DELAYED_END] = end
    return DONE


# -- clients --------------------------------------------------------------------------------------


@_compiled
def _advance(a, w, now):
    """Let a client process until a time. Only what no other part waits for happens here."""
    worker = a[H_WORKERS] + w * W_COUNT
    while a[worker + W_BUSY] == 1 and a[worker + W_UNTIL] <= now and a[worker + W_HUNG] == 0:
        if a[a[H_CURRENT] + w * I_COUNT + I_PORT] >= 0:
            if a[a[H_CURRENT] + w * I_COUNT + I_LEFT] == 0:
                status = _entries_done(
                    a,
                    w,
                    a[H_CURRENT] + w * I_COUNT,
                    a[a[H_CURRENT] + w * I_COUNT + I_ENTRY],
                    1,
                    a[worker + W_UNTIL],
                )
                if status != DONE:
                    return status
            a[a[H_CURRENT] + w * I_COUNT + I_PORT] = -1
        if a[worker + W_HEAD] == a[worker + W_TAIL]:
            a[worker + W_BUSY] = 0
            break
        head = _queue_at(a, w, a[worker + W_HEAD])
        port = a[H_PORTS] + (a[head + I_PORT]) * P_COUNT
        processing = a[worker + W_PROCESSING]
        d = a[port + P_DISPATCHER]
        msgs = a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_MSGS]
        whole = 0
        if a[a[H_DISPATCHERS] + d * D_COUNT + D_EXACT] == 0:
            whole = a[head + I_LEFT]
            if processing > 0:
                whole = min(whole, (now - a[worker + W_UNTIL]) // processing)
        if whole > 0:
            # Several messages start and end before anybody looks: count them.
            done_before = a[head + I_ENTRIES] * msgs - a[head + I_LEFT]
            a[head + I_LEFT] -= whole
            a[port + P_TAKEN] += whole
            a[port + P_WAITING] -= whole
            a[worker + W_UNTIL] += whole * processing
            first = done_before // msgs
            count = (done_before + whole) // msgs - first
            if count > 0:
                status = _entries_done(a, w, head, a[head + I_ENTRY] + first, count, a[worker + W_UNTIL])
                if status != DONE:
                    return status
            if a[head + I_LEFT] == 0:
                a[worker + W_HEAD] += 1
            continue
        done_before = a[head + I_ENTRIES] * msgs - a[head + I_ACKED] - a[head + I_LEFT]
        a[head + I_LEFT] -= 1
        a[port + P_TAKEN] += 1
        a[port + P_WAITING] -= 1
        current = a[H_CURRENT] + w * I_COUNT
        _copy(a, current, head, I_COUNT)
        a[current + I_ENTRY] = a[head + I_ENTRY] + done_before // msgs
        # 0 says that this is the entry's last message.
        if a[head + I_ENTRIES] > 1:
            a[current + I_LEFT] = 0 if (done_before + 1) % msgs == 0 else 1
        if a[head + I_LEFT] == 0:
            a[worker + W_HEAD] += 1
        if a[worker + W_EXPONENTIAL] == 1:
            salt = a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_SALT]
            drawn = mixed(a[current + I_ENTRY], salt + 1_000 + a[head + I_LEFT]) % len(EXPONENTIAL)
            processing = processing * EXPONENTIAL[drawn] >> 16
        a[worker + W_UNTIL] += processing
    return DONE


@_compiled
def _entries_done(a, w, item, entry, count, now):
    """All messages of some entries are processed: acknowledge them, or give one back."""
    p = a[item + I_PORT]
    port = a[H_PORTS] + p * P_COUNT
    if a[item + I_EPOCH] != a[port + P_EPOCH]:
        return DONE
    d = a[port + P_DISPATCHER]
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_EXACT] == 0:
        _acknowledge(a, p, entry, count, 0, True)
        return DONE
    redeliveries = a[item + I_REDELIVERIES]
    salt = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_SALT]
    nacked = redeliveries < a[state + D_NACK_TIMES] and mixed(entry, salt + 2) < a[state + D_NACK_BELOW]
    dead = nacked and 0 <= a[state + D_MAX_REDELIVER] <= redeliveries
    if a[state + D_ACKS] == 1 and (dead or not nacked):
        if dead and entry >= a[state + D_EXPIRED_BELOW]:
            a[a[H_TOTALS] + d * T_COUNT + T_DEAD] += 1
        _acknowledge(a, p, entry, 1, a[item + I_ACKED], not dead)
        return DONE
    if nacked or a[state + D_NACK_DELAY] > 0:
        worker = a[H_WORKERS] + w * W_COUNT
        size = a[H_LISTS]
        if a[worker + W_BACKS] - a[worker + W_BACK] == size:
            return RING_FULL
        at = a[worker + W_BACKS]
        due = now + a[state + D_NACK_DELAY]
        if a[state + D_NACK_TIMER] > 0:
            a[port + P_NACK_AT] = now + a[state + D_NACK_TIMER]
        a[_back_at(a, w, at) + 0] = due
        a[_back_at(a, w, at) + 1] = p
        a[_back_at(a, w, at) + 2] = a[item + I_EPOCH]
        a[_back_at(a, w, at) + 3] = entry
        a[_back_at(a, w, at) + 4] = redeliveries
        a[_back_at(a, w, at) + 5] = a[item + I_ACKED]
        a[worker + W_BACKS] += 1
        return DONE
    # Never acknowledged and never given back: remembered until its consumer leaves.
    if a[state + D_HELD] == a[H_LISTS]:
        return LIST_FULL
    a[_list_at(a, H_HELD, d, a[state + D_HELD]) + 0] = entry
    a[_list_at(a, H_HELD, d, a[state + D_HELD]) + 1] = redeliveries
    a[_list_at(a, H_HELD, d, a[state + D_HELD]) + 2] = a[item + I_ACKED]
    a[_list_at(a, H_HELD, d, a[state + D_HELD]) + 3] = p
    a[state + D_HELD] += 1
    return DONE


@_compiled
def _acknowledge(a, p, entry, count, acked, counted):
    port = a[H_PORTS] + p * P_COUNT
    d = a[port + P_DISPATCHER]
    state = a[H_DISPATCHERS] + d * D_COUNT
    log = a[H_LOGS] + (a[state + D_LOG]) * G_COUNT
    live = entry + count - max(entry, a[state + D_EXPIRED_BELOW])
    if live > 0 and a[log + G_PERSISTENT] == 1:
        a[state + D_GONE] += live
        if counted:
            a[a[H_TOTALS] + d * T_COUNT + T_ACKED] += live
    _fewer_unacked(a, p, count * a[log + G_MSGS] - acked)


@_compiled
def _fewer_unacked(a, p, messages):
    port = a[H_PORTS] + p * P_COUNT
    state = a[H_DISPATCHERS] + (a[port + P_DISPATCHER]) * D_COUNT
    if a[state + D_KIND] == SINGLE or a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_PERSISTENT] == 0:
        return
    a[port + P_UNACKED] -= messages
    a[state + D_UNACKED] -= messages
    if a[port + P_BLOCKED] == 1 and a[port + P_UNACKED] <= a[state + D_MAX_CONSUMER] // 2:
        a[port + P_BLOCKED] = 0
        a[port + P_PERMITS] += a[port + P_PARKED]
        a[state + D_PERMITS] += a[port + P_PARKED]
        a[port + P_PARKED] = 0
        _ask_poll(a, a[port + P_DISPATCHER])
    if a[state + D_BLOCKED] == 1 and a[state + D_UNACKED] < a[state + D_MAX_UNACKED] // 2:
        a[state + D_BLOCKED] = 0
        _ask_poll(a, a[port + P_DISPATCHER])


@_compiled
def _ask_poll(a, d):
    """Poll once, after everything else at the clients in this microsecond."""
    if a[a[H_DISPATCHERS] + d * D_COUNT + D_POLL_AT] == NEVER:
        a[a[H_DISPATCHERS] + d * D_COUNT + D_POLL_AT] = a[R_COUNT]
        _next_of_dispatcher(a, d)


@_compiled
def _request(a, w, at, p, messages, session):
    worker = a[H_WORKERS] + w * W_COUNT
    size = a[H_RING]
    if a[worker + W_FLOWS] - a[worker + W_FLOW] == size:
        return RING_FULL
    row = _flow_at(a, w, a[worker + W_FLOWS])
    a[row + 0], a[row + 1], a[row + 2], a[row + 3] = at, p, messages, session
    a[worker + W_FLOWS] += 1
    return DONE


@_compiled
def _flow(a, p, messages, session):
    """A request for more messages reaches the broker."""
    port = a[H_PORTS] + p * P_COUNT
    if a[port + P_SESSION] != session or a[port + P_CONNECTED] == 0:
        return
    if a[port + P_BLOCKED] == 1:
        a[port + P_PARKED] += messages
        return
    a[port + P_PERMITS] += messages
    a[a[H_DISPATCHERS] + (a[port + P_DISPATCHER]) * D_COUNT + D_PERMITS] += messages
    _ask_poll(a, a[port + P_DISPATCHER])


@_compiled
def _next_of_worker(a, w):
    """When a client does the next thing that somebody waits for."""
    worker = a[H_WORKERS] + w * W_COUNT
    at = NEVER
    if a[worker + W_FLOW] < a[worker + W_FLOWS]:
        at = a[_flow_at(a, w, a[worker + W_FLOW]) + 0]
    first, count = a[worker + W_PORT], a[worker + W_PORTS]
    timed = False
    for index in range(first, first + count):
        port = a[H_PORTS] + a[a[H_PORTS_OF_WORKER] + index] * P_COUNT
        at = min(at, min(a[port + P_RECONNECT_AT], a[port + P_NACK_AT]))
        timed = a[a[H_DISPATCHERS] + a[port + P_DISPATCHER] * D_COUNT + D_NACK_TIMER] > 0
    if a[worker + W_BACK] < a[worker + W_BACKS] and not timed:
        at = min(at, a[_back_at(a, w, a[worker + W_BACK]) + 0])
    if a[worker + W_BUSY] == 1 and a[worker + W_HUNG] == 0:
        for index in range(first, first + count):
            p = a[a[H_PORTS_OF_WORKER] + index]
            port = a[H_PORTS] + p * P_COUNT
            state = a[H_DISPATCHERS] + (a[port + P_DISPATCHER]) * D_COUNT
            if a[state + D_EXACT] == 1 or a[port + P_BLOCKED] == 1 or a[state + D_BLOCKED] == 1:
                at = min(at, a[worker + W_UNTIL])
                continue
            needed = max(1, a[port + P_QUEUE] // 2) - a[port + P_TAKEN]
            if needed <= 0:
                at = min(at, a[worker + W_UNTIL])
            elif a[port + P_WAITING] >= needed:
                ahead = needed - 1 if count == 1 else _messages_ahead(a, w, p, needed)
                at = min(at, a[worker + W_UNTIL] + ahead * a[worker + W_PROCESSING])
    a[worker + W_NEXT] = at


@_compiled
def _messages_ahead(a, w, p, needed):
    """Messages in the queue before the ``needed``-th one of a port."""
    worker = a[H_WORKERS] + w * W_COUNT
    ahead = 0
    for number in range(a[worker + W_HEAD], a[worker + W_TAIL]):
        item = _queue_at(a, w, number)
        if a[item + I_PORT] == p:
            if a[item + I_LEFT] >= needed:
                return ahead + needed - 1
            needed -= a[item + I_LEFT]
        ahead += a[item + I_LEFT]
    return ahead


@_compiled
def _deliver(a, p, entry, count, redeliveries, acked, now):
    """Entries arrive at the client of a port."""
    port = a[H_PORTS] + p * P_COUNT
    w = a[port + P_WORKER]
    worker = a[H_WORKERS] + w * W_COUNT
    d = a[port + P_DISPATCHER]
    msgs = a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_MSGS]
    size = a[H_QUEUE_SIZE]
    messages = count * msgs - acked
    a[port + P_WAITING] += messages
    merged = False
    if a[worker + W_HEAD] < a[worker + W_TAIL] and a[a[H_DISPATCHERS] + d * D_COUNT + D_EXACT] == 0:
        last = _queue_at(a, w, (a[worker + W_TAIL] - 1))
        if (
            a[last + I_PORT] == p
            and a[last + I_EPOCH] == a[port + P_EPOCH]
            and (a[R_ANONYMOUS] == 1 or a[last + I_ENTRY] + a[last + I_ENTRIES] == entry)
        ):
            a[last + I_ENTRIES] += count
            a[last + I_LEFT] += messages
            merged = True
    if not merged:
        if a[worker + W_TAIL] - a[worker + W_HEAD] == size:
            return QUEUE_FULL
        item = _queue_at(a, w, a[worker + W_TAIL])
        a[item + I_PORT] = p
        a[item + I_EPOCH] = a[port + P_EPOCH]
        a[item + I_ENTRY] = entry
        a[item + I_ENTRIES] = count
        a[item + I_REDELIVERIES] = redeliveries
        a[item + I_ACKED] = acked
        a[item + I_LEFT] = messages
        a[worker + W_TAIL] += 1
    if a[worker + W_BUSY] == 0 and a[worker + W_HUNG] == 0 and a[worker + W_JOINED] == 1:
        a[worker + W_BUSY] = 1
        a[worker + W_UNTIL] = now
        a[a[H_CURRENT] + w * I_COUNT + I_PORT] = -1
    _next_of_worker(a, w)
    return DONE


@_compiled
def _worker_event(a, w, now):
    worker = a[H_WORKERS] + w * W_COUNT
    status = _advance(a, w, now)
    if status != DONE:
        return status
    for index in range(a[worker + W_PORT], a[worker + W_PORT] + a[worker + W_PORTS]):
        p = a[a[H_PORTS_OF_WORKER] + index]
        port = a[H_PORTS] + p * P_COUNT
        half = max(1, a[port + P_QUEUE] // 2)
        while a[port + P_TAKEN] >= half:
            a[port + P_TAKEN] -= half
            status = _request(a, w, now + a[R_FLOW], p, half, a[port + P_SESSION])
            if status != DONE:
                return status
    while a[worker + W_FLOW] < a[worker + W_FLOWS] and a[_flow_at(a, w, a[worker + W_FLOW]) + 0] <= now:
        row = _flow_at(a, w, a[worker + W_FLOW])
        a[worker + W_FLOW] += 1
        _flow(a, a[row + 1], a[row + 2], a[row + 3])
    status = _nack_timers(a, w, now)
    while (
        status == DONE
        and a[worker + W_BACK] < a[worker + W_BACKS]
        and a[_back_at(a, w, a[worker + W_BACK]) + 0] <= now
        and not _is_timed(a, a[_back_at(a, w, a[worker + W_BACK]) + 1])
    ):
        row = _back_at(a, w, a[worker + W_BACK])
        a[worker + W_BACK] += 1
        status = _give_back(a, a[row + 1], a[row + 2], a[row + 3], a[row + 4], a[row + 5])
    if status != DONE:
        return status
    for index in range(a[worker + W_PORT], a[worker + W_PORT] + a[worker + W_PORTS]):
        p = a[a[H_PORTS_OF_WORKER] + index]
        if a[a[H_PORTS] + p * P_COUNT + P_RECONNECT_AT] <= now:
            a[a[H_PORTS] + p * P_COUNT + P_RECONNECT_AT] = NEVER
            if a[worker + W_JOINED] == 1:
                status = _connect(a, p, now)
                if status != DONE:
                    return status
    _next_of_worker(a, w)
    return DONE


@_compiled
def _is_timed(a, p):
    return a[a[H_DISPATCHERS] + a[a[H_PORTS] + p * P_COUNT + P_DISPATCHER] * D_COUNT + D_NACK_TIMER] > 0


@_compiled
def _nack_timers(a, w, now):
    """Timers under which a client's negative acknowledgements wait: what is due goes, the rest waits for the next time."""
    worker = a[H_WORKERS] + w * W_COUNT
    for index in range(a[worker + W_PORT], a[worker + W_PORT] + a[worker + W_PORTS]):
        p = a[a[H_PORTS_OF_WORKER] + index]
        port = a[H_PORTS] + p * P_COUNT
        if a[port + P_NACK_AT] > now:
            continue
        a[port + P_NACK_AT] = NEVER
        kept = a[worker + W_BACK]
        end = a[worker + W_BACKS]
        for number in range(a[worker + W_BACK], end):
            row = _back_at(a, w, number)
            if a[row + 1] == p and a[row + 0] <= now:
                status = _give_back(a, p, a[row + 2], a[row + 3], a[row + 4], a[row + 5])
                if status != DONE:
                    return status
                continue
            if a[row + 1] == p:
                a[port + P_NACK_AT] = (
                    now + a[a[H_DISPATCHERS] + a[port + P_DISPATCHER] * D_COUNT + D_NACK_TIMER]
                )
            if number != kept:
                _copy(a, _back_at(a, w, kept), row, BACK_COUNT)
            kept += 1
        a[worker + W_BACKS] = kept
    return DONE


@_compiled
def _give_back(a, p, epoch, entry, redeliveries, acked):
    """A negative acknowledgement (or a time-out) reaches the broker."""
    port = a[H_PORTS] + p * P_COUNT
    d = a[port + P_DISPATCHER]
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[port + P_EPOCH] != epoch or a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_PERSISTENT] == 0:
        return DONE
    if a[state + D_KIND] == SINGLE:
        status = _cancel_reads(a, d)
        if status != DONE:
            return status
        returned = a[port + P_WAITING]
        status = _rewind(a, p, entry)
        if status == DONE:
            status = _add_again(a, d, entry, redeliveries + 1, acked)
        if status != DONE:
            return status
        a[port + P_PERMITS] += returned
        a[state + D_PERMITS] += returned
        _ask_poll(a, d)
        return DONE
    msgs = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_MSGS]
    status = _add_replay(a, d, entry, redeliveries + 1, msgs - 1 if a[state + D_INDEX_ACK] == 1 else 0)
    _fewer_unacked(a, p, msgs - acked)
    _ask_poll(a, d)
    return status


@_compiled
def _forget(a, p, to_replay, except_entry):
    """Move everything unacknowledged of a port to the replay list or back to be read; empty the client's queue of it."""
    port = a[H_PORTS] + p * P_COUNT
    w = a[port + P_WORKER]
    d = a[port + P_DISPATCHER]
    worker = a[H_WORKERS] + w * W_COUNT
    state = a[H_DISPATCHERS] + d * D_COUNT
    msgs = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_MSGS]
    kept = a[worker + W_HEAD]
    epoch = a[port + P_EPOCH]
    current = a[H_CURRENT] + w * I_COUNT
    if (
        a[worker + W_BUSY] == 1
        and a[current + I_PORT] == p
        and a[current + I_EPOCH] == epoch
        and a[current + I_ENTRY] != except_entry
    ):
        status = _put(
            a, d, to_replay, a[current + I_ENTRY], a[current + I_REDELIVERIES], a[current + I_ACKED]
        )
        if status != DONE:
            return status
    for number in range(a[worker + W_HEAD], a[worker + W_TAIL]):
        item = _queue_at(a, w, number)
        if a[item + I_PORT] != p:
            if number != kept:
                _copy(a, _queue_at(a, w, kept), item, I_COUNT)
            kept += 1
            continue
        done = (a[item + I_ENTRIES] * msgs - a[item + I_ACKED] - a[item + I_LEFT]) // msgs
        for entry in range(a[item + I_ENTRY] + done, a[item + I_ENTRY] + a[item + I_ENTRIES]):
            if a[item + I_EPOCH] == epoch and entry != except_entry:
                status = _put(a, d, to_replay, entry, a[item + I_REDELIVERIES], a[item + I_ACKED])
                if status != DONE:
                    return status
    a[worker + W_TAIL] = kept
    for number in range(a[worker + W_BACK], a[worker + W_BACKS]):
        row = _back_at(a, w, number)
        if a[row + 1] == p and a[row + 2] == epoch and a[row + 3] != except_entry:
            status = _put(a, d, to_replay, a[row + 3], a[row + 4], a[row + 5])
            if status != DONE:
                return status
    left = 0
    for number in range(a[state + D_HELD]):
        if a[_list_at(a, H_HELD, d, number) + 3] == p:
            status = _put(
                a,
                d,
                to_replay,
                a[_list_at(a, H_HELD, d, number) + 0],
                a[_list_at(a, H_HELD, d, number) + 1],
                a[_list_at(a, H_HELD, d, number) + 2],
            )
            if status != DONE:
                return status
        else:
            _copy(a, _list_at(a, H_HELD, d, left), _list_at(a, H_HELD, d, number), E_COUNT)
            left += 1
    a[state + D_HELD] = left
    a[port + P_EPOCH] += 1
    a[port + P_WAITING] = 0
    _next_of_worker(a, w)
    return DONE


@_compiled
def _put(a, d, to_replay, entry, redeliveries, acked):
    if a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_PERSISTENT] == 0:
        return DONE
    if to_replay:
        return _add_replay(a, d, entry, redeliveries, acked)
    return _add_again(a, d, entry, redeliveries, acked)


@_compiled
def _rewind(a, p, except_entry):
    return _forget(a, p, False, except_entry)


# -- the dispatcher: polls and plans -----------------------------------------------------------


@_compiled
def _next_of_dispatcher(a, d):
    state = a[H_DISPATCHERS] + d * D_COUNT
    at = min(a[state + D_READ_AT], a[state + D_REPLAY_AT])
    at = min(at, min(a[state + D_TIMER_AT], a[state + D_TICK_AT]))
    at = min(at, min(a[state + D_ARM_AT], a[state + D_POLL_AT]))
    if a[state + D_SEND] < a[state + D_SENDS]:
        at = min(at, a[_send_at(a, d, a[state + D_SEND]) + 0])
    a[state + D_NEXT] = at


@_compiled
def _active_port(a, d):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_PORTS] == 1:
        p = a[a[H_PORTS_OF] + a[state + D_PORT]]
        return p if a[a[H_PORTS] + p * P_COUNT + P_CONNECTED] == 1 else -1
    connected = 0
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        connected += a[a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT + P_CONNECTED]
    if connected == 0:
        return -1
    wanted = a[state + D_OFFSET] % connected
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        p = a[a[H_PORTS_OF] + index]
        if a[a[H_PORTS] + p * P_COUNT + P_CONNECTED] == 1:
            if wanted == 0:
                return p
            wanted -= 1
    return -1


@_compiled
def _connected_port(a, d, wanted):
    """The ``wanted``-th connected port and how many there are."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    count = 0
    found = -1
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        p = a[a[H_PORTS_OF] + index]
        if a[a[H_PORTS] + p * P_COUNT + P_CONNECTED] == 1:
            if count == wanted:
                found = p
            count += 1
    return found, count


@_compiled
def _poll(a, d, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_PERSISTENT] == 0:
        return DONE
    a[a[H_TOTALS] + d * T_COUNT + T_POLLS] += 1
    single = a[state + D_KIND] == SINGLE
    if single:
        if a[state + D_READ_AT] != NEVER or a[state + D_ARMED] > 0:
            return DONE
        p = _active_port(a, d)
        if p < 0 or a[a[H_PORTS] + p * P_COUNT + P_PERMITS] <= 0:
            return DONE
        permits = a[a[H_PORTS] + p * P_COUNT + P_PERMITS]
    else:
        first = 0
        for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
            port = a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT
            if a[port + P_CONNECTED] == 1 and a[port + P_PERMITS] > 0 and a[port + P_BLOCKED] == 0:
                first = a[port + P_PERMITS]
                break
        if first <= 0:
            return DONE
        permits = max(a[state + D_PERMITS], first)
        p = -1
    entries = permits
    if a[R_PRECISE] == 1:
        if not single:
            _, count = _connected_port(a, d, 0)
            drawn = (
                mixed(
                    a[a[H_TOTALS] + d * T_COUNT + T_POLLS],
                    a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_SALT] + 3,
                )
                % count
            )
            p, _ = _connected_port(a, d, drawn)
        per_entry = max(1, a[a[H_PORTS] + p * P_COUNT + P_PER_ENTRY])
        entries = -(-permits // per_entry)
    entries = min(entries, a[R_BATCH])
    size = a[R_BYTES]
    if a[R_CAUGHT_UP] == 1 or a[state + D_ACTIVE] == 0:
        engine = a[R_ENGINE]
        meters = a[H_METERS]
        events = a[H_TOTALS] + d * T_COUNT + T_EVENTS
        for level in range(3):
            meter = meters + a[state + D_BROKER + level] * 2 * M_COUNT
            if a[meter + M_RATE] > 0:
                most = available(a, meter, engine, now)
                if most < entries:
                    entries = most
                    a[events + 2 * level] += 1
            meter += M_COUNT
            if a[meter + M_RATE] > 0:
                most = available(a, meter, engine, now)
                if most < size:
                    size = most
                    a[events + 2 * level + 1] += 1
            if entries == 0 or size == 0:
                if a[state + D_TIMER_AT] == NEVER:
                    a[state + D_TIMER_AT] = now + BACKOFF_US + a[R_LATE]
                return DONE
    entries = max(entries, 1)
    size = max(size, 1)
    if not single:
        if a[state + D_REPLAY_AT] != NEVER:
            return DONE
        chosen = 0
        if a[state + D_REPLAY] > 0 or a[state + D_DELAYED] < a[state + D_DELAYED_END]:
            chosen = _choose_replay(a, d, entries, size, now)
            if chosen < 0:
                return LIST_FULL
        if chosen > 0:
            a[state + D_REPLAYING] = chosen
            oldest = published(a, a[state + D_LOG], now - a[R_CACHE])
            stored = 0
            for at in range(chosen):
                if a[_read_at(a, H_REPLAYING, d, at) + E_ENTRY] < oldest:
                    stored += 1
            a[state + D_REPLAY_AT] = now + _read_us(a, stored, chosen)
            return DONE
        if a[state + D_BLOCKED] == 1 or a[state + D_READ_AT] != NEVER or a[state + D_ARMED] > 0:
            return DONE
        if a[state + D_KIND] == KEY_SHARED:
            _, count = _connected_port(a, d, 0)
            if a[state + D_REPLAY] >= min(LOOK_AHEAD_PER_CONSUMER * count, LOOK_AHEAD):
                _retry(a, d, now)
                return DONE
    _read(a, d, entries, size, now)
    return DONE


@_compiled
def _retry(a, d, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_TIMER_AT] == NEVER:
        a[state + D_TIMER_AT] = now + a[state + D_BACKOFF]
    a[state + D_BACKOFF] = min(2 * a[state + D_BACKOFF], RETRY_MAX_US)


@_compiled
def _entries_for(a, d, entries, size):
    mean = (
        max(1, a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_ESTIMATE]) + a[R_EXTRA]
    )
    if entries * mean <= size:
        return max(1, entries)
    return max(1, size // mean)


@_compiled
def _read_us(a, stored, found):
    """What a read takes: ``stored`` of its entries are too old for the broker's cache."""
    if stored == 0:
        return a[R_CACHED] + found * a[R_CACHED_ENTRY]
    return a[R_READ] + stored * a[R_READ_ENTRY] + (found - stored) * a[R_CACHED_ENTRY]


@_compiled
def _read(a, d, entries, size, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    wanted = _entries_for(a, d, entries, size)
    found = _take(a, d, wanted, now)
    if found > 0:
        a[state + D_READING] = found
        stored = 0
        if a[state + D_READ_FIRST] >= 0:
            if a[state + D_READ_FIRST] + found > a[state + D_OLDEST]:
                a[state + D_OLDEST] = published(a, a[state + D_LOG], now - a[R_CACHE])
            stored = min(found, max(0, a[state + D_OLDEST] - a[state + D_READ_FIRST]))
        else:
            oldest = published(a, a[state + D_LOG], now - a[R_CACHE])
            for at in range(found):
                if a[_read_at(a, H_READING, d, at) + E_ENTRY] < oldest:
                    stored += 1
        a[state + D_READ_AT] = now + _read_us(a, stored, found)
        return
    a[state + D_ARMED] = wanted
    _arm(a, d)


@_compiled
def _arm(a, d):
    state = a[H_DISPATCHERS] + d * D_COUNT
    at = time_of(a, a[state + D_LOG], a[state + D_POSITION])
    a[state + D_ARM_AT] = at + a[R_NOTIFY] if at < NEVER else NEVER


@_compiled
def _take(a, d, most, now):
    """Take up to so many entries from the read position into the dispatcher's reading; a range where possible."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    waiting = a[state + D_AGAIN_END] - a[state + D_AGAIN]
    from_again = min(most, waiting)
    fresh = most - from_again
    # What was published before still is: where that is enough, no recount is needed.
    if a[state + D_PUBLISHED] - a[state + D_POSITION] < fresh:
        a[state + D_PUBLISHED] = published(a, a[state + D_LOG], now + 1)
        fresh = max(0, min(fresh, a[state + D_PUBLISHED] - a[state + D_POSITION]))
    if from_again == 0 and a[state + D_EXACT] == 0:
        a[state + D_READ_FIRST] = a[state + D_POSITION]
    else:
        a[state + D_READ_FIRST] = -1
        for at in range(from_again):
            _copy(a, _read_at(a, H_READING, d, at), _list_at(a, H_AGAIN, d, a[state + D_AGAIN] + at), E_COUNT)
        for at in range(fresh):
            row = _read_at(a, H_READING, d, from_again + at)
            a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED] = a[state + D_POSITION] + at, 0, 0
        a[state + D_AGAIN] += from_again
        if a[state + D_AGAIN] == a[state + D_AGAIN_END]:
            a[state + D_AGAIN] = a[state + D_AGAIN_END] = 0
    a[state + D_POSITION] += fresh
    return from_again + fresh


@_compiled
def _choose_replay(a, d, entries, size, now):
    """Move delayed entries that are due to the replay list, and choose from its beginning what is read now."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    delay = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_DELAY]
    while a[state + D_DELAYED] < a[state + D_DELAYED_END]:
        entry = a[_list_at(a, H_DELAYED, d, a[state + D_DELAYED]) + E_ENTRY]
        if time_of(a, a[state + D_LOG], entry) + delay > now + a[R_TICK]:
            break
        a[state + D_DELAYED] += 1
        if _add_replay(a, d, entry, 0, 0) != DONE:
            return -1
    most = _entries_for(a, d, entries, size)
    chosen = 0
    keyed = a[state + D_KIND] == KEY_SHARED
    if keyed:
        for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
            a[a[H_SCRATCH] + a[a[H_PORTS_OF] + index]] = a[
                a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT + P_PERMITS
            ]
    kept = 0
    number = 0
    count = a[state + D_REPLAY]
    while number < count:
        if chosen == most:
            break
        take = True
        if keyed:
            owner = _owner(a, d, a[_list_at(a, H_REPLAY, d, number) + E_ENTRY])
            if owner < 0 or a[a[H_PORTS] + owner * P_COUNT + P_BLOCKED] == 1 or a[a[H_SCRATCH] + owner] <= 0:
                take = False
            else:
                a[a[H_SCRATCH] + owner] -= 1
        if take:
            _copy(a, _read_at(a, H_REPLAYING, d, chosen), _list_at(a, H_REPLAY, d, number), E_COUNT)
            chosen += 1
        else:
            if kept != number:
                _copy(a, _list_at(a, H_REPLAY, d, kept), _list_at(a, H_REPLAY, d, number), E_COUNT)
            kept += 1
        number += 1
    if kept != number:
        for rest in range(number, count):
            _copy(a, _list_at(a, H_REPLAY, d, kept), _list_at(a, H_REPLAY, d, rest), E_COUNT)
            kept += 1
        a[state + D_REPLAY] = kept
    return chosen


@_compiled
def _owner(a, d, entry):
    _, count = _connected_port(a, d, 0)
    if count == 0:
        return -1
    found, _ = _connected_port(a, d, _key_of(a, a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG], entry) % count)
    return found


# -- the dispatcher: sending ---------------------------------------------------------------------


@_compiled
def _charge(a, d, entries, messages, size, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[R_CAUGHT_UP] == 0 and a[state + D_ACTIVE] == 1:
        return
    amount = entries if a[R_PER_ENTRY] == 1 else messages
    meters, engine = a[H_METERS], a[R_ENGINE]
    for level in range(3):
        meter = meters + a[state + D_BROKER + level] * 2 * M_COUNT
        if a[meter + M_RATE] > 0 and amount > 0:
            charge_meter(a, meter, engine, amount, now)
        meter += M_COUNT
        if a[meter + M_RATE] > 0 and size > 0:
            charge_meter(a, meter, engine, size, now)


@_compiled
def _send_range(a, d, p, first, count, now):
    """Send entries that nothing tells apart; returns bytes and a status."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    msgs = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_MSGS]
    size = _bytes_of_range(a, a[state + D_LOG], first, count)
    _account(a, d, p, count, count * msgs, 0, size)
    return size, _deliver(a, p, first, count, 0, 0, now)


@_compiled
def _send_list(a, d, p, rows, start, end, now):
    """Send rows of a list one by one; returns bytes and a status."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    msgs = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_MSGS]
    size = 0
    acked = 0
    for at in range(start, end):
        size += _bytes_of(a, a[state + D_LOG], a[rows + at * E_COUNT + E_ENTRY])
        acked += a[rows + at * E_COUNT + E_ACKED]
        if a[rows + at * E_COUNT + E_REDELIVERIES] > 0:
            a[a[H_TOTALS] + d * T_COUNT + T_REDELIVERED] += 1
    _account(a, d, p, end - start, (end - start) * msgs, acked, size)
    for at in range(start, end):
        status = _deliver(
            a,
            p,
            a[rows + at * E_COUNT + E_ENTRY],
            1,
            a[rows + at * E_COUNT + E_REDELIVERIES],
            a[rows + at * E_COUNT + E_ACKED],
            now,
        )
        if status != DONE:
            return size, status
    return size, DONE


@_compiled
def _account(a, d, p, entries, messages, acked, size):
    state = a[H_DISPATCHERS] + d * D_COUNT
    port = a[H_PORTS] + p * P_COUNT
    a[port + P_PERMITS] -= messages - acked
    a[state + D_PERMITS] -= messages - acked
    if entries > 0:
        # Every entry of a log has as many messages, so their mean is that number.
        a[port + P_PER_ENTRY] = messages // entries
    if a[state + D_KIND] != SINGLE and a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_PERSISTENT] == 1:
        a[port + P_UNACKED] += messages - acked
        a[state + D_UNACKED] += messages - acked
        if 0 < a[state + D_MAX_CONSUMER] <= a[port + P_UNACKED]:
            a[port + P_BLOCKED] = 1
        if 0 < a[state + D_MAX_UNACKED] <= a[state + D_UNACKED] and a[state + D_BLOCKED] == 0:
            a[state + D_BLOCKED] = 1
            # From now on every acknowledgement matters.
            for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
                _next_of_worker(a, a[a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT + P_WORKER])
    totals = a[H_TOTALS] + d * T_COUNT
    a[totals + T_OUT_MESSAGES] += messages
    a[totals + T_OUT_BYTES] += size
    a[totals + T_OUT_ENTRIES] += entries


@_compiled
def _look_at_clients(a, d, now):
    """Let the clients of a dispatcher process until now: what they hold decides who is blocked and who is idle."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        status = _advance(a, a[a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT + P_WORKER], now)
        if status != DONE:
            return status
    return DONE


@_compiled
def _dispatch(a, d, rows, first, count, now):
    """Send what a read brought (a range from ``first``, or rows), charge for it, and read on."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_KIND] == SINGLE:
        return _dispatch_single(a, d, rows, first, count, now)
    if a[R_ANONYMOUS] == 1:
        status, even = _dispatch_evenly(a, d, rows, first, count, now)
        if status != DONE:
            return status
        if even:
            a[state + D_BACKOFF] = 1_000
            return _poll(a, d, now)
    status = _look_at_clients(a, d, now)
    if status != DONE:
        return status
    if a[state + D_KIND] == KEY_SHARED:
        status, processed = _dispatch_keys(a, d, rows, count, now)
    else:
        status, processed = _dispatch_shared(a, d, rows, first, count, now)
    if status != DONE:
        return status
    if processed > 0 or (a[R_RETRY] == 0 and a[state + D_KIND] != KEY_SHARED):
        a[state + D_BACKOFF] = 1_000
        return _poll(a, d, now)
    _retry(a, d, now)
    return DONE


@_compiled
def _dispatch_single(a, d, rows, first, count, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    p = _active_port(a, d)
    if p < 0:
        for at in range(count):
            if first >= 0:
                status = _add_again(a, d, first + at, 0, 0)
            else:
                status = _add_again(
                    a,
                    d,
                    a[rows + at * E_COUNT + E_ENTRY],
                    a[rows + at * E_COUNT + E_REDELIVERIES],
                    a[rows + at * E_COUNT + E_ACKED],
                )
            if status != DONE:
                return status
        return DONE
    port = a[H_PORTS] + p * P_COUNT
    messages = count * a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_MSGS]
    if a[R_ANONYMOUS] == 1 and first >= 0:
        size = _bytes_of_range(a, a[state + D_LOG], first, count)
        _account(a, d, p, count, messages, 0, size)
        if not _add_to_busy(a, port, count, messages, now):
            status = _advance(a, a[port + P_WORKER], now)
            if status == DONE:
                status = _deliver(a, p, first, count, 0, 0, now)
            if status != DONE:
                return status
    else:
        status = _look_at_clients(a, d, now)
        if status != DONE:
            return status
        if first >= 0:
            size, status = _send_range(a, d, p, first, count, now)
        else:
            size, status = _send_list(a, d, p, rows, 0, count, now)
        if status != DONE:
            return status
    ring = a[H_RING]
    if a[state + D_SENDS] - a[state + D_SEND] == ring:
        return RING_FULL
    row = _send_at(a, d, a[state + D_SENDS])
    a[row + 0] = now + a[R_SEND]
    a[row + 1] = count
    a[row + 2] = a[a[H_PORTS] + p * P_COUNT + P_SESSION]
    a[row + 4] = p
    a[row + 3] = size
    a[state + D_SENDS] += 1
    return DONE


@_compiled
def _next_available(a, d):
    state = a[H_DISPATCHERS] + d * D_COUNT
    _, count = _connected_port(a, d, 0)
    for step in range(count):
        wanted = (a[state + D_ROBIN] + step) % count
        p, _ = _connected_port(a, d, wanted)
        if a[a[H_PORTS] + p * P_COUNT + P_PERMITS] > 0 and a[a[H_PORTS] + p * P_COUNT + P_BLOCKED] == 0:
            a[state + D_ROBIN] = (wanted + 1) % count
            return p
    return -1


@_compiled
def _bytes_of_rows(a, d, rows, count):
    log = a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG]
    size = 0
    for at in range(count):
        size += _bytes_of(a, log, a[rows + at * E_COUNT + E_ENTRY])
    return size


@_compiled
def _dispatch_evenly(a, d, rows, first_entry, count, now):
    """Where every consumer could take all of a read, each gets its lots of the round in one step; else nothing happens.

    Only where it does not matter which entry a client holds: then the order of the lots does not matter.
    """
    state = a[H_DISPATCHERS] + d * D_COUNT
    ports = a[state + D_PORTS]
    first = a[H_PORTS_OF] + a[state + D_PORT]
    msgs = a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_MSGS]
    messages = count * msgs
    most = a[state + D_MAX_CONSUMER] - messages if a[state + D_MAX_CONSUMER] > 0 else NEVER
    # Kept in variables: after every write into the array the machine would read these places anew.
    all_ports = a[H_PORTS]
    for index in range(ports):
        port = all_ports + a[first + index] * P_COUNT
        if (
            a[port + P_PERMITS] < messages
            or a[port + P_UNACKED] >= most
            or a[port + P_CONNECTED] == 0
            or a[port + P_BLOCKED] == 1
        ):
            return DONE, False
    if ports == 0 or 0 < a[state + D_MAX_UNACKED] <= a[state + D_UNACKED] + messages:
        return DONE, False
    lot = a[R_ROBIN]
    lots = -(-count // lot)
    rounds = lots // ports
    more = lots - rounds * ports
    last = more - 1 if more > 0 else ports - 1
    index = a[state + D_ROBIN]
    for offset in range(min(ports, lots)):
        entries = (rounds + 1 if offset < more else rounds) * lot
        if offset == last:
            # The last lot is what is left.
            entries -= lots * lot - count
        p = a[first + index]
        port = all_ports + p * P_COUNT
        a[port + P_PERMITS] -= entries * msgs
        a[port + P_UNACKED] += entries * msgs
        a[port + P_PER_ENTRY] = msgs
        if not _add_to_busy(a, port, entries, entries * msgs, now):
            status = _advance(a, a[port + P_WORKER], now)
            if status == DONE:
                status = _deliver(a, p, 0, entries, 0, 0, now)
            if status != DONE:
                return status, False
        index = index + 1 if index + 1 < ports else 0
    a[state + D_ROBIN] += more if a[state + D_ROBIN] + more < ports else more - ports
    a[state + D_PERMITS] -= messages
    a[state + D_UNACKED] += messages
    if first_entry >= 0:
        size = _bytes_of_range(a, a[state + D_LOG], first_entry, count)
    else:
        size = _bytes_of_rows(a, d, rows, count)
    totals = a[H_TOTALS] + d * T_COUNT
    a[totals + T_OUT_MESSAGES] += messages
    a[totals + T_OUT_ENTRIES] += count
    a[totals + T_OUT_BYTES] += size
    _charge(a, d, count, messages, size, now)
    return DONE, True


@_compiled
def _add_to_busy(a, port, entries, messages, now):
    """Add to the queue of a client that works until after now in any case, where that does not change when it asks for more."""
    w = a[port + P_WORKER]
    worker = a[H_WORKERS] + w * W_COUNT
    waiting = a[port + P_WAITING]
    if a[worker + W_PORTS] != 1 or a[worker + W_BUSY] == 0 or waiting == 0:
        return False
    if a[worker + W_UNTIL] + waiting * a[worker + W_PROCESSING] <= now:
        return False
    asks_at = max(1, a[port + P_QUEUE] // 2) - a[port + P_TAKEN]
    if waiting < asks_at <= waiting + messages:
        return False
    row = _queue_at(a, w, a[worker + W_TAIL] - 1)
    if a[row + I_EPOCH] != a[port + P_EPOCH]:
        return False
    a[row + I_ENTRIES] += entries
    a[row + I_LEFT] += messages
    a[port + P_WAITING] = waiting + messages
    return True


@_compiled
def _dispatch_shared(a, d, rows, first, count, now):
    state = a[H_DISPATCHERS] + d * D_COUNT
    log = a[H_LOGS] + (a[state + D_LOG]) * G_COUNT
    msgs = a[log + G_MSGS]
    remaining = msgs * count
    start = 0
    sent_entries = 0
    sent_bytes = 0
    while start < count:
        p = _next_available(a, d)
        if p < 0:
            break
        port = a[H_PORTS] + p * P_COUNT
        messages = min(remaining, a[port + P_PERMITS])
        if a[state + D_MAX_CONSUMER] > 0:
            messages = min(messages, max(a[state + D_MAX_CONSUMER] - a[port + P_UNACKED], 0))
        share = max(1, min(a[R_ROBIN], -(-messages // msgs)))
        end = min(start + share, count)
        if a[log + G_DELAY] == 0:
            kept = end - start
            if first >= 0:
                size, status = _send_range(a, d, p, first + start, kept, now)
            else:
                size, status = _send_list(a, d, p, rows, start, end, now)
        else:
            kept = 0
            size, status = 0, DONE
            for at in range(start, end):
                entry = first + at if first >= 0 else a[rows + at * E_COUNT + E_ENTRY]
                if _delay(a, d, entry, now):
                    if _add_delayed(a, d, entry) != DONE:
                        return LIST_FULL, 0
                    _arm_tick(a, d)
                    continue
                redeliveries = 0 if first >= 0 else a[rows + at * E_COUNT + E_REDELIVERIES]
                acked = 0 if first >= 0 else a[rows + at * E_COUNT + E_ACKED]
                row = _read_at(a, H_READING, a[H_SPARE], kept)
                a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED] = entry, redeliveries, acked
                kept += 1
            if kept > 0:
                size, status = _send_list(a, d, p, _read_at(a, H_READING, a[H_SPARE], 0), 0, kept, now)
        if status != DONE:
            return status, 0
        sent_entries += kept
        sent_bytes += size
        remaining -= kept * msgs
        start += share
    for at in range(start, count):
        if first >= 0:
            status = _add_replay(a, d, first + at, 0, 0)
        else:
            status = _add_replay(
                a,
                d,
                a[rows + at * E_COUNT + E_ENTRY],
                a[rows + at * E_COUNT + E_REDELIVERIES],
                a[rows + at * E_COUNT + E_ACKED],
            )
        if status != DONE:
            return status, 0
    _charge(a, d, sent_entries, sent_entries * msgs, sent_bytes, now)
    return DONE, min(start, count)


@_compiled
def _delay(a, d, entry, now):
    log = a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG]
    return time_of(a, log, entry) + a[a[H_LOGS] + log * G_COUNT + G_DELAY] > now + a[R_TICK]


@_compiled
def _arm_tick(a, d):
    state = a[H_DISPATCHERS] + d * D_COUNT
    if a[state + D_DELAYED] == a[state + D_DELAYED_END]:
        return
    log = a[state + D_LOG]
    due = (
        time_of(a, log, a[_list_at(a, H_DELAYED, d, a[state + D_DELAYED]) + E_ENTRY])
        + a[a[H_LOGS] + log * G_COUNT + G_DELAY]
    )
    at = max(due, a[state + D_LAST_TICK] + a[R_TICK])
    if at < a[state + D_TICK_AT]:
        a[state + D_TICK_AT] = at


@_compiled
def _dispatch_keys(a, d, rows, count, now):
    """Send to the owners of the keys; what its owner cannot take waits in the replay list with all that follows of its key."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    log = a[H_LOGS] + (a[state + D_LOG]) * G_COUNT
    msgs = a[log + G_MSGS]
    # A read's rows come sorted, but those read again may follow later ones.
    for at in range(1, count):
        move = at
        while move > 0 and a[rows + (move - 1) * E_COUNT + E_ENTRY] > a[rows + (move) * E_COUNT + E_ENTRY]:
            for field in range(E_COUNT):
                a[rows + (move) * E_COUNT + field], a[rows + (move - 1) * E_COUNT + field] = (
                    a[rows + (move - 1) * E_COUNT + field],
                    a[rows + (move) * E_COUNT + field],
                )
            move -= 1
    first, last = a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]
    for index in range(first, last):
        a[a[H_SCRATCH] + a[a[H_PORTS_OF] + index]] = a[
            a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT + P_PERMITS
        ]
    ports = a[H_N_PORTS]
    processed = 0
    for at in range(count):
        entry = a[rows + at * E_COUNT + E_ENTRY]
        owner = _owner(a, d, entry)
        fits = owner >= 0 and a[a[H_PORTS] + owner * P_COUNT + P_BLOCKED] == 0 and a[a[H_SCRATCH] + owner] > 0
        if not fits or _older_waits(a, d, entry):
            status = _add_replay(
                a, d, entry, a[rows + at * E_COUNT + E_REDELIVERIES], a[rows + at * E_COUNT + E_ACKED]
            )
            if status != DONE:
                return status, 0
            a[a[H_SCRATCH] + ports + at] = -1
            continue
        # A batch counts once here; only what is sent takes permits by the message.
        a[a[H_SCRATCH] + owner] -= 1
        a[a[H_SCRATCH] + ports + at] = owner
        processed += 1
    sent_entries = 0
    sent_bytes = 0
    spare = _read_at(a, H_READING, a[H_SPARE], 0)
    for index in range(first, last):
        p = a[a[H_PORTS_OF] + index]
        kept = 0
        for at in range(count):
            if a[a[H_SCRATCH] + ports + at] != p:
                continue
            if a[log + G_DELAY] > 0 and _delay(a, d, a[rows + at * E_COUNT + E_ENTRY], now):
                if _add_delayed(a, d, a[rows + at * E_COUNT + E_ENTRY]) != DONE:
                    return LIST_FULL, 0
                _arm_tick(a, d)
                continue
            _copy(a, spare + kept * E_COUNT, rows + at * E_COUNT, E_COUNT)
            kept += 1
        if kept > 0:
            size, status = _send_list(a, d, p, spare, 0, kept, now)
            if status != DONE:
                return status, 0
            sent_entries += kept
            sent_bytes += size
    _charge(a, d, sent_entries, sent_entries * msgs, sent_bytes, now)
    return DONE, processed


@_compiled
def _older_waits(a, d, entry):
    log = a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG]
    key = _key_of(a, log, entry)
    for number in range(a[a[H_DISPATCHERS] + d * D_COUNT + D_REPLAY]):
        other = a[_list_at(a, H_REPLAY, d, number) + E_ENTRY]
        if other >= entry:
            break
        if _key_of(a, log, other) == key:
            return True
    return False


@_compiled
def _dispatcher_event(a, d, now):
    """The first thing that is due at a dispatcher."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    status = DONE
    if a[state + D_READ_AT] <= now:
        a[state + D_READ_AT] = NEVER
        status = _dispatch(
            a, d, _read_at(a, H_READING, d, 0), a[state + D_READ_FIRST], a[state + D_READING], now
        )
    elif a[state + D_REPLAY_AT] <= now:
        a[state + D_REPLAY_AT] = NEVER
        status = _dispatch(a, d, _read_at(a, H_REPLAYING, d, 0), -1, a[state + D_REPLAYING], now)
    elif a[state + D_SEND] < a[state + D_SENDS] and a[_send_at(a, d, a[state + D_SEND]) + 0] <= now:
        row = _send_at(a, d, a[state + D_SEND])
        a[state + D_SEND] += 1
        # A connection that is gone completes no write.
        if a[a[H_PORTS] + a[row + 4] * P_COUNT + P_SESSION] == a[row + 2]:
            messages = a[row + 1] * a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_MSGS]
            _charge(a, d, a[row + 1], messages, a[row + 3], now)
            status = _poll(a, d, now)
    elif a[state + D_TIMER_AT] <= now:
        a[state + D_TIMER_AT] = NEVER
        status = _poll(a, d, now)
    elif a[state + D_TICK_AT] <= now:
        a[state + D_TICK_AT] = NEVER
        a[state + D_LAST_TICK] = now
        status = _poll(a, d, now)
        if a[state + D_DELAYED] < a[state + D_DELAYED_END]:
            log = a[state + D_LOG]
            entry = a[_list_at(a, H_DELAYED, d, a[state + D_DELAYED]) + E_ENTRY]
            if time_of(a, log, entry) + a[a[H_LOGS] + log * G_COUNT + G_DELAY] > now:
                _arm_tick(a, d)
    elif a[state + D_ARM_AT] <= now:
        a[state + D_ARM_AT] = NEVER
        if a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_PERSISTENT] == 0:
            status = _volatile(a, d, now)
        else:
            armed = a[state + D_ARMED]
            a[state + D_ARMED] = 0
            found = _take(a, d, armed, now)
            status = _dispatch(a, d, _read_at(a, H_READING, d, 0), a[state + D_READ_FIRST], found, now)
    else:
        a[state + D_POLL_AT] = NEVER
        status = _poll(a, d, now)
    _next_of_dispatcher(a, d)
    return status


@_compiled
def _volatile(a, d, now):
    """A non-persistent topic: an entry goes to a consumer with permits or is dropped."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    until = published(a, a[state + D_LOG], now + 1)
    status = _look_at_clients(a, d, now)
    if status != DONE:
        return status
    while a[state + D_POSITION] < until:
        entry = a[state + D_POSITION]
        a[state + D_POSITION] += 1
        a[state + D_GONE] += 1
        p = _active_port(a, d) if a[state + D_KIND] == SINGLE else _next_available(a, d)
        if (
            p < 0
            or a[a[H_PORTS] + p * P_COUNT + P_PERMITS] <= 0
            or a[a[H_PORTS] + p * P_COUNT + P_BLOCKED] == 1
        ):
            a[a[H_TOTALS] + d * T_COUNT + T_DROPPED] += 1
            continue
        _, status = _send_range(a, d, p, entry, 1, now)
        if status != DONE:
            return status
    _arm(a, d)
    return DONE


# -- changes ----------------------------------------------------------------------------------------


@_compiled
def _cancel_reads(a, d):
    """Forget reads and timers; what they would have brought is read again."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    status = DONE
    if a[state + D_READ_AT] != NEVER:
        for at in range(a[state + D_READING]):
            if a[state + D_READ_FIRST] >= 0:
                status = _add_again(a, d, a[state + D_READ_FIRST] + at, 0, 0)
            else:
                row = _read_at(a, H_READING, d, at)
                status = _add_again(a, d, a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED])
            if status != DONE:
                return status
    if a[state + D_REPLAY_AT] != NEVER:
        for at in range(a[state + D_REPLAYING]):
            row = _read_at(a, H_REPLAYING, d, at)
            status = _add_again(a, d, a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED])
            if status != DONE:
                return status
    a[state + D_READ_AT] = a[state + D_REPLAY_AT] = a[state + D_TIMER_AT] = a[state + D_TICK_AT] = NEVER
    if a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_PERSISTENT] == 1:
        a[state + D_ARM_AT] = NEVER
    a[state + D_ARMED] = 0
    _next_of_dispatcher(a, d)
    return DONE


@_compiled
def _connect(a, p, now):
    port = a[H_PORTS] + p * P_COUNT
    a[port + P_CONNECTED] = 1
    a[port + P_RECONNECT_AT] = NEVER
    a[port + P_PERMITS] = a[port + P_PARKED] = a[port + P_UNACKED] = a[port + P_TAKEN] = 0
    a[port + P_BLOCKED] = 0
    a[port + P_SESSION] += 1
    a[port + P_EPOCH] += 1
    status = _request(
        a, a[port + P_WORKER], now + a[R_FLOW], p, max(1, a[port + P_QUEUE]), a[port + P_SESSION]
    )
    _next_of_worker(a, a[port + P_WORKER])
    return status


@_compiled
def _join(a, w, now):
    worker = a[H_WORKERS] + w * W_COUNT
    if a[worker + W_JOINED] == 1:
        return DONE
    a[worker + W_JOINED] = 1
    for index in range(a[worker + W_PORT], a[worker + W_PORT] + a[worker + W_PORTS]):
        status = _connect(a, a[a[H_PORTS_OF_WORKER] + index], now)
        if status != DONE:
            return status
    return DONE


@_compiled
def _leave(a, w, now):
    worker = a[H_WORKERS] + w * W_COUNT
    if a[worker + W_JOINED] == 0:
        return DONE
    a[worker + W_JOINED] = 0
    for index in range(a[worker + W_PORT], a[worker + W_PORT] + a[worker + W_PORTS]):
        status = _disconnect(a, a[a[H_PORTS_OF_WORKER] + index])
        if status != DONE:
            return status
    a[worker + W_HEAD] = a[worker + W_TAIL]
    a[worker + W_BUSY] = 0
    a[a[H_CURRENT] + w * I_COUNT + I_PORT] = -1
    _next_of_worker(a, w)
    return DONE


@_compiled
def _holds(a, p):
    """Whether a client has anything of a port that is not acknowledged."""
    port = a[H_PORTS] + p * P_COUNT
    w = a[port + P_WORKER]
    worker = a[H_WORKERS] + w * W_COUNT
    state = a[H_DISPATCHERS] + a[port + P_DISPATCHER] * D_COUNT
    current = a[H_CURRENT] + w * I_COUNT
    if a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_PERSISTENT] == 0:
        return False
    if a[port + P_WAITING] > 0:
        return True
    if a[worker + W_BUSY] == 1 and a[current + I_PORT] == p and a[current + I_EPOCH] == a[port + P_EPOCH]:
        return True
    for number in range(a[worker + W_BACK], a[worker + W_BACKS]):
        row = _back_at(a, w, number)
        if a[row + 1] == p and a[row + 2] == a[port + P_EPOCH]:
            return True
    for number in range(a[state + D_HELD]):
        if a[_list_at(a, H_HELD, a[port + P_DISPATCHER], number) + E_PORT] == p:
            return True
    return False


@_compiled
def _disconnect(a, p):
    port = a[H_PORTS] + p * P_COUNT
    d = a[port + P_DISPATCHER]
    state = a[H_DISPATCHERS] + d * D_COUNT
    single = a[state + D_KIND] == SINGLE
    was_active = single and _active_port(a, d) == p
    a[port + P_CONNECTED] = 0
    a[port + P_RECONNECT_AT] = NEVER
    a[port + P_SESSION] += 1
    _, others = _connected_port(a, d, 0)
    status = DONE
    if single:
        if was_active or _holds(a, p):
            status = _cancel_reads(a, d)
    elif others == 0:
        status = _cancel_reads(a, d)
        for at in range(a[state + D_REPLAY]):
            if status == DONE:
                row = _list_at(a, H_REPLAY, d, at)
                status = _add_again(a, d, a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED])
        for at in range(a[state + D_DELAYED], a[state + D_DELAYED_END]):
            if status == DONE:
                status = _add_again(a, d, a[_list_at(a, H_DELAYED, d, at) + E_ENTRY], 0, 0)
        a[state + D_REPLAY] = 0
        a[state + D_DELAYED] = a[state + D_DELAYED_END] = 0
    if status != DONE:
        return status
    a[state + D_PERMITS] -= a[port + P_PERMITS]
    a[state + D_UNACKED] -= a[port + P_UNACKED]
    a[port + P_PERMITS] = a[port + P_UNACKED] = 0
    status = _forget(a, p, others > 0 and not single, -1)
    if others == 0:
        a[state + D_PERMITS] = a[state + D_UNACKED] = 0
        a[state + D_BLOCKED] = 0
    elif a[state + D_MAX_UNACKED] > 0 and a[state + D_UNACKED] < a[state + D_MAX_UNACKED] // 2:
        a[state + D_BLOCKED] = 0
    if others > 0:
        _ask_poll(a, d)
    return status


@_compiled
def _hang(a, w, now):
    worker = a[H_WORKERS] + w * W_COUNT
    if a[worker + W_HUNG] == 0:
        a[worker + W_HUNG] = 1
        a[worker + W_HUNG_LEFT] = max(0, a[worker + W_UNTIL] - now)
        _next_of_worker(a, w)


@_compiled
def _resume(a, w, now):
    worker = a[H_WORKERS] + w * W_COUNT
    if a[worker + W_HUNG] == 0:
        return
    a[worker + W_HUNG] = 0
    if a[worker + W_BUSY] == 1 and a[a[H_CURRENT] + w * I_COUNT + I_PORT] >= 0:
        a[worker + W_UNTIL] = now + a[worker + W_HUNG_LEFT]
    elif a[worker + W_HEAD] < a[worker + W_TAIL]:
        a[worker + W_BUSY] = 1
        a[worker + W_UNTIL] = now
        a[a[H_CURRENT] + w * I_COUNT + I_PORT] = -1
    _next_of_worker(a, w)


@_compiled
def _break(a, d, now):
    """The dispatcher closes; its consumers are cut off and come back."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    status = _cancel_reads(a, d)
    for at in range(a[state + D_REPLAY]):
        if status == DONE:
            row = _list_at(a, H_REPLAY, d, at)
            status = _add_again(a, d, a[row + E_ENTRY], a[row + E_REDELIVERIES], a[row + E_ACKED])
    for at in range(a[state + D_DELAYED], a[state + D_DELAYED_END]):
        if status == DONE:
            status = _add_again(a, d, a[_list_at(a, H_DELAYED, d, at) + E_ENTRY], 0, 0)
    if status != DONE:
        return status
    a[state + D_REPLAY] = 0
    a[state + D_DELAYED] = a[state + D_DELAYED_END] = 0
    a[state + D_PERMITS] = a[state + D_UNACKED] = a[state + D_ROBIN] = 0
    a[state + D_BLOCKED] = 0
    a[state + D_BACKOFF] = 1_000
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        p = a[a[H_PORTS_OF] + index]
        port = a[H_PORTS] + p * P_COUNT
        status = _rewind(a, p, -1)
        if status != DONE:
            return status
        if a[port + P_CONNECTED] == 1:
            a[port + P_CONNECTED] = 0
            a[port + P_SESSION] += 1
            a[port + P_PERMITS] = a[port + P_UNACKED] = 0
            a[port + P_RECONNECT_AT] = now + a[R_RECONNECT]
            _next_of_worker(a, a[port + P_WORKER])
    return DONE


@_compiled
def _advance_all(a, now):
    for w in range(a[H_N_WORKERS]):
        status = _advance(a, w, now)
        if status != DONE:
            return status
    return DONE


@_compiled
def _step(a, row, now):
    kind = a[row + X_KIND]
    number = a[row + X_NUMBER]
    engine = a[R_ENGINE]
    status = _advance_all(a, now - 1)
    if status != DONE:
        return status
    if kind == RATES:
        log = a[a[H_LIMITER_LOG] + number]
        for unit in range(2):
            average = a[a[H_LOGS] + log * G_COUNT + G_AVERAGE_MSG + unit]
            renew(
                a,
                _meter_at(a, number, unit),
                engine,
                a[row + X_MSG + unit],
                a[row + X_RELATIVE],
                average,
                a[row + X_PERIOD],
                now,
                False,
            )
    elif kind == PROCESSING:
        a[a[H_WORKERS] + number * W_COUNT + W_PROCESSING] = a[row + X_VALUE]
        _next_of_worker(a, number)
    elif kind == JOIN:
        return _join(a, number, now)
    elif kind == LEAVE:
        return _leave(a, number, now)
    elif kind == HANG:
        _hang(a, number, now)
    elif kind == RESUME:
        _resume(a, number, now)
    elif kind == UNLOAD:
        for d in range(a[H_N_DISPATCHERS]):
            if a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] != number:
                continue
            status = _break(a, d, now)
            if status != DONE:
                return status
            for level in range(1, 3):
                limiter = a[a[H_DISPATCHERS] + d * D_COUNT + D_BROKER + level]
                for unit in range(2):
                    meter = _meter_at(a, limiter, unit)
                    average = a[a[H_LOGS] + a[a[H_LIMITER_LOG] + limiter] * G_COUNT + G_AVERAGE_MSG + unit]
                    renew(
                        a,
                        meter,
                        engine,
                        a[meter + M_CONFIGURED],
                        a[meter + M_RELATIVE],
                        average,
                        a[meter + M_PERIOD],
                        now,
                        True,
                    )
    elif kind == SEEK:
        status = _break(a, number, now)
        state = a[H_DISPATCHERS] + number * D_COUNT
        a[state + D_AGAIN] = a[state + D_AGAIN_END] = 0
        a[state + D_POSITION] = a[state + D_GONE] = a[state + D_EXPIRED_BELOW] = a[row + X_VALUE]
    return status


@_compiled
def _stats_update(a, now):
    for log in range(a[H_N_LOGS]):
        g = a[H_LOGS] + log * G_COUNT
        entries = published(a, log, now) - published(a, log, now - a[R_STATS])
        for unit in range(2):
            amount = entries * a[g + G_MSGS] if unit == 0 else entries * a[g + G_ESTIMATE]
            current = amount * 1_000_000 // a[R_STATS]
            average = a[g + G_AVERAGE_MSG + unit]
            a[g + G_AVERAGE_MSG + unit] = current if current > average else (current + average) // 2
    for limiter in range(a[H_N_LIMITERS]):
        for unit in range(2):
            meter = _meter_at(a, limiter, unit)
            if a[meter + M_RELATIVE] == 1 and a[meter + M_RATE] > 0:
                a[meter + M_RATE] = (
                    a[meter + M_CONFIGURED]
                    + a[a[H_LOGS] + a[a[H_LIMITER_LOG] + limiter] * G_COUNT + G_AVERAGE_MSG + unit]
                )
    for d in range(a[H_N_DISPATCHERS]):
        state = a[H_DISPATCHERS] + d * D_COUNT
        _, connected = _connected_port(a, d, 0)
        unread = (
            published(a, a[state + D_LOG], now)
            - a[state + D_POSITION]
            + a[state + D_AGAIN_END]
            - a[state + D_AGAIN]
        )
        a[state + D_ACTIVE] = 0
        if connected > 0 and (a[R_KEEPS_ACTIVE] == 1 or a[R_BACKLOGGED] < 0 or unread <= a[R_BACKLOGGED]):
            a[state + D_ACTIVE] = 1


@_compiled
def _between(first, last, low, high):
    """How many of the entries [first, last) are in [low, high)."""
    return max(0, min(last, high) - max(first, low))


@_compiled
def _expire(a, now):
    """Entries older than the topic's TTL leave the backlog without having been dispatched."""
    status = _advance_all(a, now - 1)
    if status != DONE:
        return status
    for d in range(a[H_N_DISPATCHERS]):
        state = a[H_DISPATCHERS] + d * D_COUNT
        ttl = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_TTL]
        if ttl == 0 or a[a[H_LOGS] + a[state + D_LOG] * G_COUNT + G_PERSISTENT] == 0:
            continue
        below = published(a, a[state + D_LOG], now - ttl)
        low = a[state + D_EXPIRED_BELOW]
        if below <= low:
            continue
        expired = _held_between(a, d, low, below)
        left = a[state + D_AGAIN]
        while left < a[state + D_AGAIN_END] and a[_list_at(a, H_AGAIN, d, left) + E_ENTRY] < below:
            left += 1
            expired += 1
        a[state + D_AGAIN] = left
        if a[state + D_AGAIN] == a[state + D_AGAIN_END]:
            a[state + D_AGAIN] = a[state + D_AGAIN_END] = 0
        gone = 0
        while gone < a[state + D_REPLAY] and a[_list_at(a, H_REPLAY, d, gone) + E_ENTRY] < below:
            gone += 1
        for at in range(gone, a[state + D_REPLAY]):
            _copy(a, _list_at(a, H_REPLAY, d, at - gone), _list_at(a, H_REPLAY, d, at), E_COUNT)
        a[state + D_REPLAY] -= gone
        expired += gone
        while (
            a[state + D_DELAYED] < a[state + D_DELAYED_END]
            and a[_list_at(a, H_DELAYED, d, a[state + D_DELAYED]) + E_ENTRY] < below
        ):
            a[state + D_DELAYED] += 1
            expired += 1
        if a[state + D_READ_AT] != NEVER:
            if a[state + D_READ_FIRST] >= 0:
                first = a[state + D_READ_FIRST]
                expired += _between(first, first + a[state + D_READING], low, below)
            else:
                for at in range(a[state + D_READING]):
                    expired += _between(
                        a[_read_at(a, H_READING, d, at) + E_ENTRY],
                        a[_read_at(a, H_READING, d, at) + E_ENTRY] + 1,
                        low,
                        below,
                    )
        if a[state + D_REPLAY_AT] != NEVER:
            for at in range(a[state + D_REPLAYING]):
                expired += _between(
                    a[_read_at(a, H_REPLAYING, d, at) + E_ENTRY],
                    a[_read_at(a, H_REPLAYING, d, at) + E_ENTRY] + 1,
                    low,
                    below,
                )
        if below > a[state + D_POSITION]:
            expired += below - a[state + D_POSITION]
            a[state + D_POSITION] = below
        a[state + D_GONE] += expired
        a[a[H_TOTALS] + d * T_COUNT + T_EXPIRED] += expired
        a[state + D_EXPIRED_BELOW] = below
        if a[state + D_ARMED] > 0:
            _arm(a, d)
            _next_of_dispatcher(a, d)
    return DONE


@_compiled
def _held_between(a, d, low, high):
    """Unacknowledged entries at the clients in [low, high)."""
    state = a[H_DISPATCHERS] + d * D_COUNT
    msgs = a[a[H_LOGS] + (a[state + D_LOG]) * G_COUNT + G_MSGS]
    found = 0
    for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
        p = a[a[H_PORTS_OF] + index]
        port = a[H_PORTS] + p * P_COUNT
        w = a[port + P_WORKER]
        worker = a[H_WORKERS] + w * W_COUNT
        current = a[H_CURRENT] + w * I_COUNT
        in_queue = False
        for number in range(a[worker + W_HEAD], a[worker + W_TAIL]):
            item = _queue_at(a, w, number)
            if a[item + I_PORT] != p or a[item + I_EPOCH] != a[port + P_EPOCH]:
                continue
            done = (a[item + I_ENTRIES] * msgs - a[item + I_ACKED] - a[item + I_LEFT]) // msgs
            first, last = a[item + I_ENTRY] + done, a[item + I_ENTRY] + a[item + I_ENTRIES]
            found += _between(first, last, low, high)
            if a[current + I_PORT] == p and first <= a[current + I_ENTRY] < last:
                in_queue = True
        if (
            a[worker + W_BUSY] == 1
            and a[current + I_PORT] == p
            and a[current + I_EPOCH] == a[port + P_EPOCH]
            and not in_queue
        ):
            found += _between(a[current + I_ENTRY], a[current + I_ENTRY] + 1, low, high)
        for number in range(a[worker + W_BACK], a[worker + W_BACKS]):
            row = _back_at(a, w, number)
            if a[row + 1] == p and a[row + 2] == a[port + P_EPOCH]:
                found += _between(a[row + 3], a[row + 3] + 1, low, high)
    for number in range(a[state + D_HELD]):
        found += _between(
            a[_list_at(a, H_HELD, d, number) + 0], a[_list_at(a, H_HELD, d, number) + 0] + 1, low, high
        )
    return found


# -- the clock ----------------------------------------------------------------------------------------


@_compiled
def _sample(a, row, before):
    status = _advance_all(a, before - 1)
    if status != DONE:
        return status
    for d in range(a[H_N_DISPATCHERS]):
        state = a[H_DISPATCHERS] + d * D_COUNT
        out = row[d]
        a[a[H_TOTALS] + d * T_COUNT + T_PUBLISHED] = published(a, a[state + D_LOG], before)
        totals = a[H_TOTALS] + d * T_COUNT
        for number in range(T_COUNT):
            out[number] = a[totals + number]
        out[S_BACKLOG] = a[a[H_TOTALS] + d * T_COUNT + T_PUBLISHED] - a[state + D_GONE]
        out[S_UNACKED] = a[state + D_UNACKED]
        permits = 0
        for index in range(a[state + D_PORT], a[state + D_PORT] + a[state + D_PORTS]):
            port = a[H_PORTS] + a[a[H_PORTS_OF] + index] * P_COUNT
            if a[port + P_CONNECTED] == 1:
                permits += a[port + P_PERMITS]
        out[S_PERMITS] = permits
        out[S_REPLAY] = a[state + D_REPLAY]
        out[S_DELAYED] = a[state + D_DELAYED_END] - a[state + D_DELAYED]
        for level in range(3):
            for unit in range(2):
                out[S_TOKENS + 2 * level + unit] = _balance(
                    a, _meter_at(a, a[state + D_BROKER + level], unit), a[R_ENGINE]
                )
    return DONE


@_entry
def run_packed(a, out):
    """Run a packed world to its end.

    ``a`` holds everything: rules, the places of the tables, the tables. ``out`` is samples x dispatchers x ``S_COUNT``. Returns a status and how many events there were.
    """
    every, duration = a[R_EVERY], a[R_DURATION]
    events = 0
    for w in range(a[H_N_WORKERS]):
        if a[a[H_WORKERS] + w * W_COUNT + W_JOINED] == 2:
            a[a[H_WORKERS] + w * W_COUNT + W_JOINED] = 0
            status = _join(a, w, 0)
            if status != DONE:
                return status, events
    for d in range(a[H_N_DISPATCHERS]):
        if a[a[H_LOGS] + a[a[H_DISPATCHERS] + d * D_COUNT + D_LOG] * G_COUNT + G_PERSISTENT] == 0:
            _arm(a, d)
        _next_of_dispatcher(a, d)
    done = 0
    step = 0
    stats_at = a[R_STATS]
    expiry_at = a[R_EXPIRY] if a[R_ANY_TTL] == 1 else NEVER
    samples = out.shape[0]
    while done < samples:
        now = min(stats_at, expiry_at)
        phase = 1
        if step < a[H_N_STEPS] and a[a[H_STEPS] + step * X_COUNT + X_AT] <= now:
            now = a[a[H_STEPS] + step * X_COUNT + X_AT]
            phase = 0
        index = 0
        for w in range(a[H_N_WORKERS]):
            if a[a[H_WORKERS] + w * W_COUNT + W_NEXT] < now:
                now = a[a[H_WORKERS] + w * W_COUNT + W_NEXT]
                index = w
                phase = 2
        for d in range(a[H_N_DISPATCHERS]):
            if a[a[H_DISPATCHERS] + d * D_COUNT + D_NEXT] < now:
                now = a[a[H_DISPATCHERS] + d * D_COUNT + D_NEXT]
                index = d
                phase = 3
        while done < samples and (done + 1) * every <= now:
            status = _sample(a, out[done], (done + 1) * every)
            if status != DONE:
                return status, events
            done += 1
        if done == samples or now >= duration:
            if now >= duration:
                while done < samples:
                    status = _sample(a, out[done], (done + 1) * every)
                    if status != DONE:
                        return status, events
                    done += 1
            break
        events += 1
        # The place after the rules holds the clock.
        a[R_COUNT] = now
        if phase == 0:
            status = _step(a, a[H_STEPS] + step * X_COUNT, now)
            step += 1
        elif phase == 1:
            if stats_at <= now:
                status = _advance_all(a, now - 1)
                _stats_update(a, now)
                stats_at += a[R_STATS]
            else:
                status = _expire(a, now)
                expiry_at += a[R_EXPIRY]
        elif phase == 2:
            status = _worker_event(a, index, now)
        else:
            status = _dispatcher_event(a, index, now)
        if status != DONE:
            return status, events
    return DONE, events
