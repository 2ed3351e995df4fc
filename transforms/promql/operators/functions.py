"""Functions of instant vectors and scalars. In: step matrices and scalars. Out: the same."""

from __future__ import annotations

import numpy as np

from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, masked, merged
from throttlescope.transforms.promql.operators.elements import larger, negate, smaller
from throttlescope.transforms.promql.semantics import Labels, drop_name


def _sign(values: np.ndarray) -> np.ndarray:
    # 0, -0 and NaN stay what they are.
    return np.where(values > 0, 1.0, np.where(values < 0, -1.0, values))


_PLAIN = {"abs": np.abs, "ceil": np.ceil, "floor": np.floor, "sqrt": np.sqrt, "sgn": _sign}


def apply(function: str, vector: StepMatrix, scalars: list[StepScalar]) -> StepMatrix:
    """A function of each element; the name goes."""
    values, present = vector.values, vector.present
    with np.errstate(invalid="ignore"):
        match function:
            case "clamp":
                low, high = scalars
                values = larger(low, smaller(high, values))
                present = present & ~(high < low)
            case "clamp_min":
                values = larger(scalars[0], values)
            case "clamp_max":
                values = smaller(scalars[0], values)
            case _:
                values = _PLAIN[function](values)
    return _nameless(vector.labels, values, present)


def negated(vector: StepMatrix) -> StepMatrix:
    """Unary minus. Two series that differ by name alone are refused even where they never meet (3.5; not since 3.9)."""
    labels = tuple(map(drop_name, vector.labels))
    return merged(StepMatrix(labels, negate(vector.values), vector.present), may_meet=False)


def step_time(vector: StepMatrix, steps_ms: np.ndarray) -> StepMatrix:
    """``timestamp`` of a computed vector."""
    values = np.broadcast_to(steps_ms / 1000.0, vector.values.shape)
    return _nameless(vector.labels, values, vector.present)


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


def _nameless(labels: tuple[Labels, ...], values: np.ndarray, present: np.ndarray) -> StepMatrix:
    return merged(masked(tuple(map(drop_name, labels)), values, present))
