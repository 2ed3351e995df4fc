"""The slow twin of previews: one alert, one evaluation after the other, as Prometheus' documentation tells it.

In: at which evaluations an element was there. Out: when its alert fired, and since when it had been active.
"""

from __future__ import annotations


def firings(
    present: list[bool], *, interval_ms: int, start_ms: int, for_ms: int, keep_firing_for_ms: int
) -> list[tuple[int, int, int | None]]:
    """(active since, fired at, first evaluation at which it no longer fired or None) of each firing."""
    found: list[tuple[int, int, int | None]] = []
    active_ms = fired_ms = gone_ms = None
    for number, here in enumerate(present):
        now_ms = start_ms + number * interval_ms
        if here:
            gone_ms = None
            if active_ms is None:
                active_ms = now_ms
            if fired_ms is None and now_ms - active_ms >= for_ms:
                fired_ms = now_ms
            continue
        if active_ms is None:
            continue
        if fired_ms is not None:
            gone_ms = now_ms if gone_ms is None else gone_ms
            if now_ms - gone_ms < keep_firing_for_ms:
                continue
            found.append((active_ms, fired_ms, now_ms))
        active_ms = fired_ms = gone_ms = None
    if fired_ms is not None:
        found.append((active_ms, fired_ms, None))
    return found
