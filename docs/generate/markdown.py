"""Markdown. In: rows, pages with marked places. Out: tables, and pages whose marked places are filled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

#: The folder of all pages.
DOCS = Path(__file__).parents[1]


def markdown_table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table.

    >>> markdown_table(("a", "b"), [("x|y", 1)])
    '| a | b |\\n| --- | --- |\\n| x\\\\|y | 1 |\\n'
    """
    lines = [list(heads)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill_marked(page: str, kind: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with every place between ``<!-- KIND: NAME -->`` and ``<!-- end -->`` filled by the table of that name."""
    marked = re.compile(rf"(<!-- {kind}: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return marked.sub(lambda match: match[1] + tables[match[2]]() + match[3], page)


def fill_between(page: str, begin: str, end: str, text: str) -> str:
    """The page with ``text`` between the line that starts with ``begin`` and ``end``."""
    start, stop = page.index(begin), page.index(end)
    return f"{page[: page.index(chr(10), start) + 1]}{text}\n{page[stop:]}"
