"""The pull: in, a source, selectors and a range; out, ``series`` and ``samples`` of the lake, and what it took.

The range is widened to whole UTC hours, clipped at now, and cut into items of one metric and a few hours. Tasks of an executor,
never more than ``max_concurrent_reads`` of them, take the items one by one: read, normalise, check, write files that
no reader sees yet, leave a note. Then the driver commits: the catalogue first, then all samples in one transaction. A pull
that was stopped goes on from its notes; a pull that is repeated finds every file already there and changes nothing.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.compilation import are_compiled
from throttlescope.ingest.core.errors import EmptyRangeError, InputError, ThrottlescopeError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.selector import NAME_LABEL, REGEX, Matcher, Selector
from throttlescope.ingest.core.series import Meter, PullSource
from throttlescope.ingest.core.times import BLOCK_MS, date_of, dates_of, format_time
from throttlescope.ingest.lake import ConflictError, DataFile, Lake
from throttlescope.ingest.lake.blocks import KERNELS, load_kernels
from throttlescope.ingest.pull.commit import commit_notes
from throttlescope.ingest.pull.item import Job, run_claimed
from throttlescope.ingest.pull.plan import PullItem, Sizes, items_of, measure, range_to_read
from throttlescope.ingest.pull.staging import ItemNote, Staging
from throttlescope.ingest.pull.wanted_metrics import wanted_metrics
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.ingest.sources.remote_read import DECODER, load_decoder

_ROUNDS = 3
#: A Prometheus to which samples came late may not name all metrics of their hour alone, and has their samples all the same.
_NAMES_AROUND_MS = BLOCK_MS


@dataclass(frozen=True)
class PullProgress:
    """How far a pull is; what an earlier, stopped pull has done is counted."""

    items_done: int
    items: int
    samples: int
    series: int
    bytes: int
    requests: int


Progress = Callable[[PullProgress], None]


@dataclass
class PullResult:
    """What a pull did.

    Attributes
    ----------
    start_ms, end_ms : int
        The range as widened.
    requests, bytes : int
        What the source had to serve, items of an earlier, stopped pull included.
    samples : int
        Samples received. ``samples_written`` are those in files that this pull committed: 0 when nothing changed.
    items_resumed : int
        Items that an earlier, stopped pull had finished.
    missing_metrics : tuple of str
        Metrics of the default set that the source does not have in the range.
    stale_is_inferred : bool
        Staleness markers are a guess, because the source sends none.
    repairs : dict
        What was mended on the way, by kind.
    series_kept : int
        Series of blocks that were kept because the source now has fewer samples of them; each cluster has a row in
        ``quality``.
    beside : str or None
        Another run that was reading the same range, in words; this run did not reuse the parts that it had completed.
    """

    run_id: str
    source: str
    start_ms: int
    end_ms: int
    clusters: tuple[str, ...] = ()
    requests: int = 0
    bytes: int = 0
    series: int = 0
    samples: int = 0
    samples_written: int = 0
    rows_quarantined: int = 0
    items: int = 0
    items_resumed: int = 0
    series_kept: int = 0
    missing_metrics: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    stale_is_inferred: bool = False
    repairs: dict[str, int] = field(default_factory=dict)
    server_version: str | None = None
    why_not_remote_read: str | None = None
    beside: str | None = None

    def details(self) -> dict[str, Any]:
        """What goes into the manifest's ``details``, in addition to its own columns."""
        return {
            "items": self.items,
            "items_resumed": self.items_resumed,
            "beside": self.beside,
            "metrics": len(self.metrics),
            "missing_metrics": list(self.missing_metrics),
            "repairs": self.repairs,
            "series_kept": self.series_kept,
            "server_version": self.server_version,
            "staleness": "inferred" if self.stale_is_inferred else "as the source has it",
            "why_not_remote_read": self.why_not_remote_read,
        }


def pull(
    executor: Executor,
    lake: Lake,
    source: PrometheusSource,
    selectors: Sequence[Selector],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    max_concurrent_reads: int = 2,
    resume: bool = True,
    progress: Progress | None = None,
) -> PullResult:
    """Bring the samples of a range into the lake.

    Parameters
    ----------
    executor : Executor
        Reads the items; it is shut down only when the pull is interrupted.
    source : PrometheusSource
        From :func:`throttlescope.ingest.sources.prometheus.open_prometheus`.
    selectors : sequence of Selector
        What to read, in the source's own labels; none means the default set. See :mod:`throttlescope.ingest.pull.wanted_metrics`.
    run_id : str
        Name of the run, for what it commits.
    max_concurrent_reads : int
        Reads of the source under way at once.
    resume : bool
        Go on from the notes of a stopped pull of the same request.
    progress : callable, optional
        Called now and then in the calling thread.

    Raises
    ------
    InputError
        The range runs backwards or holds no data, a metric is unknown, the cluster has no name.
    SourceError
        The source failed.
    KeyboardInterrupt
        Stopped by the user; what was finished is kept for the next try.
    """
    start_ms, end_ms = range_to_read(start_ms, end_ms, round(time.time() * 1000))
    meter = Meter()
    names_ms = start_ms - _NAMES_AROUND_MS, end_ms + _NAMES_AROUND_MS
    wanted = wanted_metrics(source.api, selectors, source.mapping, *names_ms, meter)
    mapping = named_cluster(source, start_ms, end_ms, meter)
    name = source.samples.name
    result = PullResult(
        run_id,
        f"{name} {source.samples.address}",
        start_ms,
        end_ms,
        metrics=tuple(wanted.selectors_of),
        missing_metrics=wanted.missing,
        stale_is_inferred=source.samples.stale_is_inferred,
        server_version=source.version,
        why_not_remote_read=source.why_not_remote_read,
    )
    request = [
        name,
        source.samples.address,
        sorted(mapping.renames.items()),
        sorted(mapping.external.items()),
        mapping.cluster,
        mapping.override_cluster,
        {metric: [str(s) for s in found] for metric, found in wanted.selectors_of.items()},
    ]
    with staging_of(lake, request) as staging:
        if not resume:
            staging.forget_all()
        plan = staging.load_plan()
        if plan and plan.keys() == wanted.selectors_of.keys():
            sizes = {metric: Sizes(**size) for metric, size in plan.items()}
        else:
            sizes = measure(source.api, wanted, start_ms, end_ms, meter)
            staging.save_plan({metric: size.to_json() for metric, size in sizes.items()})
        items = items_of(name, wanted, sizes, start_ms, end_ms)
        run_items(
            executor,
            lake,
            {name: source.samples},
            mapping,
            staging,
            items,
            result,
            tasks=max_concurrent_reads,
            progress=progress,
        )
    result.requests += meter.requests
    result.bytes += meter.bytes
    return result


def start_workers(executor: Executor, tasks: int = 2) -> None:
    """Start the processes that a pull will use, and load into them what it needs.

    Without it the first pull of a session does this on its way.
    """
    if not are_compiled(*KERNELS, *DECODER):
        # Otherwise each of the processes would compile them.
        load_kernels()
        load_decoder()
    list(executor.map(_load, range(tasks)))


def run_items(
    executor: Executor,
    lake: Lake,
    sources: Mapping[str, PullSource],
    mapping: LabelMapping,
    staging: Staging,
    items: Sequence[PullItem],
    result: PullResult,
    *,
    tasks: int,
    progress: Progress | None = None,
) -> None:
    """Read items in some tasks of an executor, commit what they brought, and fill ``result``.

    Raises
    ------
    InputError
        No item brought a sample.
    """
    result.beside = staging.beside
    notes = dict(staging.notes(item.key for item in items))
    result.items, result.items_resumed = len(items), len(notes)

    def read_and_commit() -> None:
        pending = tuple(item for item in items if item.key not in notes)
        if pending:
            attempt = uuid.uuid4().hex[:12]
            merges = staging.save_existing(attempt, _files_of(lake, pending))
            job = Job(lake.root, sources, mapping, staging, pending, attempt, merges)
            watch = _Watch(staging, notes, len(items), progress)
            _run(executor, job, min(tasks, len(pending)), watch)
            notes.update(watch.notes_of(item.key for item in pending))
            if len(notes) < len(items):
                # A task that Spark started a second time found its items claimed; the next round reads them.
                raise ConflictError("Tasks of the pull were lost")
        if not any(note.blocks for note in notes.values()):
            refused = sum(row["rows"] for note in notes.values() for row in note.refused)
            # The next pull of the request reads the source again: samples may have come since.
            staging.forget_all()
            raise EmptyRangeError(
                "The range holds no samples",
                got=f"{format_time(result.start_ms)} to {format_time(result.end_ms)}"
                + (f", {refused} refused" if refused else ""),
                fix="choose another range; throttlescope doctor shows what the source has",
            )
        outdated = commit_notes(lake, notes, staging, result)
        for key in outdated:
            staging.forget(key)
            del notes[key]
        if outdated:
            raise ConflictError("Another run wrote the same blocks")

    def look_again() -> None:
        notes.update(staging.notes(item.key for item in items if item.key not in notes))

    retry(
        read_and_commit,
        attempts=_ROUNDS,
        before_retry=look_again,
        exhausted=lambda: ConflictError(
            "The pull came to no end",
            got=f"{_ROUNDS} rounds in which tasks were lost, or other runs wrote the same blocks",
            fix="run the command again; it goes on where it stopped",
        ),
    )
    _fill(result, notes.values())
    _store_findings(lake, notes.values(), result)
    staging.clear()


def _files_of(lake: Lake, items: Sequence[PullItem]) -> list[DataFile]:
    """Committed files that hold blocks of the items."""
    dates = set().union(*(dates_of(start, end) for start, end in {(i.start_ms, i.end_ms) for i in items}))
    return lake.files(
        "samples", partition={"metric_name": {item.metric_name for item in items}, "date": dates}
    )


# -- the tasks -----------------------------------------------------------------------------


def _run(executor: Executor, job: Job, tasks: int, watch: _Watch) -> None:
    """Run a job's items in some tasks at once, and watch from here."""
    failure: list[BaseException] = []
    errors: list[ThrottlescopeError] = []

    def act() -> None:
        try:
            ended = executor.map(lambda _: run_claimed(job), range(tasks))
            errors.extend(error for error in ended if error is not None)
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(job.staging.watched_every_s)
            watch.look()
    except BaseException:
        # Ctrl-C: no new item is begun, running ones are cancelled; their notes were not written.
        job.staging.stop(job.attempt)
        executor.shutdown(wait=False, cancel_futures=True)
        thread.join(10)
        raise
    finally:
        job.staging.end_attempt(job.attempt)
    for error in (*failure, *errors):
        raise error


def _load(number: int) -> None:
    load_kernels()
    load_decoder()
    # Long enough for Spark to start a second worker, instead of running both tasks in this one.
    time.sleep(0.2)


class _Watch:
    """Looks at the notes while tasks write them."""

    def __init__(
        self, staging: Staging, notes: Mapping[str, ItemNote], items: int, progress: Progress | None
    ) -> None:
        self._staging, self._items, self._progress = staging, items, progress
        self._seen = dict(notes)

    def notes_of(self, item_keys: Iterable[str]) -> dict[str, ItemNote]:
        """Notes of some items, those that were seen already as they were seen."""
        keys = set(item_keys)
        seen = {key: note for key, note in self._seen.items() if key in keys}
        return seen | self._staging.notes(keys - seen.keys())

    def look(self) -> None:
        if self._progress is None:
            return
        self._seen |= self._staging.notes(self._staging.notes_written() - self._seen.keys())
        notes = self._seen.values()
        self._progress(
            PullProgress(
                len(self._seen),
                self._items,
                sum(note.samples for note in notes),
                sum(note.series for note in notes),
                sum(note.bytes for note in notes),
                sum(note.requests for note in notes),
            )
        )


# -- around it -----------------------------------------------------------------------------


def named_cluster(source: PrometheusSource, start_ms: int, end_ms: int, meter: Meter) -> LabelMapping:
    """The mapping with a name for series that have no ``cluster``, such as ``up``: the only one that others have."""
    mapping = source.mapping
    if mapping.cluster:
        return mapping
    theirs = next((name for name, ours in mapping.renames.items() if ours == "cluster"), "cluster")
    if theirs in mapping.external:
        return mapping
    pulsar = Selector((Matcher(NAME_LABEL, REGEX, "pulsar_.+"),))
    # An hour in which nothing was scraped is empty, and not of a cluster without a name.
    names = source.api.label_values(theirs, [pulsar], start_ms, end_ms, meter) or source.api.label_values(
        theirs, [pulsar], start_ms - _NAMES_AROUND_MS, end_ms + _NAMES_AROUND_MS, meter
    )
    if len(names) == 1:
        return replace(mapping, cluster=names[0])
    if not names:
        raise InputError(
            "The cluster has no name",
            got="no label cluster on the source's Pulsar metrics",
            fix="give --cluster NAME, or a [clusters.NAME] table in the configuration",
        )
    # Several clusters: what has no label cannot be placed, and goes to quarantine.
    return mapping


@contextlib.contextmanager
def staging_of(lake: Lake, request: list) -> Iterator[Staging]:
    """The staging folder of a request; where nothing was finished, nothing is left behind, not even the lake's folder."""
    root = None if lake.storage.is_remote else Path(lake.root)
    existed = root is None or root.exists()
    try:
        with contextlib.ExitStack() as stack:
            try:
                staging = stack.enter_context(Staging.of(lake.root, request).owned())
            except OSError as error:
                raise InputError(
                    "The lake's folder cannot be written",
                    got=f"{lake.root}: {error.strerror}",
                    fix="choose another folder with --lake, or change its owner",
                ) from error
            yield staging
    finally:
        if not existed and root.exists() and not any(root.iterdir()):
            root.rmdir()


def _fill(result: PullResult, notes: Sequence[ItemNote]) -> None:
    repairs: Counter[str] = Counter()
    for note in notes:
        result.requests += note.requests
        result.bytes += note.bytes
        result.samples += note.samples
        result.rows_quarantined += sum(row["rows"] for row in note.refused)
        result.series_kept += sum(count for _, count, _ in note.kept)
        repairs.update(note.repairs)
    result.repairs = dict(sorted(repairs.items()))
    result.clusters = tuple(sorted({block.cluster for note in notes for block in note.blocks}))


def _store_findings(lake: Lake, notes: Sequence[ItemNote], result: PullResult) -> None:
    """Rows of ``quarantine`` and ``quality`` for what ingest validation refused and for what was kept."""
    now_ms = round(time.time() * 1000)
    common = {"run_id": result.run_id, "observed_ms": now_ms, "date": date_of(now_ms)}
    refused: dict[tuple[str, str], dict] = {}
    for note in notes:
        for row in note.refused:
            cluster = (json.loads(row["row"]).get("labels") or {}).get("cluster")
            # Bytes that are no text may be the reason why the row is here.
            cluster = cluster and cluster.encode(errors="replace").decode()
            refused[row["reason"], row["row"]] = row | common | {"cluster": cluster}
    if refused:
        _upsert(lake, "quarantine", list(refused.values()), result.run_id)
    kept: dict[str, tuple[int, str]] = {}
    for note in notes:
        for cluster, count, example in note.kept:
            before, first = kept.get(cluster, (0, example))
            kept[cluster] = (before + count, first)
    rows = [
        {
            "cluster": cluster,
            "gate": "door",
            "check": "source_has_no_fewer_samples_than_the_lake",
            "table": "samples",
            "severity": "warning",
            "success": False,
            "observed": f"{count} series of blocks have fewer samples at the source than in the lake; they were kept",
            "expected": "at least as many samples as before",
            "rows": count,
            "example": example,
        }
        | common
        for cluster, (count, example) in sorted(kept.items())
    ]
    if rows:
        _upsert(lake, "quality", rows, result.run_id)


def _upsert(lake: Lake, table: str, rows: list[dict], run_id: str) -> None:
    lake.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].schema), run_id=run_id)
