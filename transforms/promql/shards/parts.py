"""Results of shards. In: a cut and the samples of one shard; later, the results of all. Out: the value of the cut.

A sum carries the error of its additions with it until all shards are added, so that it is as exact as one sum over all series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.annotations import Annotation
from throttlescope.transforms.promql.evaluate import PlanEvaluation, Value
from throttlescope.transforms.promql.matrix import StepMatrix, empty, grouped, in_order
from throttlescope.transforms.promql.open_checks import Left
from throttlescope.transforms.promql.plan import SelectRange
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.shards.cut import Cut
from throttlescope.transforms.promql.source import Series


@dataclass(frozen=True, eq=False)
class PieceResult:
    """What one piece gives. Picklable.

    Attributes
    ----------
    parts : list of ShardPart
        One per cut of the span.
    left_open : mapping
        What only all shards, or all spans, can decide.
    annotations : tuple of Annotation
    """

    parts: list[ShardPart]
    left_open: Left
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, eq=False)
class ShardPart:
    """What one shard gives for a cut.

    Attributes
    ----------
    value : StepMatrix or list of Series
    lost, counts : ndarray, groups x steps, or None
        For ``sum`` and ``avg``: the error of the additions, and the number of values.
    means : ndarray, groups x steps, or None
        For ``avg``: the mean.
    """

    value: StepMatrix | list[Series]
    lost: np.ndarray | None = None
    counts: np.ndarray | None = None
    means: np.ndarray | None = None


def part_of(cut: Cut, evaluation: PlanEvaluation) -> ShardPart:
    """Compute a cut over the samples of one shard."""
    if not cut.in_parts:
        return ShardPart(evaluation.value(cut.plan, cut.steps))
    plan = cut.plan
    if plan.op not in ("sum", "avg"):
        return ShardPart(evaluation.value(plan, cut.steps))
    vector = evaluation.value(plan.vector, cut.steps)
    labels, group_of = grouped(vector, plan.labels, plan.without)
    sums, lost, counts = kernels.sums(vector.values, vector.present, group_of, len(labels))
    total = StepMatrix(labels, sums, counts > 0)
    if plan.op == "sum":
        return ShardPart(total, lost, counts)
    means = evaluation.value(plan, cut.steps)
    return ShardPart(total, lost, counts, means.take(_rows(labels, means.labels)).values)


def value_of(cut: Cut, parts: Sequence[ShardPart], evaluation: PlanEvaluation) -> Value:
    """Put the results of all shards together, in the order of shards."""
    parts = [part for part in parts if not _is_empty(part)]
    if isinstance(cut.plan, SelectRange):
        return sorted(
            (series for part in parts for series in part.value), key=lambda one: sorted(one.labels.items())
        )
    steps = cut.steps.count
    if not parts:
        return empty(steps)
    if not cut.in_parts:
        return _side_by_side([part.value for part in parts])
    if cut.plan.op in ("sum", "avg"):
        return _added(cut.plan.op, parts, steps)
    # Smallest of the smallest, largest of the largest, and of counts the sum: the same operator once more.
    rows = _side_by_side([part.value for part in parts])
    again = replace(cut.plan, op="sum" if cut.plan.op == "count" else cut.plan.op)
    return evaluation.given({(cut.plan.vector, cut.steps): rows}).value(again, cut.steps)


def _added(op: str, parts: Sequence[ShardPart], steps: int) -> StepMatrix:
    row_of: dict[Labels, int] = {}
    for part in parts:
        for labels in part.value.labels:
            row_of.setdefault(labels, len(row_of))
    rows_of = [np.array([row_of[labels] for labels in part.value.labels], np.int64) for part in parts]
    total, lost = np.zeros((len(row_of), steps)), np.zeros((len(row_of), steps))
    counts = np.zeros((len(row_of), steps), np.int64)
    for part, rows in zip(parts, rows_of, strict=True):
        kernels.add_sums(total, lost, counts, rows, part.value.values, part.lost, part.counts)
    present, infinite = counts > 0, np.isinf(total)
    with np.errstate(all="ignore"):
        summed = np.where(infinite, total, total + lost)
        values = summed if op == "sum" else total / counts + lost / counts
        if op == "avg" and infinite.any():
            # Where the sum overflows, the mean of the shards' means does not.
            means = np.zeros_like(total)
            for part, rows in zip(parts, rows_of, strict=True):
                means[rows] += np.where(part.counts > 0, part.means * (part.counts / counts[rows]), 0.0)
            values = np.where(infinite, means, values)
    return StepMatrix(tuple(row_of), np.where(present, values, np.nan), present)


def _side_by_side(matrices: Sequence[StepMatrix]) -> StepMatrix:
    """Rows of several shards as one matrix, in the order of their labels."""
    return in_order(
        StepMatrix(
            tuple(row for matrix in matrices for row in matrix.labels),
            np.concatenate([matrix.values for matrix in matrices]),
            np.concatenate([matrix.present for matrix in matrices]),
        )
    )


def _rows(wanted: Sequence[Labels], labels: Sequence[Labels]) -> list[int]:
    row_of = {one: row for row, one in enumerate(labels)}
    return [row_of[one] for one in wanted]


def _is_empty(part: ShardPart) -> bool:
    return not (part.value if isinstance(part.value, list) else part.value.labels)
