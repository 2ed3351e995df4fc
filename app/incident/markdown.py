"""Blocks as Markdown (GitHub's). In: blocks. Out: readable text in which no name acts as markup.

Names are code spans, in which only a backtick is special; all other text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import (
    MOST_LETTERS,
    Block,
    Bullets,
    Code,
    Facts,
    Grid,
    Heading,
    Link,
    Name,
    Paragraph,
    Plots,
    TextBlock,
    plain,
)
from throttlescope.models.messages.units import visible

_SPECIAL = re.compile(r"[\\`*\[\]<~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# A list, a heading or a quotation where a line begins.
_STARTS = re.compile(r"^(\d*)(>|(?:[-+.)]|#{1,6})(?=\s|$))")
_ADDRESS = re.compile(r"(?<=:)/(?=/)|(?<=www)\.", re.IGNORECASE)


def markdown(blocks: Iterable[Block], *, picture: str | None) -> str:
    """The page; ``picture`` is the file that the plots are in, where there is one."""
    return "\n\n".join(_block(block, picture) for block in blocks) + "\n"


def _block(block: Block, picture: str | None) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {inline(block.words)}"
        case Paragraph():
            return _line(block.words)
        case Facts():
            return "\n".join(line for label, rows in block.rows for line in _fact(label, rows))
        case Bullets():
            return "\n".join(f"- {_line(row)}" for row in block.rows)
        case Grid():
            return _grid(block)
        case Code():
            return fenced(block.lines, block.language)
        case Plots():
            shown = f"![plots]({picture})\n\n" if picture else ""
            return shown + inline(block.caption)
    raise TypeError(type(block))


def _fact(label: str, rows) -> list[str]:
    if len(rows) == 1:
        return [f"- **{escape(label)}:** {inline(rows[0])}"]
    return [f"- **{escape(label)}:**", *(f"  - {_line(row)}" for row in rows)]


def _grid(block: Grid) -> str:
    lines = [[escape(head) for head in block.heads], ["---"] * len(block.heads)]
    lines += [[inline(cell).replace("|", "\\|") for cell in row] for row in block.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def inline(words: TextBlock) -> str:
    """One line of Markdown that may follow other text."""
    return "".join(map(_part, words.parts))


def _line(words: TextBlock) -> str:
    """One whole line of Markdown."""
    return _STARTS.sub(r"\1\\\2", inline(words))


def _part(part) -> str:
    if isinstance(part, Name):
        return span(part.text)
    if isinstance(part, Link):
        # Our own addresses are percent-encoded; a bracket would end the link.
        return f"[{escape(part.label)}](<{part.url}>)"
    return escape(part)


def escape(words: str) -> str:
    """Words in which nothing is markup."""
    return _ADDRESS.sub(r"\\\g<0>", _SPECIAL.sub(r"\\\g<0>", plain(words)))


def span(name: str) -> str:
    """A code span around anything."""
    shown = fmt.name(name, MOST_LETTERS)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(lines: str, language: str = "") -> str:
    """A code block around anything; what cannot be seen is written as an escape."""
    shown = "\n".join(visible(line) for line in lines.split("\n"))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"
