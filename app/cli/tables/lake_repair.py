"""Output of a lake repair. In: a repair plan, or the result of a repair. Out: text or JSON on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.lake_repair import Repaired, RepairPlan
    from throttlescope.ingest.lake.upkeep.losses import DamageLoss


def _columns() -> list:
    return [
    (sentence("label.table_heading"), "left"), (sentence("label.rows_heading"), "right"), (sentence("label.clusters"), "left"), (sentence("label.from_heading"), "left"), (sentence("label.to"), "left"), (sentence("label.what_is_wrong"), "left"),
    (sentence("label.what_helps"), "left"),
]  # fmt: skip


def print_plan(root: str, plan: RepairPlan) -> None:
    """What is wrong and what would be done about it."""
    if plan.is_empty:
        print(sentence("tables.repair.nothing", lake=root))
        return
    rows = [
        *(_row(loss, sentence("tables.repair.read")) for loss in plan.read),
        *(_row(loss, sentence("tables.repair.computed")) for loss in plan.computed),
        *(_row(loss, sentence("tables.repair.gone")) for loss in plan.gone),
    ]
    if rows:
        title = sentence("tables.repair.damaged", lake=root)
        print_table(_columns(), rows, title=title, notes=[sentence("tables.utc")], heads=2)
    for line in plan.logs:
        print(sentence("tables.repair.log", table=line))
    for fault in plan.other:
        print(f"{fault.path or fault.table}: {fault.what}.")
    print(sentence("tables.repair.nothing_changed"))


def print_repaired(root: str, done: Repaired) -> None:
    """What was done, and what is still wrong."""
    for line in done.logs:
        print(sentence("tables.repair.log", table=line))
    _list(
        sentence("tables.repair.short"),
        [(loss, sentence("tables.repair.short.row", rows=count(rows))) for loss, rows in done.short],
    )
    _list(sentence("tables.repair.left"), [(loss, "left") for loss in done.left])
    _list(sentence("tables.repair.forgotten"), [(loss, "gone") for loss in done.forgotten])
    for fault in done.faults:
        print(f"{fault.path or fault.table}: {fault.what}.")
    files = counted(done.back, "file")
    if done.is_whole:
        print(sentence("tables.repair.whole", lake=root, files=files))
    else:
        print(sentence("tables.repair.not_whole", lake=root, files=files))


def _list(title: str, found: Sequence[tuple[DamageLoss, str]]) -> None:
    if found:
        print_table(
            _columns(),
            [_row(loss, helps) for loss, helps in found],
            title=title,
            notes=[sentence("tables.utc")],
            heads=2,
        )


def _row(loss: DamageLoss, helps: str) -> list[str]:
    return [
        loss.table, count(loss.rows), ", ".join(loss.clusters) or "-", minute_text(loss.start_ms), minute_text(loss.end_ms),
        loss.what, helps,
    ]  # fmt: skip


def write_plan(plan: RepairPlan, options: CommandOptions) -> bool:
    """Write a plan in the requested format; whether there is nothing to repair."""
    root = options.lake().root
    write_result(
        options.format,
        table=lambda: print_plan(root, plan),
        document=lambda: {"lake": root, "done": False, **asdict(plan)},
    )
    return plan.is_empty


def write_repaired(done: Repaired, options: CommandOptions) -> bool:
    """Write a repair in the requested format; whether the lake is whole."""
    root = options.lake().root
    write_result(
        options.format,
        table=lambda: print_repaired(root, done),
        document=lambda: {"lake": root, **done.as_dict()},
    )
    return done.is_whole
