"""Rows [start, end) in a chosen order. In: the request of a grid. Out: SQL, and the values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
