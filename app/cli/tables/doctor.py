"""Checks of the doctor in every format. In: `DoctorCheck`s. Out: a table or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import TableColumn, print_rows, write_result
from throttlescope.app.services.doctor.doctor import as_dict, exit_code
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.doctor.check import DoctorCheck


def _columns() -> tuple:
    return (
        TableColumn(sentence("label.cluster_heading"), lambda check: check.cluster or "-"),
        TableColumn(sentence("label.where"), lambda check: check.area),
        TableColumn(sentence("label.check_heading"), lambda check: check.check),
        TableColumn(sentence("label.status"), lambda check: check.status),
        TableColumn(sentence("label.found_heading"), lambda check: check.found),
        TableColumn(sentence("label.fix"), lambda check: check.fix or "-"),
    )


def write_checks(checks: Sequence[DoctorCheck], options: CommandOptions) -> None:
    """Write checks in the requested format; JSON has the exit code too."""
    write_result(
        options.format,
        table=lambda: print_rows(
            _columns(), checks, title="throttlescope doctor", heads=3, notes=[sentence("doctor.note")]
        ),
        document=lambda: {"exit_code": exit_code(checks), "checks": [as_dict(check) for check in checks]},
    )
