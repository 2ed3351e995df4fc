"""How full limits were, row by row. In: rows of ``signals`` and ``verdicts``. Out: per limiter and cell its fullest minute and whom it held.

The slow twin of ``app/web/data/lanes.py``: every minute and every window is looked at, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

LIMITERS = (
    "broker.msg",
    "broker.bytes",
    "topic.msg",
    "topic.bytes",
    "subscription.msg",
    "subscription.bytes",
)


def limit_lanes(
    minutes: Iterable[Mapping[str, Any]],
    verdicts: Iterable[Mapping[str, Any]],
    belongs: Callable[[Mapping[str, Any]], bool],
    start_ms: int,
    end_ms: int,
    step_ms: int,
) -> dict[tuple, dict[int, tuple[float | None, int]]]:
    """Cells by limiter (limiter, broker, topic, partition, subscription): (largest use / limit, subscriptions held)."""
    shares: dict[tuple, dict[int, float]] = {}
    brokers: dict[tuple, str | None] = {}
    for row in sorted(minutes, key=lambda row: row["minute_ms"]):
        if not belongs(row) or not start_ms <= row["minute_ms"] < end_ms:
            continue
        cell = row["minute_ms"] // step_ms * step_ms
        # A topic moves between brokers: within a cell the last one has it.
        brokers[(*_who(row), cell)] = row["broker"]
    for row in minutes:
        if not belongs(row) or not start_ms <= row["minute_ms"] < end_ms:
            continue
        cell = row["minute_ms"] // step_ms * step_ms
        for limiter in LIMITERS:
            share = row[f"rho_{limiter.replace('.', '_')}"]
            if share is not None:
                lane = shares.setdefault(_lane(limiter, row, brokers[(*_who(row), cell)]), {})
                lane[cell] = max(share, lane.get(cell, share))
    held: dict[tuple, dict[int, set]] = {}
    for row in verdicts:
        if not belongs(row) or row["limiter"] is None or not start_ms < row["window_end_ms"] <= end_ms:
            continue
        cell = (row["window_end_ms"] - 1) // step_ms * step_ms
        lane = _lane(row["limiter"], row, brokers.get((*_who(row), cell)))
        held.setdefault(lane, {}).setdefault(cell, set()).add(_who(row))
    return {
        lane: {
            cell: (shares.get(lane, {}).get(cell), len(held.get(lane, {}).get(cell, ())))
            for cell in shares.get(lane, {}).keys() | held.get(lane, {}).keys()
        }
        for lane in shares.keys() | held.keys()
    }


def _who(row: Mapping[str, Any]) -> tuple:
    return row["topic"], row["partition"], row["subscription"]


def _lane(limiter: str, row: Mapping[str, Any], broker: str | None) -> tuple:
    level = limiter.split(".")[0]
    return (
        limiter,
        broker if level == "broker" else None,
        None if level == "broker" else row["topic"],
        None if level == "broker" else row["partition"],
        row["subscription"] if level == "subscription" else None,
    )
