"""Warnings and infos of a query. In: a message and the place that it is about. Out: Prometheus' annotation texts."""

from __future__ import annotations

from collections.abc import Iterable


class Notes:
    """Collects annotations: each text once, in the order in which they first came up.

    Parameters
    ----------
    text : str
        The query, so that an offset becomes ``(line:column)``.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._warnings: dict[str, None] = {}
        self._infos: dict[str, None] = {}

    def warn(self, message: str, position: int | None = None) -> None:
        """Note that an answer may not be what was meant."""
        self._warnings[f"PromQL warning: {message}{self._place(position)}"] = None

    def info(self, message: str, position: int | None = None) -> None:
        """Note something that is worth a look."""
        self._infos[f"PromQL info: {message}{self._place(position)}"] = None

    def add(self, warnings: Iterable[str], infos: Iterable[str]) -> None:
        """Take over the texts of another collection, such as a task's."""
        self._warnings |= dict.fromkeys(warnings)
        self._infos |= dict.fromkeys(infos)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    @property
    def infos(self) -> tuple[str, ...]:
        return tuple(self._infos)

    def _place(self, position: int | None) -> str:
        if position is None:
            return ""
        line = self._text.count("\n", 0, position) + 1
        column = position - (self._text.rfind("\n", 0, position) + 1) + 1
        return f" ({line}:{column})"
