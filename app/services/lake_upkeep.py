"""Upkeep of several tables of a lake, with progress. In: a lake and tables. Out: what was found, merged or removed in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake
    from throttlescope.ingest.lake.upkeep.check import Fault
    from throttlescope.ingest.lake.upkeep.compact import Compacted
    from throttlescope.ingest.lake.upkeep.expire import Expired
    from throttlescope.ingest.lake.upkeep.vacuum import Unnamed


@dataclass(frozen=True)
class Moment:
    """When upkeep started, and whether it only shows what it would do."""

    now_ms: int
    dry_run: bool

    def run_id(self, command: str) -> str:
        """The id under which a change is committed."""
        return f"{command}-{format_time(self.now_ms)}"


@dataclass(frozen=True)
class Vacuumed:
    """Files that no version names.

    Attributes
    ----------
    deleted : (int, int), optional
        How many were deleted and their bytes; None where it was only shown.
    commits : int
        Commits that were removed from the logs.
    """

    found: Sequence[Unnamed]
    kept_ms: int
    deleted: tuple[int, int] | None = None
    commits: int = 0


def check_tables(
    lake: Lake, tables: Sequence[str] | None, *, quick: bool, progress: Progress = SILENT
) -> list[Fault]:
    """Compare tables with their contracts, logs and files."""
    from throttlescope.ingest.lake.upkeep.check import check

    names, faults = tables or list(TABLES), []
    progress.expect(len(names))
    for name in names:
        with progress.step(f"checking {name}") as step:
            faults += check(
                lake,
                [name],
                quick=quick,
                progress=lambda files, total, step=step: step.note(f"{files} of {total} files"),
            )
    return faults


def compact_tables(
    lake: Lake,
    tables: Sequence[str] | None,
    moment: Moment,
    which: Mapping[str, Any],
    progress: Progress = SILENT,
) -> list[Compacted]:
    """Merge small files of tables; ``which`` says of which hours."""
    from throttlescope.ingest.lake.upkeep.compact import compact

    names, done = tables or list(TABLES), []
    progress.expect(len(names))
    for name in names:
        with progress.step(f"compacting {name}") as step:
            one = compact(
                lake,
                name,
                run_id=moment.run_id("compact"),
                now_ms=moment.now_ms,
                dry_run=moment.dry_run,
                progress=lambda files, total, step=step: step.note(f"{files} of {total} files"),
                **which,
            )
            done.append(one)
    return done


def expire_tables(lake: Lake, tables: Sequence[str] | None, moment: Moment, age_ms: int) -> list[Expired]:
    """Remove hours that are older than an age."""
    from throttlescope.ingest.lake.upkeep.expire import expire

    before_ms, run_id = moment.now_ms - age_ms, moment.run_id("expire")
    return expire(lake, before_ms, run_id=run_id, tables=tables, dry_run=moment.dry_run)


def vacuum_tables(
    lake: Lake,
    tables: Sequence[str] | None,
    moment: Moment,
    keep_ms: int,
    progress: Progress = SILENT,
    *,
    anyway: bool = False,
) -> Vacuumed:
    """Delete files that no version within ``keep_ms`` names, then shorten the logs."""
    from throttlescope.ingest.lake.upkeep import vacuum

    progress.expect(1 if moment.dry_run else 3)
    with progress.step(sentence("steps.vacuum.find")) as step:
        found = vacuum.unnamed(lake, keep_ms, now_ms=moment.now_ms, tables=tables, anyway=anyway)
        step.note(f"{len(found)} files")
    if moment.dry_run:
        return Vacuumed(found, keep_ms)
    with progress.step("deleting") as step:
        deleted = vacuum.delete(
            lake, found, progress=lambda files, total: step.note(f"{files} of {total} files")
        )
    with progress.step("shortening logs") as step:
        commits = sum(vacuum.clean_log(lake, name) for name in tables or TABLES)
        step.note(f"{commits} commits went")
    return Vacuumed(found, keep_ms, deleted, commits)
