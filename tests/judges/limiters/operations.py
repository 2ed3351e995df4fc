"""Random operations on limiters. In: a seed and a number. Out: rows of kind, time in nanoseconds and four arguments.

Times and amounts are drawn around what decides: the end of a period to the nanosecond, an empty meter, a debt of many periods, the end
of 64 bits.
"""

from __future__ import annotations

import random

import numpy as np

#: ``NEW`` and ``UPDATE`` take a message rate, a byte rate, a period in seconds and whether the rates are relative to the publish rate;
#: ``CHARGE`` messages and bytes; ``FOLLOW`` a topic's average publish rates. Of the publish limiter ``NEW`` takes a message rate, a
#: byte rate and the number of producers; ``PUBLISH`` a producer, and the messages and bytes of an entry that is due.
NEW, QUERY, CHARGE, UPDATE, FOLLOW, PUBLISH = range(6)
SECOND_NS = 1_000_000_000
#: A limiter lives for about as many operations; then a new one starts, so that one difference does not hide the next.
_LIFE = 60
_PUBLISH_LIFE = 200


def draw_operations(seed: int, count: int, *, tick_ns: int = 1, relative: bool = False) -> np.ndarray:
    """Draw operations on dispatch limiters.

    Parameters
    ----------
    seed, count
        Which ones, and how many.
    tick_ns
        Times are whole multiples of it: 1000 for the microseconds of the simulator.
    relative
        Three of four limits are relative to the publish rate, which changes.

    Returns
    -------
    ndarray of int64, shape (count, 6)
        Kind, time, four arguments. Times never go back.
    """
    random_ = random.Random(seed)  # noqa: S311 - drawn, not secret
    rows = np.zeros((count, 6), np.int64)
    now, rates, period_ns = 0, (0, 0), SECOND_NS
    for index in range(count):
        if index == 0 or random_.random() < 1 / _LIFE:
            kind = NEW
        else:
            kinds = (QUERY, CHARGE, UPDATE, FOLLOW) if relative else (QUERY, CHARGE, UPDATE)
            kind = random_.choices(kinds, (50, 46, 4, 10)[: len(kinds)])[0]
        now += _wait_ns(random_, period_ns) // tick_ns * tick_ns
        if kind in (NEW, UPDATE):
            rates, period_s = _rates(random_), random_.choice((1, 1, 1, 2, 7, 10, 60, 3600))
            period_ns = period_s * SECOND_NS
            rows[index] = (kind, now, *rates, period_s, relative and random_.random() < 0.75)
        elif kind == CHARGE:
            rows[index] = (kind, now, *(_amount(random_, rate) for rate in rates), 0, 0)
        elif kind == FOLLOW:
            rows[index] = (kind, now, *(max(0, rate) for rate in _rates(random_)), 0, 0)
        else:
            rows[index, :2] = kind, now
    return rows


def draw_publishing(seed: int, count: int) -> np.ndarray:
    """Draw entries that producers have to send under a publish limit.

    Times are whole microseconds, as the simulator's are, and no two are the same. A producer's entries have the same number of messages.

    Returns
    -------
    ndarray of int64, shape (count, 6)
        Kind, time, four arguments.
    """
    random_ = random.Random(seed)  # noqa: S311 - drawn, not secret
    rows = np.zeros((count, 6), np.int64)
    now, rates, messages, entry_ns = 0, (0, 0), [1], 1000.0
    for index in range(count):
        if index == 0 or random_.random() < 1 / _PUBLISH_LIFE:
            rates = _publish_rates(random_)
            messages = [_batch(random_, rates[0]) for _ in range(random_.choice((1, 1, 2, 3)))]
            # The time that the slower meter needs for an entry, as often as the limits are used.
            needs = [sum(messages) / len(messages) / rates[0] if rates[0] else 0, 0.05 if rates[1] else 0]
            entry_ns = SECOND_NS * max(needs) / random_.choice((0.5, 0.9, 1, 1.1, 2, 10))
            now += 1000
            rows[index] = (NEW, now, *rates, len(messages), 0)
            continue
        now += max(1, round(_publish_wait_ns(random_, entry_ns) / 1000)) * 1000
        who = random_.randrange(len(messages))
        rows[index] = (PUBLISH, now, who, messages[who], _size(random_, rates[1]), 0)
    return rows


def _publish_rates(random_: random.Random) -> tuple[int, int]:
    which = random_.choice(((1, 0), (1, 0), (0, 1), (1, 1)))
    return (
        which[0] * max(1, round(10 ** random_.uniform(0, 6))),
        which[1] * max(1, round(10 ** random_.uniform(2, 9))),
    )


def _batch(random_: random.Random, rate: int) -> int:
    share = random_.random()
    if share < 0.4:
        return 1
    # From a thousandth of a second's tokens to two seconds' of them.
    return max(1, min(100_000, round(rate * 10 ** random_.uniform(-3, 0.3))))


def _size(random_: random.Random, rate: int) -> int:
    if random_.random() < 0.92:
        return random_.randint(1, max(1, rate // 100))
    return random_.randint(1, max(1, rate))


def _publish_wait_ns(random_: random.Random, entry_ns: float) -> float:
    share = random_.random()
    if share < 0.2:
        return 0
    if share < 0.95:
        return random_.uniform(0, 2.5 * entry_ns)
    return random_.uniform(0, 3 * SECOND_NS)


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
