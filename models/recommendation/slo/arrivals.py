"""Weeks of arrivals by the minute. In: ``signals`` of one subscription. Out: messages published in each minute, and which are known.

A minute that is not there is not a minute without messages. It gets the mean of the same minute of the other days, so that what comes
before does not drain in it for nothing, and counts in no percentile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, format_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.recommendation.slo.age import oldest_age_s

#: Less is no history.
LEAST_MINUTES = 60
#: What is kept over the range where no other share is the objective: 99 of 100 minutes.
SHARE = 0.99

_DAY = DAY_MS // MINUTE_MS
#: The subscription's own age, by metric and by admin API, before that of the topic partition's slowest subscription.
_AGES = ("subscription_backlog_age_s", "stats_backlog_age_s", "backlog_age_s")


@dataclass(frozen=True, eq=False)
class ArrivalMinutes:
    """Every minute of [start_ms, end_ms), one element each.

    Attributes
    ----------
    arrived_msg : ndarray of float64
        Published to the selected topic or partition; where unknown, the mean of the same minute of other days.
    known : ndarray of bool
        Whether it was recorded.
    backlog_msg : ndarray of float64
        Ready backlog at each minute's end as it was recorded; NaN: unknown.
    measured_age_s : ndarray of float64
        The broker's own age of the subscription's oldest entry, where it gives none of the topic partition's; NaN: unknown.
    share : float
        The share of the minutes that an objective is to be kept in.
    """

    start_ms: int
    end_ms: int
    arrived_msg: np.ndarray
    known: np.ndarray
    backlog_msg: np.ndarray
    measured_age_s: np.ndarray
    share: float = SHARE

    @property
    def msg_per_s(self) -> float:
        """Mean of the known minutes."""
        return float(self.arrived_msg[self.known].mean()) / 60

    @property
    def recorded_age_s(self) -> np.ndarray:
        """Age of the oldest message at each minute's end, from the recorded backlog: what waits came last. NaN: unknown."""
        ages = oldest_age_s(self.arrived_msg, np.nan_to_num(self.backlog_msg), 60.0)
        return np.where(np.isnan(self.backlog_msg), np.nan, ages)

    def quantile_s(self, ages_s: np.ndarray) -> float | None:
        """The age that the objective's share of the known minutes stays at or below; None where none is known."""
        there = ages_s[self.known & ~np.isnan(ages_s)]
        return float(np.quantile(there, self.share, method="higher")) if len(there) else None

    def kept_share(self, ages_s: np.ndarray, target_s: float) -> float | None:
        """The share of the known minutes that stay at or below an age; None where none is known."""
        there = ages_s[self.known & ~np.isnan(ages_s)]
        return float((there <= target_s).mean()) if len(there) else None


def read_minutes(
    lake: Lake, cluster: str, name: SubscriptionName, start_ms: int, end_ms: int, share: float = SHARE
) -> ArrivalMinutes:
    """Minutes of a subscription; of all partitions together where none is named.

    Raises
    ------
    InputError
        Fewer than an hour of minutes is there.
    """
    start_ms, end_ms = start_ms - start_ms % MINUTE_MS, end_ms - end_ms % MINUTE_MS
    mine = (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    if name.partition is not None:
        mine = mine & (pc.field("partition") == name.partition)
    rows = lake.read(
        "signals",
        columns=[
            "partition", "minute_ms", "in_msg_delta", "in_span_ms", "backlog_ready_entries", "messages_per_entry", *_AGES,
        ],
        where=mine & (pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms),
        partition={"cluster": [cluster]},
        between={"minute_ms": (start_ms, end_ms - 1)},
    )  # fmt: skip
    minutes = minutes_of(rows, start_ms, end_ms, share)
    if int(minutes.known.sum()) < LEAST_MINUTES:
        raise InputError(
            f"Too few minutes of {name} to say what keeps an age",
            got=f"{int(minutes.known.sum())} minutes of signals from {format_time(start_ms)} to {format_time(end_ms)}",
            expected=f"at least {LEAST_MINUTES}",
            fix="make signals with throttlescope run, or look back less far with --over",
        )
    return minutes


def minutes_of(rows: pa.Table, start_ms: int, end_ms: int, share: float = SHARE) -> ArrivalMinutes:
    """Minutes from rows of ``signals`` of one subscription: the sum over the partitions that were ever seen."""
    count = (end_ms - start_ms) // MINUTE_MS
    partitions = rows.column("partition").unique().to_pylist()
    arrived, backlog, age = np.zeros(count), np.zeros(count), np.full(count, np.nan)
    for partition in partitions:
        part = rows.filter(pc.equal(rows.column("partition"), partition))
        at = (part.column("minute_ms").to_numpy() - start_ms) // MINUTE_MS
        per_entry = _numbers(part, "messages_per_entry")
        per_entry = np.where(per_entry > 0, per_entry, 1.0)
        came, waiting, old = np.full(count, np.nan), np.full(count, np.nan), np.full(count, np.nan)
        # A minute's at the rate that was counted: after a missed scrape the difference is that of several minutes.
        came[at] = _numbers(part, "in_msg_delta") * MINUTE_MS / _numbers(part, "in_span_ms")
        waiting[at] = _numbers(part, "backlog_ready_entries") * per_entry
        old[at] = _reported_ages(part)
        # One partition that is not known makes the sum unknown.
        arrived, backlog, age = arrived + came, backlog + waiting, np.fmax(age, old)
    if not partitions:
        arrived[:] = np.nan
    known = ~np.isnan(arrived)
    return ArrivalMinutes(start_ms, end_ms, _filled(arrived, known), known, backlog, age, share)


def _reported_ages(rows: pa.Table) -> np.ndarray:
    """The broker's age of each row, by the first of :data:`_AGES` that it has."""
    found = np.full(rows.num_rows, np.nan)
    for name in _AGES:
        ages = _numbers(rows, name)
        found = np.where(np.isnan(found) & (ages >= 0), ages, found)
    return found


def _filled(arrived: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Unknown minutes as the mean of the same minute of other days; else of all that is known."""
    if known.all() or not known.any():
        return np.nan_to_num(arrived)
    minute = np.arange(len(arrived)) % _DAY
    sums = np.bincount(minute, np.where(known, arrived, 0.0), _DAY)
    counts = np.bincount(minute, known, _DAY)
    usual = np.where(counts > 0, sums / np.maximum(counts, 1), arrived[known].mean())
    return np.where(known, arrived, usual[minute])


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    values = rows.column(name).cast(pa.float64()).to_numpy()
    return np.where(np.isfinite(values), values, np.nan)
