"""Points of many series as JSON. In: their times and values, end to end. Out: ``[1795160000.123,"0.25"],`` one behind the other.

orjson finds the shortest decimal of each value, which is the one that Prometheus prints; the kernel gives it Prometheus'
notation (positional from 1e-6 up to 1e21, two digits of exponent beyond, ``+Inf``) and puts the time before it.
"""

from __future__ import annotations

import numpy as np
import orjson

from throttlescope.ingest.core.compilation import compiled

# "[", a time of 20 digits with sign and point, ',"', a value of at most 25 characters, '"],': never more than this.
_BYTES_PER_POINT = 64

_ZERO, _MINUS, _PLUS, _POINT, _COMMA, _E, _N = (np.uint8(ord(char)) for char in "0-+.,en")
_OPEN, _CLOSE, _QUOTE = (np.uint8(ord(char)) for char in '[]"')

_NAN, _INF_ABOVE, _INF_BELOW = (np.frombuffer(word, np.uint8) for word in (b"NaN", b"+Inf", b"-Inf"))
_TEN, _HUNDRED, _THOUSAND = np.uint64(10), np.uint64(100), np.uint64(1000)

_compiled = compiled()


def write_points(
    times_ms: np.ndarray, values: np.ndarray, bounds: np.ndarray
) -> tuple[memoryview, np.ndarray]:
    """Write points of many series.

    Parameters
    ----------
    times_ms, values : ndarray of int64 and of float64
        Samples of all series end to end.
    bounds : ndarray of int64
        ``bounds[i]:bounds[i + 1]`` are the points of series i.

    Returns
    -------
    memoryview, ndarray of int64
        The bytes, and where the text of each series begins and ends in them. A comma follows each point.
    """
    text = np.frombuffer(
        orjson.dumps(np.ascontiguousarray(values, np.float64), option=orjson.OPT_SERIALIZE_NUMPY), np.uint8
    )
    out = np.empty(len(values) * _BYTES_PER_POINT, np.uint8)
    places = np.empty(len(bounds), np.int64)
    _write(text, np.ascontiguousarray(times_ms, np.int64), values, np.asarray(bounds, np.int64), out, places)
    return memoryview(out), places


@_compiled
def _write(text, times_ms, values, bounds, out, places):
    digits = np.empty(32, np.uint8)
    read, at = 1, 0
    for series in range(len(bounds) - 1):
        places[series] = at
        for i in range(bounds[series], bounds[series + 1]):
            out[at] = _OPEN
            at = _write_time(times_ms[i], out, at + 1)
            out[at] = _COMMA
            out[at + 1] = _QUOTE
            end = read
            while text[end] != _COMMA and text[end] != _CLOSE:
                end += 1
            at = _write_value(text, read, end, values[i], digits, out, at + 2)
            read = end + 1
            out[at] = _QUOTE
            out[at + 1] = _CLOSE
            out[at + 2] = _COMMA
            at += 3
    places[len(bounds) - 1] = at


@_compiled
def _write_time(time_ms, out, at):
    """Seconds; the fraction has three digits or is left out."""
    if time_ms < 0:
        out[at] = _MINUS
        at += 1
        time_ms = -time_ms
    # Unsigned: a signed division rounds down in Python's way, which costs more than the division.
    whole = np.uint64(time_ms)
    seconds, fraction = whole // _THOUSAND, whole % _THOUSAND
    length, rest = 1, seconds // _TEN
    while rest:
        length += 1
        rest //= _TEN
    for place in range(at + length - 1, at - 1, -1):
        out[place] = _ZERO + np.uint8(seconds % _TEN)
        seconds //= _TEN
    at += length
    if fraction:
        out[at] = _POINT
        out[at + 1] = _ZERO + np.uint8(fraction // _HUNDRED)
        out[at + 2] = _ZERO + np.uint8(fraction // _TEN % _TEN)
        out[at + 3] = _ZERO + np.uint8(fraction % _TEN)
        at += 4
    return at


@_compiled
def _write_value(text, read, end, value, digits, out, at):
    """One value of orjson's text in Prometheus' notation. ``digits`` is scratch space."""
    if text[read] == _N:  # null: JSON knows no NaN and no infinity
        for char in _NAN if value != value else _INF_ABOVE if value > 0 else _INF_BELOW:
            out[at] = char
            at += 1
        return at
    has_exponent = False
    for place in range(read, end):
        if text[place] == _E:
            has_exponent = True
    if not has_exponent:
        if end - read > 2 and text[end - 1] == _ZERO and text[end - 2] == _POINT:
            end -= 2
        for place in range(read, end):
            out[at] = text[place]
            at += 1
        return at
    if text[read] == _MINUS:
        out[at] = _MINUS
        at += 1
        read += 1
    # The value is 0.d1d2d3... times ten to the power of `point`.
    count, point = 0, -1
    while text[read] != _E:
        if text[read] == _POINT:
            point = count
        else:
            digits[count] = text[read]
            count += 1
        read += 1
    if point < 0:
        point = count
    while count > 1 and digits[count - 1] == _ZERO:
        count -= 1
    read += 1
    falls = text[read] == _MINUS
    if falls or text[read] == _PLUS:
        read += 1
    exponent = 0
    for place in range(read, end):
        exponent = exponent * 10 + np.int64(text[place] - _ZERO)
    point += -exponent if falls else exponent
    if 1e-6 <= abs(value) < 1e21:
        return _write_positional(digits, count, point, out, at)
    out[at] = digits[0]
    at += 1
    if count > 1:
        out[at] = _POINT
        at += 1
        for place in range(1, count):
            out[at] = digits[place]
            at += 1
    exponent = point - 1
    out[at] = _E
    out[at + 1] = _MINUS if exponent < 0 else _PLUS
    at += 2
    exponent = abs(exponent)
    if exponent >= 100:
        out[at] = _ZERO + np.uint8(exponent // 100)
        at += 1
    out[at] = _ZERO + np.uint8(exponent // 10 % 10)
    out[at + 1] = _ZERO + np.uint8(exponent % 10)
    return at + 2


@_compiled
def _write_positional(digits, count, point, out, at):
    if point <= 0:
        out[at] = _ZERO
        out[at + 1] = _POINT
        at += 2
        for _ in range(-point):
            out[at] = _ZERO
            at += 1
    for place in range(count):
        if place == point and point > 0:
            out[at] = _POINT
            at += 1
        out[at] = digits[place]
        at += 1
    for _ in range(count, point):
        out[at] = _ZERO
        at += 1
    return at
