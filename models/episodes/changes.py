"""A policy change is an event. In: rows of ``limits`` over time. Out: every change of an effective limit, as each subscription felt it.

Limits are known at snapshots, so a change lies between the last snapshot with the old limit and the first with the new one. A
level that a snapshot did not tell is not compared: unknown is no change. :mod:`before_after` holds the minutes around it.

The slow twin is ``tests/naive/limit_changes.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import per_period

#: What is read of ``limits``.
COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "level", "rate_msg", "rate_bytes", "period_s", "counts", "relative_to_publish", "set_by",
    "observed_ms",
)  # fmt: skip

Kind = Literal["set", "removed", "raised", "lowered", "redefined"]

_SERIES = (*SUBSCRIPTION_KEY_NAMES, "level")


@dataclass(frozen=True, slots=True)
class ChangedLimit:
    """One effective limit; without a rate there is none.

    Attributes
    ----------
    rate : int or None
        Messages (or entries) or bytes per period.
    set_by : str
        The policy that applied.
    """

    rate: int | None
    period_s: int
    counts: str
    relative_to_publish: bool
    set_by: str

    @property
    def per_s(self) -> float | None:
        return None if self.rate is None else self.rate / self.period_s

    def text(self, unit: str) -> str:
        """``100 msg/s``, ``none``; entries and relative limits are named."""
        if self.rate is None:
            return sentence("label.none")
        word = "entries" if unit == "msg" and self.counts == "entries" else unit
        if self.relative_to_publish:
            return sentence("limit_change.above_publish_rate", limit=(self.rate, self.period_s, word))
        return per_period(self.rate, self.period_s, word)


@dataclass(frozen=True, slots=True)
class LimitChange:
    """One limiter of one subscription partition, before and after.

    Attributes
    ----------
    level, unit : str
        Which limiter.
    old_until_ms : int
        The last snapshot with the old limit.
    new_from_ms : int
        The first snapshot with the new one: when the change was seen.
    previous_ms : int or None
        When this limiter's change before was seen.
    next_until_ms, next_from_ms : int or None
        The last snapshot before its next change, and when that was seen.
    """

    key: SubscriptionKey
    level: str
    unit: str
    old: ChangedLimit
    new: ChangedLimit
    old_until_ms: int
    new_from_ms: int
    previous_ms: int | None = None
    next_until_ms: int | None = None
    next_from_ms: int | None = None

    @property
    def kind(self) -> Kind:
        """``redefined``: the same rate per second, counted or dealt out in another way."""
        if self.old.rate is None:
            return "set"
        if self.new.rate is None:
            return "removed"
        if self.new.per_s == self.old.per_s:
            return "redefined"
        return "raised" if self.new.per_s > self.old.per_s else "lowered"

    @property
    def text(self) -> str:
        """``subscription.msg lowered: 100 msg/s -> 50 msg/s (topic_policy -> subscription_policy)``."""
        by = (
            self.new.set_by
            if self.old.set_by == self.new.set_by
            else f"{self.old.set_by} -> {self.new.set_by}"
        )
        return f"{self.level}.{self.unit} {self.kind}: {self.old.text(self.unit)} -> {self.new.text(self.unit)} ({by})"

    def to_row(self) -> dict[str, Any]:
        """Plain values."""
        row = {
            **self.key._asdict(),
            "level": self.level,
            "unit": self.unit,
            "kind": self.kind,
            "old_until_ms": self.old_until_ms,
            "new_from_ms": self.new_from_ms,
            "text": self.text,
        }
        for name in ("rate", "period_s", "counts", "relative_to_publish", "set_by"):
            row |= {f"old_{name}": getattr(self.old, name), f"new_{name}": getattr(self.new, name)}
        return row


def limit_changes(limits: pa.Table) -> list[LimitChange]:
    """Find every change of an effective limit.

    Parameters
    ----------
    limits : pyarrow.Table
        Rows of ``limits`` with at least :data:`COLUMNS`, in any order; a snapshot that was written twice counts once.

    Returns
    -------
    list of LimitChange
        In the order of the time at which they were seen, then of the key.

    Notes
    -----
    A limit that only another record sets, with the same rates, has not changed for the subscription.
    """
    ordered = limits.select(list(COLUMNS)).sort_by(
        [(name, "ascending") for name in (*_SERIES, "observed_ms")]
    )
    if ordered.num_rows < 2:
        return []
    same = np.ones(ordered.num_rows - 1, bool)
    for name in _SERIES:
        codes = _codes(ordered[name])
        same &= codes[1:] == codes[:-1]
    found = [
        change
        for unit in UNITS
        for change in _in_series(ordered, np.flatnonzero(same & _differs(ordered, unit)) + 1, unit)
    ]
    return sorted(found, key=lambda one: (one.new_from_ms, one.key, one.level, one.unit))


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False)


def _differs(ordered: pa.Table, unit: str) -> np.ndarray:
    """Whether a row's limit is another than the one's before it."""
    rate = _codes(ordered[f"rate_{unit}"])
    limited = ordered[f"rate_{unit}"].is_valid().to_numpy(zero_copy_only=False)
    how = np.zeros(ordered.num_rows - 1, bool)
    for name in ("period_s", "relative_to_publish", *(("counts",) if unit == "msg" else ())):
        codes = _codes(ordered[name])
        how |= codes[1:] != codes[:-1]
    # How no limit would be counted is no limit either.
    return (rate[1:] != rate[:-1]) | (how & limited[1:] & limited[:-1])


def _in_series(ordered: pa.Table, rows: np.ndarray, unit: str) -> Iterable[LimitChange]:
    """Changes at some rows, each with its neighbours of the same limiter."""
    new = ordered.take(pa.array(rows)).to_pylist()
    old = ordered.take(pa.array(rows - 1)).to_pylist()
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        yield LimitChange(
            key=SubscriptionKey(*(after[name] for name in SUBSCRIPTION_KEY_NAMES)),
            level=after["level"],
            unit=unit,
            old=_limit(before, unit),
            new=_limit(after, unit),
            old_until_ms=before["observed_ms"],
            new_from_ms=after["observed_ms"],
            previous_ms=_if_same(after, new[number - 1] if number else None),
            next_until_ms=_if_same(after, old[number + 1] if number + 1 < len(old) else None),
            next_from_ms=_if_same(after, new[number + 1] if number + 1 < len(new) else None),
        )


def _if_same(row: dict[str, Any], other: dict[str, Any] | None) -> int | None:
    if other is None or any(row[name] != other[name] for name in _SERIES):
        return None
    return other["observed_ms"]


def _limit(row: dict[str, Any], unit: str) -> ChangedLimit:
    return ChangedLimit(
        row[f"rate_{unit}"],
        row["period_s"] or 1,
        row["counts"],
        bool(row["relative_to_publish"]),
        row["set_by"],
    )


@dataclass(frozen=True, slots=True)
class PolicyEvent:
    """One change of one record, as it was felt by all subscription partitions that it reaches."""

    cluster: str
    level: str
    unit: str
    changes: tuple[LimitChange, ...]

    @property
    def new_from_ms(self) -> int:
        return self.changes[0].new_from_ms

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({one.key.topic for one in self.changes}))


def policy_events(changes: Sequence[LimitChange]) -> list[PolicyEvent]:
    """Changes that were seen at once with the same old and new limit are one event."""
    groups: dict[tuple, list[LimitChange]] = {}
    for one in changes:
        groups.setdefault(
            (one.key.cluster, one.level, one.unit, one.old, one.new, one.new_from_ms), []
        ).append(one)
    return [
        PolicyEvent(cluster, level, unit, tuple(some)) for (cluster, level, unit, *_), some in groups.items()
    ]
