"""Aggregations. In: a step matrix, a parameter per step. Out: one row per group of labels, or some of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import xxhash

from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.annotations import Annotations, TextPlace
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, empty, grouped, masked
from throttlescope.transforms.promql.operators.elements import larger, smaller
from throttlescope.transforms.promql.operators.wording import plain, short
from throttlescope.transforms.promql.semantics import Labels, group_key, is_label_name, shown

_FUNCTIONS = {
    "sum": kernels.SUM,
    "avg": kernels.AVG,
    "count": kernels.SERIES_COUNT,
    "min": kernels.MIN,
    "max": kernels.MAX,
    "group": kernels.GROUP,
    "stddev": kernels.STDDEV,
    "stdvar": kernels.STDVAR,
}


def aggregate(op: str, vector: StepMatrix, labels: tuple[str, ...], without: bool) -> StepMatrix:
    """Aggregate over the series of each group; a group without any series at a step has no value there."""
    if not vector.labels:
        return empty(vector.steps)
    groups, group_of = grouped(vector, labels, without)
    rows, bounds = rows_of_groups(group_of, len(groups))
    values, present = kernels.aggregate(_FUNCTIONS[op], vector.values, vector.present, rows, bounds)
    return StepMatrix(groups, values, present)


def quantile(
    vector: StepMatrix,
    quantiles: StepScalar,
    labels: tuple[str, ...],
    without: bool,
    annotations: Annotations,
    place: TextPlace | None = None,
) -> StepMatrix:
    """A quantile of each group; ``quantiles`` may change from step to step.

    Annotations are about the whole query: the largest and the smallest quantile, and NaN.
    """
    low, high = least(quantiles), most(quantiles)
    for wrong, value in ((np.isnan(quantiles).any(), np.nan), (high > 1, high), (low < 0, low)):
        if wrong:
            annotations.warn(f"quantile value should be between 0 and 1, got {short(value)}", place)
    if not vector.labels:
        return empty(vector.steps)
    groups, group_of = grouped(vector, labels, without)
    rows, bounds = rows_of_groups(group_of, len(groups))
    values, present = kernels.quantile_across(vector.values, vector.present, rows, bounds, quantiles)
    return StepMatrix(groups, values, present)


def count_values(
    label: str, vector: StepMatrix, labels: tuple[str, ...], without: bool, budget: Budget
) -> StepMatrix:
    """How many series of each group have which value, the value as a label.

    Raises
    ------
    QueryError
        The label's name is empty or no UTF-8.
    TooManySamplesError
        There are more values than the budget holds.
    """
    if not is_label_name(label):
        raise QueryError(f'invalid label name "{shown(label)}"')
    names = frozenset(labels if without else (*labels, label))
    # Per group the steps at which one of its series has the value, once per series.
    steps_of: dict[Labels, list[np.ndarray]] = {}
    for row_labels, values, present in zip(vector.labels, vector.values, vector.present, strict=True):
        rest = [pair for pair in row_labels if pair[0] != label]
        steps = np.flatnonzero(present)
        for value, some in _by_value(values[steps], steps):
            key = group_key(tuple(sorted([*rest, (label, plain(value))])), names, without)
            steps_of.setdefault(key, []).append(some)
    budget.hold(len(steps_of) * vector.steps)
    counts = np.zeros((len(steps_of), vector.steps))
    for row, parts in enumerate(steps_of.values()):
        np.add.at(counts[row], np.concatenate(parts), 1)
    return StepMatrix(tuple(steps_of), np.where(counts > 0, counts, np.nan), counts > 0)


def _by_value(values: np.ndarray, steps: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """The steps of each value; 0 and -0 are two values, all NaN are one."""
    bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
    distinct, value_of = np.unique(bits, return_inverse=True)
    order = np.argsort(value_of, kind="stable")
    ends = np.cumsum(np.bincount(value_of))[:-1]
    return list(zip(distinct.view(np.float64).tolist(), np.split(steps[order], ends), strict=True))


# -- elements that stay as they are -------------------------------------------------------------


def chosen(
    op: str,
    vector: StepMatrix,
    parameter: StepScalar,
    labels: tuple[str, ...],
    without: bool,
    annotations: Annotations,
    place: TextPlace | None = None,
) -> StepMatrix:
    """``topk``, ``bottomk``, ``limitk`` and ``limit_ratio``: some elements of each group, with all their labels.

    Among equal values, and for ``limitk``, series come in the order of their labels (Prometheus: of its storage). Of one
    step, ``topk`` and ``bottomk`` give the elements of a group from the strongest on.

    Raises
    ------
    QueryError
        At a step at which there is anything to choose from the parameter is NaN, or no int64 holds it.
    """
    if op == "limit_ratio":
        return _share(vector, parameter, annotations, place)
    # Where no step requests an element, Prometheus looks at none and does not check the parameter.
    if not vector.labels or most(parameter) < 1:
        return empty(vector.steps)
    counts = _whole(parameter, vector.present.any(axis=0), len(vector.labels))
    groups, group_of = grouped(vector, labels, without)
    if op == "limitk":
        kept = kernels.first_of_groups(vector.present, group_of, len(groups), counts)
        return masked(vector.labels, vector.values, kept)
    rows, bounds = rows_of_groups(group_of, len(groups))
    kept = kernels.strongest(vector.values, vector.present, rows, bounds, counts, op == "topk")
    if vector.steps != 1:
        return masked(vector.labels, vector.values, kept)
    rows = np.flatnonzero(kept[:, 0])
    values = vector.values[rows, 0]
    order = np.lexsort((-values if op == "topk" else values, np.isnan(values), group_of[rows]))
    return vector.take(rows[order])


def _whole(parameter: StepScalar, needed: np.ndarray, series: int) -> np.ndarray:
    wrong = needed & ~((parameter >= -(2.0**63)) & (parameter < 2.0**63))
    if wrong.any():
        raise QueryError(f"Scalar value {short(float(parameter[wrong][0]))} overflows int64")
    return np.trunc(np.clip(np.nan_to_num(parameter), 0, series)).astype(np.int64)


def _share(
    vector: StepMatrix, ratios: StepScalar, annotations: Annotations, place: TextPlace | None
) -> StepMatrix:
    low, high = least(ratios), most(ratios)
    if low == high == 0:
        return empty(vector.steps)
    for wrong, value, bound in ((high > 1, high, "1"), (low < -1, low, "-1")):
        if wrong:
            annotations.warn(
                f"ratio value should be between -1 and 1, got {short(value)}, capping to {bound}", place
            )
    if (vector.present.any(axis=0) & np.isnan(ratios)).any():
        raise QueryError("Ratio value NaN is NaN")
    ratios = np.clip(ratios, -1, 1)
    places = (np.array([label_hash(labels) for labels in vector.labels], np.uint64) / 2.0**64)[:, np.newaxis]
    # A negative ratio selects the complement: the elements that the ratio 1 + r would not select.
    inside = np.where(ratios >= 0, places < ratios, places >= 1.0 + ratios)
    return masked(vector.labels, vector.values, vector.present & inside & (ratios != 0))


def label_hash(labels: Labels) -> int:
    """Prometheus' hash of a label set (``labels_stringlabels.go``): of all names and values, each behind its length."""
    data = bytearray()
    for pair in labels:
        for text in pair:
            part = text.encode("utf-8", "surrogateescape")
            data += bytes([len(part)]) if len(part) < 255 else b"\xff" + len(part).to_bytes(3, "little")
            data += part
    return xxhash.xxh64_intdigest(bytes(data))


# -- parameters and groups ------------------------------------------------------------------------


def most(parameter: StepScalar) -> float:
    """The largest value that a parameter has at any step, by Go's rules for NaN."""
    return _over_steps(parameter, larger)


def least(parameter: StepScalar) -> float:
    """The smallest value, by the same rules."""
    return _over_steps(parameter, smaller)


def _over_steps(parameter: StepScalar, wins: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    numbers = parameter[~np.isnan(parameter)]
    if not len(numbers):
        return math.nan
    found = numbers.max() if wins is larger else numbers.min()
    return float(
        wins(found, parameter[np.isnan(parameter)][:1]).item() if len(numbers) < len(parameter) else found
    )


def rows_of_groups(group_of: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows group by group, and where each group begins among them."""
    rows = np.argsort(group_of, kind="stable")
    return rows, np.concatenate([[0], np.cumsum(np.bincount(group_of, minlength=groups))])
