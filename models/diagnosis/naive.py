"""The naive rule that is shown next to every verdict. In: a window. Out: a side.

In PromQL: ``pulsar_subscription_back_log_no_delayed > 1000`` with any throttle event in the window means throttle,
without means consumer capacity.
"""

from __future__ import annotations

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis.thresholds import NAIVE_BACKLOG_ENTRIES
from throttlescope.models.diagnosis.window import Window


def naive_side(window: Window) -> str:
    """The side that the naive rule names; ``unknown`` only where the backlog itself is missing.

    Counters that are not there are no events, as in PromQL, where ``unless`` finds nothing to match.
    """
    backlog = window.last("backlog_ready_entries")
    if backlog is None:
        return "unknown"
    if backlog <= NAIVE_BACKLOG_ENTRIES:
        return "neither"
    events = any(
        (window.total(f"throttled_{unit}_events_{level}_delta") or 0) > 0
        for unit in UNITS
        for level in LEVELS
    )
    return "throttle" if events else "consumer_capacity"
