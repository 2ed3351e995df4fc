"""Ages of backlogs. In: a lake and rows of verdicts. Out: the same rows with the age of each one's oldest entry, or why it is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models import backlog_age
from throttlescope.models.backlog_age import BacklogAge, reported_age
from throttlescope.models.diagnosis.window import by_subscription

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Columns that are added: the age, of an estimate its interval of 90 %, where it comes from, and why there is none.
COLUMNS = ("oldest_age_s", "oldest_age_low_s", "oldest_age_high_s", "oldest_age_source", "oldest_age_unknown")


def with_ages(lake: Lake, rows: Sequence[dict[str, Any]], end: str) -> list[dict[str, Any]]:
    """Rows of verdicts with :data:`COLUMNS`.

    The publish history is read only for verdicts with a cause: a healthy backlog is what comes in between two scrapes.

    Parameters
    ----------
    rows : sequence of dict
        With ``subscription_backlog_age_s`` and ``stats_backlog_age_s`` of the moment of the verdict.
    end : str
        The column with that moment, ``window_end_ms`` or ``to_ms``.
    """
    ages = [_reported(row) for row in rows]
    wanted = [row for row, age in zip(rows, ages, strict=True) if age is None]
    minutes = _minutes_of(lake, wanted, end) if wanted else {}
    found = []
    for row, age in zip(rows, ages, strict=True):
        of_key = minutes.get(_key(row))
        if age is None:
            age = BacklogAge(unknown="not_measured") if of_key is None else _estimated(of_key, row[end])
        values = (age.age_s, age.low_s, age.high_s, age.source, age.unknown)
        found.append({**row, **dict(zip(COLUMNS, values, strict=True))})
    return found


def _reported(row: dict[str, Any]) -> BacklogAge | None:
    """What is known without the publish history; None: that has to be read."""
    if not row["backlog_entries"] or row["backlog_entries"] < 1:
        return BacklogAge(unknown="not_measured" if row["backlog_entries"] is None else "no_backlog")
    age = reported_age(row["subscription_backlog_age_s"], row["stats_backlog_age_s"])
    return age or (BacklogAge(unknown="not_measured") if row["cause"] == "healthy" else None)


def _estimated(minutes: Mapping[str, np.ndarray], end_ms: int) -> BacklogAge:
    times_ms = minutes["minute_ms"]
    start, until = np.searchsorted(times_ms, (end_ms - backlog_age.HISTORY_MS, end_ms), side="left")
    return backlog_age.backlog_age({name: values[start:until] for name, values in minutes.items()})


def _minutes_of(
    lake: Lake, rows: Sequence[dict[str, Any]], end: str
) -> dict[tuple, Mapping[str, np.ndarray]]:
    """The minutes of some subscription partitions, oldest first, each as far back as one of them needs."""
    start_ms = min(row[end] for row in rows) - backlog_age.HISTORY_MS
    end_ms = max(row[end] for row in rows)
    where = (pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms)
    for name in ("topic", "subscription"):
        where &= pc.field(name).isin(sorted({row[name] for row in rows}))
    read = lake.read(
        "signals",
        columns=[*SUBSCRIPTION_KEY_NAMES, *backlog_age.COLUMNS],
        where=where,
        partition={"cluster": sorted({row["cluster"] for row in rows})},
        between={"minute_ms": (start_ms, end_ms - 1)},
    )
    keys = {_key(row) for row in rows}
    return {
        key: {name: part[name].to_numpy() for name in backlog_age.COLUMNS}
        for key, part in by_subscription(read)
        if key in keys
    }


def _key(row: dict[str, Any]) -> tuple:
    return tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)
