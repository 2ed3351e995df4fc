"""Answers of different engines in one form. In: matrices of ours, of the twin, of Prometheus. Out: what differs."""

from __future__ import annotations

import math
import struct

import numpy as np

from tests.naive.promql import NaiveSeries
from throttlescope.transforms.promql.matrix import StepMatrix, Steps
from throttlescope.transforms.promql.source import MemorySource, Series

Answer = dict[frozenset, dict[int, float]]


def source_of(series: list[NaiveSeries]) -> MemorySource:
    """The twin's series as a sample source."""
    return MemorySource(
        Series(
            one.labels,
            np.array([t for t, _ in one.samples], np.int64),
            np.array([v for _, v in one.samples], np.float64),
            np.array(one.stale_ms, np.int64),
        )
        for one in series
    )


def answer_of(value: StepMatrix | np.ndarray, steps: Steps) -> Answer:
    """Our answer: per label set, step to value; a scalar is a series without labels."""
    steps_ms = steps.times_ms.tolist()
    if isinstance(value, np.ndarray):
        return {frozenset(): dict(zip(steps_ms, value.tolist(), strict=True))}
    return {
        frozenset(labels): {step: float(v) for step, v, p in zip(steps_ms, row, here, strict=True) if p}
        for labels, row, here in zip(value.labels, value.values, value.present, strict=True)
        if here.any()
    }


def twin_answer_of(value, steps: Steps) -> Answer:
    """The twin's answer."""
    return (
        {frozenset(): dict(zip(steps.times_ms.tolist(), value, strict=True))}
        if isinstance(value, list)
        else value
    )


def server_answer_of(result: list[dict]) -> Answer:
    """Prometheus' answer to a range query, as its API returns it."""
    return {
        frozenset(one["metric"].items()): {round(t * 1000): float(v) for t, v in one["values"]}
        for one in result
        if one.get("values")
    }


def difference(ours: Answer, theirs: Answer, relative: float = 0.0) -> str | None:
    """The first difference in words, None where the answers are equal.

    ``relative`` 0 means equal bits, apart from the bits of NaN.
    """
    if ours.keys() != theirs.keys():
        return f"series: only ours {_show(ours.keys() - theirs.keys())}, only theirs {_show(theirs.keys() - ours.keys())}"
    for labels, row in ours.items():
        other = theirs[labels]
        if row.keys() != other.keys():
            return f"{_show([labels])}: steps only ours {row.keys() - other.keys()}, only theirs {other.keys() - row.keys()}"
        for step, value in row.items():
            if not _same(value, other[step], relative):
                return f"{_show([labels])} at {step}: ours {value!r}, theirs {other[step]!r}"
    return None


def _same(a: float, b: float, relative: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if struct.pack("<d", a) == struct.pack("<d", b):
        return True
    return relative > 0 and (a == b or math.isclose(a, b, rel_tol=relative, abs_tol=0))


def _show(keys) -> list[dict]:
    return [dict(sorted(key)) for key in keys]
