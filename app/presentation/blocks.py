"""Blocks of a page, before they become Markdown or HTML. In: plain text. Out: blocks without markup.

A text has parts: words, names from a cluster (marked as such and never interpreted), and links of our own.
Each writer escapes all of it, so that a block is safe in every format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from throttlescope.app.presentation import format as fmt

#: A sentence or a name that is longer is cut; the whole of it is in the files for programs.
MOST_LETTERS = 600


@dataclass(frozen=True)
class Name:
    """A name, a command or a query: shown letter by letter, what cannot be seen as code points."""

    text: str


@dataclass(frozen=True)
class Link:
    """An address of our own and the words for it."""

    url: str
    label: str


Part: TypeAlias = "str | Name | Link"


@dataclass(frozen=True)
class TextBlock:
    """Parts in a row."""

    parts: tuple[Part, ...]


def text(*parts: Part | TextBlock) -> TextBlock:
    """Parts and texts, one after the other."""
    flat: list[Part] = []
    for part in parts:
        flat += part.parts if isinstance(part, TextBlock) else [part]
    return TextBlock(tuple(part for part in flat if part != ""))


@dataclass(frozen=True)
class Heading:
    level: int
    words: TextBlock


@dataclass(frozen=True)
class Paragraph:
    words: TextBlock


@dataclass(frozen=True)
class Facts:
    """Labelled sentences, in an order that matters; a fact of several texts is a list under its label."""

    rows: Sequence[tuple[str, Sequence[TextBlock]]]


@dataclass(frozen=True)
class Bullets:
    rows: Sequence[TextBlock]


@dataclass(frozen=True)
class Grid:
    """A table; ``heads`` carry the units."""

    heads: Sequence[str]
    rows: Sequence[Sequence[TextBlock]]


@dataclass(frozen=True)
class Code:
    """Lines to copy, such as PromQL or a command that is shown and not executed."""

    lines: str
    language: str = ""


@dataclass(frozen=True)
class Plots:
    """The place of the plots: the interactive figure in HTML, a picture in Markdown."""

    caption: TextBlock


Block: TypeAlias = "Heading | Paragraph | Facts | Bullets | Grid | Code | Plots"


def plain(words: str) -> str:
    """Words for any reader: what cannot be seen as code points, thousands by commas, no space that a search would miss."""
    shown = fmt.name(words, MOST_LETTERS).replace("\N{NARROW NO-BREAK SPACE}", ",")
    return shown.replace("\N{NO-BREAK SPACE}", " ")
