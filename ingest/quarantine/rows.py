"""What is in quarantine. In: a lake. Out: its rows with a name each, what was repaired of them, and those readmitted.

A row is named by a hash of the run that refused it, the table and the row itself. The reason is not part of the name: a row that
is refused again for another reason is the same row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import xxhash

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake

#: Letters of a name that are enough to name a row, as long as no other begins so.
_LEAST_LETTERS = 4


@dataclass(frozen=True)
class QuarantinedRows:
    """One refused row.

    Attributes
    ----------
    state : str
        ``open``: as it was refused; ``repaired``, ``refused_again`` and ``readmitted`` as in ``readmissions``.
    reason : str
        Why it was refused the last time.
    text : str
        The row as JSON text, as it was refused; ``repaired`` is what a repair made of it.
    """

    id: str
    run_id: str
    cluster: str | None
    table: str
    reason: str
    text: str
    rows: int
    refused_ms: int
    state: str = "open"
    repaired: str | None = None
    fault: str | None = None
    readmitted_run_id: str | None = None
    changed_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is still in quarantine."""
        return self.state != "readmitted"

    @property
    def row(self) -> Any:
        """The row in its current form: repaired, or as it was refused; None where it is not JSON."""
        try:
            return json.loads(self.text if self.repaired is None else self.repaired)
        except ValueError:
            return None


def row_id(run_id: str, table: str, text: str) -> str:
    """The name of a refused row: 16 hex digits."""
    whole = json.dumps([run_id, table, text])
    return xxhash.xxh3_64_hexdigest(whole.encode())


def kept_rows(lake: Lake, *, with_readmitted: bool = False) -> list[QuarantinedRows]:
    """Rows in quarantine, the newest first.

    Parameters
    ----------
    with_readmitted : bool
        Also those that were readmitted.
    """
    known = {row["id"]: row for row in lake.read("readmissions").to_pylist()}
    found = []
    for row in lake.read("quarantine").to_pylist():
        own = row_id(row["run_id"], row["table"], row["row"])
        done = known.pop(own, {})
        # Still here although it was readmitted: that run was stopped in between, and a repetition is harmless.
        state = done.get("state", "open")
        found.append(
            QuarantinedRows(
                own, row["run_id"], row["cluster"], row["table"], row["reason"], row["row"], row["rows"], row["observed_ms"],
                "open" if state == "readmitted" else state, done.get("repaired"), done.get("fault"), None,
                done.get("changed_ms"),
            )
        )  # fmt: skip
    if with_readmitted:
        found += [
            QuarantinedRows(
                row["id"], row["refused_run_id"], row["cluster"], row["table"], row["reason"], row["row"], row["rows"],
                row["refused_ms"], row["state"], row["repaired"], row["fault"], row["readmitted_run_id"], row["changed_ms"],
            )
            for row in known.values()
            if row["state"] == "readmitted"
        ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.refused_ms, one.reason, one.id))


def chosen(
    rows: list[QuarantinedRows],
    ids: list[str],
    *,
    reason: str | None = None,
    run_id: str | None = None,
    everything: bool = False,
) -> list[QuarantinedRows]:
    """Rows by the beginnings of their names, or by reason and run.

    Raises
    ------
    InputError
        A name is none, or of several rows, or nothing was named.
    """
    if not ids:
        if reason is None and run_id is None and not everything:
            raise InputError(
                "No row is named",
                fix="give an id that throttlescope quarantine list prints, --reason, --run or --all",
            )
        return [
            one
            for one in rows
            if (reason is None or one.reason == reason) and (run_id is None or one.run_id == run_id)
        ]
    found = []
    for given in ids:
        like = [one for one in rows if one.id.startswith(given)] if len(given) >= _LEAST_LETTERS else []
        if len(like) != 1:
            raise InputError(
                "An id names no refused row" if not like else "An id names several refused rows",
                got=given,
                expected=f"an id, or {_LEAST_LETTERS} or more letters that it alone begins with",
                fix="throttlescope quarantine list --all prints them",
            )
        found += like
    return found
