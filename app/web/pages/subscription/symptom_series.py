"""Which column of the minutes shows a symptom over time. In: a row of evidence and minutes of ``signals``. Out: a series and its unit, or nothing.

The value of evidence is one number of a window; this is the measurement that it was made of, minute by minute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from throttlescope.app.presentation.limits import events_prove
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.messages.catalogue import message, sentence

_COUNTER = re.compile(r'dispatch_throttled_(msg|bytes)_events\{[^}]*reason="(broker|topic|subscription)"')
#: Symptom to column and unit; the unit of evidence may be another (a share of the window, a growth).
_COLUMNS = {
    "coverage": ("coverage_share", "share"),
    "backlog_present": ("backlog_ready_entries", "entries"),
    "backlog_old": ("backlog_age_s", "s"),
    "backlog_growing": ("backlog_ready_entries", "entries"),
    "backlog_draining": ("backlog_ready_entries", "entries"),
    "backlog_sawtooth": ("backlog_ready_peak_entries", "entries"),
    "backlog_delayed": ("delayed_entries", "entries"),
    "no_consumers": ("consumers", "consumers"),
    "abandoned": ("consumers", "consumers"),
    "blocked_on_unacked": ("unacked_msg", "msg"),
    "consumers_blocked": ("consumers_blocked_on_unacked", "consumers"),
    "consumers_uneven": ("consumer_ack_msg_rate_min", "msg/s"),
    "hash_blocked": ("replay_entries", "entries"),
    "consumer_queue_full": ("permits_exhausted_share", "share"),
    "consumer_queue_empty": ("permits_exhausted_share", "share"),
    "consumers_busy": ("unacked_msg", "msg"),
    "dispatch_flat": ("out_msg_rate_5m", "msg/s"),
    "dispatch_stopped": ("out_msg_rate_5m", "msg/s"),
    "acks_stopped": ("ack_msg_rate", "msg/s"),
    "flow_stopped": ("last_flow_age_s", "s"),
    "acks_behind": ("ack_msg_rate", "msg/s"),
    "redelivering": ("redeliver_msg_rate", "msg/s"),
    "expiring": ("expired_msg_rate", "msg/s"),
    "evicting": ("quota_evictions_5m", "evictions"),
    "publishing_burst": ("in_msg_rate_5m", "msg/s"),
    "capacity_short": ("in_msg_rate_5m", "msg/s"),
    "filtering": ("filter_rejected_entry_rate_5m", "entries/s"),
    "reads_wait": ("reads_inflight_bytes", "bytes"),
    "cold_reads": ("read_cache_miss_entry_rate", "entries/s"),
    "counters_restarted": ("counter_resets", "restarts"),
}
#: Symptoms whose value is what their column holds, so that the threshold may be drawn into it.
_SAME_AS_COLUMN = ("backlog_present", "limiter_at_limit", "limits_far", "publishing_burst")


def series_of(
    row: Mapping[str, Any], minutes: pd.DataFrame, limiter: str | None
) -> tuple[pd.Series, str, str] | None:
    """The measurement behind a row of evidence.

    Parameters
    ----------
    limiter : str or None
        The limiter that the verdict names: what "at its limit" is about.

    Returns
    -------
    (Series, str, str) or None
        Values, their unit and what they are in words; None where no column shows it.
    """
    symptom = row["symptom"]
    if symptom == "throttle_events":
        return _events(row, minutes)
    if symptom in ("limiter_at_limit", "limits_far"):
        return _use(row, minutes, limiter)
    column, unit = _COLUMNS.get(symptom, (symptom, row["unit"] or ""))
    if column not in minutes or not pd.api.types.is_numeric_dtype(minutes[column].infer_objects()):
        return None
    # Of one word: the others are columns of ``signals`` by their names.
    what = sentence("subscription.series.consumers") if column == "consumers" else column
    return minutes[column].astype(float), unit, what


def threshold_of(row: Mapping[str, Any]) -> float | None:
    """The threshold, where it can be drawn next to the measurement."""
    return row["threshold"] if row["symptom"] in _SAME_AS_COLUMN else None


def _events(row: Mapping[str, Any], minutes: pd.DataFrame) -> tuple[pd.Series, str, str]:
    """Events per minute of the counter that the row is about, of all counters where it is about none; it says whether they prove anything."""
    found = _COUNTER.search(row["promql"] or "")
    if found is None:
        columns = [f"throttled_{unit}_events_{level}_delta" for level in LEVELS for unit in UNITS]
        return (
            minutes[columns].astype(float).sum(axis=1, min_count=1),
            "events/min",
            sentence("subscription.series.all_events"),
        )
    unit, level = found.groups()
    proving = events_prove(minutes, level, unit)
    known = proving.dropna()
    proof = "limit_unknown" if known.empty else "proving" if known.iloc[-1] else "not_proving"
    text = sentence(f"subscription.series.events.{proof}", level=message(f"limiting.level.{level}"))
    return minutes[f"throttled_{unit}_events_{level}_delta"].astype(float), "events/min", text


def _use(
    row: Mapping[str, Any], minutes: pd.DataFrame, limiter: str | None
) -> tuple[pd.Series, str, str] | None:
    """Use / limit of the named limiter; of the one used most in each minute where none is named."""
    if limiter is not None and row["symptom"] == "limiter_at_limit":
        return (
            minutes[f"rho_{limiter.replace('.', '_')}"].astype(float),
            "share",
            sentence("subscription.series.use", limiter=limiter),
        )
    columns = [f"rho_{level}_{unit}" for level in LEVELS for unit in UNITS]
    return minutes[columns].astype(float).max(axis=1), "share", sentence("subscription.series.most_use")
