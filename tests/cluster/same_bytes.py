"""Whether two lakes hold the same. In: their folders. Out: the tables that can be compared, each with its files' names.

A file is named by the hash of its bytes, so equal names are equal bytes. Tables with the name of a run in their rows differ from
run to run and are left out.
"""

from __future__ import annotations

from pathlib import Path

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.lake import Lake


def files_of(root: Path) -> dict[str, set[str]]:
    """Names of the files of every table that says nothing of the run that wrote it."""
    lake = Lake(root)
    return {
        name: {file.relative_path for file in lake.files(name)}
        for name, table in TABLES.items()
        if "run_id" not in {column.name for column in table.columns} and lake.version(name) is not None
    }
