"""The selection of an incident. In: a subscription as typed, times, and its rows of the lake. Out: one partition, one time, one range.

A bundle is about one subscription partition at one moment. Without a time that is now; if the subscription is healthy by now, it is
the newest window of its last episode with a cause, so that a backlog that is gone can still be explained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, format_time
from throttlescope.models.diagnosis.window import SubscriptionKey

#: How much time before and after an episode the files cover.
BEFORE_MS, AFTER_MS = 2 * BLOCK_MS, 10 * MINUTE_MS
#: A longer range is cut, and the page says so.
LONGEST_MS = 7 * DAY_MS

Row = Mapping[str, Any]


@dataclass(frozen=True)
class IncidentSelection:
    """The request; None: chosen by default.

    Attributes
    ----------
    subscription : str
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix the partition with the worst backlog.
    at_ms : int, optional
        The time of the report.
    start_ms, end_ms : int, optional
        The range of the files, [start_ms, end_ms); the moment is its end.
    """

    subscription: str
    cluster: str | None = None
    at_ms: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None


def one_cluster(keys: Sequence[SubscriptionKey], selected: IncidentSelection) -> list[SubscriptionKey]:
    """The selected partitions, all of one cluster.

    Raises
    ------
    InputError
        The lake has no data of it, or several clusters have a subscription of this name.
    """
    if not keys:
        raise InputError(
            "The lake has no data of this subscription: no minutes, no verdicts, no limits",
            got=selected.subscription
            if selected.cluster is None
            else f"{selected.subscription} of {selected.cluster}",
            fix="throttlescope verdicts lists what there is",
        )
    clusters = sorted({key.cluster for key in keys})
    if len(clusters) > 1:
        raise InputError(
            "Several clusters have a subscription of this name",
            got=", ".join(clusters),
            expected="one",
            fix="add --cluster NAME",
        )
    return sorted(keys)


def worst(keys: Sequence[SubscriptionKey], episodes: Sequence[Row], newest: Sequence[Row]) -> SubscriptionKey:
    """The partition to report: the largest backlog among open episodes, then among ended ones; else the largest now.

    Parameters
    ----------
    episodes : sequence of mappings
        Rows of ``episodes`` of these partitions in the selected time.
    newest : sequence of mappings
        Of each partition the newest minute: its key columns and ``backlog_ready_entries``.
    """
    present = [row for row in episodes if _key(row) in keys]
    if present:
        return _key(
            max(present, key=lambda row: (row["end_ms"] is None, row["peak_entries"], -row["partition"]))
        )
    backlog = {_key(row): row["backlog_ready_entries"] or 0.0 for row in newest}
    return max(keys, key=lambda key: (backlog.get(key, -1.0), -key.partition))


def episode_of(key: SubscriptionKey, episodes: Sequence[Row], selected: IncidentSelection) -> Row | None:
    """The episode to report: the one around the time, the largest in the range, or the newest."""
    mine = [row for row in episodes if _key(row) == key]
    if selected.at_ms is not None:
        return next((row for row in reversed(mine) if _covers(row, selected.at_ms)), None)
    if selected.start_ms is not None or selected.end_ms is not None:
        return max(mine, key=lambda row: row["peak_entries"], default=None)
    return max(mine, key=lambda row: row["start_ms"], default=None)


def moment(selected: IncidentSelection, episode: Row | None, verdicts: Sequence[Row], until_ms: int) -> int:
    """The time of the report: the end of the data; of a backlog that is gone its peak, or the last window before it that names its main cause.

    Parameters
    ----------
    verdicts : sequence of mappings
        Of the partition, oldest first.
    until_ms : int
        End of what the lake knows of the partition.

    Raises
    ------
    InputError
        It lies before all that is known.
    """
    if selected.at_ms is not None:
        return min(selected.at_ms, until_ms)
    last_ms = until_ms if selected.end_ms is None else min(selected.end_ms, until_ms)
    now = verdict_at(verdicts, last_ms)
    if episode is None or now is None or now["cause"] != "healthy":
        return last_ms
    at_peak = verdict_at(verdicts, min(episode["peak_ms"], last_ms))
    if at_peak is not None and at_peak["cause"] not in ("healthy", "unknown"):
        return at_peak["window_end_ms"]
    naming = [
        row
        for row in verdicts
        if (row["cause"], row["limiter"]) == (episode["cause"], episode["limiter"])
        and episode["start_ms"] < row["window_end_ms"] <= last_ms
    ]
    high = [row for row in naming if row["window_end_ms"] <= episode["peak_ms"]]
    return (high or naming)[-1]["window_end_ms"] if naming else last_ms


def verdict_at(verdicts: Sequence[Row], at_ms: int) -> Row | None:
    """The newest window that had ended at a time."""
    return next((row for row in reversed(verdicts) if row["window_end_ms"] <= at_ms), None)


def span(
    selected: IncidentSelection, episode: Row | None, at_ms: int, until_ms: int
) -> tuple[int, int, bool]:
    """The range [start_ms, end_ms) of the files, and whether it was cut.

    Raises
    ------
    InputError
        It would hold nothing.
    """
    low = at_ms if episode is None else min(at_ms, episode["since_ms"], episode["start_ms"])
    high = at_ms if episode is None else max(at_ms, episode["over_until_ms"])
    start_ms = low - BEFORE_MS if selected.start_ms is None else selected.start_ms
    end_ms = min(high + AFTER_MS, until_ms) if selected.end_ms is None else selected.end_ms
    if start_ms >= end_ms:
        raise InputError(
            "The range ends before it begins",
            got=f"{format_time(start_ms)} to {format_time(end_ms)}",
            expected=f"before {format_time(until_ms)}, where the lake ends",
        )
    if end_ms - start_ms <= LONGEST_MS:
        return start_ms, end_ms, False
    # The moment stays inside, with most of the range before it.
    start_ms = max(start_ms, min(at_ms + LONGEST_MS // 7, end_ms) - LONGEST_MS)
    return start_ms, min(end_ms, start_ms + LONGEST_MS), True


def _covers(row: Row, at_ms: int) -> bool:
    end_ms = row["known_until_ms"] if row["end_ms"] is None else row["end_ms"]
    return min(row["since_ms"], row["start_ms"]) <= at_ms <= max(end_ms, row["over_until_ms"]) + MINUTE_MS


def _key(row: Row) -> SubscriptionKey:
    return SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
