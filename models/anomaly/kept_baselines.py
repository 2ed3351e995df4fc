"""Baselines that are kept for a day. In: ``signals`` and ``verdicts`` of the weeks before. Out: ``baselines``, or those of an earlier run.

They hold for as long as the files that they were computed from are the same; then the weeks before need not be read again.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import xxhash

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import ConflictError, DataFile, NewFile, read_files, write_data_file
from throttlescope.ingest.lake.after_commit import LakeAfterCommit
from throttlescope.ingest.lake.damage import DamagedFilesError
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.staged import StagedCommit
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.anomaly import verdicts as diagnosis
from throttlescope.models.anomaly.baseline_rows import baselines_in, rows_of
from throttlescope.models.anomaly.lake_rows import (
    Covered,
    files_of,
    minutes_covered,
    signals_of_share,
    verdicts_of_share,
)
from throttlescope.models.anomaly.minutes import MinutesTable
from throttlescope.models.anomaly.name_ranges import NameRange, shares_of
from throttlescope.models.anomaly.subscription import Baselines, Range, baselines_of
from throttlescope.models.diagnosis.window import SubscriptionKey

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


#: Where baselines came from: a share's number, and how many there are.
_SHARE = ["share", "shares"]


@dataclass(frozen=True)
class KeptBaselines:
    """Baselines of a cluster in the lake; other rows of the same files are of other inputs."""

    inputs: str
    files: list[DataFile]

    def of_share(self, share: NameRange) -> dict[SubscriptionKey, Baselines]:
        """Those of some subscription partitions."""
        mine = [file for file in self.files if share.is_in(file)]
        where = share.where & (pc.field("inputs") == self.inputs)
        return baselines_in(read_files("baselines", mine, where=where))


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

    @cached_property
    def inputs(self) -> str:
        """Fingerprint of all that has a say: the same where the baselines are. Files are named by their content."""
        judged, contract = self.judged, TABLES["baselines"]
        names = sorted(file.relative_path for file in (*self.signals, *self.verdicts))
        span = (judged.first_ms, judged.begin_ms, judged.known_ms, judged.calendar.hour_of_week.tobytes())
        form = (version("throttlescope"), contract.format_version, contract.loose_schema.names, judged.rules)
        return xxhash.xxh3_128_hexdigest(repr((form, span, names)).encode())

    def kept(self, lake: Lake) -> KeptBaselines | None:
        """Baselines of an earlier run that hold, all of them; None where they have to be computed."""
        files = lake.files(
            "baselines", partition={"cluster": [self.cluster]}, between={"inputs": (self.inputs, self.inputs)}
        )
        try:
            rows = read_files("baselines", files, columns=_SHARE, where=pc.field("inputs") == self.inputs)
        except (MissingFilesError, DamagedFilesError):
            return None
        shares = {tuple(row.values()) for row in rows.group_by(_SHARE).aggregate([]).to_pylist()}
        # A repair may have taken a share out.
        is_whole = shares and shares == {(number, len(shares)) for number in range(len(shares))}
        return KeptBaselines(self.inputs, files) if is_whole else None

    def computed(self, executor: TaskExecutor, lake: Lake, run_id: str) -> KeptBaselines:
        """Compute them, and put them in place of the cluster's old ones."""
        if not self.signals:
            return KeptBaselines(self.inputs, [])
        judged, partition = self.judged, {"cluster": [self.cluster]}
        read_version = lake.version("baselines")
        old = lake.files("baselines", partition=partition, version=read_version)
        covered = minutes_covered(executor, self.signals, judged.first_ms, judged.known_ms)
        shares = shares_of(self.signals, executor.parallelism)
        write = partial(_write_share, lake.root, self, covered, len(shares))
        written = [file for file in executor.map(write, range(len(shares)), shares) if file is not None]
        staged = StagedCommit("baselines", tuple(written), tuple(old), run_id, read_version)
        # Another run that keeps its own meanwhile does no harm: this one reads what it wrote.
        with contextlib.suppress(ConflictError):
            lake.commit_staged(staged)
        named = {file.relative_path for file in written}
        files = LakeAfterCommit(lake, staged).files("baselines", partition=partition)
        return KeptBaselines(self.inputs, [file for file in files if file.relative_path in named])


def _write_share(
    root: str, weeks: BaselineWeeks, covered: Covered, shares: int, number: int, share: NameRange
) -> NewFile | None:
    """Compute the baselines of a share and write them; None where it has no rows."""
    judged = weeks.judged
    table = MinutesTable()
    for rows in signals_of_share(weeks.signals, share, judged.first_ms, judged.known_ms):
        table.add(rows)
    verdicts = verdicts_of_share(weeks.verdicts, share, ~pc.field("cause").isin(diagnosis.CALM))
    found = baselines_of(table, judged, incidents=diagnosis.incident_windows(verdicts), covered=covered)
    said = {"known_ms": judged.known_ms, "inputs": weeks.inputs, "share": number, "shares": shares}
    return write_data_file(root, "baselines", rows_of(found, said)) if found else None
