"""Random operations on limiters. In: a seed and a number. Out: rows of kind, time in nanoseconds and three arguments.

Times and amounts are drawn around what decides: the end of a period to the nanosecond, an empty meter, a debt of many periods, the end
of 64 bits.
"""

from __future__ import annotations

import random

import numpy as np

NEW, QUERY, CHARGE, UPDATE = range(4)
SECOND_NS = 1_000_000_000
#: A limiter lives for about as many operations; then a new one starts, so that one difference does not hide the next.
_LIFE = 60


def draw_operations(seed: int, count: int, *, tick_ns: int = 1) -> np.ndarray:
    """Draw operations: ``NEW`` and ``UPDATE`` take a message rate, a byte rate and a period in seconds, ``CHARGE`` messages and bytes.

    Parameters
    ----------
    seed, count
        Which ones, and how many.
    tick_ns
        Times are whole multiples of it: 1000 for the microseconds of the simulator.

    Returns
    -------
    ndarray of int64, shape (count, 5)
        Kind, time, three arguments. Times never go back.
    """
    random_ = random.Random(seed)  # noqa: S311 - drawn, not secret
    rows = np.zeros((count, 5), np.int64)
    now, rates, period_ns = 0, (0, 0), SECOND_NS
    for index in range(count):
        if index == 0 or random_.random() < 1 / _LIFE:
            kind = NEW
        else:
            kind = random_.choices((QUERY, CHARGE, UPDATE), (50, 46, 4))[0]
        now += _wait_ns(random_, period_ns) // tick_ns * tick_ns
        if kind in (NEW, UPDATE):
            rates, period_s = _rates(random_), random_.choice((1, 1, 1, 2, 7, 10, 60, 3600))
            period_ns = period_s * SECOND_NS
            rows[index] = (kind, now, *rates, period_s)
        elif kind == CHARGE:
            rows[index] = (kind, now, *(_amount(random_, rate) for rate in rates), 0)
        else:
            rows[index, :2] = kind, now
    return rows


def _rates(random_: random.Random) -> tuple[int, int]:
    def one(most: int) -> int:
        if random_.random() < 0.15:
            return random_.choice((0, -1))
        return min(most, max(1, round(10 ** random_.uniform(0, 10))))

    return one(2**31 - 1), one(10**10)


def _amount(random_: random.Random, rate: int) -> int:
    share = random_.random()
    if share < 0.1:
        return 0
    if share < 0.3:
        return random_.randint(1, 5)
    if share < 0.9:
        return random_.randint(1, max(1, rate))
    return random_.randint(1, max(1, rate * 5))


def _wait_ns(random_: random.Random, period_ns: int) -> int:
    share = random_.random()
    if share < 0.15:
        return 0
    if share < 0.3:
        return random_.randint(1, 1000)
    if share < 0.55:
        return random_.randint(0, period_ns // 3)
    if share < 0.8:
        return max(0, period_ns + random_.choice((-1, 0, 1, random_.randint(-5000, 5000))))
    if share < 0.98:
        return random_.randint(0, 4 * period_ns)
    return random_.randint(0, 200 * period_ns)
