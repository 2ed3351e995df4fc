"""Operators with a vector. In: step matrices and scalars. Out: a step matrix.

Prometheus matches at each step. Here series are matched once, as pairs of rows whose keys agree; what Prometheus refuses
at a step is found in the presence of those pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, empty, masked, merged, show
from throttlescope.transforms.promql.operators.elements import calculate, compare
from throttlescope.transforms.promql.semantics import Labels, drop_name, match_key, matched_labels


@dataclass(frozen=True, eq=False)
class OneSide:
    """What a match over some of the series leaves open: whether its one side is repeated while its many side is there.

    Attributes
    ----------
    many_present, repeated : ndarray, bool
        The steps at which the many side has any element, and those at which a key has several on the one side.
    error : QueryError or None
        What to raise where both meet; None where nothing is repeated.
    """

    many_present: np.ndarray
    repeated: np.ndarray
    error: QueryError | None


def with_scalar(
    op: str, vector: StepMatrix, scalar: StepScalar, *, scalar_left: bool, return_bool: bool
) -> StepMatrix:
    """An operator between each element and the step's scalar.

    A comparison without ``bool`` keeps the elements for which it holds, with the vector's value and name wherever the
    scalar is. Everything else drops the name.
    """
    numbers = np.broadcast_to(scalar, vector.values.shape)
    left, right = (numbers, vector.values) if scalar_left else (vector.values, numbers)
    if op in ast.COMPARISONS and not return_bool:
        return masked(vector.labels, vector.values, vector.present & compare(op, left, right))
    labels = tuple(map(drop_name, vector.labels))
    return merged(masked(labels, calculate(op, left, right), vector.present))


def match(
    op: str,
    left: StepMatrix,
    right: StepMatrix,
    matching: ast.Matching,
    *,
    return_bool: bool,
    leave_open: Callable[[OneSide], None] | None = None,
) -> StepMatrix:
    """An operator between two vectors, one to one or many to one (``VectorBinop`` in engine.go).

    Parameters
    ----------
    leave_open : callable, optional
        Given where these are not all series: it takes what only all of them decide.

    Raises
    ------
    QueryError
        At some step a key has several series on the side that may have one, two series meet the same partner without
        ``group_left`` or ``group_right``, or two results have the same labels.
    """
    swapped = matching.group == "right"
    many, one = (right, left) if swapped else (left, right)
    # A step at which one side is empty gives nothing, not even an error.
    many_present, one_present = many.present.any(axis=0), one.present.any(axis=0)
    active = many_present & one_present
    if not active.any() and leave_open is None:
        return empty(left.steps)
    one_keys = _rows_by_key(one, matching)
    repeated, error = _repeated(one, one_keys, "right" if not swapped else "left", active)
    if error is not None and (repeated & active).any():
        raise error
    if leave_open is not None:
        leave_open(OneSide(many_present, repeated, error))
    many_rows, one_rows, keys = _pairs(many, one_keys, matching)
    if not len(many_rows):
        return empty(left.steps)
    left_rows, right_rows = (one_rows, many_rows) if swapped else (many_rows, one_rows)
    left_values, right_values = left.values[left_rows], right.values[right_rows]
    present = left.present[left_rows] & right.present[right_rows]
    filters = op in ast.COMPARISONS and not return_bool
    if filters:
        values = left_values
        present &= compare(op, left_values, right_values)
    else:
        values = calculate(op, left_values, right_values)
    if matching.group is None:
        _refuse_crowds(many, many_rows, keys, present)
    labels = tuple(
        matched_labels(many.labels[m], one.labels[o], matching, op, return_bool)
        for m, o in zip(many_rows, one_rows, strict=True)
    )
    return merged(masked(labels, values, present))


def set_operation(op: str, left: StepMatrix, right: StepMatrix, matching: ast.Matching) -> StepMatrix:
    """``and``, ``or``, ``unless``: series of the left, or of the right, kept whole at the steps where the rule holds."""
    if op == "or":
        extra = _where_key(right, left, matching, present_there=False)
        return merged(
            StepMatrix(
                left.labels + extra.labels,
                np.concatenate([left.values, extra.values]),
                np.concatenate([left.present, extra.present]),
            )
        )
    return _where_key(left, right, matching, present_there=op == "and")


def _where_key(
    kept: StepMatrix, other: StepMatrix, matching: ast.Matching, *, present_there: bool
) -> StepMatrix:
    """Elements of ``kept`` at the steps where their key exists (or does not) in ``other``."""
    there: dict[Labels, np.ndarray] = {}
    for row, labels in enumerate(other.labels):
        key = match_key(labels, matching)
        there[key] = there[key] | other.present[row] if key in there else other.present[row]
    nowhere = np.zeros(kept.steps, np.bool_)
    present = kept.present.copy()
    for row, labels in enumerate(kept.labels):
        found = there.get(match_key(labels, matching), nowhere)
        present[row] &= found if present_there else ~found
    return masked(kept.labels, kept.values, present)


def _rows_by_key(matrix: StepMatrix, matching: ast.Matching) -> dict[Labels, list[int]]:
    rows: dict[Labels, list[int]] = {}
    for row, labels in enumerate(matrix.labels):
        rows.setdefault(match_key(labels, matching), []).append(row)
    return rows


def _pairs(
    many: StepMatrix, one_keys: dict[Labels, list[int]], matching: ast.Matching
) -> tuple[np.ndarray, np.ndarray, list[Labels]]:
    many_rows, one_rows, keys = [], [], []
    for row, labels in enumerate(many.labels):
        key = match_key(labels, matching)
        for partner in one_keys.get(key, ()):
            many_rows.append(row)
            one_rows.append(partner)
            keys.append(key)
    return np.array(many_rows, np.int64), np.array(one_rows, np.int64), keys


def _repeated(
    one: StepMatrix, keys: dict[Labels, list[int]], side: str, active: np.ndarray
) -> tuple[np.ndarray, QueryError | None]:
    """The steps at which a key has several elements, and an error about one of those keys: one at an active step if any is."""
    repeated = np.zeros(one.steps, np.bool_)
    found: tuple[Labels, list[int]] | None = None
    for key, rows in keys.items():
        if len(rows) < 2:
            continue
        here = one.present[rows].sum(axis=0) > 1
        if here.any() and (found is None or ((here & active).any() and not (repeated & active).any())):
            found = key, rows
        repeated |= here
    if found is None:
        return repeated, None
    key, rows = found
    return repeated, QueryError(
        f"Several series on the {side} side have the same key",
        got=f"{show(one.labels[rows[0]])} and {show(one.labels[rows[1]])} for {show(key)}",
        expected=f"one series per key on the {side} side",
        fix="match on more labels, or aggregate that side to the labels that are matched",
    )


def _refuse_crowds(many: StepMatrix, rows: np.ndarray, keys: list[Labels], present: np.ndarray) -> None:
    """Without ``group_x`` two series of the left may not meet the same partner at one step."""
    seen: dict[Labels, np.ndarray] = {}
    for pair, key in enumerate(keys):
        before = seen.get(key)
        if before is not None and (before & present[pair]).any():
            raise QueryError(
                "Several series on the left side meet the same series on the right",
                got=f"{show(many.labels[rows[pair]])} for {show(key)}",
                expected="one series per key on each side",
                fix="write group_left(...) if many to one is meant",
            )
        seen[key] = present[pair] if before is None else before | present[pair]
