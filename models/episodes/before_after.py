"""What a policy change did. In: a change, minutes of ``signals`` and ``verdicts``. Out: the same figures before it and after it.

Minutes count in which the limit is known: before the last snapshot with the old one, from the first with the new one on, and
not up to a neighbouring change of the same limiter. Where there is no such minute, those behind the snapshot are taken, in which the
limit is only assumed to have stayed as it was; a side says so. This compares; it does not prove: traffic may have changed as well,
so what was published is among the figures.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import MinuteColumns, SubscriptionKey, Window, by_subscription
from throttlescope.models.episodes.changes import LimitChange
from throttlescope.models.messages.units import entries, number

#: How far before and after a change is looked: three windows of a verdict.
SPAN_MS = 15 * MINUTE_MS

#: What is read of ``signals`` and of ``verdicts``.
SIGNAL_COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "minute_ms", "backlog_ready_entries", "in_msg_delta", "out_msg_delta", "delta_span_ms",
    "in_span_ms",
    *(f"rho_{level}_{unit}" for level in LEVELS for unit in UNITS),
    *(f"throttled_{unit}_events_{level}_delta" for level in LEVELS for unit in UNITS),
)  # fmt: skip
VERDICT_COLUMNS = (*SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "cause", "limiter")


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change; what is not known is None.

    Attributes
    ----------
    start_ms, end_ms : int
        Where minutes were looked for, [start, end).
    minutes : int
        How many there are.
    assumed : bool
        No snapshot behind these minutes says that the limit was still the same.
    rho : float or None
        Mean use / limit of the limiter that changed.
    events_per_min : float or None
        Read plans that it trimmed, per minute that is known.
    backlog_slope_entries_per_s : float or None
        By the median of all pairwise slopes: the trend of most of the time. A drain that was over soon shows in the next two.
    backlog_start_entries, backlog_end_entries : float or None
        Ready backlog at the ends of the first and the last minute.
    in_msg_per_s, out_msg_per_s : float or None
        Published and dispatched.
    cause, limiter : str or None
        Of most verdicts whose windows lie inside, of the later ones where it is a draw.
    causes : dict of str to int
        Windows by cause.
    """

    start_ms: int
    end_ms: int
    minutes: int
    assumed: bool
    rho: float | None
    events_per_min: float | None
    backlog_slope_entries_per_s: float | None
    backlog_start_entries: float | None
    backlog_end_entries: float | None
    in_msg_per_s: float | None
    out_msg_per_s: float | None
    cause: str | None
    limiter: str | None
    causes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Compared:
    """A change with both of its sides."""

    change: LimitChange
    before: Side
    after: Side

    @property
    def text(self) -> str:
        """What is different, in one line; what is not known is a dash."""
        parts = [
            f"{name} {show(old)} -> {show(new)}"
            for name, show, old, new in (
                ("use/limit", _number, self.before.rho, self.after.rho),
                ("events/min", _number, self.before.events_per_min, self.after.events_per_min),
                ("backlog", _entries, self.before.backlog_end_entries, self.after.backlog_end_entries),
                (
                    "backlog/s",
                    _signed,
                    self.before.backlog_slope_entries_per_s,
                    self.after.backlog_slope_entries_per_s,
                ),
                ("cause", _word, self.before.cause, self.after.cause),
            )
        ]
        sides = [name for name in ("before", "after") if getattr(self, name).assumed]
        return "; ".join(parts) + (f" (limit assumed {' and '.join(sides)})" if sides else "")

    def to_row(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **self.change.to_row(),
            "before": asdict(self.before),
            "after": asdict(self.after),
            "compared": self.text,
        }


def compare(
    changes: Sequence[LimitChange],
    signals: pa.Table,
    verdicts: Iterable[Mapping[str, Any]],
    *,
    span_ms: int = SPAN_MS,
) -> list[Compared]:
    """Add before and after to each change.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows with :data:`SIGNAL_COLUMNS` of these subscriptions, from ``span_ms`` before a change to as much after it.
    verdicts : iterable of mappings
        Rows with :data:`VERDICT_COLUMNS`.
    span_ms : int
        How far is looked on each side.

    Returns
    -------
    list of Compared
        In the order of the changes.
    """
    minutes = {key: MinuteColumns(rows) for key, rows in by_subscription(signals)}
    said: dict[SubscriptionKey, list[Mapping[str, Any]]] = {}
    for row in verdicts:
        said.setdefault(SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES)), []).append(row)
    found = []
    for change in changes:
        columns, rows = minutes.get(change.key), said.get(change.key, [])
        sides = [
            _side(change, columns, rows, *_where(change.key, columns, *spans))
            for spans in _spans(change, span_ms)
        ]
        found.append(Compared(change, *sides))
    return found


_Span = tuple[int, int]


def _spans(change: LimitChange, span_ms: int) -> tuple[tuple[_Span, _Span], tuple[_Span, _Span]]:
    """Before and after: where the limit is known, and where it is only assumed."""
    old, new = change.old_until_ms, change.new_from_ms
    start_ms = max(old - span_ms, change.previous_ms or 0)
    before = (start_ms, old), (old, min(old + span_ms, new))
    after = (
        (new, min(new + span_ms, change.next_until_ms or new + span_ms)),
        (new, min(new + span_ms, change.next_from_ms or new + span_ms)),
    )
    return before, after


def _where(
    key: SubscriptionKey, columns: MinuteColumns | None, known: _Span, assumed: _Span
) -> tuple[int, int, bool]:
    """The span to be measured, and whether the limit is assumed in it."""
    if columns is not None and _window(key, columns, *known) is None and _window(key, columns, *assumed):
        return *assumed, True
    return *known, False


def _side(
    change: LimitChange,
    columns: MinuteColumns | None,
    verdicts: Sequence[Mapping[str, Any]],
    start_ms: int,
    end_ms: int,
    assumed: bool,
) -> Side:
    cause, limiter, causes = _verdict(verdicts, start_ms, end_ms)
    nothing = dict.fromkeys(
        (
            "rho",
            "events_per_min",
            "backlog_slope_entries_per_s",
            "backlog_start_entries",
            "backlog_end_entries",
            "in_msg_per_s",
            "out_msg_per_s",
        )
    )
    window = None if columns is None else _window(change.key, columns, start_ms, end_ms)
    if window is None:
        return Side(start_ms, end_ms, 0, assumed, **nothing, cause=cause, limiter=limiter, causes=causes)
    events = window.known(f"throttled_{change.unit}_events_{change.level}_delta")
    growth = window.growth("backlog_ready_entries")
    return Side(
        start_ms=start_ms,
        end_ms=end_ms,
        minutes=window.high - window.low,
        assumed=assumed,
        rho=window.mean(f"rho_{change.level}_{change.unit}"),
        events_per_min=sum(events) / len(events) if events else None,
        backlog_slope_entries_per_s=None if growth is None else growth / window.length_s,
        backlog_start_entries=window.first("backlog_ready_entries"),
        backlog_end_entries=window.last("backlog_ready_entries"),
        in_msg_per_s=window.rate("in_msg_delta"),
        out_msg_per_s=window.rate("out_msg_delta"),
        cause=cause,
        limiter=limiter,
        causes=causes,
    )


def _window(key: SubscriptionKey, columns: MinuteColumns, start_ms: int, end_ms: int) -> Window | None:
    """The whole minutes inside a span."""
    first_ms, last_ms = start_ms + -start_ms % MINUTE_MS, end_ms - end_ms % MINUTE_MS
    low = bisect_left(columns["minute_ms"], first_ms)
    high = bisect_left(columns["minute_ms"], last_ms, low)
    return Window(key, first_ms, last_ms, columns, low, high) if low < high else None


def _verdict(
    verdicts: Sequence[Mapping[str, Any]], start_ms: int, end_ms: int
) -> tuple[str | None, str | None, dict[str, int]]:
    inside = [
        row for row in verdicts if start_ms <= row["window_start_ms"] and row["window_end_ms"] <= end_ms
    ]
    inside = sorted(inside, key=lambda row: row["window_start_ms"])
    counts = Counter((row["cause"], row["limiter"]) for row in inside)
    if not counts:
        return None, None, {}
    latest = {(row["cause"], row["limiter"]): row["window_start_ms"] for row in inside}
    cause, limiter = max(counts, key=lambda one: (counts[one], latest[one]))
    causes = Counter(row["cause"] for row in inside)
    return cause, limiter, dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))


def _number(value: float | None) -> str:
    return "-" if value is None else number(value)


def _entries(value: float | None) -> str:
    return "-" if value is None else entries(value)


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{'+' if value > 0 else ''}{number(value)}"


def _word(value: str | None) -> str:
    return value or "-"
