"""Meters of limiters: permits that are left, charges, new rates. In: a meter's row and a time. Out: its row, changed.

The rules are those of ``limiters.py``, which is the place to read them.
"""

from __future__ import annotations

from throttlescope.models.throttling.columns import NO_METER
from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import (
    ENGINE_A,
    ENGINE_A0,
    ENGINE_B,
    ENGINE_C,
    NEVER,
    D,
    H,
    M,
    R,
)
from throttlescope.models.throttling.kernel.rows import dispatcher_at

#: Engine B refills at most once in a slot.
SLOT_US = 16_000


_MOST = (1 << 63) - 1
_DIGIT = 1 << 16


@compiled
def _grown(elapsed, rate, period):
    """Tokens of a time and what is left of it, without leaving 64 bits: 10 GB an hour times the microseconds of an hour would."""
    whole = elapsed // period
    part = elapsed - whole * period
    if part <= _MOST // rate:
        tokens = part * rate // period
        left = part * rate - tokens * period
    else:
        tokens, left = _long_division(part, rate, period)
    return whole * rate + tokens, -(-left // rate)


@compiled
def _long_division(part, rate, period):
    """Quotient and rest of ``part * rate`` by ``period``, digit by digit of 16 bits; ``part`` is below ``period``, which is below 2^46."""
    tokens, left = 0, 0
    for shift in (48, 32, 16, 0):
        left = left * _DIGIT + part * ((rate >> shift) & (_DIGIT - 1))
        digit = left // period
        tokens = tokens * _DIGIT + digit
        left -= digit * period
    return tokens, left


@compiled
def _tick_window(a, meter, engine, now):
    """End the periods that are over (engines A0 and A)."""
    if a[meter + M.ANCHOR_AT] <= now:
        ticks = (now - a[meter + M.ANCHOR_AT]) // a[meter + M.PERIOD_US] + 1
        a[meter + M.ANCHOR_AT] += ticks * a[meter + M.PERIOD_US]
        if engine == ENGINE_A0:
            a[meter + M.TOKENS] = 0
        else:
            later = (ticks - 1) * a[meter + M.NEXT_RATE]
            a[meter + M.TOKENS] = max(0, a[meter + M.TOKENS] - a[meter + M.RATE] - later)
        a[meter + M.RATE] = a[meter + M.NEXT_RATE]


@compiled
def _flush_slot(a, meter, amount, now):
    """Refill and charge a meter whose slot is over (engine B); whether it was."""
    if now // SLOT_US <= a[meter + M.SLOT]:
        return False
    a[meter + M.SLOT] = now // SLOT_US
    new, rest = _grown(
        now - a[meter + M.ANCHOR_AT] + a[meter + M.REST_US], a[meter + M.RATE], a[meter + M.PERIOD_US]
    )
    a[meter + M.REST_US] = rest
    a[meter + M.ANCHOR_AT] = now
    a[meter + M.TOKENS] = min(a[meter + M.TOKENS] + new, a[meter + M.RATE]) - (a[meter + M.PENDING] + amount)
    a[meter + M.PENDING] = 0
    return True


@compiled
def available(a, meter, engine, now):
    """Permits of a meter that exists."""
    if engine == ENGINE_C:
        if now > a[meter + M.ANCHOR_AT] + a[meter + M.PERIOD_US]:
            new, rest = _grown(
                now - a[meter + M.ANCHOR_AT] + a[meter + M.REST_US], a[meter + M.RATE], a[meter + M.PERIOD_US]
            )
            a[meter + M.REST_US] = rest
            a[meter + M.ANCHOR_AT] = now
            if new != a[meter + M.PENDING]:
                a[meter + M.TOKENS] = min(a[meter + M.TOKENS] + new - a[meter + M.PENDING], a[meter + M.RATE])
            a[meter + M.PENDING] = 0
        return max(0, a[meter + M.TOKENS] - a[meter + M.PENDING])
    if engine == ENGINE_B:
        _flush_slot(a, meter, 0, now)
        return max(0, a[meter + M.TOKENS])
    _tick_window(a, meter, engine, now)
    return max(0, a[meter + M.RATE] - a[meter + M.TOKENS])


@compiled
def charge_meter(a, meter, engine, amount, now):
    """Charge a meter that exists."""
    if engine == ENGINE_C:
        a[meter + M.PENDING] += amount
    elif engine == ENGINE_B:
        if not _flush_slot(a, meter, amount, now):
            a[meter + M.PENDING] += amount
    else:
        _tick_window(a, meter, engine, now)
        if a[meter + M.ANCHOR_AT] == NEVER:
            a[meter + M.ANCHOR_AT] = now + a[meter + M.PERIOD_US]
        if engine == ENGINE_A:
            a[meter + M.TOKENS] += amount
        elif amount > a[meter + M.RATE]:
            a[meter + M.TOKENS] = a[meter + M.RATE]
        elif a[meter + M.TOKENS] < a[meter + M.RATE]:
            a[meter + M.TOKENS] += amount


@compiled
def balance(a, meter, engine):
    """Tokens of a meter as they are, for a table; negative is debt."""
    if a[meter + M.RATE] == 0:
        return NO_METER
    if engine in (ENGINE_B, ENGINE_C):
        return a[meter + M.TOKENS] - a[meter + M.PENDING]
    return a[meter + M.RATE] - a[meter + M.TOKENS]


@compiled
def renew(a, meter, engine, configured, relative, average, period, now, fresh):
    """Take a new rate as the engine does: A keeps what was used (unless ``fresh``), the others start full.

    A window (A0 and A) starts with the configured rate, and adds the publish rate to it from its first tick on.
    """
    rate = next_rate = 0
    if configured > 0:
        next_rate = configured + average if relative else configured
        rate = next_rate if engine in (ENGINE_B, ENGINE_C) else configured
    a[meter + M.CONFIGURED] = configured
    a[meter + M.RELATIVE] = relative
    if rate == 0:
        a[meter + M.RATE] = 0
        return
    if engine == ENGINE_A and a[meter + M.RATE] > 0 and not fresh:
        _tick_window(a, meter, engine, now)
        a[meter + M.RATE] = rate
        a[meter + M.NEXT_RATE] = next_rate
        a[meter + M.PERIOD_US] = period
        a[meter + M.ANCHOR_AT] = now + period
        return
    a[meter + M.RATE] = rate
    a[meter + M.NEXT_RATE] = next_rate
    a[meter + M.PERIOD_US] = period
    a[meter + M.PENDING] = 0
    a[meter + M.REST_US] = 0
    a[meter + M.SLOT] = -1
    if engine in (ENGINE_B, ENGINE_C):
        a[meter + M.TOKENS] = rate
        a[meter + M.ANCHOR_AT] = now
    else:
        a[meter + M.TOKENS] = 0
        a[meter + M.ANCHOR_AT] = NEVER


@compiled
def follow(a, meter, engine, average, now):
    """Take a new publish rate into account, without a new meter: windows (A0 and A) from their next tick on."""
    if a[meter + M.RELATIVE] == 0 or a[meter + M.RATE] == 0:
        return
    rate = a[meter + M.CONFIGURED] + average
    if engine in (ENGINE_B, ENGINE_C):
        a[meter + M.RATE] = rate
    else:
        _tick_window(a, meter, engine, now)
        a[meter + M.NEXT_RATE] = rate


@compiled
def charge(a, d, entries, messages, size, now):
    """Charge every limiter of a dispatcher for what was sent, whichever one was binding."""
    dispatcher = dispatcher_at(a, d)
    if a[R.LIMITS_CAUGHT_UP] == 0 and a[dispatcher + D.ACTIVE] == 1:
        return
    amount = entries if a[R.PER_ENTRY] == 1 else messages
    # Kept in variables: after every write into the array the machine would read these places anew.
    meters, engine = a[H.METERS], a[R.ENGINE]
    for level in range(3):
        meter = meters + a[dispatcher + D.BROKER_LIMITER + level] * 2 * M.WIDTH
        if a[meter + M.RATE] > 0 and amount > 0:
            charge_meter(a, meter, engine, amount, now)
        meter += M.WIDTH
        if a[meter + M.RATE] > 0 and size > 0:
            charge_meter(a, meter, engine, size, now)
