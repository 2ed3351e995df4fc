"""Whether two lakes hold the same. In: their folders. Out: the tables that can be compared, each with its files' names.

A file is named by the hash of its bytes, so equal names are equal bytes. Tables with the name of a run in their rows differ from
run to run and are left out.
"""

from __future__ import annotations

from pathlib import Path

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake

#: Held back by a limit, with an episode and anomalies in it, and with forecasts: its backlog reaches over a quarter of an hour, when they
#: are made, which that of most recordings does not.
THROTTLED = "sub-msg-1000"
#: Tables that a run of it fills.
TABLES_OF_A_RUN = {
    "series", "samples", "limits", "signals", "verdicts", "verdict_latest", "episodes", "forecasts", "anomalies",
}  # fmt: skip


def gates_of(root: Path) -> list[str]:
    """What the gates said of a lake, without when and in which run."""
    rows = Lake(root).read("quality").drop_columns(["run_id", "observed_ms", "date"]).to_pylist()
    return sorted(repr(sorted(row.items())) for row in rows)


def files_of(root: Path) -> dict[str, set[str]]:
    """Names of the files of every table that says nothing of the run that wrote it."""
    lake = Lake(root)
    return {
        name: {file.relative_path for file in lake.files(name)}
        for name, table in TABLES.items()
        if "run_id" not in {column.name for column in table.columns} and lake.version(name) is not None
    }
