"""One item of a pull, inside a task: in, a metric and a span of time; out, its blocks as files, and a note.

Nothing here is visible to readers: files appear in the lake when the driver commits them.
"""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError, SourceError, ThrottlescopeError
from throttlescope.ingest.core.labels import LabelMapping, SeriesKey
from throttlescope.ingest.core.series import Meter, PullSource
from throttlescope.ingest.core.times import block_start, dates_of
from throttlescope.ingest.lake import DataFile, write_data_file
from throttlescope.ingest.lake.blocks import BlockBuffer, BlockKey, sample_rows
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.pull.plan import PullItem
from throttlescope.ingest.pull.read_series import read_series
from throttlescope.ingest.pull.staging import BlockNote, ItemNote, Staging

#: Refused series that are stored whole, per item and reason; the others are counted in one row.
_REFUSED_WHOLE = 200
_SERIES_NAMES = [column.name for column in TABLES["series"].columns]


@dataclass(frozen=True)
class Job:
    """What all tasks of a pull share.

    Attributes
    ----------
    attempt : str
        Name of this try of the pull; claims and the list of committed files are kept under it.
    merges : bool
        Whether the lake holds blocks that the items may have to be merged with.
    """

    lake_root: str
    sources: Mapping[str, PullSource]
    mapping: LabelMapping
    staging: Staging
    items: tuple[PullItem, ...]
    attempt: str
    merges: bool


def run_item(job: Job, item: PullItem) -> ItemNote:
    """Read an item, write its blocks, and leave a note.

    Raises
    ------
    SourceError
        The source failed, twice if the error is transient.
    """
    meter = Meter()
    note = ItemNote(item.metric_name, item.start_ms, item.end_ms)
    with contextlib.ExitStack() as scratch_folders:

        def new_buffer() -> BlockBuffer:
            # One folder at a time: what an attempt that failed has left on disk is removed before the next one.
            scratch_folders.close()
            scratch = job.staging.scratch(item.key)
            scratch_folders.callback(shutil.rmtree, scratch, ignore_errors=True)
            return BlockBuffer(job.mapping, scratch)

        buffer, source = read_series(
            job.sources[item.source], item.selectors, item.start_ms, item.end_ms, meter, new_buffer
        )
        _write(job, item, source, buffer, note)
    note.requests, note.bytes = meter.requests, meter.bytes
    note.repairs = {k: v for k, v in (meter.repairs + buffer.repairs).items() if v}
    job.staging.save_note(item.key, note)
    return note


def _write(job: Job, item: PullItem, source: PullSource, buffer: BlockBuffer, note: ItemNote) -> None:
    """Write what a buffer holds of one metric, merged with the lake, and fill the note."""
    existing = _existing_blocks(job, item)
    clusters = {job.mapping.cluster} if job.mapping.cluster else set()
    answered: set[tuple[str, int]] = set()
    kept: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for key, rows in buffer.blocks():
        cluster, block_start_ms, shard = key
        clusters.add(cluster)
        answered.add((cluster, block_start_ms))
        old = existing.get(key, [])
        if old:
            before = read_files("samples", old, columns=_ROW_NAMES)
            rows, fewer = merge_rows(rows, before, source.stale_is_inferred)
            if fewer:
                kept[cluster] += len(fewer)
                examples.setdefault(cluster, _example(item, key, *fewer[0]))
        file = write_data_file(job.lake_root, "samples", sample_rows(item.metric_name, key, rows))
        samples = sum(len(chunk.flatten()) for chunk in rows["timestamps_ms"].chunks)
        replaces = [one.relative_path for one in old]
        note.blocks.append(BlockNote(cluster, block_start_ms, shard, file, replaces, samples))
    if not _narrowed(item):
        for key, old in existing.items():
            # The source has nothing left of an hour that the lake holds: its retention has passed.
            if key[0] in clusters and key[:2] not in answered:
                kept[key[0]] += sum(one.rows for one in old)
                examples.setdefault(
                    key[0], _example(item, key, "every series", sum(one.rows for one in old), 0)
                )
    note.kept = [(cluster, count, examples[cluster]) for cluster, count in sorted(kept.items())]
    series = list(buffer.series())
    if series:
        note.series_file = job.staging.save_series(item.key, series_rows(series))
    note.series = len(series)
    note.samples = buffer.samples
    note.refused = list(_refused_rows(buffer))


_ROW_NAMES = ["series_id", "timestamps_ms", "values", "stale_ms"]


def merge_rows(
    new: pa.Table, old: pa.Table, stale_is_inferred: bool
) -> tuple[pa.Table, list[tuple[str, int, int]]]:
    """One block from the new answer and what the lake holds.

    A series that only one of them has is taken from it. Of a series that both have, the new answer is taken, unless it
    has fewer samples: then the source has begun to forget, and the old row is kept. The same samples with markers that
    are only inferred do not replace them either.

    Returns
    -------
    pyarrow.Table
        Sorted by series.
    list of (series_id, samples in the lake, samples in the answer)
        Series that were kept because the answer had fewer.
    """
    table = pa.concat_tables(
        [new.select(_ROW_NAMES), old.select(_ROW_NAMES).cast(new.schema)]
    ).combine_chunks()
    ids = table["series_id"].to_pylist()
    counts = np.diff(np.asarray(table["timestamps_ms"].combine_chunks().offsets))
    chosen: dict[str, int] = {}
    fewer = []
    for row in range(new.num_rows):
        chosen[ids[row]] = row
    for row in range(new.num_rows, len(ids)):
        other = chosen.get(ids[row])
        if other is None or counts[row] > counts[other]:
            if other is not None:
                fewer.append((ids[row], int(counts[row]), int(counts[other])))
            chosen[ids[row]] = row
        elif stale_is_inferred and table["timestamps_ms"][row] == table["timestamps_ms"][other]:
            chosen[ids[row]] = row
    rows = [chosen[series_id] for series_id in sorted(chosen)]
    return table.take(pa.array(rows, pa.int64())).combine_chunks(), fewer


def series_rows(series: Iterable[tuple[SeriesKey, int, int]]) -> pa.Table:
    """Rows of the ``series`` table, sorted by shard."""
    series = sorted(series, key=lambda one: (one[0].shard, one[0].series_id))
    keys = [key for key, _, _ in series]
    columns = {
        "series_id": [key.series_id for key in keys],
        "metric_name": [key.metric_name for key in keys],
        "cluster": [key.cluster for key in keys],
        "labels": [[pair for pair in key.labels if pair[0] != "__name__"] for key in keys],
        "shard": [key.shard for key in keys],
        "first_ms": [first for _, first, _ in series],
        "last_ms": [last for _, _, last in series],
    }
    return TABLES["series"].conform(pa.table({
        name: pa.array(columns[name], TABLES["series"].column(name).type) for name in _SERIES_NAMES
    }))  # fmt: skip


def _existing_blocks(job: Job, item: PullItem) -> dict[BlockKey, list[DataFile]]:
    """Committed files of the item's metric and hours."""
    found: dict[BlockKey, list[DataFile]] = {}
    if job.merges:
        for date in sorted(dates_of(item.start_ms, item.end_ms)):
            for file in _committed(job.staging, job.attempt, date).get(item.metric_name, ()):
                key = block_key(file)
                if block_start(item.start_ms) <= key[1] < item.end_ms:
                    found.setdefault(key, []).append(file)
    return found


@functools.lru_cache(maxsize=2)
def _committed(staging: Staging, attempt: str, date: str) -> dict[str, list[DataFile]]:
    """Committed files of a date, by metric. Items come in the order of time, so two dates are enough."""
    by_metric: dict[str, list[DataFile]] = {}
    for file in staging.existing(attempt, date):
        by_metric.setdefault(file.partition["metric_name"], []).append(file)
    return by_metric


def block_key(file: DataFile) -> BlockKey:
    """The block that a committed file of ``samples`` holds."""
    low = file.minimum
    return str(low["cluster"]), int(low["block_start_ms"]), int(low["shard"])


def _narrowed(item: PullItem) -> bool:
    """Whether the answer may lack series that the source has."""
    return all(len(selector.matchers) > 1 for selector in item.selectors)


def _example(item: PullItem, key: BlockKey, series: str, before: int, now: int) -> str:
    return json.dumps(
        {
            "metric_name": item.metric_name,
            "block_start_ms": key[1],
            "series_id": series,
            "in_the_lake": before,
            "in_the_answer": now,
        }
    )


def _refused_rows(buffer: BlockBuffer) -> Iterator[dict]:
    by_reason: dict[str, list] = {}
    for refused in sorted(buffer.refused.values(), key=lambda one: one.labels):
        by_reason.setdefault(refused.reason, []).append(refused)
    for reason, refused in sorted(by_reason.items()):
        for one in refused[:_REFUSED_WHOLE]:
            yield one.row()
        rest = refused[_REFUSED_WHOLE:]
        if rest:
            names = {dict(one.labels).get("__name__", "") for one in rest}
            row = {"further_series": len(rest), "metric_names": sorted(names), "detail": rest[0].detail}
            samples = sum(max(one.samples, 1) for one in rest)
            yield {"table": "samples", "reason": reason, "row": json.dumps(row), "rows": samples}


def run_claimed(job: Job) -> ThrottlescopeError | None:
    """Take items until none is left, or until another task failed; the error that ended it, which stops all tasks."""
    for item in job.items:
        try:
            if job.staging.stopped(job.attempt):
                return None
            if job.staging.claim(job.attempt, item.key):
                run_item(job, item)
        except (ThrottlescopeError, OSError) as error:
            job.staging.stop(job.attempt)
            return plain_error(error)
    return None


def plain_error(error: ThrottlescopeError | OSError) -> ThrottlescopeError:
    """The error with its exit code and words alone: what was worth a repetition has been repeated in the task."""
    if isinstance(error, OSError):
        return ThrottlescopeError(
            "A task could not write its files",
            got=str(error),
            fix="see that the lake's folder can be written and has room; then run the command again",
        )
    kind = next(
        (kind for kind in (InputError, SourceError) if kind.exit_code == error.exit_code), ThrottlescopeError
    )
    got, expected = (None if part is None else str(part) for part in (error.got, error.expected))
    return kind(error.what, got=got, expected=expected, fix=error.fix)
