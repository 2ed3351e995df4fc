"""Verdicts of what changed. In: the first changed minute of each subscription partition. Out: ``verdicts``, the others untouched.

The rules are a run's: quiet windows are screened many at once, the others judged with a day of what came before. Files are cut at
every ten minutes of the windows' ends, so that a cycle writes the newest ones and not the hour.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.pipeline.follow.signals import Changed
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start
from throttlescope.ingest.lake import Lake, read_files, write_data_file
from throttlescope.models.diagnosis.fleet.full_rules import Left, LeftShare, judge_share
from throttlescope.models.diagnosis.fleet.hours import bounds, hours, read_minutes
from throttlescope.models.diagnosis.healthy_fast_path import COLUMNS, WindowGrid, answers
from throttlescope.models.diagnosis.history import HISTORY_MS
from throttlescope.models.diagnosis.window import SubscriptionKey

#: Windows are filed by the tens of minutes in which they end.
FILED_MS = 10 * MINUTE_MS
#: Subscriptions whose change is no older than this, compared with the newest change, are judged together from there on; a change
#: further back, such as of an hour's usual scrape interval, costs only its own subscription its older windows again.
_TOGETHER_MS = 10 * MINUTE_MS
_NAMES = list(SUBSCRIPTION_KEY_NAMES)
_SCHEMA = TABLES["verdicts"].loose_schema


def judge_changed(
    lake: Lake, changed: Changed, until_ms: int, run_id: str, *, window_ms: int, every_ms: int
) -> int:
    """Judge every window that has a changed minute in it or a day before it, up to ``until_ms``, and commit.

    Returns
    -------
    int
        Verdicts that were made.
    """
    made = 0
    for cluster in sorted({key.cluster for key in changed}):
        mine = {key: at_ms for key, at_ms in changed.items() if key.cluster == cluster}
        made += _judge_cluster(lake, cluster, mine, until_ms, run_id, window_ms, every_ms)
    return made


def _judge_cluster(
    lake: Lake, cluster: str, changed: Changed, until_ms: int, run_id: str, window_ms: int, every_ms: int
) -> int:
    version = lake.version("verdicts")
    first_ms = block_start(min(changed.values()) - window_ms + every_ms)
    last_ms = block_start(until_ms - 1) + BLOCK_MS
    signals = lake.files(
        "signals",
        partition={"cluster": [cluster]},
        between={"minute_ms": (first_ms - HISTORY_MS, last_ms + window_ms)},
    )
    now = [file for file in signals if file.maximum["minute_ms"] >= first_ms]
    spans = bounds(now, first_ms, last_ms + window_ms - MINUTE_MS)
    verdicts: list[pa.Table] = []
    left: Left = {}
    for keys in _together(changed):
        since_ms = min(changed[key] for key in keys)
        for hour in hours(now, spans, window_ms, every_ms):
            # Windows that ended before the first change are as they were.
            start_ms = max(hour.grid.start_ms, since_ms - window_ms + MINUTE_MS)
            end_ms = (
                hour.grid.start_ms
                + (hour.grid.first + (hour.grid.count - 1) * hour.grid.every) * MINUTE_MS
                + 1
            )
            if start_ms >= end_ms:
                continue
            grid = WindowGrid.of(start_ms, end_ms, window_ms, every_ms)
            if not grid.count:
                continue
            rows = pa.concat_tables(
                [read_minutes(file, grid.start_ms, grid.end_ms, list(COLUMNS)) for file in hour.files]
            )
            for answer in answers(_of(rows, keys, all_of=len(keys) == len(changed)), grid):
                verdicts.append(answer.verdicts)
                for key, starts_ms in answer.left:
                    left.setdefault(key, []).extend(starts_ms)
    # A subscription that did not change is in these files too.
    verdicts = [_of(table, set(changed), all_of=False) for table in verdicts]
    left = {key: starts_ms for key, starts_ms in left.items() if key in changed}
    if left:
        verdicts.append(judge_share(LeftShare(left, signals), window_ms))
    new = pa.concat_tables(
        [_SCHEMA.empty_table(), *(table.select(_SCHEMA.names).cast(_SCHEMA) for table in verdicts)]
    )
    new = _changed_only(new, changed)
    old = lake.files(
        "verdicts",
        partition={"cluster": [cluster]},
        between={
            "window_start_ms": (first_ms, last_ms - 1),
            "window_end_ms": (min(changed.values()) + 1, last_ms + window_ms),
        },
        version=version,
    )
    kept = _unchanged(read_files("verdicts", old).select(_SCHEMA.names).cast(_SCHEMA), changed, first_ms)
    rows = pa.concat_tables([kept, new])
    files = [write_data_file(lake.root, "verdicts", part) for part in _filed(rows)]
    lake.commit("verdicts", files, old, run_id=run_id, read_version=version)
    return new.num_rows


def _together(changed: Changed) -> list[set[SubscriptionKey]]:
    newest_ms = max(changed.values())
    recent = {key for key, at_ms in changed.items() if at_ms >= newest_ms - _TOGETHER_MS}
    older = changed.keys() - recent
    return [recent, set(older)] if older else [recent]


def _of(rows: pa.Table, keys: set[SubscriptionKey], *, all_of: bool) -> pa.Table:
    """Rows of some subscription partitions, in their order."""
    if all_of and rows.num_rows == 0:
        return rows
    distinct = rows.select(_NAMES).group_by(_NAMES).aggregate([]).to_pylist()
    wanted = [key for key in distinct if SubscriptionKey(**key) in keys]
    if len(wanted) == len(distinct):
        return rows
    mask = _mask(rows, {SubscriptionKey(**key): 0 for key in wanted})
    return rows.filter(pc.is_valid(mask))


def _mask(rows: pa.Table, value_of: dict[SubscriptionKey, int]) -> pa.ChunkedArray:
    """For each row what is said of its subscription partition; NULL where nothing is."""
    schema = pa.schema([rows.schema.field(name) for name in _NAMES])
    table = pa.Table.from_pylist([key._asdict() for key in value_of], schema=schema)
    table = table.append_column("value", pa.array(list(value_of.values()), pa.int64()))
    numbered = rows.select(_NAMES).append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    return numbered.join(table, _NAMES, join_type="left outer").sort_by("row").column("value")


def _changed_only(rows: pa.Table, changed: Changed) -> pa.Table:
    """Windows that end behind the first change of their subscription: all others stay as they are stored."""
    if not rows.num_rows:
        return rows
    since = _mask(rows, changed)
    return rows.filter(pc.greater(rows.column("window_end_ms"), since))


def _unchanged(rows: pa.Table, changed: Changed, first_ms: int) -> pa.Table:
    """Stored windows that were not judged again."""
    if not rows.num_rows:
        return rows
    since = _mask(rows, changed)
    judged = pc.fill_null(pc.greater(rows.column("window_end_ms"), since), False)
    judged = pc.and_(judged, pc.greater_equal(rows.column("window_start_ms"), first_ms))
    return rows.filter(pc.invert(judged))


def _filed(rows: pa.Table) -> Iterable[pa.Table]:
    """Rows cut by the hour in which windows start, as every file is, and by the tens of minutes in which they end."""
    if not rows.num_rows:
        return
    hour = pc.divide(rows.column("window_start_ms"), pa.scalar(BLOCK_MS, pa.int64()))
    ends = pc.divide(rows.column("window_end_ms"), pa.scalar(FILED_MS, pa.int64()))
    places = pa.table({"hour": hour, "ends": ends}).group_by(["hour", "ends"]).aggregate([]).to_pylist()
    for place in sorted(places, key=lambda one: (one["hour"], one["ends"])):
        mine = pc.and_(pc.equal(hour, place["hour"]), pc.equal(ends, place["ends"]))
        yield (
            rows.filter(mine)
            .sort_by([(name, "ascending") for name in TABLES["verdicts"].key])
            .combine_chunks()
        )
