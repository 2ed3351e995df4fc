"""All that forecasts of one subscription partition go on. In: minutes of ``signals``. Out: a :class:`SubscriptionHistory`, cut at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.forecast.trace import Trace, trace_of_minutes


@dataclass(frozen=True, eq=False)
class SubscriptionHistory:
    """One subscription partition until a time.

    Attributes
    ----------
    trace : Trace
        Its backlog.
    storage_bytes, topic_ages_s : ndarray of float64
        The topic partition's backlog in bytes and its age as the broker tells it, at the trace's points; NaN where not known.
    connected : ndarray of float64
        Consumers; NaN where not known.
    is_slowest : bool
        No other subscription of the topic partition has a larger backlog: quotas act on its account.
    """

    key: SubscriptionKey
    trace: Trace
    storage_bytes: np.ndarray
    topic_ages_s: np.ndarray
    connected: np.ndarray
    is_slowest: bool = True

    @property
    def topic_age_s(self) -> float | None:
        """Newest age that the broker reported for the topic partition; None where it is unknown."""
        return _newest(self.topic_ages_s)

    @property
    def consumers(self) -> int | None:
        """Connected consumers; None where that is not known."""
        found = _newest(self.connected)
        return None if found is None else int(found)

    def until(self, at_ms: int) -> SubscriptionHistory:
        """What was known at a time."""
        trace = self.trace.until(at_ms)
        count = len(trace.times_ms)
        return replace(
            self,
            trace=trace,
            storage_bytes=self.storage_bytes[:count],
            topic_ages_s=self.topic_ages_s[:count],
            connected=self.connected[:count],
        )


def view_of_minutes(key: SubscriptionKey, columns: Mapping[str, np.ndarray]) -> SubscriptionHistory:
    """The view of one subscription partition from its minutes, in their order, float64 with NaN for NULL."""
    known = ~np.isnan(columns["backlog_entries"])
    # -1 is how the broker says that it does not know; nothing is younger than 0.
    ages = columns["backlog_age_s"][known]
    return SubscriptionHistory(
        key,
        trace_of_minutes(columns),
        columns["storage_backlog_bytes"][known],
        np.where(ages < 0, np.nan, ages),
        columns["consumers"][known],
    )


def slowest_marked(views: Sequence[SubscriptionHistory]) -> list[SubscriptionHistory]:
    """Views of one topic, each cut at the same time, with those marked that quotas act on the account of."""
    most: dict[int, float] = {}
    for view in views:
        if len(view.trace.times_ms):
            entries = float(view.trace.backlog_entries[-1])
            most[view.key.partition] = max(entries, most.get(view.key.partition, 0.0))
    return [
        replace(
            view,
            is_slowest=bool(len(view.trace.times_ms))
            and float(view.trace.backlog_entries[-1]) == most[view.key.partition],
        )
        for view in views
    ]


def _newest(values: np.ndarray) -> float | None:
    return float(values[-1]) if len(values) and not np.isnan(values[-1]) else None
