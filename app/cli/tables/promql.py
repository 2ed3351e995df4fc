"""An answer of PromQL as text and for programs. In: an Answer. Out: a table, CSV or Prometheus' JSON on stdout."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from throttlescope.app.log import say
from throttlescope.app.presentation.output import freshness, print_table, write_csv, write_result
from throttlescope.app.services.promql.answer_table import ROWS_SHOWN, SUMMED_UP, Line, answer_table, readable
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count
from throttlescope.transforms.promql.answer import data_pieces, rows_of
from throttlescope.transforms.promql.query import QueryAnswer

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.promql.query_request import QueryOutcome

_TIME, _VALUE = "time_ms", "value"


def print_json(answer: QueryAnswer) -> None:
    """What Prometheus' HTTP API returns under ``data``."""
    sys.stdout.flush()
    for piece in data_pieces(answer):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def print_csv(answer: QueryAnswer) -> None:
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


def print_answer(text: str, answer: QueryAnswer, *, newest_ms: int | None, now_ms: int) -> None:
    """A table: a line per series, or per point where a range has few of them.

    Labels that all series share are said once, below.
    """
    notes = [freshness(newest_ms, now_ms)]
    if answer.kind == "string":
        columns, lines, left_out = [(sentence("label.value_heading"), "left")], [[answer.text]], 0
    else:
        table = answer_table(answer, most=ROWS_SHOWN)
        if table.shared:
            labels = ", ".join(f"{name}={value}" for name, value in table.shared.items())
            notes.insert(0, sentence("tables.promql.shared", labels=labels))
        columns = [
            *((head, "left") for head in table.heads),
            *([(sentence("label.time_utc_heading"), "left")] if table.timed else []),
            *((word, "right") for word in (SUMMED_UP if table.summed else ("value",))),
        ]
        lines = [_cells(line, summed=table.summed) for line in table.lines]
        left_out = table.left_out
    if left_out > 0:
        notes.insert(0, sentence("tables.promql.left_out", lines=count(left_out)))
    title = _title(text, answer)
    if lines:
        print_table(columns, lines, title=title, notes=notes, heads=max(1, len(columns) - 1))
    else:
        print_table(
            [(sentence("label.nothing_heading"), "left")],
            [[sentence("tables.promql.empty")]],
            title=title,
            notes=notes,
        )


def _title(text: str, answer: QueryAnswer) -> str:
    expression, steps = " ".join(text.split()), answer.steps
    start = format_time(steps.start_ms)
    if answer.kind == "matrix" and len(steps.times_ms) > 1:
        end, step_s = format_time(int(steps.times_ms[-1])), steps.step_ms / 1000
        return sentence("tables.promql.range", expression=expression, start=start, end=end, step_s=step_s)
    return sentence("tables.promql.at", expression=expression, time=start)


def _cells(line: Line, *, summed: bool) -> list[str]:
    cells = ["-" if label is None else label for label in line.labels]
    if line.time_ms is not None:
        cells.append(format_time(line.time_ms))
    if summed:
        return [*cells, count(line.values[0]), *(readable(value) for value in line.values[1:])]
    return [*cells, *(readable(value) for value in line.values)]


def _csv_number(value: float) -> float | Decimal:
    # A plain NaN would become an empty cell, which says that there is no point.
    return value if math.isfinite(value) else Decimal(value)


def write_answer(found: QueryOutcome, options: CommandOptions) -> None:
    """Write a plan, or an answer in the requested format; what else a reader has to know goes to stderr."""
    request = found.request
    if not options.given["quiet"] and request.ends_at_newest:
        newest = format_time(found.newest_ms)
        if request.start_ms is None:
            say(sentence("tables.promql.evaluated", newest=newest))
        else:
            say(sentence("tables.promql.range_ends", newest=newest))
    if found.answer is None:
        print(found.plan)
        return
    answer = found.answer
    for note in (*answer.warnings, *answer.infos):
        say(note)
    write_result(
        options.format,
        table=lambda: print_answer(request.expr, answer, newest_ms=found.newest_ms, now_ms=options.now_ms),
        json=lambda: print_json(answer),
        csv=lambda: print_csv(answer),
    )
