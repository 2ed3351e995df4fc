"""What happened during an episode. In: its minutes. Out: gaps, changed limits, counters that restarted, moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes import thresholds as t


def marks(rows: list[dict[str, Any]], start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """Marks that touch [start_ms, end_ms), oldest first; values of ``marks``.

    Parameters
    ----------
    rows : list of dict
        Rows of ``signals`` of one subscription partition, sorted, without those that were not seen. The one before
        ``start_ms`` says what changed in the first minute.
    """
    found = []
    for before, row in pairwise([None, *rows]):
        at_ms = row["minute_ms"]
        if before is not None:
            found += gap(before["minute_ms"] + MINUTE_MS, at_ms)
        for kind, text in _changes(before or {}, row):
            found.append(_mark(kind, at_ms, at_ms + MINUTE_MS, text))
    found = [mark for mark in found if mark["start_ms"] < end_ms and mark["end_ms"] > start_ms]
    return sorted(found, key=lambda mark: (mark["start_ms"], mark["kind"]))


def gap(start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """A mark for [start_ms, end_ms) without a sample, where that is long enough to be one."""
    minutes = (end_ms - start_ms) // MINUTE_MS
    if minutes < t.GAP_MINUTES:
        return []
    return [_mark("gap", start_ms, end_ms, f"{minutes} minutes without a sample")]


def _changes(before: Mapping[str, Any], row: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if row["limits_changed"]:
        yield "limit_changed", "; ".join(_limits(before, row)) or "a limit changed"
    if row["counter_resets"]:
        count = row["counter_resets"]
        yield "counter_reset", f"{count} counter{'' if count == 1 else 's'} restarted"
    if row["broker_changed"]:
        yield "moved", f"{before.get('broker') or 'unknown'} -> {row['broker'] or 'unknown'}"


def _limits(before: Mapping[str, Any], row: Mapping[str, Any]) -> Iterable[str]:
    for level in LEVELS:
        for unit in UNITS:
            old, new = _limit(before, level, unit), _limit(row, level, unit)
            if old != new:
                yield f"{level}.{unit} {old} -> {new}"


def _limit(row: Mapping[str, Any], level: str, unit: str) -> str:
    limit = row.get(f"limit_{level}_{unit}")
    return "none" if limit is None else f"{limit} per {row.get(f'limit_{level}_period_s') or 1} s"


def _mark(kind: str, start_ms: int, end_ms: int, text: str) -> dict[str, Any]:
    return {"kind": kind, "start_ms": int(start_ms), "end_ms": int(end_ms), "text": text}
