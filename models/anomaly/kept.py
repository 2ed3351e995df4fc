"""Baselines that are kept for a day. In: ``signals`` and ``verdicts`` of the weeks before. Out: ``baselines``, or those of an earlier run.

They hold for as long as the files that they were computed from are the same; then the weeks before need not be read again.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import xxhash

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import ConflictError, DataFile, NewFile, write_data_file
from throttlescope.ingest.lake.after_commit import LakeAfterCommit
from throttlescope.ingest.lake.staged import StagedCommit
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.minutes import MinutesTable
from throttlescope.models.anomaly.read import (
    Covered,
    files_of,
    minutes_covered,
    signals_of_share,
    verdicts_of_share,
)
from throttlescope.models.anomaly.shares import NameRange, shares_of
from throttlescope.models.anomaly.stored import rows_of
from throttlescope.models.anomaly.subscription import Range, baselines_of

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class BaselineWeeks:
    """What the baselines of a cluster are computed from: its files of the weeks before a range."""

    cluster: str
    judged: Range
    signals: list[DataFile]
    verdicts: list[DataFile]

    @classmethod
    def of(cls, lake: Lake, cluster: str, judged: Range) -> BaselineWeeks:
        signals, verdicts = (
            files_of(lake, table, [cluster], judged.first_ms, judged.known_ms)
            for table in ("signals", "verdicts")
        )
        return cls(cluster, judged, signals, verdicts)

    @property
    def inputs(self) -> str:
        """The same where the baselines are: files are named by their content."""
        judged = self.judged
        names = sorted(file.relative_path for file in (*self.signals, *self.verdicts))
        span = (judged.first_ms, judged.begin_ms, judged.known_ms, judged.calendar.zone)
        form = (version("throttlescope"), TABLES["baselines"].loose_schema.names, judged.rules)
        return xxhash.xxh3_128_hexdigest(repr((form, span, names)).encode())

    def kept(self, lake: Lake) -> list[DataFile]:
        """Files of ``baselines`` that hold; none where they have to be computed."""
        inputs = self.inputs
        return lake.files(
            "baselines", partition={"cluster": [self.cluster]}, between={"inputs": (inputs, inputs)}
        )

    def computed(self, executor: TaskExecutor, lake: Lake, run_id: str) -> list[DataFile]:
        """Compute them and put them in place of the cluster's old ones; their files."""
        if not self.signals:
            return []
        judged, inputs, partition = self.judged, self.inputs, {"cluster": [self.cluster]}
        read_version = lake.version("baselines")
        old = lake.files("baselines", partition=partition, version=read_version)
        covered = minutes_covered(executor, self.signals, judged.first_ms, judged.known_ms)
        write = partial(_write_share, lake.root, self, inputs, covered)
        written = executor.map(write, shares_of(self.signals, executor.parallelism))
        new = tuple(file for file in written if file is not None)
        staged = StagedCommit("baselines", new, tuple(old), run_id, read_version)
        # Another run that keeps its own meanwhile does no harm: this one reads what it wrote.
        with contextlib.suppress(ConflictError):
            lake.commit_staged(staged)
        return self.kept(LakeAfterCommit(lake, staged))


def _write_share(
    root: str, weeks: BaselineWeeks, inputs: str, covered: Covered, share: NameRange
) -> NewFile | None:
    """Compute the baselines of a share and write them; None where it has no rows."""
    judged = weeks.judged
    table = MinutesTable()
    for rows in signals_of_share(weeks.signals, share, judged.first_ms, judged.known_ms):
        table.add(rows)
    verdicts = verdicts_of_share(weeks.verdicts, share, ~pc.field("cause").isin(diagnosis.CALM))
    found = baselines_of(table, judged, incidents=diagnosis.incident_windows(verdicts), covered=covered)
    return write_data_file(root, "baselines", rows_of(found, judged.known_ms, inputs)) if found else None
