"""Rows of ``quality``. In: a frame and its checks. Out: one row per check and cluster.

A check that passes has one row for all clusters; one that fails has a row per cluster concerned, with the number of
rows, the sum of their faults, the worst row as an example and the keys of up to nineteen more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.core.times import date_of, format_time
from throttlescope.ingest.quality.checks import GateCheck
from throttlescope.ingest.quality.expectations import check_columns, failing
from throttlescope.ingest.quality.frames import Frame

#: Written by every gate: how much there was to check.
PRESENT = GateCheck("rows_present", "", "warning", "", "at least one row")

#: Keys of rows with a fault that are kept per check and cluster, the worst first; ``rows`` says how many there are.
KEPT_KEYS = 20

#: Columns of a key that say in which hour a row lies.
_HOURS = ("block_start_ms", "hour_ms")


@dataclass(frozen=True)
class GateResult:
    """What a gate found.

    Attributes
    ----------
    rows : pyarrow.Table
        Rows of ``quality``.
    stopped : bool
        A check of severity ``error`` failed.
    first_ms : mapping of (gate, check, cluster) to int
        Start of the first hour with a fault, where what was judged has hours.
    """

    rows: pa.Table
    stopped: bool
    first_ms: Mapping[tuple[str, str, str | None], int] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Iterable[GateResult]) -> GateResult:
        """Several tables of one gate as one."""
        results = list(results)
        rows = [result.rows for result in results] or [TABLES["quality"].schema.empty_table()]
        first_ms = {name: hour_ms for result in results for name, hour_ms in result.first_ms.items()}
        return cls(pa.concat_tables(rows), any(result.stopped for result in results), first_ms)

    def failures(self, severity: str | None = None) -> list[dict]:
        """Rows of failed checks, all or of one severity."""
        return [
            row for row in self.rows.to_pylist() if not row["success"] and severity in (None, row["severity"])
        ]

    def error(self) -> GateError:
        """The error that a stopped run ends with; it names the first fault and its hour, and counts the others.

        The hour may lie before the requested ones: a read begins in the hour before, for late scrapes.
        """
        faults = self.failures("error")
        first = faults[0]
        others = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        hour_ms = self.first_ms.get((first["gate"], first["check"], first["cluster"]))
        where = "" if hour_ms is None else f", first in the hour of {format_time(hour_ms)}"
        then = "run again" if hour_ms is None else "run that hour again, then those behind it"
        return GateError(
            f"The {first['gate']} gate stopped the run: {first['check']} in cluster {first['cluster']}{where}{others}",
            got=first["observed"],
            expected=first["expected"],
            fix=f"throttlescope quality --run {first['run_id']} shows all; repair what it names and {then}",
        )


def judge(
    frame: Frame,
    checks: Sequence[GateCheck],
    *,
    gate: str,
    table: str,
    row_word: str,
    run_id: str,
    example_columns: Sequence[str],
    describe: Callable[[dict], dict] = dict,
    may_be_empty: str = "",
) -> GateResult:
    """Run the checks on ``frame`` and return their rows; the frame is closed.

    Parameters
    ----------
    frame : Frame
        One row per thing checked: ``cluster``, the checks' fault columns and ``example_columns``.
    row_word : str
        What one row of ``frame`` is, such as blocks.
    example_columns : sequence of str
        What names a row: kept of the worst rows of a failing check.
    describe : callable
        Turns those columns into the example that a reader understands.
    may_be_empty : str
        Where given, no rows at all are no fault, and this says what they mean.
    """
    try:
        return _judged(
            frame, checks, gate, table, row_word, run_id, list(example_columns), describe, may_be_empty
        )
    finally:
        frame.close()


def _judged(
    frame: Frame,
    checks: Sequence[GateCheck],
    gate: str,
    table: str,
    row_word: str,
    run_id: str,
    key: list[str],
    describe: Callable[[dict], dict],
    may_be_empty: str,
) -> GateResult:
    now_ms = time.time_ns() // 1_000_000
    total, not_judged = _counts(frame, checks)
    present = _row(PRESENT, gate, table, run_id, now_ms)
    if not total:
        # Expectations about no rows all hold; that must not be read as good data.
        nothing = f"0 {row_word}" + (f": {may_be_empty}" if may_be_empty else "")
        return _result([present | {"success": bool(may_be_empty), "observed": nothing}], stopped=False)
    wrong = failing(frame, checks)
    details = _details(frame, wrong, key)
    first_ms: dict[tuple[str, str, str | None], int] = {}
    rows = [present | {"observed": f"{total} {row_word}"}]
    for check in checks:
        common = _row(check, gate, table, run_id, now_ms)
        note = _note(check, not_judged, total, row_word)
        if check not in wrong:
            rows.append(common | {"observed": note})
            continue
        for cluster, worst in details[check.name].items():
            first = worst[0]
            if first["first_ms_"] is not None:
                first_ms[gate, check.name, cluster] = first["first_ms_"]
            example = describe({name: first[name] for name in key}) | {check.column: first["faults_"]}
            if len(worst) > 1:
                example["others"] = [
                    {name: one[name] for name in key} | {check.column: one["faults_"]} for one in worst[1:]
                ]
            observed = f"{first['sum_']} {check.fault} in {first['rows_']} {row_word}"
            rows.append(
                common
                | {
                    "cluster": cluster,
                    "success": False,
                    "observed": f"{observed} ({note})" if note else observed,
                    "rows": first["rows_"],
                    "example": json.dumps(example, sort_keys=True, ensure_ascii=False),
                }
            )
    return replace(
        _result(rows, stopped=any(check.severity == "error" for check in wrong)), first_ms=first_ms
    )


def _row(check: GateCheck, gate: str, table: str, run_id: str, now_ms: int) -> dict:
    return {
        "run_id": run_id, "cluster": None, "gate": gate, "check": check.name, "table": table,
        "severity": check.severity, "success": True, "observed": None, "expected": check.expected, "rows": 0,
        "example": None, "observed_ms": now_ms, "date": date_of(now_ms),
    }  # fmt: skip


def _fault(check: GateCheck) -> str:
    """Faults of a row in SQL. Rows of one key may be in different files, and the task that counted one did not see the other."""
    if not check.unique:
        return check.column
    place = f"row_number() OVER (PARTITION BY {', '.join(check.unique)} ORDER BY {check.column})"
    return f"greatest({check.column}, CASE WHEN {place} > 1 THEN 1 ELSE 0 END)"


def _result(rows: list[dict], stopped: bool) -> GateResult:
    contract = TABLES["quality"]
    return GateResult(contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema)), stopped)


def _counts(frame: Frame, checks: Sequence[GateCheck]) -> tuple[int, dict[str, int]]:
    """Rows of the frame, and the sum of each column of rows that are not judged.

    Raises
    ------
    GateError
        A fault was not counted somewhere: an expectation would pass over the NULL.
    """
    check_columns(frame, checks)
    columns = sorted({check.column for check in checks})
    not_judged = sorted({column for check in checks for column, _ in check.not_judged})
    measures = ["count(*) AS total_"]
    measures += [f"count({column}) AS {column}" for column in columns]
    measures += [f"CAST(coalesce(sum({column}), 0) AS BIGINT) AS {column}" for column in not_judged]
    (found,) = frame.query(f"SELECT {', '.join(measures)} FROM {{frame}}")  # noqa: S608
    for check in checks:
        if uncounted := found["total_"] - found[check.column]:
            raise GateError(
                f"The check {check.name} could not be evaluated",
                got=f"{uncounted} rows of {found['total_']} without a count in {check.column}",
            )
    return found["total_"], {column: found[column] for column in not_judged}


def _note(check: GateCheck, not_judged: dict[str, int], total: int, row_word: str) -> str | None:
    """How many rows a check does not judge, and why; None where it judges all."""
    left = [(not_judged[column], words) for column, words in check.not_judged if not_judged[column]]
    if not left:
        return None
    judged = total - sum(count for count, _ in left)
    reasons = ", ".join(f"{count} {words}" for count, words in left)
    return f"{judged} of {total} {row_word} judged; not judged: {reasons}"


def _details(frame: Frame, wrong: Sequence[GateCheck], key: list[str]) -> dict[str, dict[str, list[dict]]]:
    """Per failing check and cluster its worst rows: key, ``faults_``, ``rows_``, ``sum_`` and ``first_ms_``. One job for all checks."""
    if not wrong:
        return {}
    names = ", ".join(key)
    hours = [name for name in key if name in _HOURS]
    first = f"min({hours[0]}) OVER (PARTITION BY cluster)" if hours else "CAST(NULL AS BIGINT)"
    parts = [
        f"SELECT * FROM (SELECT '{check.name}' AS check_, cluster AS cluster_, {names}, "  # noqa: S608
        f"CAST(fault_ AS BIGINT) AS faults_, count(*) OVER (PARTITION BY cluster) AS rows_, "
        f"CAST(sum(fault_) OVER (PARTITION BY cluster) AS BIGINT) AS sum_, {first} AS first_ms_, row_number() OVER "
        f"(PARTITION BY cluster ORDER BY fault_ DESC, {names}) AS rank_ "
        f"FROM (SELECT *, {_fault(check)} AS fault_ FROM {{frame}}) AS judged_ WHERE fault_ > 0) AS ranked_ WHERE rank_ <= {KEPT_KEYS}"
        for check in wrong
    ]
    found: dict[str, dict[str, list[dict]]] = {check.name: {} for check in wrong}
    rows = frame.query(" UNION ALL ".join(parts))
    for row in sorted(rows, key=lambda row: (row["check_"], row["cluster_"] or "", row["rank_"])):
        found[row["check_"]].setdefault(row["cluster_"], []).append(row)
    unlocated = [name for name, clusters in found.items() if not clusters]
    if unlocated:
        raise GateError(
            "A check failed and no row has its fault",
            got=", ".join(unlocated),
            fix="report it: the gate contradicts itself",
        )
    return found
