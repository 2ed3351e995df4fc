"""Values as roughly as their sentence shows them. In: a value and the unit of its placeholder. Out: the value that every measurement shown so has.

Two measurements that read the same become the same value, to the bit, and it reads as they do, in every language. What is written in
full (names, configured durations, whole numbers) is not changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from throttlescope.models.messages import units

Rounding = Callable[[Any], Any]

#: Formats of Python that round: digits after the point, or digits in all.
_ROUNDING_FORMAT = re.compile(r"[+,]*(\.\d+[fg%]|g)")
#: Up to here every whole number has a float of its own.
_WHOLE_BELOW = 2.0**53


def rounding(unit: str) -> Rounding | None:
    """How values of a unit of the catalogue, or of a format of Python, are rounded; None: they are shown in full."""
    if unit in _BY_UNIT:
        return _BY_UNIT[unit]
    if _ROUNDING_FORMAT.fullmatch(unit):
        return _measured(_by_format(unit.replace(",", "").replace("+", "")))
    return None


def _measured(rounded: Callable[[float], float]) -> Rounding:
    """Applied to finite numbers; a whole number has the type ``int``, whatever it was before."""

    def applied(value: Any) -> Any:
        if not isinstance(value, Real) or not math.isfinite(value):
            return value
        found = rounded(float(value))
        # A negative zero is shown with its sign, which no int has.
        if abs(found) < _WHOLE_BELOW and found == int(found) and (found or math.copysign(1, found) > 0):
            return int(found)
        return found

    return applied


def _by_format(spec: str) -> Callable[[float], float]:
    if spec.endswith("%"):
        return lambda value: float(format(value, spec)[:-1]) / 100
    return lambda value: float(format(value, spec))


def _number(value: float) -> float:
    return float(f"{value:.0f}") if abs(value) >= 100 else float(f"{value:.3g}")


def _share(value: float) -> float:
    percent = 100 * value
    if 0 < percent < 1:
        return 0.005
    if 99 < percent < 100:
        return 0.995
    return float(f"{percent:.0f}") / 100


def _duration_s(seconds: float) -> float:
    if seconds > units.YEAR_S:
        return 2 * units.YEAR_S
    if round(seconds) < 120:
        return float(round(seconds))
    minutes = round(round(seconds) / 60)
    return 60.0 * minutes if minutes < 48 * 60 else 3600.0 * (minutes // 60)


def _span_s(seconds: float) -> float:
    if seconds >= 3600:
        return float(round(3600 * float(f"{seconds / 3600:.1f}")))
    # The last seconds of an hour are shown as 60 min, and an hour as 1.0 h.
    return min(60 * float(f"{seconds / 60:.0f}"), 3599.0)


def _limit(limit: Any) -> Any:
    value, *period_and_unit = limit
    return [_BY_UNIT["number"](value), *period_and_unit]


_BY_UNIT: Mapping[str, Rounding | None] = {
    "number": _measured(_number),
    "entries": _measured(_by_format(".0f")),
    "share": _measured(_share),
    "duration": _measured(_duration_s),
    "age": _measured(_duration_s),
    "span": _measured(_span_s),
    "consumers": _measured(_number),
    "limit": _limit,
    "exact_duration": None,
    "limiter": None,
    "factor": None,
    "names": None,
}
