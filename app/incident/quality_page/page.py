"""The page's way to disk. In: a lake. Out: a file, whole or not at all."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from throttlescope.app.incident.quality_page.html import document
from throttlescope.app.incident.quality_page.report import summarize_gates
from throttlescope.app.queries.quality import newest_findings, read_findings
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count


def write_page(lake: Lake, out: Path, *, run_id: str | None = None, force: bool = False) -> str:
    """Write what the gates found.

    Parameters
    ----------
    run_id : str, optional
        Findings of this run; None: of every table of every gate those that were made last.

    Returns
    -------
    str
        What is on it, in words.

    Raises
    ------
    InputError
        The file is there, cannot be written, or no gate has checked anything in this run.
    """
    if out.exists() and not force:
        raise InputError("The page is there already", got=str(out), fix="choose another name, or add --force")
    rows = read_findings(lake, run_id=run_id)
    if run_id is not None and not rows:
        raise InputError(
            "No gate has checked anything in this run", got=run_id, fix="leave --run out, or look its name up"
        )
    rows = rows if run_id is not None else newest_findings(rows)
    text = document(summarize_gates(rows), refused_by_reason(lake, run_id), lake=lake.root, of_run=run_id)
    scratch = out.with_name(f".{out.name}.{uuid.uuid4().hex}")
    try:
        scratch.write_text(text, encoding="utf-8", errors="replace")
        os.replace(scratch, out)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise InputError(
            "The page cannot be written", got=f"{out}: {error.strerror}", fix="choose another folder"
        ) from None
    failed = sum(not row["success"] for row in rows)
    return sentence(
        "quality_page.written", findings=count(len(rows)), failed=count(failed), characters=count(len(text))
    )


def refused_by_reason(lake: Lake, run_id: str | None) -> list[dict]:
    """Rows in quarantine by reason and table: how many are kept, and what was lost with them."""
    found: dict[tuple[str, str], dict] = {}
    for row in lake.read("quarantine", columns=["run_id", "table", "reason", "rows"]).to_pylist():
        if run_id is None or row["run_id"] == run_id:
            key = (row["reason"], row["table"])
            one = found.setdefault(key, {"reason": key[0], "table": key[1], "kept": 0, "rows": 0})
            one["kept"] += 1
            one["rows"] += row["rows"]
    return sorted(found.values(), key=lambda one: (-one["rows"], one["reason"], one["table"]))
