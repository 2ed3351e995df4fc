"""Baselines as rows of a table. In: baselines by subscription partition. Out: rows of ``baselines``; and back, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import date_of
from throttlescope.models.anomaly.baseline import Baseline, UsualLevels
from throttlescope.models.anomaly.gaps import GapHistory, OpenGap
from throttlescope.models.anomaly.subscription import Baselines
from throttlescope.models.diagnosis.window import SubscriptionKey

#: Fields of levels that are a list, or one value; those by side are two columns each.
_LEVELS = ("masks_hold", "masked_share", "expected", "moved", "former", "hourly_sigma", "strayed")
_BY_SIDE = ("sigma", "alarm", "adopted")
_SIDES = {1: "up", -1: "down"}
_OPEN_GAP = ("start", "end", "length", "after_mark", "masked")


def rows_of(found: Mapping[SubscriptionKey, Baselines], said: Mapping[str, Any]) -> pa.Table:
    """Rows of ``baselines``; ``said``: what all of them say of where they came from, with ``known_ms``."""
    said = dict(said, date=date_of(said["known_ms"]))
    rows = [
        dict(zip(SUBSCRIPTION_KEY_NAMES, key, strict=True)) | {"signal": signal} | said | _values(baseline)
        for key, baselines in found.items()
        for signal, baseline in baselines.items()
    ]
    schema = TABLES["baselines"].loose_schema
    return pa.table(
        {field.name: pa.array([row.get(field.name) for row in rows], field.type) for field in schema}, schema
    )


def baselines_in(rows: pa.Table) -> dict[SubscriptionKey, Baselines]:
    """The baselines that rows of :func:`rows_of` were made of."""
    columns = {name: _reader(rows.column(name)) for name in rows.column_names}
    found: dict[SubscriptionKey, Baselines] = {}
    for at in range(rows.num_rows):
        row = {name: read(at) for name, read in columns.items()}
        key = SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES))
        found.setdefault(key, {})[row["signal"]] = _baseline(row)
    return found


def _values(baseline: Baseline) -> dict[str, Any]:
    row = {name: getattr(baseline, name) for name in ("known_minutes", "ready", "points")}
    if (levels := baseline.levels) is not None:
        row |= {name: getattr(levels, name) for name in _LEVELS}
        row |= {
            f"{name}_{_SIDES[side]}": values.ravel()
            for name in _BY_SIDE
            for side, values in getattr(levels, name).items()
        }
    if (gaps := baseline.gaps) is not None:
        row |= {f"gap_{name}": getattr(gaps, name) for name in ("usual", "longest", "missed")}
        if gaps.open_gap is not None:
            row |= {f"open_gap_{name}": getattr(gaps.open_gap, name) for name in _OPEN_GAP}
    return row


def _baseline(row: Mapping[str, Any]) -> Baseline:
    levels = gaps = None
    if row["masks_hold"] is not None:
        by_side = {
            name: {
                side: row[f"{name}_{word}"]
                for side, word in _SIDES.items()
                if row[f"{name}_{word}"] is not None
            }
            for name in _BY_SIDE
        }
        days = len(row["ready"])
        by_side["alarm"] = {side: values.reshape(days, -1) for side, values in by_side["alarm"].items()}
        levels = UsualLevels(**{name: row[name] for name in _LEVELS}, **by_side)
    if row["gap_missed"] is not None:
        is_open = row["open_gap_start"] is not None
        gap = OpenGap(*(row[f"open_gap_{name}"] for name in _OPEN_GAP)) if is_open else None
        gaps = GapHistory(row["gap_usual"], row["gap_longest"], row["gap_missed"], gap)
    return Baseline(row["known_minutes"], row["ready"], row["points"], levels, gaps)


def _reader(column: pa.ChunkedArray) -> Callable[[int], Any]:
    """The value of a row of a column: a list as an array, None where there is none."""
    column = column.combine_chunks()
    if not pa.types.is_list(column.type):
        values = column.to_pylist()
        return values.__getitem__
    numbers = column.values.to_numpy(zero_copy_only=False)
    ends, there = column.offsets.to_numpy(), column.is_valid().to_numpy(zero_copy_only=False)
    return lambda at: numbers[ends[at] : ends[at + 1]] if there[at] else None
