"""Episodes of a lake, on Spark or in this process. In: ``signals`` and ``verdicts`` of a range. Out: the tables ``episodes`` and ``incidents``.

Calls find which subscriptions have a backlog, then the episodes of some of them each; the result is small, so the driver commits it,
and then the shared incidents of all episodes. A run continues what earlier runs left open: it recomputes whole UTC days, from the day that contains the range's start less
two hours, and continues the episodes that were open at that midnight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.retry import until_stable
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, check_range, dates_of
from throttlescope.ingest.lake.distinct import distinct
from throttlescope.ingest.lake.rows import of_topics, read_subscriptions
from throttlescope.ingest.spark.pieces import share_size
from throttlescope.ingest.spark.task_executor import TaskExecutor
from throttlescope.models.diagnosis import thresholds as diagnosis
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes.episode import state
from throttlescope.models.episodes.find import BEFORE_MS, VERDICT_COLUMNS, Rows, episodes_of, key_of
from throttlescope.models.episodes.incidents import incidents_of
from throttlescope.models.episodes.minutes import COLUMNS

if TYPE_CHECKING:
    from throttlescope.ingest.lake import DataFile, Lake

#: How long after a midnight a run still judges the day before: longer than a change of cause or a change point needs.
SETTLED_MS = 2 * BLOCK_MS
#: So long before a range its signals are read, unless an episode is open: to the midnight before it, and what lies before that.
LOOK_BACK_MS = DAY_MS + BEFORE_MS
#: How often incidents are recomputed because another run wrote episodes; that run computes them too, afterwards.
_ATTEMPTS = 10


def build_episodes(
    executor: TaskExecutor, lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, run_id: str
) -> int:
    """Judge a range and write ``episodes``, then ``incidents``. A second time changes nothing.

    Parameters
    ----------
    executor : TaskExecutor
        Spark's, or one of this process; a call holds the range's minutes of some subscriptions with a backlog.
    clusters : iterable of str
    start_ms, end_ms : int
        The new data. More is recomputed: whole UTC days before it, and what earlier runs computed after it.

    Returns
    -------
    int
        Rows of ``episodes`` that were written.

    Raises
    ------
    InputError
        The range is empty.
    """
    check_range(start_ms, end_ms)
    written = 0
    for cluster in sorted(set(clusters)):
        stored = _stored(lake, cluster)
        from_ms, until_ms = judged_range(stored, start_ms, end_ms)
        signals = _files(lake, "signals", "minute_ms", cluster, from_ms - BEFORE_MS, until_ms)
        if not signals:
            continue
        judged_until_ms = min(until_ms, max(file.maximum["minute_ms"] for file in signals) + MINUTE_MS)
        open_rows = reaching(stored, from_ms)
        verdicts = _files(
            lake, "verdicts", "window_start_ms", cluster, from_ms - BEFORE_MS - DAY_MS, until_ms
        )
        names = candidates(executor, signals, from_ms, until_ms, open_rows)
        shares = shares_of(
            names, executor.parallelism, signals, verdicts, from_ms, until_ms, judged_until_ms, open_rows
        )
        found = [row for rows in executor.map(episodes_of_share, shares) for row in rows]
        written += _write(lake, cluster, found, open_rows, from_ms, judged_until_ms, run_id)
        write_incidents(lake, cluster, run_id)
    return written


def judged_range(stored: Sequence[Mapping[str, Any]], start_ms: int, end_ms: int) -> tuple[int, int]:
    """What has to be recomputed when [start_ms, end_ms) is new: no open episode skips a time, nothing later is lost.

    Parameters
    ----------
    stored : sequence of mappings
        Rows of ``episodes`` of the cluster.

    Returns
    -------
    (int, int)
        A UTC midnight, and the end of what was ever judged.
    """
    followed = [row["judged_until_ms"] for row in stored if row["end_ms"] is None]
    first_ms = min(start_ms, max(followed, default=start_ms)) - SETTLED_MS
    return first_ms - first_ms % DAY_MS, max([end_ms, *(row["judged_until_ms"] for row in stored)])


def reaching(stored: Iterable[Mapping[str, Any]], from_ms: int) -> Rows:
    """Of the rows that began before a midnight, the newest of each subscription that was not gone an hour before it."""
    newest: dict[SubscriptionKey, dict[str, Any]] = {}
    for row in sorted(stored, key=lambda row: row["start_ms"]):
        if row["start_ms"] < from_ms:
            newest[key_of(row)] = dict(row)
    return [
        row for row in newest.values() if row["end_ms"] is None or row["over_until_ms"] >= from_ms - BEFORE_MS
    ]


def write_incidents(lake: Lake, cluster: str, run_id: str) -> int:
    """Recompute the shared incidents of a cluster from all its episodes; return how many there are.

    Another run may replace the rows meanwhile; it has then written its incidents, or will. A run that finds newer episodes computes the
    incidents again, so the last writer has seen all episodes.
    """
    contract = TABLES["incidents"]

    def write() -> int:
        rows = incidents_of(_stored(lake, cluster))
        new = contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))
        old = lake.read("incidents", columns=["cluster", "date"], partition={"cluster": [cluster]})
        touched = pa.concat_tables(
            [old.cast(new.select(["cluster", "date"]).schema), new.select(["cluster", "date"])]
        )
        lake.update("incidents", lambda existing: new, partitions_of=touched, run_id=run_id)
        return new.num_rows

    return until_stable(write, lambda: lake.version("episodes"), attempts=_ATTEMPTS)


@dataclass(frozen=True, eq=False)
class EpisodeShare:
    """Subscription partitions of a cluster that are judged together, and what is known of them.

    Attributes
    ----------
    names : list of SubscriptionKey
        Sorted.
    signals, verdicts : list of DataFile
        Files that may have rows of them.
    from_ms, until_ms : int
        What is judged; the hour before it is read as well.
    judged_until_ms : int
        See :func:`~throttlescope.models.episodes.find.episodes_of`.
    stored : list of dict
        Rows of ``episodes`` of them that are continued.
    """

    names: list[SubscriptionKey]
    signals: list[DataFile]
    verdicts: list[DataFile]
    from_ms: int
    until_ms: int
    judged_until_ms: int
    stored: Rows


def candidates(
    executor: TaskExecutor, signals: list[DataFile], from_ms: int, until_ms: int, open_rows: Rows
) -> list[SubscriptionKey]:
    """Subscription partitions that may have an episode, sorted: more than one read waits in a minute, or one is continued."""
    inside = (pc.field("minute_ms") >= from_ms - BEFORE_MS) & (pc.field("minute_ms") < until_ms)
    ready, per_entry, age_s = (
        pc.field(name) for name in ("backlog_ready_entries", "messages_per_entry", "backlog_age_s")
    )
    batch = pc.if_else(
        pc.field("read_batch_entries") > 0, pc.field("read_batch_entries"), pa.scalar(None, pa.int32())
    )
    least = pc.coalesce(batch, pc.scalar(int(diagnosis.READ_BATCH_ENTRIES))).cast(pa.float64())
    # Fewer entries count where they are batches, or where they are old.
    in_messages = (per_entry > 1) & (ready > least / per_entry)
    own_is_old = pc.field("subscription_backlog_age_s") >= diagnosis.OLD_S
    stands_still = (age_s >= diagnosis.OLD_S) & (pc.field("out_msg_delta") == 0)
    few = (ready > diagnosis.LEAST_ENTRIES) & (in_messages | own_is_old | stands_still)
    where = inside & ((ready > least) | few)
    found = distinct(executor, "signals", signals, SUBSCRIPTION_KEY_NAMES, where)
    return sorted({SubscriptionKey(*values) for values in found} | {key_of(row) for row in open_rows})


def shares_of(
    names: list[SubscriptionKey],
    parallelism: int,
    signals: list[DataFile],
    verdicts: list[DataFile],
    from_ms: int,
    until_ms: int,
    judged_until_ms: int,
    open_rows: Rows,
) -> list[EpisodeShare]:
    """Candidates in shares of neighbours by name, each small enough for a task, and enough of them for all cores."""
    size = share_size(len(names), (until_ms - from_ms + BEFORE_MS) // MINUTE_MS, parallelism)
    shares = []
    for at in range(0, len(names), size):
        mine = names[at : at + size]
        topics, of_mine = sorted({name.topic for name in mine}), set(mine)
        shares.append(
            EpisodeShare(
                mine, of_topics(signals, topics), of_topics(verdicts, topics), from_ms, until_ms, judged_until_ms,
                [row for row in open_rows if key_of(row) in of_mine],
            )
        )  # fmt: skip
    return shares


def episodes_of_share(share: EpisodeShare) -> Rows:
    """Rows of ``episodes``; runs in a task."""
    low_ms = share.from_ms - BEFORE_MS
    minutes = read_subscriptions("signals", share.signals, share.names, columns=COLUMNS)
    said = read_subscriptions("verdicts", share.verdicts, share.names, columns=VERDICT_COLUMNS)
    return episodes_of(
        minutes.filter((pc.field("minute_ms") >= low_ms) & (pc.field("minute_ms") < share.until_ms)),
        said.filter((pc.field("window_end_ms") > low_ms) & (pc.field("window_start_ms") < share.until_ms)),
        from_ms=share.from_ms,
        judged_until_ms=share.judged_until_ms,
        stored=share.stored,
    ).to_pylist()


def _stored(lake: Lake, cluster: str) -> Rows:
    return lake.read("episodes", partition={"cluster": [cluster]}).to_pylist()


def _write(
    lake: Lake,
    cluster: str,
    found: Rows,
    open_rows: Sequence[Mapping[str, Any]],
    from_ms: int,
    judged_until_ms: int,
    run_id: str,
) -> int:
    """Put what was found in place of what began at ``from_ms`` or later, or was continued."""
    contract = TABLES["episodes"]
    ids = {row["episode_id"] for row in found}
    # Nothing was seen of these; that is news as well.
    unseen = [
        row
        | {
            "judged_until_ms": judged_until_ms,
            "state": state(row["end_ms"] is not None, row["known_until_ms"], judged_until_ms),
        }
        for row in open_rows
        if row["episode_id"] not in ids
    ]
    rows = found + unseen
    new = contract.conform(pa.Table.from_pylist(rows, schema=contract.loose_schema))
    replaced = pa.array([row["episode_id"] for row in rows], pa.string())

    def change(existing: pa.Table) -> pa.Table:
        # The answer of a replay for an episode stays until it is recomputed.
        answered = dict(
            zip(
                *(existing.column(name).to_pylist() for name in ("episode_id", "counterfactual")), strict=True
            )
        )
        place = new.column_names.index("counterfactual")
        values = [answered.get(row_id) for row_id in new.column("episode_id").to_pylist()]
        rows = new.set_column(place, new.schema.field(place), pa.array(values, new.schema.field(place).type))
        old = pc.or_(
            pc.greater_equal(existing.column("start_ms"), from_ms),
            pc.is_in(existing.column("episode_id"), value_set=replaced),
        )
        return pa.concat_tables(
            [existing.filter(pc.invert(old)).select(rows.column_names).cast(rows.schema), rows]
        )

    dates = dates_of(from_ms, max(judged_until_ms, from_ms + 1)) | {row["date"] for row in rows}
    touched = pa.Table.from_pylist([{"cluster": cluster, "date": date} for date in sorted(dates)])
    lake.update("episodes", change, partitions_of=touched, run_id=run_id)
    return len(rows)


def _files(lake: Lake, table: str, time_column: str, cluster: str, start_ms: int, end_ms: int) -> list:
    return lake.files(table, partition={"cluster": [cluster]}, between={time_column: (start_ms, end_ms - 1)})
