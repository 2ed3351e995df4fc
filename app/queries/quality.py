"""Rows of ``quality`` for people. In: a lake. Out: findings in an order that can be read, and the newest of every check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from throttlescope.ingest.lake import Lake


def read_findings(
    lake: Lake, *, run_id: str | None = None, failed: bool = False, dates: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Findings as they were made, the oldest first.

    Parameters
    ----------
    run_id : str, optional
        Only those of this run.
    failed : bool
        Only what did not hold.
    dates : iterable of str, optional
        Only those of these UTC dates; files of others are not read.
    """
    rows = lake.read("quality", partition=None if dates is None else {"date": dates}).to_pylist()
    rows = [
        row for row in rows if (run_id is None or row["run_id"] == run_id) and not (failed and row["success"])
    ]
    return sorted(rows, key=_order)


def newest_findings(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of every table of every gate the findings of the run that checked it last.

    A later run says nothing of the hours of an earlier one: what did not hold there is in the table still.
    """
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for row in rows:
        place = (row["gate"], row["table"])
        last[place] = max(last.get(place, (0, "")), (row["observed_ms"], row["run_id"]))
    return [row for row in rows if last[row["gate"], row["table"]][1] == row["run_id"]]


def _order(row: dict[str, Any]) -> tuple:
    return (row["observed_ms"], row["run_id"], row["gate"], row["check"], row["table"], row["cluster"] or "")
