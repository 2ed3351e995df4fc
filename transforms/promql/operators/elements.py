"""Element by element. In: arrays of float64. Out: arrays; nothing here knows series or labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.elementary import angle, power


def _pairwise(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of two flat arrays, for arrays of any shape."""

    def apply(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        left, right = np.broadcast_arrays(left, right)
        return function(left.ravel(), right.ravel()).reshape(left.shape)

    return apply


_ARITHMETIC: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    # C's fmod: the sign of the dividend.
    "%": np.fmod,
    "^": _pairwise(power),
    "atan2": _pairwise(angle),
}

_COMPARISONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}


def calculate(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """An arithmetic operator, or a comparison as 1 and 0. IEEE throughout: no error, 1/0 is +Inf, x % 0 is NaN."""
    if op in ast.COMPARISONS:
        return compare(op, left, right).astype(np.float64)
    with np.errstate(all="ignore"):
        return _ARITHMETIC[op](left, right)


def compare(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A comparison as bool; with NaN only ``!=`` holds."""
    return _COMPARISONS[op](left, right)


def negate(values: np.ndarray) -> np.ndarray:
    return np.negative(values)


def larger(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Go's ``math.Max``: +Inf wins over NaN, NaN over the rest, 0 over -0."""
    out = np.where(left > right, left, right)
    out = np.where((left == 0) & (right == 0), np.where(np.signbit(left), right, left), out)
    out = np.where(np.isnan(left) | np.isnan(right), np.nan, out)
    return np.where(np.isposinf(left) | np.isposinf(right), np.inf, out)


def smaller(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Go's ``math.Min``: -Inf wins over NaN, NaN over the rest, -0 over 0."""
    return -larger(-left, -right)
