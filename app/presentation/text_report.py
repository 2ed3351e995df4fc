"""A report as lines and tables. In: a list of both. Out: text on stdout for a terminal, or one string for a notebook."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TextIO

from throttlescope.app.presentation.output import print_table
from throttlescope.models.messages.units import visible


@dataclass(frozen=True)
class TextLine:
    """One line; ``is_copied``: a command or a query, which is never wrapped."""

    text: str = ""
    is_copied: bool = False


@dataclass(frozen=True)
class TextTable:
    """The arguments of :func:`print_table`."""

    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


TextReport = list[TextLine | TextTable]


def print_report(report: TextReport) -> None:
    """Print on stdout."""
    _write(report, None)


def report_text(report: TextReport, width: int) -> str:
    """The report in lines of at most so many characters; tables, commands and queries stay as wide as they are."""
    stream = io.StringIO()
    _write(_wrapped(report, width), stream)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().split("\n"))


def _write(report: Iterable[TextLine | TextTable], stream: TextIO | None) -> None:
    for part in report:
        if isinstance(part, TextTable):
            print_table(part.columns, part.rows, title=part.title, notes=part.notes, stream=stream)
        else:
            print(visible(part.text), file=stream or sys.stdout)


def _wrapped(report: TextReport, width: int) -> Iterable[TextLine | TextTable]:
    for part in report:
        if isinstance(part, TextTable) or part.is_copied or len(part.text) <= width:
            yield part
            continue
        indent = " " * (len(part.text) - len(part.text.lstrip()) + 3)
        for line in textwrap.wrap(
            part.text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ):
            yield TextLine(line)
