"""Slow consumers of stored verdicts. In: a lake and rows of verdicts. Out: per window, which consumers are slow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.models.diagnosis.consumer_series import consumer_series
from throttlescope.models.diagnosis.slowest import SlowConsumers, slowest_consumers
from throttlescope.models.diagnosis.window import SubscriptionKey

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Windows that are looked at: each reads its hour of the lake again.
MOST = 20


def read_slowest(lake: Lake, verdicts: Iterable[Mapping[str, Any]]) -> list[SlowConsumers]:
    """Which consumers are slow in the windows of verdicts that are not healthy, at most :data:`MOST` of them.

    Parameters
    ----------
    verdicts : iterable of mappings
        With the key and ``window_start_ms``, ``window_end_ms``, ``cause``.
    """
    backlogged = [row for row in verdicts if row["cause"] != "healthy"][:MOST]
    return [of_window(lake, row) for row in backlogged]


def of_window(lake: Lake, row: Mapping[str, Any]) -> SlowConsumers:
    """Which consumers are slow in the window of one verdict, from the lake's samples."""
    key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
    start_ms, end_ms = row["window_start_ms"], row["window_end_ms"]
    return slowest_consumers(
        key,
        consumer_series(lake, key, start_ms, end_ms),
        start_ms,
        end_ms,
        subscription_type=_type(lake, key, start_ms, end_ms),
    )


def _type(lake: Lake, key: SubscriptionKey, start_ms: int, end_ms: int) -> str | None:
    """The subscription's type in the window's newest minute that knows it."""
    where = (pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms)
    for name, value in key._asdict().items():
        where = where & (pc.field(name) == value)
    rows = lake.read(
        "signals",
        columns=["minute_ms", "subscription_type"],
        where=where,
        partition={"cluster": [key.cluster]},
        between={"minute_ms": (start_ms, end_ms - 1)},
    )
    known = [row for row in rows.to_pylist() if row["subscription_type"] is not None]
    return max(known, key=lambda row: row["minute_ms"])["subscription_type"] if known else None
