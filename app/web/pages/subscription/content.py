"""What the page of a subscription shows, read once. In: a reader and an address. Out: rows of one range, and which verdict is selected.

In two steps, as the page comes in two: what the answer needs is read first, and what the charts need when the answer is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from throttlescope.app.presentation import backlog_units
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.data import history
from throttlescope.app.web.data.blind_spots import broker_versions
from throttlescope.app.web.data.latest import LOOK_BACK_MS
from throttlescope.app.web.data.outlook import StoredOutlook, outlook
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.backlog_age import COLUMNS as AGE_COLUMNS
from throttlescope.models.backlog_age import HISTORY_MS, BacklogAge, backlog_age
from throttlescope.models.diagnosis.known_bugs import may_hide_bugs

#: Of ``signals``, what the page shows or weighs; evidence may show others by its symptom's name.
COLUMNS = (
    "minute_ms", "broker", "broker_changed", "counter_resets", "coverage_share", "subscription_type",
    "backlog_entries", "backlog_ready_entries", "backlog_ready_peak_entries", "delayed_entries", "replay_entries", "backlog_age_s",
    "unacked_msg", "blocked_on_unacked", "consumers", "consumers_blocked_on_unacked", "consumer_ack_msg_rate_min",
    "permits_min", "permits_max", "permits_exhausted_share", "last_flow_age_s",
    "in_msg_rate_5m", "in_bytes_rate_5m", "out_msg_rate_5m", "out_bytes_rate_5m", "ack_msg_rate", "redeliver_msg_rate",
    "expired_msg_rate", "quota_evictions_5m", "filter_rejected_entry_rate_5m", "messages_per_entry",
    "read_cache_miss_entry_rate", "reads_inflight_bytes", "read_batch_entries", "read_size_bytes",
    "limit_observed_later", "limits_changed", "limit_counts", "relative_to_publish",
    *(f"limit_{level}_{what}" for level in LEVELS for what in (*UNITS, "period_s", "set_by")),
    *(f"rho_{level}_{unit}" for level in LEVELS for unit in UNITS),
    *(f"throttled_{unit}_events_{level}_delta" for unit in UNITS for level in LEVELS),
)  # fmt: skip

LONGEST_DEFAULT_MS = 6 * BLOCK_MS
#: The page stays quick up to here; a longer range is cut to its end and says so.
LONGEST_MS = 7 * 24 * BLOCK_MS


#: Of ``signals``, what the answer names: the broker, and which limits were in force.
_ANSWER_COLUMNS = tuple(
    name
    for name in COLUMNS
    if name.startswith(("limit_", "rho_", "read_"))
    or name in ("minute_ms", "broker", "subscription_type", *backlog_units.COLUMNS)
)


@dataclass(frozen=True)
class SelectedWindow:
    """What both parts of the page need.

    Attributes
    ----------
    span_ms : (int, int)
        First and last moment that the lake knows of this subscription.
    start_ms, end_ms : int
        The range shown.
    was_cut : bool
        The address requested a longer range.
    verdicts
        Those in that range, without their evidence.
    history
        Those of the day before its end: for "since".
    verdict
        The one that the page shows, with its evidence; None: there is none in the range.
    outlook
        The forecasts of that time, and the open backlog.
    """

    address: SubscriptionAddress
    span_ms: tuple[int, int]
    start_ms: int
    end_ms: int
    was_cut: bool
    verdicts: Sequence[dict]
    history: Sequence[dict]
    verdict: dict | None
    outlook: StoredOutlook


@dataclass(frozen=True)
class AnsweredWindow(SelectedWindow):
    """What the answer on top of the page needs.

    Attributes
    ----------
    verdict_minutes
        The minutes of its window, with the broker and the limits in force; without one those of the range's last hour.
    broker_versions
        Of its cluster, where they were read.
    age
        Of the oldest entry at the end of the verdict's window; None without a verdict.
    hash_range
        Of a segment of a scalable topic.
    """

    verdict_minutes: pd.DataFrame
    broker_versions: tuple[str, ...]
    age: BacklogAge | None
    hash_range: str | None


@dataclass(frozen=True)
class ChartedWindow(SelectedWindow):
    """What the charts and the evidence next to them need.

    Attributes
    ----------
    minutes, truth
        Rows in the range.
    """

    minutes: pd.DataFrame
    truth: Sequence[dict]


@dataclass(frozen=True)
class SubscriptionView(ChartedWindow, AnsweredWindow):
    """Everything that the page shows."""


def _read_window(reader: LakeReader, address: SubscriptionAddress) -> SelectedWindow | None:
    span = history.span(reader, address.subscription)
    if span is None:
        return None
    start_ms, end_ms, was_cut = chosen_range(address, span)
    subscription = address.subscription
    day_ms = end_ms - LOOK_BACK_MS
    windows = read_windows(reader, subscription, start_ms, end_ms)
    verdicts = [row for row in windows if row["window_end_ms"] > start_ms]
    chosen = _chosen(verdicts, address.at_ms)
    verdict, forecasts = None, StoredOutlook()
    if chosen is not None:
        window = chosen["window_start_ms"], chosen["window_end_ms"]
        verdict = history.verdict(reader, subscription, *window)
        forecasts = outlook(reader, subscription, *window)
    return SelectedWindow(
        address, span, start_ms, end_ms, was_cut, verdicts,
        history=[row for row in windows if row["window_end_ms"] > day_ms],
        verdict=verdict,
        outlook=forecasts,
    )  # fmt: skip


def read_windows(
    reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int
) -> list[dict]:
    """Windows of a range and of the day before its end, which all parts of the page share: they are read once."""
    return history.windows(reader, subscription, min(start_ms, end_ms - LOOK_BACK_MS), end_ms)


def read_answered(reader: LakeReader, address: SubscriptionAddress) -> AnsweredWindow | None:
    """Read what the answer to an address needs; None where the lake never saw the subscription."""
    selected = _read_window(reader, address)
    return (
        None if selected is None else AnsweredWindow(**_fields(selected), **_answer_parts(reader, selected))
    )


def read_charted(reader: LakeReader, address: SubscriptionAddress) -> ChartedWindow | None:
    """Read what the charts of an address need; None where the lake never saw the subscription."""
    selected = _read_window(reader, address)
    return None if selected is None else ChartedWindow(**_fields(selected), **_chart_parts(reader, selected))


def read_view(reader: LakeReader, address: SubscriptionAddress) -> SubscriptionView | None:
    """Read everything at once; None where the lake never saw the subscription."""
    selected = _read_window(reader, address)
    if selected is None:
        return None
    parts = _answer_parts(reader, selected) | _chart_parts(reader, selected)
    return SubscriptionView(**_fields(selected), **parts)


def _fields(selected: SelectedWindow) -> dict[str, Any]:
    return {field.name: getattr(selected, field.name) for field in fields(SelectedWindow)}


def _answer_parts(reader: LakeReader, selected: SelectedWindow) -> dict[str, Any]:
    """What :class:`AnsweredWindow` adds."""
    subscription, verdict = selected.address.subscription, selected.verdict
    window = (
        (selected.end_ms - BLOCK_MS, selected.end_ms)
        if verdict is None
        else (verdict["window_start_ms"], verdict["window_end_ms"])
    )
    return {
        "verdict_minutes": history.signals(reader, subscription, *window, _ANSWER_COLUMNS),
        # The first read of a snapshot looks through the catalogue of series.
        "broker_versions": broker_versions(reader, subscription.cluster)
        if verdict is not None and may_hide_bugs(verdict["cause"])
        else (),
        "age": None if verdict is None else _age(reader, subscription, verdict),
        "hash_range": history.hash_range(reader, subscription),
    }


def _chart_parts(reader: LakeReader, selected: SelectedWindow) -> dict[str, Any]:
    """What :class:`ChartedWindow` adds."""
    range_ = selected.address.subscription, selected.start_ms, selected.end_ms
    return {
        "minutes": history.signals(reader, *range_, (*COLUMNS, *_symptoms(selected.verdict))),
        "truth": history.truth(reader, *range_),
    }


def _age(reader: LakeReader, subscription: SubscriptionPartition, verdict: dict) -> BacklogAge:
    """Of the oldest entry at the end of a window, which is the same in every range that shows the window."""
    end_ms = verdict["window_end_ms"]
    return reader.read_cached(
        ("age", subscription, end_ms), lambda *_: _read_age(reader, subscription, end_ms)
    )


def _read_age(reader: LakeReader, subscription: SubscriptionPartition, end_ms: int) -> BacklogAge:
    """The publish history is read only where there is a backlog and the broker does not say how old it is."""
    newest = backlog_age(history.signals(reader, subscription, end_ms - MINUTE_MS, end_ms, AGE_COLUMNS))
    if newest.source is not None or newest.unknown == "no_backlog":
        return newest
    return backlog_age(history.signals(reader, subscription, end_ms - HISTORY_MS, end_ms, AGE_COLUMNS))


def chosen_range(address: SubscriptionAddress, span: tuple[int, int]) -> tuple[int, int, bool]:
    """The range to show: the address's, or the newest hours of what the lake knows."""
    end_ms = address.end_ms if address.end_ms is not None else span[1]
    if address.at_ms is not None and address.start_ms is None and address.end_ms is None:
        # A link to one window of long ago: the hours around it.
        newest = end_ms - LONGEST_DEFAULT_MS < address.at_ms <= end_ms
        end_ms = end_ms if newest else min(end_ms, address.at_ms + LONGEST_DEFAULT_MS // 2)
    if address.start_ms is not None:
        start_ms = address.start_ms
        # A start after the data's end and no end: there is no sensible guess but the default length.
        end_ms = max(end_ms, start_ms + MINUTE_MS)
    else:
        start_ms = (
            max(span[0], end_ms - LONGEST_DEFAULT_MS) if end_ms > span[0] else end_ms - LONGEST_DEFAULT_MS
        )
    was_cut = end_ms - start_ms > LONGEST_MS
    return (end_ms - LONGEST_MS if was_cut else start_ms), end_ms, was_cut


def _symptoms(verdict: dict | None) -> list[str]:
    """Names in its evidence, of which some are columns; nothing that is none of the contract's goes into a query."""
    known = TABLES["signals"].schema.names
    return [row["symptom"] for row in (verdict or {}).get("evidence") or () if row["symptom"] in known]


def _chosen(verdicts: Sequence[dict], at_ms: int | None) -> dict | None:
    """The verdict that the page shows: the newest, or the newest up to the address's ``at``."""
    up_to = [row for row in verdicts if at_ms is None or row["window_end_ms"] <= at_ms]
    return up_to[-1] if up_to else None
