"""Repair of a damaged lake, from its sources or by recomputation. In: a request, a lake. Out: what was repaired and what is lost.

A repair can be interrupted at any time: what is removed from a table is recorded first, and the record is deleted once the rows are
restored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.pipeline.request import RunRequest
from throttlescope.app.pipeline.run import run_pipeline
from throttlescope.app.pipeline.sources.lake import clusters_with_samples
from throttlescope.app.pipeline.sources.open import open_sources
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import EmptyRangeError, InputError
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.ages import span_of_all
from throttlescope.ingest.lake.upkeep.check import Fault, check
from throttlescope.ingest.lake.upkeep.losses import (
    DamageLoss,
    how,
    left_by_log,
    losses,
    pending,
    rows_back,
    save_pending,
    take_out,
)
from throttlescope.ingest.lake.upkeep.repair_log import repair_log
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.pipeline.events import Progress

Range = tuple[int, int]


@dataclass
class RepairPlan:
    """What is wrong, and what would be done about each part of it.

    Attributes
    ----------
    logs : list of str
        What would be done, or was, to logs.
    read, computed, gone : list of DamageLoss
        Rows that a source has to give again, that follow from others, and that nothing gives again.
    other : list of Fault
        What cannot be repaired here.
    """

    logs: list[str] = field(default_factory=list)
    read: list[DamageLoss] = field(default_factory=list)
    computed: list[DamageLoss] = field(default_factory=list)
    gone: list[DamageLoss] = field(default_factory=list)
    other: list[Fault] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.logs or self.read or self.computed or self.gone or self.other)


@dataclass
class Repaired:
    """What a repair has done.

    Attributes
    ----------
    back : int
        Files whose rows are there again.
    short : list of (DamageLoss, int)
        Files of which fewer rows came back, with how many: the source has them no more.
    left : list of DamageLoss
        Files that nothing gives again; they are still in the log, unless they were to be forgotten.
    faults : list of Fault
        What the last check still says.
    """

    logs: list[str]
    back: int = 0
    short: list[tuple[DamageLoss, int]] = field(default_factory=list)
    left: list[DamageLoss] = field(default_factory=list)
    forgotten: list[DamageLoss] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not (self.short or self.left or self.faults)

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts and lists."""
        found = asdict(self)
        found["short"] = [{"rows_back": rows, **asdict(loss)} for loss, rows in self.short]
        return found | {"whole": self.is_whole}


def planned(
    lake: Lake, tables: Iterable[str] | None, *, recordings: bool, repair_logs: bool = False
) -> RepairPlan:
    """Check a lake, and say where each lost row may come from.

    Parameters
    ----------
    repair_logs : bool
        Set aside what of the logs cannot be read; otherwise only say so.
    """
    plan, names = RepairPlan(), list(TABLES if tables is None else tables)
    moved = []
    for table in names:
        if done := repair_log(lake, table, dry_run=not repair_logs):
            plan.logs += done
            moved.append(table)
    faults = check(lake, names)
    lost = {(loss.table, loss.path): loss for loss in pending(lake) if loss.table in names}
    lost |= {(loss.table, loss.path): loss for loss in losses(lake, faults)}
    if repair_logs:
        for table in moved:
            lost |= {(loss.table, loss.path): loss for loss in left_by_log(lake, table)}
    for loss in lost.values():
        {"read": plan.read, "computed": plan.computed, "nothing": plan.gone}[
            how(loss.table, recordings=recordings)
        ].append(loss)
    plan.other = [fault for fault in faults if not fault.is_of_data_file and fault.table not in moved]
    return plan


def repair(
    request: RunRequest,
    tables: Iterable[str] | None,
    progress: Progress,
    *,
    forget: bool,
    session: SparkSession | None = None,
) -> Repaired:
    """Repair logs, read again what a source still has, and recompute what follows.

    Parameters
    ----------
    request : RunRequest
        Where to read from; a range is not looked at.
    forget : bool
        Take out of the logs what nothing gives again, too: then the rest of its table can be read.

    Raises
    ------
    InputError
        Samples are damaged and no source is named; or runs are needed, and what they read or write is damaged for good.
    SourceError
        The source cannot be reached; no rows were taken out for it then.
    """
    lake, recordings = Lake(request.settings.lake.absolute()), bool(request.recordings)
    names = list(TABLES if tables is None else tables)
    with progress.step("Looking for damage") as step:
        plan = planned(lake, names, recordings=recordings, repair_logs=True)
        wanted = [*plan.read, *plan.computed]
        step.note(f"{len(wanted) + len(plan.gone)} files, {len(plan.logs)} logs")
    done = Repaired(plan.logs)
    if wanted:
        save_pending(lake, [*(one for one in pending(lake) if one.table not in names), *wanted])
    if forget:
        take_out(lake, plan.gone, "repair")
    elif plan.gone and wanted:
        raise _cannot_go_on(plan.gone)
    (done.forgotten if forget else done.left).extend(plan.gone)
    if plan.read:
        # An unreachable source is an error before anything is taken out for it.
        _check_source(request)
    take_out(lake, wanted, "repair")
    command = "ingest" if lake.version("signals") is None else "run"
    for span in [(None, None)] if plan.read and recordings else _ranges(lake, plan.read):
        with progress.step("Reading again") as step:
            step.note(_read(replace(request, command=command, start_ms=span[0], end_ms=span[1]), session))
    for start_ms, end_ms in _ranges(lake, plan.computed):
        if not clusters_with_samples(lake, start_ms, end_ms):
            continue
        computed = request.diagnosis(start_ms=start_ms, end_ms=end_ms, again=True, clusters=())
        with progress.step("Computing again") as step:
            step.note(run_pipeline(computed, session=session).status)
    with progress.step("Checking"):
        for loss in wanted:
            rows = rows_back(lake, loss)
            if rows >= loss.rows or loss.table == "computed":
                done.back += 1
            else:
                done.short.append((loss, rows))
        done.faults = [fault for fault in check(lake, names) if not _is_left(fault, done.left)]
    save_pending(lake, [one for one in pending(lake) if one.table not in names])
    return done


def _read(request: RunRequest, session: SparkSession | None) -> str:
    try:
        return run_pipeline(request, session=session).status
    except EmptyRangeError:
        return sentence("steps.repair.source_empty")


def _cannot_go_on(gone: Sequence[DamageLoss]) -> InputError:
    tables = sorted({loss.table for loss in gone})
    return InputError(
        "Files are damaged that nothing gives again, and every run reads or writes their tables",
        got=f"{len(gone)} files with {sum(loss.rows for loss in gone)} rows of {', '.join(tables)}",
        fix="bring them back from a copy; or add --forget to go on without these rows",
    )


def _is_left(fault: Fault, left: Sequence[DamageLoss]) -> bool:
    return any(fault.path == f"{loss.table}/{loss.path}" for loss in left)


def _check_source(request: RunRequest) -> None:
    if not request.recordings and not request.settings.clusters:
        raise InputError(
            "Damaged samples have to be read again, and there is no source to read",
            got="no --prometheus, no --recording and no cluster in a configuration file",
            fix="name the source that they came from; or add --forget to go on without them",
        )
    # Only that it answers is checked.
    open_sources(replace(request, command="ingest", start_ms=None, end_ms=None, reset_watermark=True))


def _ranges(lake: Lake, found: Sequence[DamageLoss]) -> list[Range]:
    """Whole hours of some losses, put together where they touch; what has no age is made from the newest hour."""
    spans = [(loss.start_ms, loss.end_ms) for loss in found if loss.start_ms is not None]
    if len(spans) < len(found) and (whole := span_of_all(TABLES["samples"], lake.files("samples"))):
        newest_ms = whole[1]
        spans.append((newest_ms - BLOCK_MS, newest_ms))
    ranges: list[Range] = []
    for start_ms, end_ms in sorted(set(spans)):
        if ranges and start_ms <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(ranges[-1][1], end_ms)
        else:
            ranges.append((start_ms, end_ms))
    return ranges
