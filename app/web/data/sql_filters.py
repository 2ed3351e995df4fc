"""What rows must fulfil, as SQL with its values apart. In: filters of an address. Out: one expression and the values of its marks.

Nothing that anyone typed becomes SQL: it is a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Conditions:
    """Conditions that hold together; without any, all rows do.

    Parameters
    ----------
    first : str
        SQL without values.
    """

    def __init__(self, first: str = "true") -> None:
        self._parts = [first]
        self.values: list[Any] = []

    def add(self, sql: str, *values: object) -> Conditions:
        """One more; ``values`` are those of its marks."""
        self._parts.append(sql)
        self.values += values
        return self

    def words(self, search: str, text: str) -> Conditions:
        """Every word of a search must be somewhere in ``text``, an expression in lower case."""
        for word in search.split():
            # contains() has no wildcards that would have to be escaped.
            self.add(f"contains({text}, ?)", word.lower())
        return self

    def among(self, column: str, words: Iterable[str]) -> Conditions:
        """The column must be one of these; none at all lets everything through."""
        chosen = list(words)
        return self.add(f"list_contains(?, {column})", chosen) if chosen else self

    @property
    def sql(self) -> str:
        """One expression, for after WHERE."""
        return " AND ".join(self._parts)
