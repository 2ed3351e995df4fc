"""Addresses of pages as records: each field is declared once. In: a query string that anyone may have typed. Out: a page's address, or a link to it.

A record is a frozen dataclass of :class:`PageAddress` whose fields come from :func:`part`, in the order in which a link prints them. Parsing and
links are derived from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from throttlescope.app.presentation.links import query as parts

_METADATA_KEY = "address"

Parts = dict[str, list[str]]
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class AddressField:
    """One field of an address.

    Attributes
    ----------
    name : str
        In the query string; of a field with several parts, the part that the others belong to.
    read : callable
        From the parts of a query string to the field's value.
    write : callable
        From the value to parts of a link.
    default : Any
        The value where the part is absent; ``MISSING``: the address must have the part.
    is_always_written : bool
        Links have the part even where its value is the default.
    """

    name: str
    read: Callable[[Parts], Any]
    write: Callable[[Any], Pairs]
    default: Any = None
    is_always_written: bool = False


def part(of: AddressField) -> Any:
    """The field of a dataclass that this part of the address fills."""
    return field(default=of.default, metadata={_METADATA_KEY: of})


class PageAddress:
    """What a page shows, as its address says it. Subclasses are frozen dataclasses."""

    PATH: ClassVar[str]

    @classmethod
    def parse(cls, query: str | None) -> Self:
        """Read a query string.

        Raises
        ------
        InputError
            A part cannot be read; the page explains it.
        """
        return cls.of_parts(parts.parts_of(query))

    @classmethod
    def of_parts(cls, values: Parts, names: Sequence[str] | None = None) -> Self:
        """Read these fields only; None: all."""
        address = cls(**{name: of.read(values) for name, of in cls._declared(names)})
        address.check()
        return address

    def check(self) -> None:
        """Fields that do not go together are an ``InputError``; a page's own address says which."""

    def href(self) -> str:
        """The link."""
        return parts.link(self.PATH, self.pairs())

    def pairs(self, names: Sequence[str] | None = None) -> Pairs:
        """The parts of the link that these fields give; None: all fields."""
        return [
            pair
            for name, of in self._declared(names)
            if of.is_always_written or getattr(self, name) != of.default
            for pair in of.write(getattr(self, name))
        ]

    @classmethod
    def query_name(cls, name: str) -> str:
        """How the query string calls a field."""
        return dict(cls._declared())[name].name

    @classmethod
    def _declared(cls, names: Sequence[str] | None = None) -> list[tuple[str, AddressField]]:
        return [
            (of.name, of.metadata[_METADATA_KEY]) for of in fields(cls) if names is None or of.name in names
        ]


def text(name: str, default: str | None = None, *, cut_at: int | None = None) -> AddressField:
    """Any text, of which at most ``cut_at`` characters count."""

    def read(values: Parts) -> str | None:
        found = parts.one(values, name) or default
        return found if found is None or cut_at is None else found[:cut_at]

    return AddressField(name, read, lambda value: [(name, value)], default)


def word(
    name: str,
    known: Sequence[str],
    *,
    what: str,
    default: str | None = None,
    is_always_written: bool = False,
) -> AddressField:
    """One of the ``known`` words; ``what`` says in an error what the word names."""
    return AddressField(
        name,
        lambda values: parts.one_of(values, name, known, what=what, default=default),
        lambda value: [(name, value)],
        default,
        is_always_written,
    )


def flag(name: str, yes: str = "1") -> AddressField:
    """Yes or no; only ``yes`` is written."""
    return AddressField(
        name, lambda values: parts.one(values, name) == yes, lambda _value: [(name, yes)], default=False
    )


def several(name: str, known: Sequence[str] | None = None, *, what: str = "") -> AddressField:
    """A part that may be repeated, each value counts once; ``known`` are the words that it may have, None: any."""

    def read(values: Parts) -> tuple[str, ...]:
        if known is None:
            return parts.every(values, name)
        return parts.some_of(values, name, known, what=what)

    return AddressField(name, read, lambda found: [(name, value) for value in found], default=())


def moment(name: str) -> AddressField:
    """An absolute time, in epoch milliseconds."""
    return AddressField(
        name, lambda values: parts.time_of(values, name), lambda value: parts.times_of((name, value))
    )


def _end_of_range(name: str, number: int) -> AddressField:
    return AddressField(
        name, lambda values: parts.range_of(values)[number], lambda value: parts.times_of((name, value))
    )


#: Words of a search box.
SEARCH = text("q", "")
CLUSTERS = several("cluster")
#: The range [from, to); where both are there, the start is before the end.
FROM, TO = _end_of_range("from", 0), _end_of_range("to", 1)
#: A moment in the range: the end of a window.
AT = moment("at")
#: Page of a long table, from 1.
PAGE_NUMBER = AddressField("page", parts.page_of, lambda value: [("page", str(value))], default=1)


def toggled(words: tuple[str, ...], one: str) -> tuple[str, ...]:
    """The words with one added at the end, or without it where they had it."""
    return tuple(word for word in words if word != one) if one in words else (*words, one)
