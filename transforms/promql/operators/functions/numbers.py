"""Functions of each element. In: a step matrix, scalars per step. Out: a step matrix without names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from throttlescope.transforms.promql import elementary
from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, masked, merged
from throttlescope.transforms.promql.operators.elements import larger, negate, smaller
from throttlescope.transforms.promql.operators.functions.dates import DATES
from throttlescope.transforms.promql.operators.names import nameless


def _sign(values: np.ndarray) -> np.ndarray:
    # 0, -0 and NaN stay what they are.
    return np.where(values > 0, 1.0, np.where(values < 0, -1.0, values))


def _elementary(name: str) -> Callable[[np.ndarray], np.ndarray]:
    which = elementary.NAMES.index(name)
    return lambda values: elementary.element(which, values.ravel()).reshape(values.shape)


_ELEMENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "sgn": _sign,
    **{name: _elementary(name) for name in elementary.NAMES},
    "deg": lambda values: values * 180 / np.pi,
    "rad": lambda values: values * np.pi / 180,
    **DATES,
}


def apply(function: str, vector: StepMatrix, scalars: Sequence[StepScalar]) -> StepMatrix:
    """A function of each element; the name goes.

    Functions of native histograms are given none here, and find nothing.
    """
    values, present = vector.values, vector.present
    with np.errstate(all="ignore"):
        match function:
            case "clamp":
                low, high = scalars
                values = larger(low, smaller(high, values))
                present = present & ~(high < low)
            case "clamp_min":
                values = larger(scalars[0], values)
            case "clamp_max":
                values = smaller(scalars[0], values)
            case "round":
                times = 1.0 / scalars[0] if scalars else 1.0
                values = np.floor(values * times + 0.5) / times
            case _ if function.startswith("histogram_"):
                present = np.zeros_like(present)
            case _:
                values = _ELEMENT[function](values)
    return without_names(StepMatrix(vector.labels, values, present))


def negated(vector: StepMatrix) -> StepMatrix:
    """Unary minus, under the labels that were there: the caller drops the name."""
    return StepMatrix(vector.labels, negate(vector.values), vector.present)


def without_names(vector: StepMatrix) -> StepMatrix:
    """The elements that are present, nameless; two of equal labels at one step are an error."""
    labels, distinct = nameless(vector.labels)
    found = masked(labels, vector.values, vector.present)
    return found if distinct else merged(found)
