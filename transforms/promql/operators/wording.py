"""Texts of annotations, as Prometheus writes them. In: values. Out: annotations, and numbers and strings as Go formats them."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from throttlescope.transforms.promql.annotations import Annotations, TextPlace

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r"}
_ESCAPES |= {"\t": "\\t", "\v": "\\v"}


def warn_of_quantiles(annotations: Annotations, quantiles: np.ndarray, place: TextPlace | None) -> None:
    """Warn of each quantile outside 0 to 1."""
    wrong = ~((quantiles >= 0) & (quantiles <= 1))
    for value in dict.fromkeys(map(short, quantiles[wrong].tolist())):
        annotations.warn(f"quantile value should be between 0 and 1, got {value}", place)


def short(value: float) -> str:
    """A number as ``%g``: the shortest digits that read back, with an exponent below -4 and from 6 on."""
    if not math.isfinite(value) or value == 0:
        return plain(value)
    sign, digits, point = Decimal(repr(value)).normalize().as_tuple()
    exponent = len(digits) + point - 1
    if -4 <= exponent < 6:
        return plain(value)
    broken = "".join(map(str, digits[1:]))
    return f"{'-' if sign else ''}{digits[0]}{'.' if broken else ''}{broken}e{exponent:+03d}"


def plain(value: float) -> str:
    """A number in the shortest digits that read back, without exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def quoted(text: str) -> str:
    """A text as ``%q``."""
    return '"' + "".join(_ESCAPES.get(char) or _printable(char) for char in text) + '"'


def _printable(char: str) -> str:
    code = ord(char)
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
