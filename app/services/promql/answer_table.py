"""An answer of PromQL as a table, for the terminal and for the browser. In: an Answer. Out: labels apart from numbers, nothing formatted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.transforms.promql.answer import number, points_of, rows_of
from throttlescope.transforms.promql.query import QueryAnswer

#: A range with more points is shown as one line per series.
POINTS_SHOWN = 100
ROWS_SHOWN = 500
#: The values of a line for a whole series, in this order.
SUMMED_UP = ("points", "first", "last", "lowest", "highest")

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes
    ----------
    labels : tuple of str or None
        Those that differ between series; None where the series lacks one.
    time_ms : int or None
        Of a point of a range.
    values : tuple of float
        One, or those of :data:`SUMMED_UP`.
    """

    labels: tuple[str | None, ...]
    time_ms: int | None
    values: tuple[float, ...]


@dataclass(frozen=True)
class AnswerTable:
    """A table.

    Attributes
    ----------
    heads : list of str
        Names of the labels that differ, ``metric`` for the name.
    shared : dict
        Labels that all series have with one value.
    timed, summed : bool
        A line is a point with its time; a line is a whole series.
    left_out : int
        Lines beyond those that are shown.
    """

    heads: list[str]
    shared: dict[str, str]
    timed: bool
    summed: bool
    lines: list[Line]
    left_out: int


def answer_table(answer: QueryAnswer, *, most: int = ROWS_SHOWN) -> AnswerTable:
    """The first lines of an answer other than a string."""
    rows = list(rows_of(answer))
    names = sorted({name for labels, *_ in rows for name in labels})
    shared = _shared([labels for labels, *_ in rows], names)
    varying = [name for name in names if name not in shared]
    timed = answer.kind == "matrix"
    summed = timed and points_of(answer) > POINTS_SHOWN
    lines = list(islice(_series(rows, varying) if summed else _points(rows, varying, timed), most))
    return AnswerTable(
        ["metric" if name == NAME_LABEL else name for name in varying],
        shared,
        timed and not summed,
        summed,
        lines,
        (len(rows) if summed else points_of(answer)) - len(lines),
    )


def default_step_ms(start_ms: int, end_ms: int) -> int:
    """Default step of a range: a 250th of it in whole seconds, at least one second."""
    return max(1, (end_ms - start_ms) // 1000 // 250) * 1000


def readable(value: float) -> str:
    """A whole number as it is, any other with six digits."""
    if math.isfinite(value) and abs(value) < 1e15 and value == round(value):
        return number(value)
    return number(float(f"{value:.6g}"))


def _series(rows: Sequence[tuple], varying: Sequence[str]) -> Iterator[Line]:
    for labels, _, values in rows:
        known = values[~np.isnan(values)]
        bounds = (known.min(), known.max()) if len(known) else (math.nan, math.nan)
        yield Line(_cells(labels, varying), None, (len(values), values[0], values[-1], *bounds))


def _points(rows: Sequence[tuple], varying: Sequence[str], timed: bool) -> Iterator[Line]:
    for labels, times_ms, values in rows:
        cells = _cells(labels, varying)
        for time_ms, value in zip(times_ms.tolist(), values.tolist(), strict=True):
            yield Line(cells, time_ms if timed else None, (value,))


def _cells(labels: Labels, names: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(labels.get(name) for name in names)


def _shared(labels: Sequence[Labels], names: Sequence[str]) -> dict[str, str]:
    if not labels:
        return {}
    first = labels[0]
    return {
        name: first[name]
        for name in names
        if name in first and all(one.get(name) == first[name] for one in labels)
    }
