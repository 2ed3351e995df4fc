"""What the hours before a window say. In: a window whose columns hold them too. Out: capacity, usual publishing, absence.

While a limiter binds, what the consumers could do is not seen; it was seen when they were at their capacity and no limiter
was near. A burst is one only compared with what is usual. Both are read here, at most :data:`HISTORY_MS` back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.window import Window

#: How far back a verdict looks. What was seen longer ago than a day says little of today.
HISTORY_MS = DAY_MS

_RHO = tuple(f"rho_{limiter.replace('.', '_')}" for limiter in LIMITERS)

#: All that is read of the minutes before a window.
HISTORY_COLUMNS = (
    "minute_ms", "consumers", "permits_exhausted_share", "stats_starved_share", "out_msg_delta", "delta_span_ms",
    "in_msg_delta", "in_span_ms", "ack_msg_rate", "backlog_ready_entries", "unacked_msg", "read_cache_miss_entry_rate", "messages_per_entry",
    *_RHO,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ObservedCapacity:
    """What the consumers of a subscription partition do when nothing else holds them.

    Attributes
    ----------
    msg_per_s : float
        Dispatched per second while they were saturated, or acknowledged since if that is more.
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


def capacity_seen(window: Window) -> ObservedCapacity | None:
    """The consumers' capacity when it was last seen, with as many consumers as now; None where it never was.

    The newest :data:`~thresholds.CAPACITY_MINUTES` minutes in a row, the window's own included, in which the broker
    waited for the consumers while every known limit was far from used up; missed scrapes end no row. A redelivery counts as work. Where as many consumers have
    acknowledged more in a later minute, they have become faster, and that is the least that they can do now.
    """
    consumers = window.last("consumers")
    if not consumers or consumers <= 0:
        return None
    seen = window.before(HISTORY_MS, also_within=True)
    exhausted = seen.array("permits_exhausted_share")
    if window.last("subscription_type") in ("Exclusive", "Failover"):
        # Standby consumers are never exhausted.
        exhausted = np.minimum(1.0, exhausted * consumers)
    # Where permits are not scraped, snapshots of the admin API have them; theirs are the active consumer's already.
    exhausted = np.where(np.isnan(exhausted), seen.array("stats_starved_share"), exhausted)
    # NaN compares as False: what is not known is neither saturated nor near a limit.
    saturated = (exhausted >= t.STARVED_FULL_SHARE) & (seen.array("consumers") == consumers)
    for name in _RHO:
        saturated &= ~(seen.array(name) >= t.RHO_NEAR_LIMIT)
    minutes_ms, out, spans_ms = (seen.array(name) for name in ("minute_ms", "out_msg_delta", "delta_span_ms"))
    # Minutes of missed scrapes tell nothing of their own: what was dispatched in them is in the span of the next one.
    known = np.flatnonzero(~np.isnan(out) & (spans_ms > 0))
    length = t.CAPACITY_MINUTES
    if len(known) < length:
        return None
    reach_ms = np.maximum(spans_ms[known[1:]], MINUTE_MS) + MINUTE_MS // 2
    in_a_row = np.diff(minutes_ms[known]) <= reach_ms
    whole = np.convolve(saturated[known], np.ones(length), "valid") == length
    whole &= np.convolve(in_a_row, np.ones(length - 1), "valid") == length - 1
    found = np.flatnonzero(whole)
    if not len(found):
        return None
    newest = known[found[-1] : found[-1] + length]
    seen_ms = int(minutes_ms[newest[-1]]) + MINUTE_MS
    rate = float(out[newest].sum()) / (float(spans_ms[newest].sum()) / SECOND_MS)
    later = (minutes_ms >= seen_ms) & (seen.array("consumers") == consumers)
    acked = np.where(later, np.nan_to_num(seen.array("ack_msg_rate")), 0.0)
    most = int(acked.argmax())
    if acked[most] > rate:
        rate, seen_ms = float(acked[most]), int(minutes_ms[most]) + MINUTE_MS
    return ObservedCapacity(rate, seen_ms, consumers)


def most_from_storage(window: Window) -> tuple[float, int] | None:
    """Most entries/s that the subscription was given from storage in a minute of the day before, and that minute's end.

    A minute counts where most reads missed the broker's cache; None where there was none.
    """
    seen = window.before(HISTORY_MS)
    spans_ms = seen.array("delta_span_ms")
    spans_s = np.where(spans_ms > 0, spans_ms, np.nan) / SECOND_MS
    misses = seen.array("read_cache_miss_entry_rate")
    with np.errstate(invalid="ignore", divide="ignore"):
        given = seen.array("out_msg_delta") / spans_s / seen.array("messages_per_entry")
        cold = (misses >= t.CACHE_MISS_SHARE * given) & np.isfinite(given)
    if not cold.any():
        return None
    # The gauge is the topic partition's: of what others read nothing is ours.
    given = np.where(cold, np.minimum(given, misses), -1.0)
    most = int(given.argmax())
    return float(given[most]), int(seen.array("minute_ms")[most]) + MINUTE_MS


def burst_before(window: Window) -> Burst | None:
    """The burst of publishing that is going on at the window's end, or ended at most :data:`~thresholds.BURST_MAX_S` before.

    What is usual are the minutes older than that; where too few of them are known, the later ones too, each high one left
    out, so that a burst does not raise its own measure. None where publishing was usual, where it is not known what is
    usual, and where it lasts so long that it is demand.
    """
    seen = window.before(HISTORY_MS, also_within=True)
    spans_ms = seen.array("in_span_ms")
    rates = seen.array("in_msg_delta") / (np.where(spans_ms > 0, spans_ms, np.nan) / SECOND_MS)
    known = ~np.isnan(rates)
    minutes_ms, rates = seen.array("minute_ms")[known], rates[known]
    old = int(np.searchsorted(minutes_ms, window.end_ms - t.BURST_MAX_S * SECOND_MS))
    if old >= t.USUAL_MINUTES:
        usual = rates[:old]
        high = old + np.flatnonzero(rates[old:] > _high(usual))
    else:
        usual, high = _growing_usual(rates, old)
    if len(high) < t.BURST_MINUTES or len(high) == len(rates) - old:
        return None
    start_ms = int(minutes_ms[high[0]])
    return Burst(
        msg_per_s=float(rates[high].mean()),
        start_ms=start_ms,
        end_ms=int(minutes_ms[high[-1]]) + MINUTE_MS,
        usual=Usual(float(np.median(usual)), _high(usual), len(usual)),
        backlog_before_entries=_backlog_before(seen, start_ms),
    )


def _growing_usual(rates: np.ndarray, old: int) -> tuple[np.ndarray, np.ndarray]:
    usual, high = list(rates[:old]), []
    for i in range(old, len(rates)):
        if len(usual) >= t.USUAL_MINUTES and rates[i] > _high(np.array(usual)):
            high.append(i)
        else:
            usual.append(rates[i])
    return np.array(usual), np.array(high, np.int64)


def _backlog_before(seen: Window, at_ms: int) -> float | None:
    ready = seen.array("backlog_ready_entries")[seen.array("minute_ms") < at_ms]
    ready = ready[~np.isnan(ready)]
    return float(ready[-1]) if len(ready) else None


def _high(usual: np.ndarray) -> float:
    middle = float(np.median(usual))
    spread = 1.4826 * float(np.median(np.abs(usual - middle)))
    return middle + max(t.BURST_DEVIATIONS * spread, t.BURST_SHARE * middle)


def unconnected_since_ms(window: Window) -> int | None:
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
