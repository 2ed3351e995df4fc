"""Content of the page. In: rows of ``quality`` and ``quarantine``. Out: gates with their tables and checks, and rejected rows.

Every check of a suite is listed, also one that has not run yet: a check that did not run is not a check that passed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.quality.gates import GATES

#: What the state of a check is called, worst first.
STATES = ("error", "warning", "passed", "not checked")


@dataclass(frozen=True)
class Finding:
    """What did not hold in one cluster: what was seen, how many rows, and up to twenty of them."""

    cluster: str | None
    observed: str | None
    rows: int
    examples: tuple[dict, ...]


@dataclass(frozen=True)
class CheckSummary:
    """One check: its state, and what did not hold."""

    name: str
    severity: str
    expected: str | None
    state: str
    observed: str | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class TableSummary:
    """One table at one gate."""

    table: str
    checked: str | None
    observed_ms: int | None
    run_id: str | None
    checks: tuple[CheckSummary, ...]


@dataclass(frozen=True)
class GateSummary:
    """One gate."""

    name: str
    between: str
    tables: tuple[TableSummary, ...]

    @property
    def state(self) -> str:
        """The worst of its checks; not checked only where nothing was."""
        states = {check.state for table in self.tables for check in table.checks}
        return next((state for state in STATES if state in states), "not checked")


def summarize_gates(rows: Sequence[dict[str, Any]]) -> list[GateSummary]:
    """All gates in the order in which data passes, with what was found.

    Parameters
    ----------
    rows : sequence of dict
        Rows of ``quality``.
    """
    by_check: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_check.setdefault((row["gate"], row["table"], row["check"]), []).append(row)
    gates = []
    for gate in GATES.values():
        tables = {
            table: [(check.name, check.severity, check.expected) for check in checks]
            for table, checks in gate.suites
        }
        # Checks that run elsewhere and write to the same table, such as those of ingest validation.
        known = {(table, name) for table, checks in tables.items() for name, _, _ in checks}
        for (name, table, check), found in sorted(by_check.items()):
            if name == gate.name and check != "rows_present" and (table, check) not in known:
                tables.setdefault(table, []).append((check, found[0]["severity"], found[0]["expected"]))
        gates.append(
            GateSummary(
                gate.name,
                gate.between,
                tuple(_table(gate.name, table, checks, by_check) for table, checks in tables.items()),
            )
        )
    return gates


def _table(gate: str, table: str, checks: list[tuple], by_check: dict) -> TableSummary:
    present = by_check.get((gate, table, "rows_present"), [])
    own = [row for (of, name, _), rows in by_check.items() if (of, name) == (gate, table) for row in rows]
    newest = max(own, key=lambda row: row["observed_ms"], default=None)
    return TableSummary(
        table,
        ", ".join(sorted({row["observed"] for row in present if row["observed"]})) or None,
        None if newest is None else newest["observed_ms"],
        None if newest is None else newest["run_id"],
        tuple(_check(*check, by_check.get((gate, table, check[0]), [])) for check in checks),
    )


def _check(name: str, severity: str, expected: str | None, rows: list[dict[str, Any]]) -> CheckSummary:
    failed = [row for row in rows if not row["success"]]
    state = severity if failed else "passed" if rows else "not checked"
    findings = sorted(
        (Finding(row["cluster"], row["observed"], row["rows"], examples(row["example"])) for row in failed),
        key=lambda one: (-one.rows, one.cluster or ""),
    )
    observed = next((row["observed"] for row in rows if row["success"] and row["observed"]), None)
    return CheckSummary(name, severity, expected, state, observed, tuple(findings))


def examples(text: str | None) -> tuple[dict, ...]:
    """The rows that a finding kept, the worst first; what is no JSON is shown as it is."""
    if not text:
        return ()
    try:
        found = json.loads(text)
    except ValueError:
        return ({"example": text},)
    if not isinstance(found, dict):
        return ({"example": text},)
    others = found.pop("others", [])
    others = others if isinstance(others, list) else []
    return (found, *(other for other in others if isinstance(other, dict)))
