"""Warnings and infos of a query (Prometheus' annotations). In: a message and the place in the query that it is about. Out: records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

#: How Prometheus begins the text of each kind.
_PREFIXES = {"warning": "PromQL warning: ", "info": "PromQL info: "}


class TextPlace(NamedTuple):
    """The part of a query that an annotation is about.

    Attributes
    ----------
    order : int
        When Prometheus would evaluate that part: inner parts before the parts around them.
    position : int
        Offset in the query, in characters.
    """

    order: int
    position: int


class LinePlace(NamedTuple):
    """The same place as Prometheus prints it; line and column (in bytes) count from 1."""

    order: int
    line: int
    column: int


class Annotation(NamedTuple):
    """One warning or info. Picklable.

    Attributes
    ----------
    kind : "warning" or "info"
    message : str
    place : LinePlace or None
        None where it is about the whole query.
    """

    kind: Literal["warning", "info"]
    message: str
    place: LinePlace | None = None

    @property
    def located(self) -> str:
        """The message with its place: ``message (line:column)``."""
        return f"{self.message} ({self.place.line}:{self.place.column})" if self.place else self.message

    @property
    def text(self) -> str:
        """The annotation as Prometheus writes it."""
        return _PREFIXES[self.kind] + self.located


class Annotations:
    """Collects the annotations of a query: each message once, in the order of first occurrence.

    Prometheus keeps one place per message: that of the part it evaluated last. The same place is kept here, in whatever
    order the parts are computed.

    Parameters
    ----------
    text : str
        The query; converts an offset to ``(line:column)``.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._places: dict[tuple[Literal["warning", "info"], str], LinePlace | None] = {}

    def warn(self, message: str, place: TextPlace | None = None) -> None:
        """Add a warning: the answer may not be what was meant."""
        self._add("warning", message, self._line_place(place))

    def info(self, message: str, place: TextPlace | None = None) -> None:
        """Add an info: something to check."""
        self._add("info", message, self._line_place(place))

    @property
    def records(self) -> tuple[Annotation, ...]:
        """All annotations, as :meth:`extend` takes them."""
        return tuple(Annotation(*key, place) for key, place in self._places.items())

    def extend(self, records: Iterable[Annotation]) -> None:
        """Add the records of another collection, such as a task's."""
        for record in records:
            self._add(*record)

    def _add(self, kind: Literal["warning", "info"], message: str, place: LinePlace | None) -> None:
        before = self._places.get((kind, message))
        self._places[kind, message] = max(before, place) if before and place else before or place

    def _line_place(self, place: TextPlace | None) -> LinePlace | None:
        if place is None:
            return None
        order, position = place
        line = self._text.count("\n", 0, position) + 1
        before = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        # Prometheus counts bytes.
        return LinePlace(order, line, len(before.encode()) + 1)
