"""Aggregations. In: a step matrix. Out: one row per group of labels."""

from __future__ import annotations

import numpy as np

from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.matrix import StepMatrix, empty
from throttlescope.transforms.promql.semantics import Labels, group_key

_FUNCTIONS = {
    "sum": kernels.SUM,
    "avg": kernels.AVG,
    "count": kernels.COUNT,
    "min": kernels.MIN,
    "max": kernels.MAX,
    "group": kernels.GROUP,
}


def aggregate(op: str, vector: StepMatrix, labels: tuple[str, ...], without: bool) -> StepMatrix:
    """Aggregate over the series of each group; a group without any series at a step has no value there."""
    if not vector.labels:
        return empty(vector.steps)
    names = frozenset(labels)
    group_of = np.empty(len(vector.labels), np.int64)
    groups: dict[Labels, int] = {}
    for row, row_labels in enumerate(vector.labels):
        group_of[row] = groups.setdefault(group_key(row_labels, names, without), len(groups))
    values, present = kernels.aggregate(_FUNCTIONS[op], vector.values, vector.present, group_of, len(groups))
    return StepMatrix(tuple(groups), values, present)
