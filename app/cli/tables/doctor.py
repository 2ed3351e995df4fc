"""Checks of the doctor in every format. In: `DoctorCheck`s. Out: a table or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import Column, print_rows, write_result
from throttlescope.app.services.doctor.doctor import as_dict, exit_code

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.doctor.check import DoctorCheck

_COLUMNS = (
    Column("cluster", lambda check: check.cluster or "-"),
    Column("where", lambda check: check.area),
    Column("check", lambda check: check.check),
    Column("status", lambda check: check.status),
    Column("found", lambda check: check.found),
    Column("fix", lambda check: check.fix or "-"),
)
_NOTE = (
    "ok; warning: verdicts come, with less evidence; failed: mend it first; skipped: could not be asked. "
    "Times are UTC."
)


def write_checks(checks: Sequence[DoctorCheck], options: CommandOptions) -> None:
    """Write checks in the requested format; JSON has the exit code too."""
    write_result(
        options.format,
        table=lambda: print_rows(_COLUMNS, checks, title="throttlescope doctor", heads=3, notes=[_NOTE]),
        document=lambda: {"exit_code": exit_code(checks), "checks": [as_dict(check) for check in checks]},
    )
