"""Forecasts with intervals: when a backlog is gone, and which deadline drops messages before. In, signals or samples; out, rows of ``forecasts``.

``trace`` (a backlog over time; with all that deadlines need: ``view``) -> ``line``, its newest straight stretch -> ``drain``, with the
interval of ``calibration`` (shipped: ``residuals``); ``oldest`` message -> ``loss`` by TTL or quota; ``consequences`` what happens then.
``forecasts`` puts a topic's together, ``apply`` does so on Spark, ``replayed`` adds the drain of a replay. ``read`` makes traces of
samples, ``judge`` compares forecasts with the outcome.

>>> from throttlescope.models.forecast import forecasts_of, policies_near
>>> signals = lake.read("signals", partition={"cluster": ["prod"]})  # doctest: +SKIP
>>> forecasts_of(signals, policies_near(lake, ["prod"], at_ms, at_ms)["prod"], [at_ms]).to_pylist()  # doctest: +SKIP
[{'kind': 'drain', 'state': 'expected', ...}]
"""

from throttlescope.models.forecast.apply import build_forecasts, forecasts_of, policies_near
from throttlescope.models.forecast.calibration import ForecastCalibration, calibrate
from throttlescope.models.forecast.drain import Drain, time_to_drain
from throttlescope.models.forecast.judge import Coverage, ForecastOutcome, coverage, outcomes
from throttlescope.models.forecast.loss import MessageLoss, losses
from throttlescope.models.forecast.residuals import SHIPPED
from throttlescope.models.forecast.subscription_history import SubscriptionHistory
from throttlescope.models.forecast.trace import Trace

__all__ = [
    "SHIPPED",
    "Coverage",
    "Drain",
    "ForecastCalibration",
    "ForecastOutcome",
    "MessageLoss",
    "SubscriptionHistory",
    "Trace",
    "build_forecasts",
    "calibrate",
    "coverage",
    "forecasts_of",
    "losses",
    "outcomes",
    "policies_near",
    "time_to_drain",
]
