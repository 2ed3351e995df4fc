"""Record of a check. In: nothing. Out: one line of the report, with its status and its fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.ingest.core.errors import EXIT_UNREACHABLE, ThrottlescopeError

if TYPE_CHECKING:
    pass

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"


@dataclass(frozen=True)
class DoctorCheck:
    """One line of the report.

    Attributes
    ----------
    area : str
        ``configuration``, ``prometheus``, ``pulsar_admin``, ``spark`` or ``machine``.
    status : str
        ``ok``; ``warning``: verdicts have less evidence; ``failed``: no verdicts until it is fixed;
        ``skipped``: could not be checked.
    fix : str
        What to do; empty if nothing has to be done.
    unreachable : bool
        The failure is that the source did not let us in.
    """

    cluster: str
    area: str
    check: str
    status: str
    found: str
    fix: str = ""
    unreachable: bool = False


def refused(cluster: str, area: str, check: str, error: ThrottlescopeError) -> DoctorCheck:
    """The failed check for an error."""
    found = error.what if error.got is None else f"{error.what}: {error.got}"
    fix = error.fix or (f"expected {error.expected}" if error.expected else "")
    return DoctorCheck(cluster, area, check, FAILED, found, fix, error.exit_code == EXIT_UNREACHABLE)
