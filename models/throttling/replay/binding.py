"""Where a limiter may have limited a subscription. In: an :class:`Observed`; out: a flag per span of it.

In doubt a span counts as limited: the capacity of the consumers is then looked for elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis.thresholds import READ_BATCH_ENTRIES_5
from throttlescope.models.throttling.replay.observed import Observed

#: A limiter of which less than this share is used over a minute does not bind (a binding one was seen at 0.90 and more).
BINDS_FROM_SHARE = 0.8
_MINUTE_S = 60.0


def bound(observed: Observed, subscription: str, partition: int) -> np.ndarray:
    """Spans in which a limiter may have limited this subscription partition.

    A counter that ticks means different things. Where a full budget covers a whole read, only a limiter that binds ticks, and of
    a broker's limit the ticks are all there is, as who else uses it is not in the window. A smaller budget trims
    every read and ticks all the time: then the use shows it. The use shows it as well where the broker does not count.
    """
    item = observed.readers[subscription, partition]
    result = np.zeros(len(observed.times_ms), bool)
    for level in LEVELS:
        rows = observed.limit_rows.get((level, partition, subscription), ())
        for unit in UNITS:
            limit = _in_force(rows, unit, observed)
            use = _over_a_minute(_use(observed, level, unit, subscription, partition), observed)
            if level == "broker":
                use = use + observed.others_per_s.get(unit, 0.0)
            used_up = use >= BINDS_FROM_SHARE * limit.lowest_per_s
            if item.events_of is None:
                result |= used_up
                continue
            ticks = item.events_of[f"{level}.{unit}"] > 0
            result |= ticks if level == "broker" else np.where(limit.ticks_prove, ticks, used_up)
    return result


class _LimitInForce:
    """A limit in every span: the lowest of all rates that may have been in force in it (``inf``: none), and whether ticks prove that it binds.

    They do where there is no limit, too: it was lifted, or never read.
    """

    def __init__(self, spans: int) -> None:
        self.lowest_per_s = np.full(spans, np.inf)
        self.ticks_prove = np.ones(spans, bool)


def _in_force(rows: Sequence[Mapping], unit: str, observed: Observed) -> _LimitInForce:
    limit = _LimitInForce(len(observed.times_ms))
    if not rows:
        return limit
    read_ms = np.array([row["observed_ms"] for row in rows])
    # Between two readings either may have been in force.
    first = np.maximum(
        np.searchsorted(read_ms, np.r_[observed.times_ms[:1], observed.times_ms[:-1]], "right") - 1, 0
    )
    last = np.minimum(np.searchsorted(read_ms, observed.times_ms, "left"), len(rows) - 1)
    for pair in np.unique(np.stack([first, last], axis=1), axis=0):
        inside = (first == pair[0]) & (last == pair[1])
        rates = [_rate(row, unit) for row in rows[pair[0] : pair[1] + 1]]
        limit.lowest_per_s[inside] = min(rate for rate, _ in rates)
        limit.ticks_prove[inside] = all(proves for _, proves in rates)
    return limit


def _rate(row: Mapping, unit: str) -> tuple[float, bool]:
    rate = row[f"rate_{unit}"]
    if rate is None:
        return np.inf, True
    # Where the batch was not read, the larger of Pulsar's defaults is possible.
    whole_read = (
        (row["read_batch_entries"] or READ_BATCH_ENTRIES_5) if unit == "msg" else row["read_size_bytes"]
    )
    return rate / row["period_s"], rate >= whole_read


def _use(observed: Observed, level: str, unit: str, subscription: str, partition: int) -> np.ndarray:
    """What was dispatched under a limit, in what it counts."""
    if level == "subscription":
        items = [observed.readers[subscription, partition]]
    elif level == "topic":
        items = [item for (_, number), item in observed.readers.items() if number == partition]
    else:
        items = list(observed.readers.values())
    used = np.sum([item.out_msg if unit == "msg" else item.out_bytes for item in items], axis=0)
    row = observed.limits.get((level, partition, subscription))
    by_entries = unit == "msg" and row is not None and row["counts"] == "entries"
    return used / observed.messages_per_entry if by_entries else used


def _over_a_minute(added: np.ndarray, observed: Observed) -> np.ndarray:
    """The highest rate per second of all stretches of a minute that a span lies in."""
    seconds = (observed.times_ms - observed.times_ms[0]) / 1000
    total = np.cumsum(added)
    last = np.minimum(np.searchsorted(seconds, seconds + _MINUTE_S), len(seconds) - 1)
    length = seconds[last] - seconds
    rate = np.divide(total[last] - total, length, out=np.zeros(len(total)), where=length > 0)
    # The stretches that a span lies in begin one behind the other, up to the span before it.
    span = np.arange(len(total))
    earliest = np.searchsorted(last, span)
    highest = np.maximum.reduceat(np.r_[rate, 0.0], np.column_stack([earliest, span]).ravel())[::2]
    return np.where(earliest < span, np.maximum(highest, 0.0), 0.0)
