"""The end of a pull: in, the notes of its items; out, ``series`` and then ``samples`` of the lake, each one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import SHARDS
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.times import dates_of
from throttlescope.ingest.lake import ConflictError, DataFile, Lake, NewFile, write_data_file
from throttlescope.ingest.lake.parquet import dataset
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.pull.item import block_key
from throttlescope.ingest.pull.staging import ItemNote, Staging

if TYPE_CHECKING:
    from throttlescope.ingest.pull.pull import PullResult

_ATTEMPTS = 10
#: Some 300 bytes each.
_SERIES_AT_ONCE = 200_000


def commit_notes(
    lake: Lake, notes: Mapping[str, ItemNote], staging: Staging, result: PullResult
) -> list[str]:
    """Commit what items wrote.

    Returns
    -------
    list of str
        Keys of items whose blocks another run has replaced since they were merged: they have to be read again. Nothing
        was committed then.

    Raises
    ------
    ConflictError
        Another run won a race during the commit itself.
    """
    version = lake.version("samples")
    committed = _committed_blocks(lake, notes.values(), version)
    add: list[NewFile] = []
    remove: list[DataFile] = []
    outdated, written = [], 0
    for key, note in notes.items():
        fits = True
        for block in note.blocks:
            now = committed.get((note.metric_name, block.cluster, block.block_start_ms, block.shard), {})
            if now.keys() == {block.file.relative_path}:
                continue
            fits &= now.keys() == set(block.replaces)
            add.append(block.file)
            remove += now.values()
            written += block.samples
        if not fits:
            outdated.append(key)
    if outdated:
        return outdated
    paths = [staging.series_address(note) for note in notes.values() if note.series_file]
    result.series = _commit_series(lake, paths, result.run_id)
    lake.commit("samples", add, remove, run_id=result.run_id, read_version=version)
    result.samples_written = written
    return []


def _committed_blocks(
    lake: Lake, notes: Iterable[ItemNote], version: int | None
) -> dict[tuple[str, str, int, int], dict[str, DataFile]]:
    """Files of every block that the notes touch, as they are now."""
    if version is None:
        return {}
    notes = list(notes)
    dates = set().union(*(dates_of(note.start_ms, note.end_ms) for note in notes))
    found: dict[tuple[str, str, int, int], dict[str, DataFile]] = {}
    partition = {"metric_name": {note.metric_name for note in notes}, "date": dates}
    for file in lake.files("samples", partition=partition, version=version):
        key = (file.partition["metric_name"], *block_key(file))
        found.setdefault(key, {})[file.relative_path] = file
    return found


def _commit_series(lake: Lake, paths: list[str], run_id: str) -> int:
    if not paths:
        return 0
    staged = dataset(paths, TABLES["series"].schema, kind="arrow")
    if staged.count_rows() <= _SERIES_AT_ONCE:
        # Few enough to read once, not once per shard.
        staged = ds.dataset(staged.to_table())
    return commit_series(lake, staged, run_id)


def commit_series(lake: Lake, staged: ds.Dataset, run_id: str) -> int:
    """Merge newly seen series into the catalogue, shard by shard; the number of series seen.

    Parameters
    ----------
    staged : pyarrow.dataset.Dataset
        Rows of ``series``; a series may come several times.

    Raises
    ------
    ConflictError
        Other writers won every race.
    """

    def merge() -> int:
        version = lake.version("series")
        add: list[NewFile] = []
        remove: list[DataFile] = []
        count = 0
        for shard in range(SHARDS):
            seen = _one_row_each(staged.to_table(filter=pc.field("shard") == shard))
            if not seen.num_rows:
                continue
            count += seen.num_rows
            old = lake.files("series", partition={"shard": [str(shard)]}, version=version)
            merged = _one_row_each(pa.concat_tables([read_files("series", old), seen]))
            add.append(write_data_file(lake.root, "series", merged))
            remove += old
        lake.commit("series", add, remove, run_id=run_id, read_version=version)
        return count

    return retry(
        merge,
        attempts=_ATTEMPTS,
        exhausted=lambda: ConflictError(
            "The catalogue is being written all the time", fix="run the command again later"
        ),
    )


def _one_row_each(rows: pa.Table) -> pa.Table:
    """One row per series, sorted by id: the oldest first and the newest last time of its rows."""
    numbered = rows.append_column("row", pa.array(np.arange(rows.num_rows)))
    spans = numbered.group_by("series_id").aggregate(
        [("first_ms", "min"), ("last_ms", "max"), ("row", "min")]
    )
    spans = spans.sort_by("series_id")
    merged = rows.take(spans["row_min"])
    for name in ("first_ms", "last_ms"):
        index = rows.schema.get_field_index(name)
        column = spans[f"{name}_{'min' if name == 'first_ms' else 'max'}"]
        merged = merged.set_column(index, rows.schema.field(index), column)
    return merged.combine_chunks()
