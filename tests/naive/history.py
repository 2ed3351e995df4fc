"""What the hours before a window say, one minute at a time. In: rows of ``signals``, oldest first. Out: plain numbers."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean, median

MINUTE_MS = 60_000
RHO = [f"rho_{level}_{unit}" for level in ("broker", "topic", "subscription") for unit in ("msg", "bytes")]


def capacity(rows: list[dict], consumers: float, kind: str) -> tuple[float, int] | None:
    """Messages/s of the newest three minutes in a row at the consumers' end, or of a better minute since, and when that ended."""
    told = [row for row in rows if row["out_msg_delta"] is not None and row["delta_span_ms"] is not None]
    for last in range(len(told) - 1, 1, -1):
        three = told[last - 2 : last + 1]
        in_a_row = all(
            b["minute_ms"] - a["minute_ms"] <= max(b["delta_span_ms"], MINUTE_MS) + 30_000
            for a, b in pairwise(three)
        )
        if in_a_row and all(_saturated(row, consumers, kind) for row in three):
            seconds = sum(row["delta_span_ms"] / 1000 for row in three)
            rate, ended = (
                sum(row["out_msg_delta"] for row in three) / seconds,
                told[last]["minute_ms"] + MINUTE_MS,
            )
            for row in rows[rows.index(told[last]) + 1 :]:
                if row["consumers"] == consumers and (row["ack_msg_rate"] or 0) > rate:
                    rate, ended = row["ack_msg_rate"], row["minute_ms"] + MINUTE_MS
            return rate, ended
    return None


def _saturated(row: dict, consumers: float, kind: str) -> bool:
    exhausted = row["permits_exhausted_share"]
    if exhausted is not None and kind in ("Exclusive", "Failover"):
        exhausted = min(1.0, exhausted * consumers)
    if exhausted is None:
        exhausted = row["stats_starved_share"]
    if exhausted is None or row["consumers"] != consumers:
        return False
    return exhausted >= 0.5 and all((row[name] or 0.0) < 0.8 for name in RHO)


def burst(rows: list[dict], end_ms: int) -> tuple[float, int, int] | None:
    """Mean rate of the high minutes of the last half hour, the first's start and the last's end."""
    known = [
        (row["minute_ms"], row["in_msg_delta"] / (row["in_span_ms"] / 1000))
        for row in rows
        if row["in_msg_delta"] is not None and row["in_span_ms"] is not None
    ]
    old = [rate for minute_ms, rate in known if minute_ms < end_ms - 30 * MINUTE_MS]
    recent = [pair for pair in known if pair[0] >= end_ms - 30 * MINUTE_MS]
    fixed, usual, high = len(old) >= 10, list(old), []
    for minute_ms, rate in recent:
        if len(usual) >= 10 and rate > _high(usual):
            high.append((minute_ms, rate))
        elif not fixed:
            usual.append(rate)
    if len(high) < 2 or len(high) == len(recent):
        return None
    return mean(rate for _, rate in high), high[0][0], high[-1][0] + MINUTE_MS


def _high(rates: list[float]) -> float:
    middle = median(rates)
    return middle + max(5 * 1.4826 * median(abs(rate - middle) for rate in rates), 0.5 * middle)
