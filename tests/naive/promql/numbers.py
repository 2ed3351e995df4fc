"""Functions of one number, and operators between two. In: floats. Out: a float, or whether a comparison holds."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.naive.promql.data import NaiveError
from tests.naive.promql.sums import divide, root

_SMALLEST_NORMAL = 2.0**-1022


def operate(op: str, a: float, b: float) -> float | bool:
    """An operator between two numbers."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return divide(a, b)
        case "%":
            return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)
        case "^":
            return power(a, b)
        case "atan2":
            return math.atan2(a, b)
        case "==":
            return a == b
        case "!=":
            return a != b
        case ">":
            return a > b
        case "<":
            return a < b
        case ">=":
            return a >= b
        case "<=":
            return a <= b
    raise NaiveError(f"no twin for {op}")


def power(a: float, b: float) -> float:
    """``a ^ b``; what Python raises an error for is infinite or NaN."""
    if 0 < a < _SMALLEST_NORMAL and math.isfinite(b) and b != math.floor(b) and abs(b) != 0.5:
        return _power_of_subnormal(a, b)
    odd = math.isfinite(b) and b == math.floor(b) and math.fmod(b, 2) != 0
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:
        if a == 0:
            return math.copysign(math.inf, a) if odd else math.inf
        return math.nan


def _power_of_subnormal(a: float, b: float) -> float:
    """By the logarithm for the fraction of ``b``, and so with what :func:`_log` makes of ``a``."""
    fraction, whole_part = math.modf(abs(b))
    if fraction > 0.5:
        fraction, whole_part = fraction - 1, whole_part + 1
    value = math.exp(fraction * _log(a)) * math.pow(a, whole_part)
    return value if b > 0 else divide(1.0, value)


def _log(value: float) -> float:
    """The logarithm. Go's on amd64 takes a subnormal number for a normal one with the same bits behind the point."""
    if 0 < value < _SMALLEST_NORMAL:
        return math.log(0.5 + value / _SMALLEST_NORMAL / 2) - 1022 * math.log(2)
    return math.log(value)


def higher(a: float, b: float) -> float:
    """The larger of two, NaN if one is NaN and the other not infinite; 0 is larger than -0."""
    if math.inf in (a, b):
        return math.inf
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return max(a, b, key=lambda v: (v, math.copysign(1, v)))


def lower(a: float, b: float) -> float:
    return -higher(-a, -b)


def whole(rounding: Callable[[float], int], value: float) -> float:
    """Floor or ceiling: -0 and what is not finite stay as they are."""
    return math.copysign(rounding(value), value) if math.isfinite(value) else value


def rounded(value: float, nearest: float = 1.0) -> float:
    """To a multiple of ``nearest``, halves go up."""
    share = divide(1.0, nearest)
    return divide(whole(math.floor, value * share + 0.5), share)


def _of_library(function: Callable[[float], float], outside: Callable[[float], float]) -> Callable:
    """A function of C's library; ``outside`` says what it is where Python raises an error."""

    def guarded(value: float) -> float:
        try:
            return function(value)
        except (OverflowError, ValueError):
            return outside(value)

    return guarded


def _nowhere(_: float) -> float:
    return math.nan


def _log_outside(value: float) -> float:
    return -math.inf if value == 0 else math.nan


_NOT_EVERYWHERE = ("sin", "cos", "tan", "asin", "acos", "acosh")

FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": lambda v: whole(math.ceil, v),
    "floor": lambda v: whole(math.floor, v),
    "round": rounded,
    "sqrt": root,
    "sgn": lambda v: 1.0 if v > 0 else -1.0 if v < 0 else v,
    "clamp": lambda v, low, high: higher(low, lower(high, v)),
    "clamp_min": lambda v, low: higher(low, lower(math.inf, v)),
    "clamp_max": lambda v, high: higher(-math.inf, lower(high, v)),
    "deg": lambda v: v * 180 / math.pi,
    "rad": lambda v: v * math.pi / 180,
    "exp": _of_library(math.exp, lambda _: math.inf),
    "ln": _of_library(_log, _log_outside),
    "log2": _of_library(math.log2, _log_outside),
    "log10": _of_library(
        lambda v: math.log10(v) if abs(v) >= _SMALLEST_NORMAL else _log(v) / math.log(10), _log_outside
    ),
    "sinh": _of_library(math.sinh, lambda v: math.copysign(math.inf, v)),
    "cosh": _of_library(math.cosh, lambda _: math.inf),
    "atanh": _of_library(math.atanh, lambda v: math.copysign(math.inf, v) if abs(v) == 1 else math.nan),
    "tanh": math.tanh,
    "atan": math.atan,
    "asinh": math.asinh,
} | {name: _of_library(getattr(math, name), _nowhere) for name in _NOT_EVERYWHERE}
