"""Refused rows repaired and readmitted. In: a lake, which rows, which repairs. Out: rows as repaired, or what was readmitted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.pull.manifest import new_run_id
from throttlescope.ingest.quarantine.readmit import Readmitted, known_reason, mark, readmit
from throttlescope.ingest.quarantine.repairs import known_repair, whole, with_values
from throttlescope.ingest.quarantine.rows import QuarantinedRows, chosen, kept_rows

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class RowSelection:
    """Which refused rows: by id, by reason, by run, or all of them."""

    ids: Sequence[str] = ()
    reason: str | None = None
    run_id: str | None = None
    everything: bool = False

    def read(self, lake: Lake) -> list[QuarantinedRows]:
        """The selected rows.

        Raises
        ------
        InputError
            There is no such reason or id, or nothing was selected.
        """
        known_reason(self.reason)
        # A row that is named is found also where it was readmitted: doing it again changes nothing.
        rows = kept_rows(lake, with_readmitted=bool(self.ids))
        return chosen(rows, self.ids, reason=self.reason, run_id=self.run_id, everything=self.everything)


@dataclass(frozen=True)
class RowRepair:
    """What is changed in a refused row.

    Attributes
    ----------
    known : bool
        Make the known repair of the row's reason.
    settings, removals : sequences of str, optional
        ``PATH=VALUE`` that are set, and paths that are removed.
    read_row : callable, optional
        Reads the whole row as JSON.
    """

    known: bool = False
    settings: Sequence[str] | None = None
    removals: Sequence[str] | None = None
    read_row: Callable[[], str] | None = None

    def check(self, rows: Sequence[QuarantinedRows]) -> None:
        """Refuse one whole row for several rows.

        Raises
        ------
        InputError
            There is a whole row, and not exactly one row is selected.
        """
        if self.read_row is not None and len(rows) != 1:
            raise InputError("--json is one row", got=f"{len(rows)} rows", fix="name one id")

    def of(self, one: QuarantinedRows) -> QuarantinedRows:
        """A row with the repairs; unchanged where none applies or it was readmitted."""
        row, changed = (one.row, False) if self.read_row is None else (whole(self.read_row()), True)
        if self.known and (found := known_repair(one.reason, row)) is not None:
            row, changed = found[0], True
        if self.settings or self.removals:
            row, changed = with_values(row, self.settings or (), self.removals or ()), True
        return replace(one, repaired=json.dumps(row, sort_keys=True)) if changed and one.is_open else one


@dataclass(frozen=True)
class ReadmittedRun:
    """What became of rows, and the run under which they were readmitted."""

    run_id: str
    done: Readmitted

    def check(self) -> None:
        """Complain about the rows that still do not fit.

        Raises
        ------
        InputError
            At least one was refused again.
        """
        if not self.done.refused:
            return
        first, refused = self.done.refused[0], len(self.done.refused)
        raise InputError(
            f"{refused} of {refused + len(self.done.taken)} rows still do not fit and stay in quarantine",
            got=f"{first.id}: {first.reason}, {first.fault}",
            fix=f"throttlescope quarantine show {first.id}; then repair it",
        )


def repair_rows(lake: Lake, selection: RowSelection, repair: RowRepair) -> list[QuarantinedRows]:
    """Repair rows without taking them back.

    Raises
    ------
    InputError
        No repair is given, none is known, or the selection is not understood.
    """
    rows = selection.read(lake)
    explicit = bool(repair.settings or repair.removals or repair.read_row is not None)
    if not (repair.known or explicit):
        raise InputError(
            "No repair is given", fix="add --known, --set PATH=VALUE, --unset PATH or --json FILE"
        )
    repair.check(rows)
    rows = [repair.of(one) for one in rows]
    if not explicit and all(one.repaired is None for one in rows):
        raise InputError(
            "There is no known repair of these rows",
            got=f"{len(rows)} rows",
            fix="say what is right with --set PATH=VALUE",
        )
    rows = [replace(one, state="repaired") for one in rows]
    mark(lake, rows, new_run_id())
    return rows


def readmit_rows(lake: Lake, selection: RowSelection, repair: RowRepair) -> ReadmittedRun:
    """Take rows back, repaired or as they are.

    Raises
    ------
    InputError
        The selection or a repair is not understood.
    """
    rows = selection.read(lake)
    repair.check(rows)
    run_id = new_run_id()
    return ReadmittedRun(run_id, readmit(lake, [repair.of(one) for one in rows], run_id))
