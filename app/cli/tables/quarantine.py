"""Refused rows on a terminal. In: rows of the quarantine as they stand. Out: tables or JSON on stdout."""

from __future__ import annotations

import json
from typing import Any

from throttlescope.app.presentation.output import print_table, write_json
from throttlescope.ingest.core.times import BLOCK_MS, format_time
from throttlescope.ingest.quarantine.readmit import Readmitted, door_fault
from throttlescope.ingest.quarantine.repairs import known_repair
from throttlescope.ingest.quarantine.rows import QuarantinedRows
from throttlescope.models.messages.units import count, minute_text, visible

#: Values of a list that are shown; the rest is counted.
_SHOWN = 3


def print_rows(rows: list[QuarantinedRows], *, as_json: bool) -> None:
    """One line a row."""
    if as_json:
        write_json([told(one) for one in rows])
        return
    print_table(
        [
            ("id", "left"), ("reason", "left"), ("table", "left"), ("cluster", "left"), ("stands for", "right"), ("state", "left"),
            ("the door now", "left"), ("known repair", "left"), ("refused (UTC)", "left"), ("run", "left"),
        ],
        [
            [
                one.id, one.reason, one.table, one.cluster or "-", count(one.rows), one.state, _door(one), _known(one) or "-",
                minute_text(one.refused_ms), one.run_id,
            ]
            for one in rows
        ],
        title=f"{len(rows)} refused row{'' if len(rows) == 1 else 's'}",
        notes=["Times are UTC. throttlescope quarantine show ID prints a row whole."],
    )  # fmt: skip


def print_row(one: QuarantinedRows, *, as_json: bool) -> None:
    """All of one row."""
    if as_json:
        write_json(told(one) | {"row": one.text, "repaired": one.repaired})
        return
    facts = told(one)
    for name in (
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
    ):
        if facts[name] is not None:
            print(visible(f"{name}: {facts[name]}"))
    for name, text in (("row", one.text), ("repaired", one.repaired)):
        if text is not None:
            print(f"{name}:")
            print("\n".join(visible(line) for line in _short(text).split("\n")))


def print_readmitted(done: Readmitted, run_id: str, lake: str, *, as_json: bool) -> None:
    """What became of rows, and what is to be computed again."""
    if as_json:
        write_json(
            {
                "run_id": run_id,
                "readmitted": [one.id for one in done.taken],
                "still_refused": [
                    {"id": one.id, "reason": one.reason, "fault": one.fault} for one in done.refused
                ],
                "samples_or_rows_new": done.samples,
                "hours": {
                    cluster: [format_time(hour) for hour in sorted(some)]
                    for cluster, some in sorted(done.hours.items())
                },
            }
        )
        return
    print(
        f"{count(len(done.taken))} taken back with {count(done.samples)} samples or rows that were not there; run {run_id}."
    )
    for cluster, some in sorted(done.hours.items()):
        command = (
            f"throttlescope diagnose --lake {lake} --cluster {cluster} --start {format_time(min(some))} "
            f"--end {format_time(max(some) + BLOCK_MS)}"
        )
        print(visible(f"Compute again what follows from them: {command}"))


def told(one: QuarantinedRows) -> dict[str, Any]:
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
        "door": _door(one),
        "known_repair": _known(one),
    }


def _door(one: QuarantinedRows) -> str:
    if not one.is_open:
        return "taken back"
    fault = door_fault(one)
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
