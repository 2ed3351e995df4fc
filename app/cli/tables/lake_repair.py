"""A repair, for eyes and for programs. In: a plan, or what was done. Out: text on stdout, or one dict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.units import count, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.lake_repair import Repaired, RepairPlan
    from throttlescope.ingest.lake.upkeep.losses import DamageLoss

_COLUMNS = [
    ("table", "left"), ("rows", "right"), ("clusters", "left"), ("from", "left"), ("to", "left"), ("what is wrong", "left"),
    ("what helps", "left"),
]  # fmt: skip


def print_plan(root: str, plan: RepairPlan) -> None:
    """What is wrong and what would be done about it."""
    if plan.is_empty:
        print(f"{root}: there is nothing to repair.")
        return
    rows = [
        *(_row(loss, "read again from the source") for loss in plan.read),
        *(_row(loss, "computed again") for loss in plan.computed),
        *(_row(loss, "nothing: of its moment") for loss in plan.gone),
    ]
    if rows:
        print_table(_COLUMNS, rows, title=f"{root}: damaged files", notes=["Times are UTC."], heads=2)
    for line in plan.logs:
        print(f"Log of {line}.")
    for fault in plan.other:
        print(f"{fault.path or fault.table}: {fault.what}.")
    print("Nothing was changed; add --yes, and the source, to do it.")


def print_repaired(root: str, done: Repaired) -> None:
    """What was done, and what is still wrong."""
    for line in done.logs:
        print(f"Log of {line}.")
    _list(
        "The source has these rows no more", [(loss, f"{count(rows)} came back") for loss, rows in done.short]
    )
    _list("Nothing gives these rows again; --forget takes them out", [(loss, "left") for loss in done.left])
    _list("Taken out for good", [(loss, "gone") for loss in done.forgotten])
    for fault in done.faults:
        print(f"{fault.path or fault.table}: {fault.what}.")
    files = f"{count(done.back)} file{'' if done.back == 1 else 's'} brought back"
    print(f"{root}: {files}; " + ("the lake is whole." if done.is_whole else "something is still wrong."))


def _list(title: str, found: Sequence[tuple[DamageLoss, str]]) -> None:
    if found:
        print_table(
            _COLUMNS,
            [_row(loss, helps) for loss, helps in found],
            title=title,
            notes=["Times are UTC."],
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
