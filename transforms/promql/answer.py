"""An answer as Prometheus' HTTP API gives it. In: an :class:`QueryAnswer`. Out: the JSON of ``data``, as a server writes it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import orjson

from throttlescope.transforms.promql.json_points import write_points
from throttlescope.transforms.promql.matrix import StepMatrix
from throttlescope.transforms.promql.query import QueryAnswer
from throttlescope.transforms.promql.source import Series

#: Points whose text is made at once; it bounds the memory that writing an answer needs on top of the answer.
_POINTS_AT_ONCE = 500_000

_SHORT_ESCAPES = re.compile(rb"\\[bf]")
_ESCAPES = {code: f"\\u{code:04x}" for code in range(32)} | {
    ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("\\"): "\\\\",
}  # fmt: skip
# Labels and strings are written by two encoders: this one thinks of HTML, and has short forms of two more characters.
_ESCAPES_OF_STRINGS = _ESCAPES | {8: "\\b", 12: "\\f"} | {
    ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"
}  # fmt: skip

_Row = tuple[Mapping[str, str], np.ndarray, np.ndarray]


def data_json(answer: QueryAnswer) -> bytes:
    """``{"resultType": ..., "result": ...}``."""
    return b"".join(data_pieces(answer))


def data_pieces(answer: QueryAnswer) -> Iterator[bytes]:
    """The same in pieces, so that a large answer need not be in memory as a whole."""
    kind = answer.kind
    yield b'{"resultType":"%s","result":' % kind.encode()
    if kind in ("scalar", "string"):
        # Without the zeros behind it that the time of a sample has.
        time = positional(answer.steps.start_ms / 1000)
        text = answer.text if kind == "string" else positional(float(answer.value[0]))
        yield f'[{time},"{text.translate(_ESCAPES_OF_STRINGS)}"]'.encode()
    else:
        yield b"["
        yield from _series(answer)
        yield b"]"
    yield b"}"


def result_of(answer: QueryAnswer) -> list:
    """``result`` as Python objects."""
    return orjson.loads(data_json(answer))["result"]


def truncate(answer: QueryAnswer, limit: int) -> tuple[QueryAnswer, bool]:
    """The first ``limit`` series of an answer (0: all), and whether some were left out."""
    value = answer.value
    if not limit or not isinstance(value, StepMatrix | list):
        return answer, False
    if len(value if isinstance(value, list) else value.labels) <= limit:
        return answer, False
    if isinstance(value, list):
        return replace(answer, value=sorted(value, key=_order)[:limit]), True
    rows = _rows(answer)[:limit]
    return replace(answer, value=value.take(rows)), True


def points_of(answer: QueryAnswer) -> int:
    """How many points an answer has."""
    value = answer.value
    if isinstance(value, StepMatrix):
        return int(np.count_nonzero(value.present))
    if isinstance(value, list):
        return sum(len(series.values) for series in value)
    return 1 if isinstance(value, str) else len(value)


def number(value: float) -> str:
    """A float as Prometheus prints it: the shortest decimal that reads back, with an exponent below 1e-6 and from 1e21."""
    value = float(value)
    if math.isfinite(value) and value != 0 and not 1e-6 <= abs(value) < 1e21:
        return repr(value)
    return positional(value)


def positional(value: float) -> str:
    """A float without an exponent, as Prometheus prints a scalar."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return np.format_float_positional(value, trim="-")


def rows_of(answer: QueryAnswer) -> Iterator[_Row]:
    """Labels, times and values of every series, in the order of the answer; a scalar is a series without labels."""
    value, times_ms = answer.value, answer.steps.times_ms
    if isinstance(value, list):
        for series in sorted(value, key=_order):
            yield dict(sorted(series.labels.items())), series.timestamps_ms, series.values
    elif isinstance(value, StepMatrix):
        for row in _rows(answer):
            here = value.present[row]
            yield dict(value.labels[row]), times_ms[here], value.values[row][here]
    else:
        yield {}, times_ms, value


def label_json(labels: Mapping[str, str]) -> bytes:
    """A label set as a JSON object."""
    text = orjson.dumps(labels)
    if _SHORT_ESCAPES.search(text):
        # Prometheus has no short form of these two control characters in labels.
        pairs = (f'"{n.translate(_ESCAPES)}":"{v.translate(_ESCAPES)}"' for n, v in labels.items())
        return ("{" + ",".join(pairs) + "}").encode()
    return text


def _rows(answer: QueryAnswer) -> list[int]:
    """A range query's series are sorted; an instant vector has an order of its own."""
    labels = answer.value.labels
    rows = range(len(labels))
    return list(rows) if answer.kind == "vector" else sorted(rows, key=labels.__getitem__)


def _order(series: Series) -> list[tuple[str, str]]:
    return sorted(series.labels.items())


def _series(answer: QueryAnswer) -> Iterator[bytes]:
    """The series, with commas between them."""
    waiting: list[_Row] = []
    points, first = 0, True
    for row in rows_of(answer):
        waiting.append(row)
        points += len(row[2])
        if points >= _POINTS_AT_ONCE:
            yield _batch(waiting, answer.kind, first)
            waiting, points, first = [], 0, False
    if waiting:
        yield _batch(waiting, answer.kind, first)


def _batch(rows: list[_Row], kind: str, first: bool) -> bytes:
    bounds = np.concatenate([[0], np.cumsum([len(values) for *_, values in rows])])
    text, places = write_points(
        np.concatenate([times_ms for _, times_ms, _ in rows]),
        np.concatenate([values for *_, values in rows]),
        bounds,
    )
    before, behind = (b',"value":', b"}") if kind == "vector" else (b',"values":[', b"]}")
    parts = [] if first else [b","]
    for number_of_row, ((labels, *_), (start, end)) in enumerate(
        zip(rows, pairwise(places.tolist()), strict=True)
    ):
        parts += (
            b',{"metric":' if number_of_row else b'{"metric":',
            label_json(labels),
            before,
            text[start : end - 1],
            behind,
        )
    return b"".join(parts)
