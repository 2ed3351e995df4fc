"""Functions of what is there. In: step matrices and scalars. Out: the same."""

from __future__ import annotations

import numpy as np

from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, masked
from throttlescope.transforms.promql.operators.functions.numbers import without_names
from throttlescope.transforms.promql.semantics import Labels


def step_time(vector: StepMatrix, steps_ms: np.ndarray) -> StepMatrix:
    """``timestamp`` of a computed vector."""
    values = np.broadcast_to(steps_ms / 1000.0, vector.values.shape)
    return without_names(StepMatrix(vector.labels, values, vector.present))


def scalar_of(vector: StepMatrix) -> StepScalar:
    """The value where exactly one element is present, otherwise NaN."""
    if not vector.labels:
        return np.full(vector.steps, np.nan)
    single = vector.present.sum(axis=0) == 1
    row = vector.present.argmax(axis=0)
    return np.where(single, vector.values[row, np.arange(vector.steps)], np.nan)


def vector_of(scalar: StepScalar) -> StepMatrix:
    """A vector of one element without labels."""
    return StepMatrix(((),), scalar[np.newaxis].copy(), np.ones((1, len(scalar)), np.bool_))


def absent(vector: StepMatrix, labels: Labels) -> StepMatrix:
    """1 at the steps where nothing is present."""
    missing = ~vector.present.any(axis=0)[np.newaxis]
    return masked((labels,), np.ones(missing.shape), missing)
