"""Sort functions of PromQL (instant queries only). In: a step matrix of one step. Out: its rows, sorted.

A range query has no order by value: its series are sorted by labels, so the rows stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cmp_to_key

import numpy as np

from throttlescope.transforms.promql.matrix import StepMatrix
from throttlescope.transforms.promql.semantics import Labels

_CHUNKS = re.compile(r"[0-9]+|[^0-9]+")
_INT64_MAX = 2**63 - 1
_FEW = 12


def ordered(function: str, vector: StepMatrix, labels: Sequence[str]) -> StepMatrix:
    """``sort``, ``sort_by_label`` and, with ``_desc``, the other way round."""
    descending = function.endswith("_desc")
    if function.startswith("sort_by_label"):
        return sorted_by_label(vector, labels, descending=descending)
    return sorted_by_value(vector, descending=descending)


def sorted_by_value(vector: StepMatrix, *, descending: bool) -> StepMatrix:
    """By value, NaN last either way; equal values stay in the order of their series."""
    if vector.steps != 1:
        return vector
    values = vector.values[:, 0]
    return vector.take(np.lexsort((-values if descending else values, np.isnan(values))))


def sorted_by_label(vector: StepMatrix, names: Sequence[str], *, descending: bool) -> StepMatrix:
    """By the values of some labels in natural order, then by all labels.

    Natural order knows no place for a missing label, nor for numbers that differ by leading zeros only. Up to twelve series
    are therefore put in their places one by one, as Go's sort does.
    """
    if vector.steps != 1:
        return vector
    keys = [[dict(labels).get(name, "") for name in names] for labels in vector.labels]
    sign = -1 if descending else 1

    def compare(row: int, other: int) -> int:
        for left, right in zip(keys[row], keys[other], strict=True):
            if left != right:
                return -sign if natural_before(left, right) else sign
        return sign * compare_labels(vector.labels[row], vector.labels[other])

    if len(keys) > _FEW:
        return vector.take(sorted(range(len(keys)), key=cmp_to_key(compare)))
    rows: list[int] = []
    for row in range(len(keys)):
        at = len(rows)
        while at > 0 and compare(row, rows[at - 1]) < 0:
            at -= 1
        rows.insert(at, row)
    return vector.take(rows)


def compare_labels(left: Labels, right: Labels) -> int:
    """-1, 0 or 1: by the first name or value that differs, in bytes; then the shorter one first."""
    key, other = ([part.encode() for pair in labels for part in pair] for labels in (left, right))
    return (key > other) - (key < other)


def natural_before(left: str, right: str) -> bool:
    """Whether ``left`` comes before ``right`` where runs of digits count as numbers."""
    ours, theirs = _CHUNKS.findall(left), _CHUNKS.findall(right)
    for i, (chunk, other) in enumerate(zip(ours, theirs, strict=False)):
        number, other_number = _number(chunk), _number(other)
        if number is not None and other_number is not None:
            if number != other_number:
                return number < other_number
        elif chunk != other:
            return chunk.encode() < other.encode()
        if i == len(ours) - 1:
            return True
        if i == len(theirs) - 1:
            return False
    return False


def _number(chunk: str) -> int | None:
    """The number that a run of digits is, where it fits an int64."""
    if not "0" <= chunk[0] <= "9" or len(chunk.lstrip("0")) > 19:
        return None
    number = int(chunk)
    return number if number <= _INT64_MAX else None
