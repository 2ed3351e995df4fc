"""Warnings and infos of a query. In: a message and the place that it is about. Out: Prometheus' annotation texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WARNING, _INFO = "PromQL warning: ", "PromQL info: "
_PLACE = re.compile(r"(.*) \((\d+):(\d+)\)", re.DOTALL)

#: Line and column, both from 1; none where a note is about no place.
_Place = tuple[int, ...]


class Notes:
    """Collects annotations: each message once, in the order in which they first came up.

    Prometheus keeps one place per message, that of the part it evaluated last. It goes through a text from left to right, so
    that is the last place in the text, in whatever order parts are computed here.

    Parameters
    ----------
    text : str
        The query, so that an offset becomes ``(line:column)``.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._places: dict[str, _Place] = {}

    def warn(self, message: str, position: int | None = None) -> None:
        """Note that an answer may not be what was meant."""
        self._note(_WARNING + message, self._place(position))

    def info(self, message: str, position: int | None = None) -> None:
        """Note something that is worth a look."""
        self._note(_INFO + message, self._place(position))

    def add(self, warnings: Iterable[str], infos: Iterable[str]) -> None:
        """Take over the texts of another collection, such as a task's."""
        for text in (*warnings, *infos):
            placed = _PLACE.fullmatch(text)
            if placed:
                self._note(placed[1], (int(placed[2]), int(placed[3])))
            else:
                self._note(text, ())

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._texts(_WARNING)

    @property
    def infos(self) -> tuple[str, ...]:
        return self._texts(_INFO)

    def _note(self, message: str, place: _Place) -> None:
        self._places[message] = max(self._places.get(message, place), place)

    def _texts(self, kind: str) -> tuple[str, ...]:
        return tuple(
            f"{message} ({place[0]}:{place[1]})" if place else message
            for message, place in self._places.items()
            if message.startswith(kind)
        )

    def _place(self, position: int | None) -> _Place:
        if position is None:
            return ()
        line = self._text.count("\n", 0, position) + 1
        before = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        # Prometheus counts bytes.
        return line, len(before.encode()) + 1
