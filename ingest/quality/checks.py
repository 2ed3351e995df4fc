"""The record of a check. In: nothing. Out: one expectation about a frame of counted faults: name, severity, texts and SQL in one place.

A suite is a tuple of checks. Each has the SQL that counts its faults, so that counting and judging cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: What to do about rows that throttlescope never writes.
CHECK_LAKE = "run `throttlescope lake check`, then run the hours again; if it fails again, report it"


@dataclass(frozen=True)
class GateCheck:
    """One expectation about a frame of counted faults.

    Attributes
    ----------
    name : str
        Its name in ``quality.check``.
    column : str
        Integer column of the frame that counts the faults of a row; it has to be 0 everywhere.
    severity : str
        ``error`` or ``warning``.
    fault, expected : str
        What is counted, and what is expected instead, in words.
    unique : tuple of str
        Where given, the columns that together may not repeat: judged instead of ``column``, which then only
        locates the repeated rows.
    faulty : str
        SQL condition of a row with this fault; the rows of a group that meet it are counted.
    tally : str
        SQL that counts the faults of a group, where no single row has them.
    not_judged : tuple of (str, str)
        Columns that are 1 where the check does not apply to a row, each with the reason in words.
    fix : str
        What to do where it fails. ``docs/guides/quality.md`` lists it.
    """

    name: str
    column: str
    severity: str
    fault: str
    expected: str
    unique: tuple[str, ...] = ()
    faulty: str = ""
    tally: str = ""
    not_judged: tuple[tuple[str, str], ...] = ()
    fix: str = ""


def counted(checks: Iterable[GateCheck]) -> str:
    """The SQL columns that count the faults of a group, in the SQL that Spark and DuckDB share."""
    columns = []
    for check in checks:
        tally = check.tally or f"sum(CASE WHEN {check.faulty} THEN 1 ELSE 0 END)"
        columns.append(f"CAST(coalesce({tally}, 0) AS BIGINT) AS {check.column}")
    return ", ".join(columns)


def below_zero(names: Sequence[str]) -> str:
    """SQL: how many of some numbers are negative or no number at all."""
    return added(names, "{0} < 0 OR isnan(CAST({0} AS DOUBLE))")


def outside_share(names: Sequence[str]) -> str:
    """SQL: how many of some shares are not from 0 to 1."""
    return added(names, "{0} < 0 OR {0} > 1 OR isnan(CAST({0} AS DOUBLE))")


def added(names: Sequence[str], test: str) -> str:
    """SQL: how often a test, which names a column by {0}, is true of some columns of a group's rows."""
    return " + ".join(f"sum(CASE WHEN {test.format(name)} THEN 1 ELSE 0 END)" for name in names)
