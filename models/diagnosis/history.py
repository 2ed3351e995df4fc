"""What the hours before a window say. In: a window whose columns hold them too. Out: capacity, usual publishing, absence.

While a limiter binds, nobody sees what the consumers could do; it was seen when they were at their capacity and no limiter
was near. A burst is one only beside what is usual. Both are read here, at most :data:`HISTORY_MS` back.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from throttlescope.ingest.contracts.words import LIMITERS
from throttlescope.ingest.times import DAY_MS, MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

#: How far back a verdict looks. What was seen longer ago than a day says little of today.
HISTORY_MS = DAY_MS

_RHO = tuple(f"rho_{limiter.replace('.', '_')}" for limiter in LIMITERS)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the consumers of a subscription partition do when nothing else holds them.

    Attributes
    ----------
    msg_per_s : float
        Dispatched per second while they were saturated.
    seen_ms : int
        End of the minutes in which that was seen.
    consumers : float
        How many were connected then.
    """

    msg_per_s: float
    seen_ms: int
    consumers: float


@dataclass(frozen=True, slots=True)
class Usual:
    """What was published per second in the hours before.

    Attributes
    ----------
    msg_per_s : float
        Median over minutes.
    high_msg_per_s : float
        Above it a minute is out of the ordinary.
    minutes : int
        How many minutes it rests on.
    """

    msg_per_s: float
    high_msg_per_s: float
    minutes: int


@dataclass(frozen=True, slots=True)
class Burst:
    """Publishing far above the usual.

    Attributes
    ----------
    msg_per_s : float
        Mean rate of its minutes.
    start_ms, end_ms : int
        Its first and last minute, [start, end).
    backlog_before_entries : float or None
        Ready backlog at the end of the minute before.
    """

    msg_per_s: float
    start_ms: int
    end_ms: int
    usual: Usual
    backlog_before_entries: float | None


def capacity_seen(window: Window) -> Capacity | None:
    """The consumers' capacity when it was last seen, with as many consumers as now; None where it never was.

    The newest :data:`~thresholds.CAPACITY_MINUTES` minutes in a row, the window's own included, in which the broker
    waited for the consumers while every known limit was far from used up. A redelivery counts as work.
    """
    consumers = window.last("consumers")
    if not consumers or consumers <= 0:
        return None
    seen = window.before(HISTORY_MS, also_within=True)
    columns = {
        name: seen.column(name)
        for name in (
            "minute_ms", "consumers", "permits_exhausted_share", "out_msg_delta", "delta_span_ms", *_RHO
        )
    }  # fmt: skip
    one_active = window.last("subscription_type") in ("Exclusive", "Failover")
    run: list[int] = []
    for i in range(len(columns["minute_ms"]) - 1, -1, -1):
        if run and columns["minute_ms"][run[-1]] - columns["minute_ms"][i] != MINUTE_MS:
            run = []
        if not _saturated(columns, i, consumers, one_active):
            run = []
            continue
        run.append(i)
        if len(run) == t.CAPACITY_MINUTES:
            out = sum(columns["out_msg_delta"][n] for n in run)
            span_s = sum(columns["delta_span_ms"][n] or MINUTE_MS for n in run) / SECOND_MS
            return Capacity(out / span_s, columns["minute_ms"][run[0]] + MINUTE_MS, consumers)
    return None


def _saturated(columns: dict, i: int, consumers: float, one_active: bool) -> bool:
    exhausted = columns["permits_exhausted_share"][i]
    if exhausted is None or columns["out_msg_delta"][i] is None or columns["consumers"][i] != consumers:
        return False
    # Those that stand by are never exhausted.
    exhausted = min(1.0, exhausted * consumers) if one_active else exhausted
    near_a_limit = any((columns[name][i] or 0.0) >= t.RHO_NEAR_LIMIT for name in _RHO)
    return exhausted >= t.STARVED_FULL_SHARE and not near_a_limit


def burst_before(window: Window) -> Burst | None:
    """The burst of publishing that is going on at the window's end, or ended at most :data:`~thresholds.BURST_MAX_S` before.

    What is usual are the minutes before, each high one left out, so that a burst does not raise its own measure.
    None where publishing was usual, where nobody knows what is usual, and where it lasts so long that it is demand.
    """
    since_ms = window.end_ms - t.BURST_MAX_S * SECOND_MS
    rates = _publish_rates(window)
    usual = [rate for minute_ms, rate in rates if minute_ms < since_ms]
    recent = rates[len(usual) :]
    high = []
    for minute_ms, rate in recent:
        if len(usual) >= t.USUAL_MINUTES and rate > _high(usual):
            high.append((minute_ms, rate))
        else:
            usual.append(rate)
    if len(high) < t.BURST_MINUTES or len(high) == len(recent):
        return None
    return Burst(
        msg_per_s=sum(rate for _, rate in high) / len(high),
        start_ms=high[0][0],
        end_ms=high[-1][0] + MINUTE_MS,
        usual=Usual(median(usual), _high(usual), len(usual)),
        backlog_before_entries=_backlog_before(window, high[0][0]),
    )


def _backlog_before(window: Window, at_ms: int) -> float | None:
    seen = window.before(HISTORY_MS, also_within=True)
    known = [
        ready
        for minute_ms, ready in zip(
            seen.column("minute_ms"), seen.column("backlog_ready_entries"), strict=True
        )
        if minute_ms < at_ms and ready is not None
    ]
    return known[-1] if known else None


def _high(usual: list[float]) -> float:
    middle = median(usual)
    spread = 1.4826 * median(abs(rate - middle) for rate in usual)
    return middle + max(t.BURST_DEVIATIONS * spread, t.BURST_SHARE * middle)


def _publish_rates(window: Window) -> list[tuple[int, float]]:
    seen = window.before(HISTORY_MS, also_within=True)
    return [
        (minute_ms, published / 60.0)
        for minute_ms, published in zip(seen.column("minute_ms"), seen.column("in_msg_delta"), strict=True)
        if published is not None
    ]


def nobody_since_ms(window: Window) -> int | None:
    """Since when no consumer has been connected, as far back as is known; None where one is."""
    seen = window.before(HISTORY_MS, also_within=True)
    since = None
    for minute_ms, consumers in zip(
        reversed(seen.column("minute_ms")), reversed(seen.column("consumers")), strict=True
    ):
        if consumers is None:
            continue
        if consumers > 0:
            break
        since = minute_ms
    return since
