"""Who used a shared limit. In: minutes of ``signals`` of several subscriptions. Out: each one's use of one limiter, most first.

A topic's limit is shared by the subscriptions of one topic partition, a broker's by all that the broker serves in that minute.
Use is what ``rho`` sums: messages, entries or bytes that were dispatched, per second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import TOPIC_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, LIMITERS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS, check_range
from throttlescope.models.diagnosis.limiters import is_exempt, own_use
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, Window, by_subscription

#: What is read of ``signals``.
COLUMNS = (
    *SubscriptionKey._fields, "minute_ms", "broker", "out_msg_delta", "out_bytes_delta", "delta_span_ms", "limit_counts",
    "messages_per_entry", "exempt_caught_up", "backlog_ready_entries",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much of a shared limit one subscription used.

    Attributes
    ----------
    use_per_s : float or None
        Messages (or entries) or bytes per second over the minutes that it shared; None: not known.
    share : float or None
        Its part of the use of all whose use is known.
    minutes : int
        Minutes of the window in which it drew on the same limit.
    is_selected : bool
        It is the selected subscription.
    """

    key: SubscriptionKey
    use_per_s: float | None
    share: float | None
    minutes: int
    is_selected: bool


def quota_neighbours(
    rows: pa.Table, key: SubscriptionKey, limiter: str, start_ms: int, end_ms: int
) -> list[QuotaUse]:
    """Say who used a limit that a subscription shares.

    Parameters
    ----------
    rows : pyarrow.Table
        Minutes of ``signals`` with at least :data:`COLUMNS`; what does not share the limit is left out here.
    key : SubscriptionKey
        The selected subscription partition.
    limiter : str
        ``topic.msg``, ``topic.bytes``, ``broker.msg`` or ``broker.bytes``; of a subscription's own limit it is alone.
    start_ms, end_ms : int

    Returns
    -------
    list of QuotaUse
        Those that dispatched most first, the unknown last; empty where the selected one has no minute.

    Raises
    ------
    InputError
        No such limiter, or the range is empty.
    """
    if limiter not in LIMITERS:
        raise InputError("There is no such limiter", got=limiter, expected=", ".join(LIMITERS))
    check_range(start_ms, end_ms)
    level, unit = limiter.split(".")
    minute = rows.column("minute_ms")
    inside = pc.and_(pc.greater_equal(minute, start_ms), pc.less(minute, end_ms))
    found = _sharing(rows.filter(inside).select(COLUMNS), key, level)
    used = [
        (SubscriptionKey(*one), part.num_rows, _use(SubscriptionKey(*one), part, unit))
        for one, part in by_subscription(found)
    ]
    total = sum(use for *_, use in used if use is not None)
    uses = [
        QuotaUse(one, use, use / total if use is not None and total > 0 else None, minutes, one == key)
        for one, minutes, use in used
    ]
    return sorted(uses, key=lambda item: (item.use_per_s is None, -(item.use_per_s or 0), item.key))


def _sharing(
    rows: pa.Table, key: SubscriptionKey, level: Literal["broker", "topic", "subscription"]
) -> pa.Table:
    own_rows = rows.filter(_equal(rows, SubscriptionKey._fields, key))
    if level == LEVELS[-1] or not own_rows.num_rows:
        return own_rows
    if level == "topic":
        return rows.filter(_equal(rows, TOPIC_KEY_NAMES, key))
    # The topic may have moved within the window: in each minute those count that the same broker served.
    at = dict(
        zip(own_rows.column("minute_ms").to_pylist(), own_rows.column("broker").to_pylist(), strict=True)
    )
    same = [
        broker is not None and cluster == key.cluster and at.get(minute_ms) == broker
        for cluster, minute_ms, broker in zip(
            *(rows.column(name).to_pylist() for name in ("cluster", "minute_ms", "broker")), strict=True
        )
    ]
    return rows.filter(pa.array(np.array(same, bool)))


def _equal(rows: pa.Table, names: tuple[str, ...], key: SubscriptionKey) -> pa.ChunkedArray:
    mask = pc.equal(rows.column(names[0]), getattr(key, names[0]))
    for name in names[1:]:
        mask = pc.and_(mask, pc.equal(rows.column(name), getattr(key, name)))
    return mask


def _use(key: SubscriptionKey, part: pa.Table, unit: str) -> float | None:
    minutes_ms = part.column("minute_ms")
    start_ms, end_ms = minutes_ms[0].as_py(), minutes_ms[-1].as_py() + MINUTE_MS
    window = Window(key, start_ms, end_ms, MinuteColumns(part), 0, part.num_rows)
    return 0.0 if is_exempt(window) else own_use(window, unit)
