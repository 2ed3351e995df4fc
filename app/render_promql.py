"""An answer of PromQL for eyes and for programs. In: an Answer. Out: a table, CSV or Prometheus' JSON on stdout."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np

from throttlescope.app.render import count, freshness, print_table, write_csv
from throttlescope.ingest.selector import NAME_LABEL
from throttlescope.ingest.times import format_time
from throttlescope.transforms.promql.answer import data_pieces, number, points_of, rows_of
from throttlescope.transforms.promql.query import Answer

#: A range with more points is shown as a line per series.
_POINTS_SHOWN = 100
_ROWS_SHOWN = 500
_TIME, _VALUE = "time_ms", "value"

Labels = Mapping[str, str]


def print_json(answer: Answer) -> None:
    """What Prometheus' HTTP API returns under ``data``."""
    sys.stdout.flush()
    for piece in data_pieces(answer):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def print_csv(answer: Answer) -> None:
    """A line per point: time, value, and a column per label; a label that is called like those two is ``label.time_ms``."""
    if answer.kind == "string":
        write_csv((_TIME, _VALUE), [{_TIME: answer.steps.start_ms, _VALUE: answer.text}])
        return
    names = sorted({name for labels, *_ in rows_of(answer) for name in labels})
    columns = {name: f"label.{name}" if name in (_TIME, _VALUE) else name for name in names}

    def lines() -> Iterator[dict[str, Any]]:
        for labels, times_ms, values in rows_of(answer):
            cells = {column: labels.get(name) for name, column in columns.items()}
            for time_ms, value in zip(times_ms.tolist(), values.tolist(), strict=True):
                yield {_TIME: time_ms, _VALUE: _csv_number(value), **cells}

    write_csv((_TIME, _VALUE, *columns.values()), lines())


def print_answer(text: str, answer: Answer, *, newest_ms: int | None, now_ms: int) -> None:
    """A table: a line per series, or per point where a range has few of them.

    Labels that all series share are said once, below.
    """
    steps = answer.steps
    when = f"at {format_time(steps.start_ms)}"
    if answer.kind == "matrix" and len(steps.times_ms) > 1:
        when = (
            f"from {format_time(steps.start_ms)} to {format_time(int(steps.times_ms[-1]))}, "
            f"every {steps.step_ms / 1000:g} s"
        )
    notes = [freshness(newest_ms, now_ms)]
    if answer.kind == "string":
        columns, lines = [("value", "left")], [[answer.text]]
        left_out = 0
    else:
        rows = list(rows_of(answer))
        names = sorted({name for labels, *_ in rows for name in labels})
        shared = _shared([labels for labels, *_ in rows], names)
        varying = [name for name in names if name not in shared]
        if shared:
            notes.insert(0, "Every series: " + ", ".join(f"{name}={shared[name]}" for name in sorted(shared)))
        heads = [("metric" if name == NAME_LABEL else name, "left") for name in varying]
        if answer.kind == "matrix" and points_of(answer) > _POINTS_SHOWN:
            columns = [
                *heads,
                *((word, "right") for word in ("points", "first", "last", "lowest", "highest")),
            ]
            cells = (_summed_up(values) for *_, values in rows)
            all_lines = (
                [*_cells(labels, varying), *more] for (labels, *_), more in zip(rows, cells, strict=True)
            )
            total = len(rows)
        else:
            timed = answer.kind == "matrix"
            columns = [*heads, *([("time (UTC)", "left")] if timed else []), ("value", "right")]
            all_lines = (
                [*_cells(labels, varying), *([format_time(time_ms)] if timed else []), _readable(value)]
                for labels, times_ms, values in rows
                for time_ms, value in zip(times_ms.tolist(), values.tolist(), strict=True)
            )
            total = points_of(answer)
        lines = list(islice(all_lines, _ROWS_SHOWN))
        left_out = total - len(lines)
    if left_out > 0:
        notes.insert(0, f"{count(left_out)} more lines are left out; --format csv or json has them all.")
    title = f"{' '.join(text.split())} {when}"
    if lines:
        print_table(columns, lines, title=title, notes=notes, heads=max(1, len(columns) - 1))
    else:
        print_table([("nothing", "left")], [["no series has a value then"]], title=title, notes=notes)


def _shared(labels: Sequence[Labels], names: Sequence[str]) -> dict[str, str]:
    """Labels with the same value in all series."""
    if not labels:
        return {}
    first = labels[0]
    return {
        name: first[name]
        for name in names
        if name in first and all(one.get(name) == first[name] for one in labels)
    }


def _cells(labels: Labels, names: Sequence[str]) -> list[str]:
    return [labels.get(name, "-") for name in names]


def _summed_up(values: np.ndarray) -> list[str]:
    known = values[~np.isnan(values)]
    bounds = (known.min(), known.max()) if len(known) else (math.nan, math.nan)
    return [count(len(values)), *(_readable(value) for value in (values[0], values[-1], *bounds))]


def _readable(value: float) -> str:
    """A whole number as it is, any other with six digits."""
    if math.isfinite(value) and abs(value) < 1e15 and value == round(value):
        return number(value)
    return number(float(f"{value:.6g}"))


def _csv_number(value: float) -> float | Decimal:
    # A plain NaN would become an empty cell, which says that there is no point.
    return value if math.isfinite(value) else Decimal(value)
