"""The anomaly detector as judges play series to it. In: a value for each minute of whole UTC days. Out: the anomalies that it reports."""

from __future__ import annotations

import numpy as np

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.anomaly import AnomalyRules
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.series import SeriesAnomaly, judge


def anomalies_in(first_ms: int, minutes: np.ndarray, rules: AnomalyRules) -> list[SeriesAnomaly]:
    """Anomalies of all days but the first, with as much history as the rules want.

    Parameters
    ----------
    first_ms : int
        A UTC midnight, epoch milliseconds.
    minutes : ndarray of float64
        Counts per minute, NaN where unknown.
    """
    calendar = calendar_of(first_ms, first_ms + len(minutes) * MINUTE_MS, "UTC", rules.weeks)
    found, _ = judge(minutes, calendar, 1, rules)
    return found
