"""What was usual, minute by minute. In: weeks of one subscription partition's ``signals``. Out: values with their band, to be drawn.

A row of ``anomalies`` holds the band at its worst minute; this is the same of every minute around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.anomaly.baseline import baseline_of
from throttlescope.models.anomaly.minutes import AnomalyMinutes, MinuteRows
from throttlescope.models.anomaly.series import deviations
from throttlescope.models.anomaly.subscription import (
    _PER,
    SIDES,
    Interval,
    Range,
    _after_marks,
    _late,
    _masked,
)
from throttlescope.models.anomaly.transform import restored


@dataclass(frozen=True)
class UsualBand:
    """One signal over minutes; all arrays have shape (minutes,).

    Attributes
    ----------
    minute_ms : ndarray of int64
        Starts of the minutes.
    value, expected, low, high : ndarray of float64
        Messages/s of rates, entries of the backlog, events per minute; NaN where unknown. A signal that is judged on one side
        has a band on that side, as wide on the other.
    """

    minute_ms: np.ndarray
    value: np.ndarray
    expected: np.ndarray
    low: np.ndarray
    high: np.ndarray


def usual(
    signals: pa.Table,
    signal: str,
    judged: Range,
    start_ms: int,
    end_ms: int,
    *,
    incidents: Sequence[Interval] = (),
) -> UsualBand:
    """The signal and what was usual in [start_ms, end_ms).

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of one subscription partition with :data:`minutes.COLUMNS`, the weeks before included.
    signal : str
        One of :data:`subscription.SIDES`.
    judged : Range
        With the calendar that the band is of; [start_ms, end_ms) lies inside it.
    incidents : sequence of (start_ms, end_ms)
        Not learned.
    """
    rules = judged.rules
    minutes = AnomalyMinutes(MinuteRows.of(signals), judged.first_ms, judged.calendar.end_ms)
    counts = minutes.counts[signal]
    counts = np.where(_late(judged, judged.first_ms, len(counts)), np.nan, counts)
    unjudged, masked = _after_marks(minutes, rules), _masked(incidents, judged.first_ms, judged)
    sides = SIDES[signal]
    baseline = baseline_of(
        counts, judged.calendar, judged.first_day, rules, sides, masked=masked, unjudged=unjudged
    )
    counts, unjudged = counts[baseline.begin :], unjudged[baseline.begin :]
    unknown = np.full(len(counts), np.nan)
    expected, sigma = unknown, {1: unknown}
    if baseline.levels is not None:
        found = deviations(counts, baseline.levels, rules, unjudged=unjudged)
        expected, sigma = found.expected, found.sigma
    above = sigma[sides[0]]
    below = sigma.get(-1, above)
    low, high = ((at - judged.begin_ms) // MINUTE_MS for at in (start_ms, end_ms + MINUTE_MS - 1))
    part = slice(max(0, low), max(0, high))
    per = _PER.get(signal, 1.0)
    return UsualBand(
        judged.begin_ms + np.arange(len(counts))[part] * MINUTE_MS,
        counts[part] / per,
        restored(expected)[part] / per,
        restored(expected - rules.band_sigmas * below)[part] / per,
        restored(expected + rules.band_sigmas * above)[part] / per,
    )
