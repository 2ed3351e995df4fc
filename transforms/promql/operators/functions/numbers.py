"""Functions of each element. In: a step matrix, scalars per step. Out: a step matrix without names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, masked, merged
from throttlescope.transforms.promql.operators.elements import larger, negate, smaller
from throttlescope.transforms.promql.operators.functions.dates import DATES
from throttlescope.transforms.promql.operators.names import nameless

_BINARY_OF_E = 1.4426950408889634
_DECIMAL_OF_E = 0.4342944819032518


def _sign(values: np.ndarray) -> np.ndarray:
    # 0, -0 and NaN stay what they are.
    return np.where(values > 0, 1.0, np.where(values < 0, -1.0, values))


def _log2(values: np.ndarray) -> np.ndarray:
    # As Go computes it, which makes powers of two exact.
    fraction, exponent = np.frexp(values)
    return np.where(fraction == 0.5, exponent - 1.0, np.log(fraction) * _BINARY_OF_E + exponent)


def _log10(values: np.ndarray) -> np.ndarray:
    # As Go computes it: log10 of 1000 is not quite 3.
    return np.log(values) * _DECIMAL_OF_E


_ELEMENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "sgn": _sign,
    "exp": np.exp,
    "ln": np.log,
    "log2": _log2,
    "log10": _log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
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
    """Unary minus. Two series that differ by name alone are refused even where they never meet (3.5; not since 3.9)."""
    labels, distinct = nameless(vector.labels)
    found = StepMatrix(labels, negate(vector.values), vector.present)
    return found if distinct else merged(found, may_meet=False)


def without_names(vector: StepMatrix) -> StepMatrix:
    """The elements that are present, nameless; two of equal labels at one step are an error."""
    labels, distinct = nameless(vector.labels)
    found = masked(labels, vector.values, vector.present)
    return found if distinct else merged(found)
