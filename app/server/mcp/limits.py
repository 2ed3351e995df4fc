"""Limits of the answers for assistants: what fits into a conversation, and how long one waits. In: nothing. Out: `McpLimits`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class McpLimits:
    """Limits of one server.

    Attributes
    ----------
    what_if_s, query_s : float
        Longest time for a replay, in a process of its own that is ended then, and for a PromQL query.
    most_rows : int
        Rows of a list and of a query's result.
    most_samples : int
        Samples that a query may hold at once.
    report_characters : int
        Of an incident report.
    """

    what_if_s: float = 120.0
    query_s: float = 30.0
    most_rows: int = 200
    most_samples: int = 5_000_000
    report_characters: int = 60_000
