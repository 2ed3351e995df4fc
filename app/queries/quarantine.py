"""Rows in quarantine. In: a lake and a filter. Out: refused rows, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.ingest.quarantine.readmit import known_reason
from throttlescope.ingest.quarantine.rows import QuarantinedRows, chosen, kept_rows

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


def read_quarantined(
    lake: Lake, *, reason: str | None = None, run_id: str | None = None, with_readmitted: bool = False
) -> list[QuarantinedRows]:
    """Refused rows of a reason and a run; with ``with_readmitted`` also those that were readmitted.

    Raises
    ------
    InputError
        There is no such reason.
    """
    known_reason(reason)
    return [
        one
        for one in kept_rows(lake, with_readmitted=with_readmitted)
        if (reason is None or one.reason == reason) and (run_id is None or one.run_id == run_id)
    ]


def read_quarantined_row(lake: Lake, row_id: str) -> QuarantinedRows:
    """The row of an id, or of its first letters.

    Raises
    ------
    InputError
        There is none, or several.
    """
    (found,) = chosen(kept_rows(lake, with_readmitted=True), [row_id])
    return found
