"""Warnings and infos of a query. In: a message and the place that it is about. Out: Prometheus' annotation texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_WARNING, _INFO = "PromQL warning: ", "PromQL info: "


class TextPlace(NamedTuple):
    """Where a note is about something.

    Attributes
    ----------
    order : int
        When Prometheus would evaluate the part concerned: parts inside before the parts around them.
    position : int
        Offset in the text.
    """

    order: int
    position: int


#: Order, line and column; none where a note is about no place.
_Known = tuple[int, ...]


class Notes:
    """Collects annotations: each message once, in the order in which they first came up.

    Prometheus keeps one place per message, that of the part it evaluated last; so does this, in whatever order parts are
    computed.

    Parameters
    ----------
    text : str
        The query, so that an offset becomes ``(line:column)``.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._places: dict[str, _Known] = {}

    def warn(self, message: str, place: TextPlace | None = None) -> None:
        """Note that an answer may not be what was meant."""
        self._note(_WARNING + message, self._known(place))

    def info(self, message: str, place: TextPlace | None = None) -> None:
        """Note something that is worth a look."""
        self._note(_INFO + message, self._known(place))

    @property
    def records(self) -> dict[str, _Known]:
        """The messages with their places, as :meth:`add` takes them."""
        return dict(self._places)

    def add(self, records: Mapping[str, _Known]) -> None:
        """Take over the records of another collection, such as a task's."""
        for message, place in records.items():
            self._note(message, place)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._texts(_WARNING)

    @property
    def infos(self) -> tuple[str, ...]:
        return self._texts(_INFO)

    def _note(self, message: str, place: _Known) -> None:
        self._places[message] = max(self._places.get(message, place), place)

    def _texts(self, kind: str) -> tuple[str, ...]:
        return tuple(
            f"{message} ({place[1]}:{place[2]})" if place else message
            for message, place in self._places.items()
            if message.startswith(kind)
        )

    def _known(self, place: TextPlace | None) -> _Known:
        if place is None:
            return ()
        order, position = place
        line = self._text.count("\n", 0, position) + 1
        before = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        # Prometheus counts bytes.
        return order, line, len(before.encode()) + 1
