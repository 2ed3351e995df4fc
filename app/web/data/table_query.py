"""Parts of the SQL of a table: conditions, order, page. In: the filters of an address, and the request of a grid. Out: SQL, and its values apart.

Nothing that a user typed becomes SQL: it is a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Upper bound of the rows of one response.
MOST_ROWS = 1_000

#: (column, descending), the most important first.
Sort = Sequence[tuple[str, bool]]


def ordered(sort: Sort, sortable: Mapping[str, str]) -> list[str]:
    """Parts of an ORDER BY, absent values last; columns that are not ``sortable`` {name: SQL} are left out."""
    return [
        f"{sortable[column]} {'DESC' if down else 'ASC'} NULLS LAST"
        for column, down in sort
        if column in sortable
    ]


def cut(start: int, end: int) -> list[int]:
    """The values of ``LIMIT ? OFFSET ?`` for rows [start, end)."""
    return [max(0, min(end - start, MOST_ROWS)), max(0, start)]


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

    def join(self, other: Conditions | None) -> Conditions:
        """All of another one; None: nothing."""
        return self if other is None else self.add(other.sql, *other.values)

    def either(self, choices: Sequence[tuple[str, Sequence[Any]]]) -> Conditions:
        """At least one of these, each SQL and the values of its marks; none at all lets everything through."""
        if not choices:
            return self
        sql = " OR ".join(f"({one})" for one, _ in choices)
        return self.add(f"({sql})", *(value for _, values in choices for value in values))

    def among(self, column: str, words: Iterable[str]) -> Conditions:
        """The column must be one of these; none at all lets everything through."""
        chosen = list(words)
        return self.add(f"list_contains(?, {column})", chosen) if chosen else self

    @property
    def sql(self) -> str:
        """One expression, for after WHERE."""
        return " AND ".join(self._parts)
