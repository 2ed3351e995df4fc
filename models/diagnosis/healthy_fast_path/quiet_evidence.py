"""Evidence of quiet windows. In: what a screen found. Out: the columns of all their evidence rows, flat.

The twin of :func:`~throttlescope.models.diagnosis.evidence.weigh` for *healthy*. Texts are written by the symptoms' own
functions, once for each that differs; a text is used for every window whose numbers round to the same words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from throttlescope.ingest.contracts.results import EVIDENCE
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.healthy_fast_path.limiters import FastReading
from throttlescope.models.diagnosis.healthy_fast_path.quiet import Screened
from throttlescope.models.diagnosis.symptoms.backlog import not_growing_finding, waiting_finding
from throttlescope.models.diagnosis.symptoms.limiters import NO_EVENT, NO_LIMIT, events_finding, use_finding
from throttlescope.models.messages.catalogue import Message
from throttlescope.models.messages.stored import packed

_BACKLOG = "pulsar_subscription_back_log_no_delayed"
#: Places of one window's rows; the counters' come last, in the order of their events.
_PRESENT, _GROWING, _LIMIT, _COUNTERS, _PLACES = 0, 1, 2, 3, 16

#: Answers of symptoms that quiet windows show, or do not have: every other one that bears on *healthy* makes a window be left.
SHOWN = (
    ("backlog_present", False),
    ("backlog_growing", False),
    ("limiter_at_limit", True),
    ("limiter_at_limit", False),
)


@dataclass
class _Texts:
    """Distinct texts, by number."""

    found: list[str | None] = field(default_factory=lambda: [None])

    def add(self, texts: list[str]) -> int:
        """The number of the first of some new texts."""
        first = len(self.found)
        self.found += texts
        return first

    def distinct(self, parts: list[np.ndarray], write: Callable[[int], str]) -> np.ndarray:
        """The text of every row: rows with the same ``parts`` have the same, which is written for the first of them."""
        codes, firsts = _groups(parts)
        return codes + self.add([write(int(i)) for i in firsts])

    def take(self, numbers: np.ndarray) -> pa.Array:
        return pa.array(self.found, pa.string()).take(pa.array(numbers))


#: Findings that were written before, with what renders them in other languages, by what they say: the same few thousand all day.
_WRITTEN: dict[tuple[str, bytes], tuple[str, str]] = {}
_MOST_WRITTEN = 100_000


@dataclass
class _Findings:
    """Distinct findings of some windows, by number: their texts, and what renders them in other languages."""

    texts: _Texts = field(default_factory=_Texts)
    messages: _Texts = field(default_factory=_Texts)

    def add(self, found: list[tuple[str, str]]) -> int:
        """The number of the first of some new findings."""
        self.messages.add([message for _, message in found])
        return self.texts.add([text for text, _ in found])

    def same(self, found: Message, count: int) -> np.ndarray:
        """The same finding for so many rows."""
        return np.full(count, self.add([(found.stored, packed(found))]))

    def distinct(self, of: str, parts: list[np.ndarray], find: Callable[[int], Message]) -> np.ndarray:
        """The finding of every row: rows ``of`` the same thing with the same ``parts`` have the same, in every call of this process."""
        codes, firsts = _groups(parts)
        says = _bytes_of_rows([part[firsts] for part in parts])
        found = [
            _written(of, values, lambda i=i: find(int(i))) for i, values in zip(firsts, says, strict=True)
        ]
        return codes + self.add(found)


def _written(of: str, values: bytes, find: Callable[[], Message]) -> tuple[str, str]:
    found = _WRITTEN.get((of, values))
    if found is None:
        message = find()
        found = message.stored, packed(message)
        if len(_WRITTEN) >= _MOST_WRITTEN:
            _WRITTEN.clear()
        _WRITTEN[of, values] = found
    return found


@dataclass
class _Rows:
    """Some rows of evidence: of which window each is, and what it says. Text 0 is NULL."""

    window: np.ndarray
    place: np.ndarray | int
    symptom: str
    weight: str
    text: np.ndarray | int
    value: np.ndarray | float = np.nan
    threshold: np.ndarray | float = np.nan
    unit: str | None = None
    at_ms: np.ndarray | None = None
    promql: np.ndarray | int = 0


@dataclass
class _QuietWindows:
    """The quiet windows of a frame, one after the other."""

    found: Screened
    subscription: np.ndarray
    start: np.ndarray
    findings: _Findings = field(default_factory=_Findings)
    queries: _Texts = field(default_factory=_Texts)

    @property
    def end_ms(self) -> np.ndarray:
        grid = self.found.frame.grid
        return grid.starts_ms[self.start] + grid.length_ms

    def of(self, values: np.ndarray) -> np.ndarray:
        return values[self.subscription, self.start]

    def per_subscription(self, rows: np.ndarray, query: Callable[..., str]) -> np.ndarray:
        """A query for each row, made once for each subscription that has one."""
        keys = self.found.frame.keys
        return self.queries.distinct(
            [self.subscription[rows]], lambda i: query(keys[self.subscription[rows[i]]])
        )


def evidence(
    found: Screened, subscription: np.ndarray, start: np.ndarray
) -> tuple[pa.ListArray, pa.ListArray]:
    """The evidence of some quiet windows.

    Parameters
    ----------
    subscription, start : array of int
        Which windows: places in the screen's arrays.

    Returns
    -------
    evidence, messages : pyarrow.ListArray
        One list per window each, of the types of ``verdicts``: its rows, and what renders their sentences.
    """
    quiet = _QuietWindows(found, subscription, start)
    parts = [*_backlog(quiet), *_limit(quiet), *_counters(quiet)]
    window = np.concatenate([part.window for part in parts])
    place = np.concatenate([np.broadcast_to(part.place, len(part.window)) for part in parts])
    order = np.argsort(window * _PLACES + place, kind="stable")
    words = _Texts()

    def text(name: str) -> pa.Array:
        numbers = [
            np.full(len(part.window), words.add([getattr(part, name)]) if getattr(part, name) else 0)
            for part in parts
        ]
        return words.take(np.concatenate(numbers)[order])

    def spread(name: str) -> np.ndarray:
        return np.concatenate([np.broadcast_to(getattr(part, name), len(part.window)) for part in parts])[
            order
        ]

    timeless = np.concatenate([np.full(len(part.window), part.at_ms is None) for part in parts])[order]
    at_ms = np.concatenate(
        [np.zeros(len(part.window), np.int64) if part.at_ms is None else part.at_ms for part in parts]
    )[order]
    text_number = spread("text")
    columns = {
        "symptom": text("symptom"),
        "weight": text("weight"),
        "text": quiet.findings.texts.take(text_number),
        "value": _floats(spread("value")),
        "threshold": _floats(spread("threshold")),
        "unit": text("unit"),
        "at_ms": pa.array(at_ms, pa.int64(), mask=timeless),
        "promql": quiet.queries.take(spread("promql")),
    }
    rows = pa.StructArray.from_arrays([columns[f.name] for f in EVIDENCE], fields=list(EVIDENCE))
    offsets = np.zeros(len(subscription) + 1, np.int32)
    np.cumsum(np.bincount(window, minlength=len(subscription)), out=offsets[1:])
    messages = quiet.findings.messages.take(text_number)
    return (
        pa.ListArray.from_arrays(pa.array(offsets), rows, type=pa.list_(EVIDENCE)),
        pa.ListArray.from_arrays(pa.array(offsets), messages, type=pa.list_(pa.string())),
    )


def _backlog(quiet: _QuietWindows) -> list[_Rows]:
    found, findings = quiet.found, quiet.findings
    every = np.arange(len(quiet.subscription))
    waiting, publish = quiet.of(found.waiting_entries), quiet.of(found.publish_entry_rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        wait_s = np.where(publish != 0, waiting / publish, np.nan)
    # Under a second it is not shown; a long wait is shown rounded, and its second may be on either side of a bound.
    wait_s = np.where(wait_s >= 1, np.where(wait_s < 1e6, np.rint(wait_s), wait_s), -1.0)
    query = quiet.per_subscription(every, lambda key: promql.gauge(key, _BACKLOG))
    present = _Rows(
        every, _PRESENT, "backlog_present", "for",
        findings.distinct(
            "waiting", [np.rint(waiting), wait_s],
            lambda i: waiting_finding(float(waiting[i]), _or_none(publish[i])),
        ),
        waiting, quiet.of(found.floor_entries), "entries", quiet.end_ms, query,
    )  # fmt: skip
    growth = quiet.of(found.growth_entries)
    known = np.flatnonzero(~np.isnan(growth))
    growth, length_s = growth[known], found.frame.grid.length_s
    growing = _Rows(
        known, _GROWING, "backlog_growing", "for",
        findings.distinct(f"growth in {length_s} s", [np.rint(growth), growth > 0], lambda i: not_growing_finding(float(growth[i]), length_s)),
        growth, quiet.of(found.growth_threshold_entries)[known], "entries", quiet.end_ms[known], query[known],
    )  # fmt: skip
    return [present, growing]


def _limit(quiet: _QuietWindows) -> list[_Rows]:
    """How much is used of the limit that is used most."""
    readings = quiet.found.readings
    rhos = np.stack([np.where(quiet.of(r.measured), quiet.of(r.rho), -np.inf) for r in readings])
    top = rhos.argmax(axis=0)
    used = rhos.max(axis=0) > -np.inf
    all_observed = np.logical_and.reduce([quiet.of(reading.observed) for reading in readings])
    none = np.flatnonzero(~used & all_observed)
    rows = [
        _Rows(
            none, _LIMIT, "limiter_at_limit", "neutral", quiet.findings.same(NO_LIMIT, len(none)),
            threshold=t.RHO_AT_LIMIT, unit="use / limit",
        )
    ]  # fmt: skip
    for number, reading in enumerate(readings):
        of = np.flatnonzero(used & (top == number))
        if len(of):
            rows.append(_use(quiet, reading, of))
    return rows


def _use(quiet: _QuietWindows, reading: FastReading, of: np.ndarray) -> _Rows:
    at = quiet.subscription[of], quiet.start[of]
    rho, own_rho = reading.rho[at], np.fmin(reading.own_rho[at], reading.rho[at])
    own_rho = np.where(np.isnan(reading.own_rho[at]), np.nan, own_rho)
    text = quiet.findings.distinct(
        f"use of {reading.level} {reading.unit}",
        [reading.limit[at], reading.period_s[at], _percent(rho), _percent(own_rho)],
        lambda i: use_finding(reading.one((at[0][i], at[1][i]))),
    )
    return _Rows(
        of, _LIMIT, "limiter_at_limit", "neutral", text, rho,
        np.where(reading.near[at], t.RHO_NEAR_LIMIT, t.RHO_AT_LIMIT), "use / limit",
        reading.rho_at_ms[at], _use_query(quiet, reading, of),
    )  # fmt: skip


def _use_query(quiet: _QuietWindows, reading: FastReading, of: np.ndarray) -> np.ndarray:
    frame = quiet.found.frame
    length_ms = frame.grid.length_ms

    def query(key, broker=None):
        return promql.use(key, reading.level, reading.unit, broker, length_ms)

    if reading.level != "broker":
        return quiet.per_subscription(of, query)
    codes, brokers = frame.words("broker")
    broker = quiet.of(frame.last(codes))[of]
    known = ~np.isnan(broker)
    queries = np.zeros(len(of), np.int64)
    queries[known] = quiet.queries.distinct(
        [broker[known]], lambda i: query(frame.keys[0], brokers[int(broker[known][i])])
    )
    return queries


def _counters(quiet: _QuietWindows) -> list[_Rows]:
    """What the counters of limiters that throttled reads show; otherwise that none did."""
    readings, frame = quiet.found.readings, quiet.found.frame
    length_ms = frame.grid.length_ms
    events = np.stack([quiet.of(reading.events) for reading in readings])
    ticking = events > 0
    none = np.flatnonzero(~ticking.any(axis=0) & ~np.isnan(events).all(axis=0))
    rows = [
        _Rows(
            none, _COUNTERS, "throttle_events", "neutral", quiet.findings.same(NO_EVENT, len(none)),
            0.0, 0.0, "events", quiet.end_ms[none],
            quiet.per_subscription(none, lambda key: promql.all_events(key, length_ms)),
        )
    ]  # fmt: skip
    # The busiest first; of two that are equal, the first of the closed list.
    rank = np.argsort(np.argsort(-np.where(ticking, events, -np.inf), axis=0, kind="stable"), axis=0)
    for number, reading in enumerate(readings):
        of = np.flatnonzero(ticking[number])
        if not len(of):
            continue
        at = quiet.subscription[of], quiet.start[of]
        per_s, limited = reading.events_per_s[at], ~np.isnan(reading.limit[at])
        text = quiet.findings.distinct(
            f"events of {reading.level} {reading.unit}",
            [
                reading.events[at],
                per_s,
                reading.period_s[at],
                reading.used_up[at],
                reading.sparse[at],
                per_s >= reading.wanted_per_s[at],
                reading.informative[at],
                limited,
                reading.old[at] & reading.observed[at],
            ],
            lambda i, reading=reading, at=at: events_finding(reading.one((at[0][i], at[1][i]))),
        )
        query = quiet.per_subscription(
            of, lambda key, reading=reading: promql.events(key, reading.level, reading.unit, length_ms)
        )
        rows.append(
            _Rows(
                of, _COUNTERS + rank[number][of], "throttle_events", "neutral", text, per_s,
                reading.wanted_per_s[at], "events/s", reading.events_at_ms[at], query,
            )
        )  # fmt: skip
    return rows


def _groups(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose parts are the same, to the bit: the group of each row, and the first row of each group."""
    codes = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        bits = np.ascontiguousarray(part, np.float64).view(np.int64)
        more, distinct = pd.factorize(bits)
        codes, _ = pd.factorize(codes * len(distinct) + more)
    if not len(codes):
        return codes, codes
    firsts = np.full(codes.max() + 1, len(codes), np.int64)
    np.minimum.at(firsts, codes, np.arange(len(codes)))
    return codes, firsts


def _bytes_of_rows(parts: list[np.ndarray]) -> list[bytes]:
    """What the parts of a row are, to the bit."""
    found = np.column_stack([np.asarray(part, np.float64) for part in parts])
    packed_rows, length = found.tobytes(), found.itemsize * found.shape[1]
    return [packed_rows[i : i + length] for i in range(0, len(packed_rows), length)]


def _percent(share: np.ndarray) -> np.ndarray:
    """What decides how :func:`~throttlescope.models.messages.units.share` says a share."""
    percent = 100 * share
    rounded = np.rint(percent)
    rounded = np.where((percent > 0) & (percent < 1), 0.5, rounded)
    return np.where((percent > 99) & (percent < 100), 99.5, rounded)


def _floats(values: np.ndarray) -> pa.Array:
    return pa.array(values, pa.float64(), mask=np.isnan(values))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
