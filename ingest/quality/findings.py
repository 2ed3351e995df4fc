"""From failing checks to rows of ``quality``: in, a frame and its checks; out, one row per check and cluster.

A check that holds has one row for all clusters; one that does not has a row per cluster concerned, with the number of
rows, the sum of their faults and the worst row as an example.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.errors import GateError
from throttlescope.ingest.quality.expectations import Check, failing
from throttlescope.ingest.times import date_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


#: Written by every gate: how much there was to check.
PRESENT = Check("rows_present", "", "warning", "", "at least one row")


@dataclass(frozen=True)
class GateResult:
    """What a gate found.

    Attributes
    ----------
    rows : pyarrow.Table
        Rows of ``quality``.
    stopped : bool
        An expectation of severity ``error`` does not hold.
    """

    rows: pa.Table
    stopped: bool

    def failures(self, severity: str | None = None) -> list[dict]:
        """Rows that do not hold, all or of one severity."""
        return [
            row for row in self.rows.to_pylist() if not row["success"] and severity in (None, row["severity"])
        ]

    def error(self) -> GateError:
        """The error that a stopped run ends with; it names the first fault and counts the others."""
        faults = self.failures("error")
        first = faults[0]
        others = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return GateError(
            f"The {first['gate']} gate stopped the run: {first['check']} in cluster {first['cluster']}{others}",
            got=first["observed"],
            expected=first["expected"],
            fix=f"throttlescope quality --run {first['run_id']} shows all; repair what it names and run again",
        )


def judge(
    frame: DataFrame,
    checks: Sequence[Check],
    *,
    gate: str,
    table: str,
    row_word: str,
    run_id: str,
    example_columns: Sequence[str],
    describe: Callable[[dict], dict] = dict,
) -> GateResult:
    """Run the checks on ``frame`` and return their rows.

    Parameters
    ----------
    frame : DataFrame
        One row per thing checked: ``cluster``, the checks' fault columns and ``example_columns``. It is computed
        several times, so it should be small and cached.
    row_word : str
        What one row of ``frame`` stands for, such as blocks.
    example_columns : sequence of str
        What is kept of the worst row of a failing check.
    describe : callable
        Turns those columns into the example that a reader understands.
    """
    now_ms = time.time_ns() // 1_000_000
    checked = frame.count()
    if not checked:
        # Expectations about no rows all hold; that must not be read as good data.
        nothing = _row(PRESENT, gate, table, run_id, now_ms) | {"success": False, "observed": f"0 {row_word}"}
        return _result([nothing], stopped=False)
    wrong = failing(frame, checks)
    details = _details(frame, wrong, example_columns)
    rows = [_row(PRESENT, gate, table, run_id, now_ms) | {"observed": f"{checked} {row_word}"}]
    for check in checks:
        common = _row(check, gate, table, run_id, now_ms)
        if check not in wrong:
            rows.append(common)
        for cluster, concerned, faults, example in details.get(check.name, ()):
            example = describe(example) | {check.column: example[check.column]}
            rows.append(
                common
                | {
                    "cluster": cluster,
                    "success": False,
                    "observed": f"{faults} {check.fault} in {concerned} {row_word}",
                    "rows": concerned,
                    "example": json.dumps(example, sort_keys=True, ensure_ascii=False),
                }
            )
    return _result(rows, stopped=any(check.severity == "error" for check in wrong))


def _row(check: Check, gate: str, table: str, run_id: str, now_ms: int) -> dict:
    return {
        "run_id": run_id, "cluster": None, "gate": gate, "check": check.name, "table": table,
        "severity": check.severity, "success": True, "observed": None, "expected": check.expected, "rows": 0,
        "example": None, "observed_ms": now_ms, "date": date_of(now_ms),
    }  # fmt: skip


def _result(rows: list[dict], stopped: bool) -> GateResult:
    contract = TABLES["quality"]
    return GateResult(contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema)), stopped)


def _details(
    frame: DataFrame, wrong: Sequence[Check], example_columns: Sequence[str]
) -> dict[str, list[tuple[str, int, int, dict]]]:
    """Per failing check: cluster, rows concerned, faults, worst row. One job for all checks."""
    if not wrong:
        return {}
    from pyspark.sql import functions as F

    measures = []
    for check in wrong:
        faults = F.col(check.column)
        worst = F.max_by(F.struct(*example_columns, check.column), faults)
        measures += [
            F.count_if(faults > 0).alias(f"{check.name}.rows"),
            F.sum(F.greatest(faults, F.lit(0))).alias(f"{check.name}.faults"),
            worst.alias(f"{check.name}.worst"),
        ]
    found: dict[str, list] = {check.name: [] for check in wrong}
    for row in frame.groupBy("cluster").agg(*measures).orderBy("cluster").collect():
        for check in wrong:
            if row[f"{check.name}.rows"]:
                found[check.name].append(
                    (
                        row["cluster"],
                        row[f"{check.name}.rows"],
                        row[f"{check.name}.faults"],
                        row[f"{check.name}.worst"].asDict(),
                    )
                )
    return found
