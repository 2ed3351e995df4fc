"""Verdicts of quiet windows. In: rows of ``signals`` and a grid of windows. Out: rows of ``verdicts``, and which windows are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.results import CONTRIBUTING, MISSING_EVIDENCE, VERDICT_MESSAGES
from throttlescope.ingest.core.times import date_of
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes import CAUSE_OF, NO_BACKLOG
from throttlescope.models.diagnosis.healthy_fast_path.frame import AT_ONCE, Frame, WindowGrid, frames
from throttlescope.models.diagnosis.healthy_fast_path.quiet import Screened, screen
from throttlescope.models.diagnosis.healthy_fast_path.quiet_evidence import evidence
from throttlescope.models.diagnosis.verdict import CONFIDENCE_OF_GRADE, RULES_VERSION
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.stored import packed


@dataclass
class FastAnswer:
    """What a screen says of some subscriptions.

    Attributes
    ----------
    verdicts : pyarrow.Table
        Rows of ``verdicts``, sorted by key: the quiet windows.
    left : list of (SubscriptionKey, list of int)
        Starts of the windows (epoch ms) that have minutes and are not quiet.
    """

    verdicts: pa.Table
    left: list[tuple[SubscriptionKey, list[int]]]


def judge(rows: pa.Table, grid: WindowGrid, *, at_once: int = AT_ONCE) -> FastAnswer:
    """Judge the windows of a grid that need no thought.

    Parameters
    ----------
    rows : pyarrow.Table
        Rows of ``signals`` in any order, with at least the columns of :data:`~quiet.COLUMNS`.
    at_once : int
        So many subscriptions are looked at together.
    """
    found = list(answers(rows, grid, at_once=at_once))
    empty = TABLES["verdicts"].loose_schema.empty_table()
    return FastAnswer(
        pa.concat_tables([empty, *(answer.verdicts for answer in found)]),
        [left for answer in found for left in answer.left],
    )


def answers(rows: pa.Table, grid: WindowGrid, *, at_once: int = AT_ONCE) -> Iterator[FastAnswer]:
    """The same, some subscriptions at a time, in the order of their keys."""
    laid = frames(rows, grid, at_once)
    # An hour of a large fleet is hundreds of megabytes; rows in no order are copied once, to be in order.
    del rows
    for frame in laid:
        found = screen(frame)
        quiet = found.quiet
        rest = found.there & ~quiet
        left = [(frame.keys[i], grid.starts_ms[rest[i]].tolist()) for i in np.flatnonzero(rest.any(axis=1))]
        yield FastAnswer(_verdicts(found, *np.nonzero(quiet)), left)


def _verdicts(found: Screened, subscription: np.ndarray, start: np.ndarray) -> pa.Table:
    frame, grid, count = found.frame, found.frame.grid, len(subscription)
    schema = TABLES["verdicts"].loose_schema

    def same(value: str | float) -> pa.Array:
        return pa.repeat(pa.scalar(value), count)

    def empty_lists(type_: pa.StructType) -> pa.ListArray:
        offsets = pa.array(np.zeros(count + 1, np.int32))
        return pa.ListArray.from_arrays(offsets, pa.array([], type_), type=pa.list_(type_))

    def floats(values: np.ndarray) -> pa.Array:
        values = values[subscription, start]
        return pa.array(values, mask=np.isnan(values))

    starts_ms = grid.starts_ms[start]
    weighed, messages = evidence(found, subscription, start)
    columns = _keys(frame, subscription) | {
        "window_start_ms": pa.array(starts_ms),
        "window_end_ms": pa.array(starts_ms + grid.length_ms),
        "side": same(CAUSE_OF[NO_BACKLOG.cause].side),
        "cause": same(NO_BACKLOG.cause),
        "confidence": same(CONFIDENCE_OF_GRADE[NO_BACKLOG.grade]),
        "evidence": weighed,
        "missing_evidence": empty_lists(MISSING_EVIDENCE),
        "naive_side": _naive_sides(found, subscription, start),
        "rules_version": same(RULES_VERSION),
        "backlog_entries": floats(found.ready_entries),
        "backlog_growth_entries": floats(found.growth_entries),
        "why": same(NO_BACKLOG.because.stored),
        "contributing": empty_lists(CONTRIBUTING),
        "messages": _messages(messages),
        "date": pa.array([date_of(int(ms)) for ms in grid.starts_ms]).take(pa.array(start)),
    }
    # A quiet window has no limiter and no variant, and what the consumers can do is not looked for.
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _messages(evidence: pa.ListArray) -> pa.StructArray:
    """What renders the sentences of quiet windows: those of their evidence, and one rule for all."""
    count = len(evidence)
    none = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
    why = pa.repeat(pa.scalar(packed(NO_BACKLOG.because)), count)
    columns = {"evidence": evidence, "missing_evidence": none, "contributing": none, "why": why}
    return pa.StructArray.from_arrays(
        [columns[f.name] for f in VERDICT_MESSAGES], fields=list(VERDICT_MESSAGES)
    )


def _keys(frame: Frame, subscription: np.ndarray) -> dict[str, pa.Array]:
    schema, place = TABLES["verdicts"].loose_schema, pa.array(subscription)
    return {
        name: pa.array([key[i] for key in frame.keys], schema.field(name).type).take(place)
        for i, name in enumerate(SUBSCRIPTION_KEY_NAMES)
    }


def _naive_sides(found: Screened, subscription: np.ndarray, start: np.ndarray) -> pa.Array:
    events = np.logical_or.reduce([reading.events > 0 for reading in found.readings])
    sides = np.where(events, 1, 2)
    sides[found.ready_entries <= t.NAIVE_BACKLOG_ENTRIES] = 0
    names = pa.array(["neither", "throttle", "consumer_capacity"])
    return names.take(pa.array(sides[subscription, start]))
