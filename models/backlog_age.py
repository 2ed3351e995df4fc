"""Age of a subscription's oldest entry. In: its minutes of ``signals``. Out: the age that its broker gives, or an estimate with an interval.

The broker's own answer comes first: its metric, then the admin API's. Without them the publish history says it: consumers take entries
in their order, so what waits is what was published last, and it is as old as the time since which that many entries were published.
Entries follow from published messages and the batch size. An estimate is given only where that holds: not where entries in the
middle are gone (delayed delivery, entry filters, expiry, eviction), and not where the history ends before the backlog does.

Acknowledgements out of order leave gaps that a count of entries does not show. While the mark-delete position does not move and
acknowledgements go on, as many entries may be missing behind it as were acknowledged meanwhile: the interval reaches that far, and where
it would be too wide there is no estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, SECOND_MS

AgeSource = Literal["metric", "admin_api", "publish_history"]
#: Why there is no age.
AgeUnknown = Literal[
    "no_backlog", "not_measured", "history_short", "batch_size_unknown", "delayed", "filtered", "expired", "out_of_order",
]  # fmt: skip

#: Columns of ``signals`` that are read.
COLUMNS = (
    "minute_ms", "backlog_entries", "subscription_backlog_age_s", "stats_backlog_age_s", "in_msg_delta", "in_span_ms",
    "messages_per_entry", "write_entry_rate", "scrape_interval_ms", "delayed_entries", "filter_rejected_entry_rate_5m", "expired_msg_delta",
    "quota_evictions_5m", "mark_delete_age_s", "last_ack_age_s", "ack_msg_rate",
)  # fmt: skip
#: As far back as the publish history is read.
HISTORY_MS = DAY_MS

#: How far the number of published entries may be off: counts of two metrics that are read one after the other, and, with batches,
#: a batch size that was measured over other messages.
COUNT_ERROR_SHARE, BATCH_ERROR_SHARE = 0.02, 0.05
#: With fewer messages per written entry none is taken to be batched: the rate of entries is that of another minute. What it is more than
#: one may be an error of the count.
UNBATCHED_MESSAGES = 1.2
#: Entries that are missing behind the oldest one may not make the interval wider than this share of the backlog.
MOST_OUT_OF_ORDER_SHARE = 0.25
#: Acknowledgements come in groups and positions move a moment later: standing still for less says nothing.
_STANDS_STILL_S = 5.0
_EMPTY = np.empty(0)


@dataclass(frozen=True, slots=True)
class BacklogAge:
    """How long the oldest entry of a subscription partition has waited.

    Attributes
    ----------
    age_s : float or None
        None where it is not known.
    low_s, high_s : float or None
        Of an estimate the interval of 90 %. Where ``unknown`` is ``history_short``, ``low_s`` is an age that it has at least.
    source : str or None
        The broker's metric, the admin API, or the publish history (an estimate).
    unknown : str or None
        Why there is no age.
    """

    age_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    source: AgeSource | None = None
    unknown: AgeUnknown | None = None

    @property
    def is_estimate(self) -> bool:
        return self.source == "publish_history"


def backlog_age(minutes: Mapping[str, np.ndarray]) -> BacklogAge:
    """The age at the end of the newest minute.

    Parameters
    ----------
    minutes : mapping of str to ndarray
        :data:`COLUMNS` of one subscription partition in the order of their minutes, NaN where unknown; a column may be missing.
    """
    columns = {name: np.asarray(minutes.get(name, _EMPTY), np.float64) for name in COLUMNS}
    count = len(columns["minute_ms"])
    columns = {name: values if len(values) else np.full(count, np.nan) for name, values in columns.items()}
    backlog = columns["backlog_entries"][-1] if count else math.nan
    if math.isnan(backlog):
        return BacklogAge(unknown="not_measured")
    if backlog < 1:
        return BacklogAge(unknown="no_backlog")
    of_broker = reported_age(columns["subscription_backlog_age_s"][-1], columns["stats_backlog_age_s"][-1])
    return of_broker or _estimated(columns, float(backlog))


def reported_age(metric_s: float | None, admin_s: float | None) -> BacklogAge | None:
    """What the broker says: its metric, else the admin API's answer; None where neither is there (None, NaN or below 0)."""
    sources: tuple[tuple[AgeSource, float | None], ...] = (("metric", metric_s), ("admin_api", admin_s))
    for source, age_s in sources:
        if age_s is not None and age_s >= 0:
            return BacklogAge(float(age_s), float(age_s), float(age_s), source)
    return None


def time_since_s(ago_s: np.ndarray, entries: np.ndarray, backlog: float) -> float | None:
    """Time in seconds since which ``backlog`` entries were published; None where fewer are known.

    Where nothing was published for a while, the newest such time: the oldest entry came after the pause.

    Parameters
    ----------
    ago_s, entries : ndarray of float64
        ``entries[n]`` were published within the last ``ago_s[n]``; both begin with 0, ``ago_s`` rises and ``entries`` never falls.
    """
    if backlog <= 0:
        return 0.0
    if entries[-1] < backlog:
        return None
    at = int(np.searchsorted(entries, backlog))
    share = (backlog - entries[at - 1]) / (entries[at] - entries[at - 1])
    return float(ago_s[at - 1] + (ago_s[at] - ago_s[at - 1]) * share)


def _estimated(columns: Mapping[str, np.ndarray], backlog: float) -> BacklogAge:
    if columns["delayed_entries"][-1] > 0:
        return BacklogAge(unknown="delayed")
    missing = _out_of_order_entries(columns)
    if missing is None or missing > MOST_OUT_OF_ORDER_SHARE * backlog:
        return BacklogAge(unknown="out_of_order")
    history = _PublishHistory(columns)
    if history.batch_size_unknown:
        return BacklogAge(unknown="batch_size_unknown")
    error = history.error_share
    scrape_s = _or(columns["scrape_interval_ms"][-1], MINUTE_MS) / SECOND_MS
    age_s = history.age_s(backlog)
    low_s = history.age_s(backlog * (1 - error))
    high_s = history.age_s(backlog * (1 + error) + missing)
    span_s = history.known_s if high_s is None else high_s
    for unknown, name in (
        ("filtered", "filter_rejected_entry_rate_5m"),
        ("expired", "expired_msg_delta"),
        ("expired", "quota_evictions_5m"),
    ):
        if (columns[name][-max(1, math.ceil(span_s * SECOND_MS / MINUTE_MS)) :] > 0).any():
            return BacklogAge(unknown=unknown)
    if age_s is None or high_s is None:
        return BacklogAge(low_s=history.known_s if low_s is None else low_s, unknown="history_short")
    # The newest scrape is up to one interval old, and when in a stretch of the history an entry came is not known.
    late_s = scrape_s / 2
    low_s, high_s = low_s - history.uneven_s(age_s), high_s + history.uneven_s(age_s)
    return BacklogAge(age_s + late_s, max(0.0, low_s), high_s + scrape_s, "publish_history")


def _out_of_order_entries(columns: Mapping[str, np.ndarray]) -> float | None:
    """Entries behind the oldest one that may be acknowledged already; None where the positions do not say."""
    moved_s, acked_s = columns["mark_delete_age_s"][-1], columns["last_ack_age_s"][-1]
    if math.isnan(acked_s):
        # Nothing was ever acknowledged, as far as this broker knows.
        return 0.0
    if math.isnan(moved_s):
        return None
    still_s = moved_s - acked_s
    if still_s <= _STANDS_STILL_S:
        return 0.0
    per_entry = max(1.0, _or(columns["messages_per_entry"][-1], 1.0))
    recent = columns["ack_msg_rate"][-max(1, math.ceil(still_s * SECOND_MS / MINUTE_MS)) :]
    known = recent[~np.isnan(recent)]
    return None if not len(known) else float(known.max()) * still_s / per_entry


class _PublishHistory:
    """Entries published, from the newest scrape backwards, in stretches between the scrapes that counted them.

    Where published messages and written entries are as many, no message was batched, and the counter of messages is exact. Otherwise
    entries are those that the broker says it wrote, a rate of the last minute that it renews once a minute.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        used, spans_s = _stretches(columns)
        messages = np.maximum(0.0, columns["in_msg_delta"][used])
        written = columns["write_entry_rate"][used] * spans_s
        # 0 while messages come: the broker has not computed it yet.
        known = (written > 0) | (messages == 0)
        both = (written > 0) & (messages > 0)
        size = float(np.median(messages[both] / written[both])) if both.any() else math.nan
        if math.isnan(size):
            sizes = columns["messages_per_entry"][~np.isnan(columns["messages_per_entry"])]
            size = float(sizes[-1]) if len(sizes) else math.nan
        self.batch_size_unknown = math.isnan(size) or size <= 0
        self._size, self._batched = size, size > UNBATCHED_MESSAGES
        entries = np.where(known, written, messages / max(1.0, size)) if self._batched else messages
        self._ago_s, self._entries = np.r_[0.0, np.cumsum(spans_s)], np.r_[0.0, np.cumsum(entries)]

    @property
    def known_s(self) -> float:
        """How far back it goes."""
        return float(self._ago_s[-1])

    @property
    def error_share(self) -> float:
        """How far the number of entries may be off."""
        return COUNT_ERROR_SHARE + (BATCH_ERROR_SHARE if self._batched else max(0.0, self._size - 1))

    def age_s(self, backlog: float) -> float | None:
        """Time since which so many entries were published; None where more wait than were."""
        return time_since_s(self._ago_s, self._entries, backlog)

    def uneven_s(self, age_s: float) -> float:
        """How far an entry may be from where even publishing puts it in its stretch: more, the more its neighbours differ."""
        at = int(np.searchsorted(self._ago_s, age_s))
        if at < 1 or at >= len(self._ago_s):
            return 0.0
        rates = np.diff(self._entries) / np.diff(self._ago_s)
        near = rates[max(0, at - 2) : at + 1]
        most = float(near.max())
        return (
            0.0
            if most <= 0
            else (1 - float(near.min()) / most) * float(self._ago_s[at] - self._ago_s[at - 1])
        )


def _stretches(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose counts join without a gap, the newest first, and the seconds that each counted.

    A difference goes from the scrape before to the row's last one, so neighbouring rows join; one over several minutes joins the row
    before those that had no scrape.
    """
    minutes_ms, spans_ms = columns["minute_ms"], columns["in_span_ms"]
    known = ~np.isnan(columns["in_msg_delta"]) & (spans_ms > 0)
    used: list[int] = []
    wanted_ms = minutes_ms[-1]
    for at in range(len(minutes_ms) - 1, -1, -1):
        if minutes_ms[at] > wanted_ms and not known[at]:
            continue
        if minutes_ms[at] != wanted_ms or not known[at]:
            break
        used.append(at)
        wanted_ms = minutes_ms[at] - max(1, round(spans_ms[at] / MINUTE_MS)) * MINUTE_MS
    rows = np.array(used, np.int64)
    return rows, spans_ms[rows] / SECOND_MS


def _or(value: float, default: float) -> float:
    return default if math.isnan(value) else float(value)
