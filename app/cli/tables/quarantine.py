"""Refused rows on a terminal. In: rows of the quarantine in their present state. Out: tables or JSON on stdout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import TableColumn, print_rows, write_result, write_rows
from throttlescope.ingest.core.times import BLOCK_MS, format_time
from throttlescope.ingest.quarantine.readmit import remaining_fault
from throttlescope.ingest.quarantine.repairs import known_repair
from throttlescope.ingest.quarantine.rows import QuarantinedRows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, minute_text, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.quarantine import ReadmittedRun

#: Values of a list that are shown; the rest is counted.
_SHOWN = 3


def _columns() -> tuple:
    return (
        TableColumn(sentence("label.id"), lambda one: one.id),
        TableColumn(sentence("label.reason_heading"), lambda one: one.reason),
        TableColumn(sentence("label.table_heading"), lambda one: one.table),
        TableColumn(sentence("label.cluster_heading"), lambda one: one.cluster or "-"),
        TableColumn(sentence("label.rows_heading"), lambda one: count(one.rows), "right"),
        TableColumn(sentence("label.state"), lambda one: one.state),
        TableColumn(sentence("label.ingest_validation_now"), lambda one: _validation(one)),
        TableColumn(sentence("label.known_repair"), lambda one: _known(one) or "-"),
        TableColumn(sentence("label.refused_utc"), lambda one: minute_text(one.refused_ms)),
        TableColumn(sentence("label.run_heading"), lambda one: one.run_id),
    )


#: What is printed of one row above its text.
_FACTS = (
    "id",
    "state",
    "table",
    "reason",
    "rows",
    "refused",
    "run_id",
    "readmitted_run_id",
    "door",
    "known_repair",
)


def write_quarantined(rows: Sequence[QuarantinedRows], options: CommandOptions) -> None:
    """Write a line per row in the requested format."""
    title = counted(len(rows), "refused row")
    write_rows(
        options.format,
        rows,
        table=lambda: print_rows(_columns(), rows, title=title, notes=[sentence("tables.quarantine.note")]),
        export=facts_of,
    )


def write_quarantined_row(one: QuarantinedRows, options: CommandOptions) -> None:
    """Write all of one row in the requested format."""
    write_result(
        options.format,
        table=lambda: _print_row(one),
        document=lambda: facts_of(one) | {"row": one.text, "repaired": one.repaired},
    )


def write_readmitted(run: ReadmittedRun, lake: str, options: CommandOptions) -> None:
    """Write what became of rows in the requested format.

    Raises
    ------
    InputError
        At least one was refused again.
    """
    write_result(
        options.format, table=lambda: _print_readmitted(run, lake), document=lambda: _readmitted_document(run)
    )
    run.check()


def _print_row(one: QuarantinedRows) -> None:
    facts = facts_of(one)
    for name in _FACTS:
        if facts[name] is not None:
            print(visible(f"{name}: {facts[name]}"))
    for name, text in (("row", one.text), ("repaired", one.repaired)):
        if text is not None:
            print(f"{name}:")
            print("\n".join(visible(line) for line in _short(text).split("\n")))


def _readmitted_document(run: ReadmittedRun) -> dict[str, Any]:
    done = run.done
    return {
        "run_id": run.run_id,
        "readmitted": [one.id for one in done.taken],
        "still_refused": [{"id": one.id, "reason": one.reason, "fault": one.fault} for one in done.refused],
        "samples_or_rows_new": done.samples,
        "hours": {
            cluster: [format_time(hour) for hour in sorted(some)]
            for cluster, some in sorted(done.hours.items())
        },
    }


def _print_readmitted(run: ReadmittedRun, lake: str) -> None:
    done = run.done
    print(
        sentence(
            "tables.quarantine.readmitted",
            rows=counted(len(done.taken), "row"),
            samples=count(done.samples),
            run=run.run_id,
        )
    )
    for cluster, some in sorted(done.hours.items()):
        command = (
            f"throttlescope diagnose --lake {lake} --cluster {cluster} --start {format_time(min(some))} "
            f"--end {format_time(max(some) + BLOCK_MS)}"
        )
        print(visible(sentence("tables.quarantine.recompute", command=command)))


def facts_of(one: QuarantinedRows) -> dict[str, Any]:
    """A row without its text."""
    return {
        "id": one.id,
        "state": one.state,
        "table": one.table,
        "cluster": one.cluster,
        "reason": one.reason,
        "rows": one.rows,
        "refused": format_time(one.refused_ms),
        "run_id": one.run_id,
        "readmitted_run_id": one.readmitted_run_id,
        "door": _validation(one),
        "known_repair": _known(one),
    }


def _validation(one: QuarantinedRows) -> str:
    if not one.is_open:
        return "taken back"
    fault = remaining_fault(one)
    return "takes it" if fault is None else f"{fault.reason}: {fault.fault}"


def _known(one: QuarantinedRows) -> str | None:
    found = known_repair(one.reason, one.row) if one.is_open else None
    return None if found is None else found[1]


def _short(text: str) -> str:
    """JSON to look at: long lists are cut, and say how long they are."""
    try:
        return json.dumps(_cut(json.loads(text)), indent=2, sort_keys=True)
    except ValueError:
        return text


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, list) and len(value) > 2 * _SHOWN:
        return [*value[:_SHOWN], f"... {len(value) - 2 * _SHOWN} more", *value[-_SHOWN:]]
    return value
