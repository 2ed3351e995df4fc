"""Readmission of refused rows. In: refused rows, repaired or not. Out: their tables with them, and the outcome of each.

What fits lands in its table in one transaction, next to what the lake holds: a sample that is there already stays. Then the row is
written to ``readmissions`` and leaves ``quarantine``. A stop between any two of these steps is repaired by a repetition: the same rows
make the same files, and what is there twice is there once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.times import block_start, date_of
from throttlescope.ingest.lake import ConflictError, Lake, write_data_file
from throttlescope.ingest.lake.blocks import join_rows, sample_rows
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.pull.commit import commit_series
from throttlescope.ingest.pull.item import series_rows
from throttlescope.ingest.quarantine.refuse import REASONS
from throttlescope.ingest.quarantine.revalidate import (
    ROW_VALIDATORS,
    StillRefusedError,
    blocks_of,
    fit_series,
)
from throttlescope.ingest.quarantine.rows import QuarantinedRows

_ATTEMPTS = 10
_ROW_NAMES = ["series_id", "timestamps_ms", "values", "stale_ms"]


@dataclass
class Readmitted:
    """What became of the rows.

    Attributes
    ----------
    taken, refused : list of QuarantinedRows
        As they are now.
    samples : int
        Samples, and rows of other tables, that were not there before.
    hours : dict
        Cluster to the UTC hours (their starts, epoch ms) whose input changed: signals and verdicts of these are to be computed again.
    """

    taken: list[QuarantinedRows] = field(default_factory=list)
    refused: list[QuarantinedRows] = field(default_factory=list)
    samples: int = 0
    hours: dict[str, set[int]] = field(default_factory=dict)


def remaining_fault(kept: QuarantinedRows) -> StillRefusedError | None:
    """The fault that validation finds in a row now; None: it would be readmitted. Nothing is written."""
    try:
        _fit(kept)
    except StillRefusedError as fault:
        return fault
    return None


def readmit(lake: Lake, rows: Sequence[QuarantinedRows], run_id: str) -> Readmitted:
    """Readmit every row that passes validation.

    Parameters
    ----------
    rows : sequence of QuarantinedRows
        Rows that were readmitted before are skipped.
    run_id : str
        Name of the run that readmits them.

    Raises
    ------
    ConflictError
        Other runs wrote the same blocks all the time; nothing of it is marked as readmitted.
    """
    done, series, tables = Readmitted(), [], {}
    for kept in rows:
        if not kept.is_open:
            continue
        try:
            found = _fit(kept)
        except StillRefusedError as fault:
            done.refused.append(replace(kept, state="refused_again", reason=fault.reason, fault=fault.fault))
            continue
        done.taken.append(replace(kept, state="readmitted", fault=None, readmitted_run_id=run_id))
        if kept.table == "samples":
            series.append(found)
        else:
            tables.setdefault(kept.table, []).append(found)
    if series:
        _commit_samples(lake, series, run_id, done)
    for table, parts in tables.items():
        _commit_rows(lake, table, pa.concat_tables(parts), run_id, done)
    mark(lake, [*done.taken, *done.refused], run_id)
    return done


def mark(lake: Lake, rows: Sequence[QuarantinedRows], run_id: str) -> None:
    """Write the outcome of rows, then remove from quarantine what is no longer open; what was refused again has its new reason."""
    if not rows:
        return
    now_ms = time.time_ns() // 1_000_000
    contract = TABLES["readmissions"]
    outcomes = [
        {
            "id": one.id, "refused_run_id": one.run_id, "cluster": one.cluster, "table": one.table, "reason": one.reason,
            "row": one.text, "repaired": one.repaired, "rows": one.rows, "refused_ms": one.refused_ms, "state": one.state,
            "fault": one.fault, "readmitted_run_id": one.readmitted_run_id, "changed_ms": now_ms, "date": date_of(one.refused_ms),
        }
        for one in rows
    ]  # fmt: skip
    lake.upsert("readmissions", pa.Table.from_pylist(outcomes, schema=contract.loose_schema), run_id=run_id)
    by_row = {(one.run_id, one.table, one.text): one for one in rows if one.state != "repaired"}
    if not by_row:
        return

    def without(existing: pa.Table) -> pa.Table:
        left = []
        for row in existing.to_pylist():
            now = by_row.get((row["run_id"], row["table"], row["row"]))
            if now is None or now.is_open:
                left.append(row | ({} if now is None else {"reason": now.reason}))
        return TABLES["quarantine"].conform(
            pa.Table.from_pylist(left, schema=TABLES["quarantine"].loose_schema)
        )

    dates = pa.table({"date": sorted({date_of(one.refused_ms) for one in rows})})
    lake.update("quarantine", without, partitions_of=dates, run_id=run_id)


def _fit(kept: QuarantinedRows):
    row = kept.row
    if row is None:
        raise StillRefusedError("row_unreadable", "no JSON")
    if kept.table == "samples":
        return fit_series(row)
    if kept.table not in ROW_VALIDATORS:
        raise StillRefusedError("row_unreadable", f"rows of {kept.table} cannot be readmitted")
    return ROW_VALIDATORS[kept.table](row)


def _commit_samples(lake: Lake, series: list, run_id: str, done: Readmitted) -> None:
    blocks, catalogue = blocks_of(series)
    commit_series(lake, ds.dataset(series_rows(catalogue)), run_id)

    def merge() -> None:
        version = lake.version("samples")
        add, remove, more, hours = [], [], 0, {}
        for metric_name, of_metric in blocks.items():
            for key, rows in of_metric.items():
                cluster, block_start_ms, shard = key
                old = lake.files(
                    "samples",
                    partition={"metric_name": [metric_name], "date": [date_of(block_start_ms)]},
                    between={
                        "block_start_ms": (block_start_ms, block_start_ms),
                        "cluster": (cluster, cluster),
                        "shard": (shard, shard),
                    },
                    version=version,
                )
                before = read_files("samples", old, columns=_ROW_NAMES)
                # What the lake holds comes first, and of equal times the first is kept.
                merged = join_rows([before.cast(rows.schema), rows], Counter()) if old else rows
                added = _samples(merged) - _samples(before)
                if not added and old:
                    continue
                add.append(write_data_file(lake.root, "samples", sample_rows(metric_name, key, merged)))
                remove += old
                more += added
                hours.setdefault(cluster, set()).add(block_start_ms)
        lake.commit("samples", add, remove, run_id=run_id, read_version=version)
        done.samples += more
        for cluster, some in hours.items():
            done.hours.setdefault(cluster, set()).update(some)

    retry(
        merge,
        attempts=_ATTEMPTS,
        exhausted=lambda: ConflictError(
            "The blocks are being written all the time", fix="run the command again later"
        ),
    )


def _commit_rows(lake: Lake, table: str, rows: pa.Table, run_id: str, done: Readmitted) -> None:
    contract = TABLES[table]
    one_each = {tuple(row[name] for name in contract.key): row for row in rows.to_pylist()}
    rows = contract.conform(pa.Table.from_pylist(list(one_each.values()), schema=contract.loose_schema))
    dates = {"date": rows["date"].unique().to_pylist()}
    before = lake.read(table, columns=["observed_ms"], partition=dates).num_rows
    lake.upsert(table, rows, run_id=run_id)
    done.samples += lake.read(table, columns=["observed_ms"], partition=dates).num_rows - before
    for row in rows.select(["cluster", "observed_ms"]).to_pylist():
        done.hours.setdefault(row["cluster"], set()).add(block_start(row["observed_ms"]))


def _samples(rows: pa.Table) -> int:
    """Samples and markers."""
    return sum(
        pc.sum(pc.list_value_length(rows[name])).as_py() or 0 for name in ("timestamps_ms", "stale_ms")
    )


def known_reason(reason: str | None) -> None:
    """Refuse a reason that is none.

    Raises
    ------
    InputError
    """
    if reason is not None and reason not in REASONS:
        raise InputError("No such reason", got=reason, expected=", ".join(REASONS))
