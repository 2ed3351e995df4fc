"""Quality gates without a pipeline run. In: a lake, names of gates and a range. Out: rows of ``quality``, written, and whether a check failed as an error.

Spark is started only for tables that are too large to count in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.newest_samples import newest_samples
from throttlescope.ingest.pull.manifest import new_run_id
from throttlescope.models.messages.units import count, counted

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.app.pipeline.events import Progress
    from throttlescope.ingest.quality import GateResult

#: Tables whose rows the gates count, with the column of their time.
_COUNTED = {"samples": "block_start_ms", "signals": "minute_ms", "verdicts": "window_start_ms"}


class Checked:
    """The findings of all gates."""

    def __init__(self, result: GateResult) -> None:
        self._result = result
        self.stopped, self.failures, self.error = result.stopped, result.failures, result.error

    @property
    def words(self) -> str:
        """How many checks passed and how many findings there are."""
        passed = sum(row["success"] for row in self._result.rows.to_pylist())
        warnings, errors = (len(self.failures(severity)) for severity in ("warning", "error"))
        return f"{count(passed)} checks passed, {counted(warnings, 'warning')}, {counted(errors, 'error')}"


def check_gates(
    settings: Settings,
    names: Sequence[str],
    start_ms: int,
    end_ms: int,
    *,
    cluster: str | None = None,
    progress: Progress,
    debug: bool = False,
) -> Checked:
    """Run gates over a range, and write their findings.

    Raises
    ------
    InputError
        The lake has no such cluster.
    GateError
        A check could not be evaluated.
    """
    from throttlescope.ingest.quality import GateResult, preload
    from throttlescope.ingest.quality.gates import GATES

    preload()
    lake = Lake(settings.lake)
    clusters = _clusters(lake, cluster)
    session = None
    if _is_large(lake, clusters, start_ms, end_ms):
        from throttlescope.app.pipeline.spark_session import start_spark

        session = start_spark(settings, debug=debug)
    run_id = new_run_id()
    found = []
    for name in names:
        with progress.step(f"Checking: {name}"):
            result = GATES[name].check(session, lake, clusters, start_ms, end_ms, run_id)
            lake.upsert("quality", result.rows, run_id=run_id)
            found.append(result)
            failed = result.failures()
            progress.note(counted(len(failed), "finding") if failed else "all passed")
    return Checked(GateResult.of(found))


def _clusters(lake: Lake, wanted: str | None) -> list[str]:
    known = set(newest_samples(lake))
    for table in ("signals", "verdicts"):
        known |= {file.partition["cluster"] for file in lake.files(table)}
    if wanted is None:
        return sorted(known)
    if wanted not in known:
        raise InputError(
            "The lake has no such cluster",
            got=wanted,
            expected=", ".join(sorted(known)[:10]) or "the lake has none",
        )
    return [wanted]


def _is_large(lake: Lake, clusters: list[str], start_ms: int, end_ms: int) -> bool:
    from throttlescope.ingest.quality.frames import IN_PROCESS_ROWS

    rows = 0
    for table, column in _COUNTED.items():
        by_partition = "cluster" in TABLES[table].partition_by
        files = lake.files(
            table,
            partition={"cluster": clusters} if by_partition else None,
            between={column: (block_start(start_ms), end_ms - 1)},
        )
        rows = max(rows, sum(file.rows for file in files))
    return rows > IN_PROCESS_ROWS
