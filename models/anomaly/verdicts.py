"""What the diagnosis said meanwhile. In: rows of ``verdicts`` of one topic. Out: incidents to mask, and the verdict at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.diagnosis.causes import CAUSES

#: Columns of ``verdicts`` that are read.
COLUMNS = (*SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "cause", "limiter")
#: Causes that are no incident: nothing is wrong, nothing is known, or it is a mark.
CALM = [cause.name for cause in CAUSES if not cause.is_incident]


def incident_windows(verdicts: pa.Table) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """[start_ms, end_ms) of the windows with a cause, overlapping and adjoining ones made one, by subscription key."""
    wrong = verdicts.filter(pc.invert(pc.is_in(verdicts.column("cause"), value_set=pa.array(CALM))))
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    ordered = wrong.sort_by("window_start_ms").select(COLUMNS).to_pylist()
    for row in ordered:
        windows = found.setdefault(_key(row), [])
        if windows and row["window_start_ms"] <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(windows[-1][1], row["window_end_ms"]))
        else:
            windows.append((row["window_start_ms"], row["window_end_ms"]))
    return found


def with_verdicts(rows: Iterable[dict[str, Any]], verdicts: pa.Table) -> list[dict[str, Any]]:
    """Rows of ``anomalies`` with cause and limiter of the newest window that holds their worst minute; NULL: there is none."""
    rows = [dict(row) for row in rows]
    moments = {row["worst_ms"] for row in rows if row["worst_ms"] is not None}
    if not moments or not verdicts.num_rows:
        return rows
    topics = pa.array({row["topic"] for row in rows if row["worst_ms"] is not None})
    near = verdicts.filter(
        (pc.field("window_start_ms") <= max(moments))
        & (pc.field("window_end_ms") > min(moments))
        & pc.field("topic").isin(topics)
    )
    by_key: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in near.sort_by("window_start_ms").select(COLUMNS).to_pylist():
        by_key.setdefault(_key(row), []).append(row)
    for row in rows:
        at_ms = row["worst_ms"]
        for window in by_key.get(_key(row), ()) if at_ms is not None else ():
            if window["window_start_ms"] <= at_ms < window["window_end_ms"]:
                row["verdict_cause"], row["verdict_limiter"] = window["cause"], window["limiter"]
    return rows


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)
