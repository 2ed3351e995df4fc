"""What the page of anomalies reads. In: a reader and an address. Out: groups with their rows, counts for the filters, and one anomaly's minutes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from throttlescope.app.web.address.anomalies import AnomaliesAddress, Opened
from throttlescope.app.web.data.history import THIS, values_of
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.table_query import Conditions
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.core.topic_name import PART_TEXT_SQL
from throttlescope.ingest.lake import DataFile
from throttlescope.models.anomaly.band import UsualBand, usual
from throttlescope.models.anomaly.minutes import COLUMNS
from throttlescope.models.anomaly.subscription import SIDES, Range
from throttlescope.models.anomaly.verdicts import CALM

#: Groups of one page, and rows that are shown of each; a selected group is shown up to ``MOST_OF_ONE``.
PAGE_GROUPS, MOST_OF_EACH, MOST_OF_ONE = 20, 6, 200
#: No anomaly is longer: one that lasts longer becomes another row.
_LONGEST_MS = 3 * DAY_MS
#: Files of minutes that a band is made of at most; hours of five weeks are 840.
MOST_FILES = 2_000

_KEY = "cluster, topic, partition, subscription"
_SELECTOR = f"cluster || ' ' || {PART_TEXT_SQL} || '#' || subscription"


@dataclass(frozen=True)
class JudgedAnomalies:
    """What is there at all.

    Attributes
    ----------
    ever : bool
        Anomalies were computed at least once.
    newest_ms : int or None
        End of the newest row, also of one without enough history.
    learning : int
        Subscription partitions that had too little history in the range.
    learning_until_ms : int or None
        When the first of these is judged.
    oldest_ms : int or None
        Start of the oldest row; whether anything was evaluated before it is not known.
    """

    ever: bool
    newest_ms: int | None
    learning: int
    learning_until_ms: int | None
    oldest_ms: int | None


@dataclass(frozen=True)
class Groups:
    """One page of groups, newest first; ``rows`` of each, the highest score first."""

    groups: list[dict]
    rows: dict[tuple[str, str], list[dict]]
    total: int
    anomalies: int


def newest_end(reader: LakeReader) -> int | None:
    """End of the newest row; None where nothing was ever judged or found."""

    def read(cursor, snapshot):
        files = snapshot.files["anomalies"]
        last = max((file.maximum["start_ms"] for file in files), default=0)
        recent = [file for file in files if file.maximum["start_ms"] >= last - _LONGEST_MS]
        source = snapshot.source("anomalies", recent)
        return cursor.execute(f"SELECT max(end_ms) FROM {source}").fetchall()[0][0]  # noqa: S608

    return reader.read(read)


def judged(reader: LakeReader, start_ms: int, end_ms: int) -> JudgedAnomalies:
    """Whether there is anything, and what was still being learned in [start_ms, end_ms)."""

    def read(cursor, snapshot):
        source = snapshot.source("anomalies", _files(snapshot, start_ms, end_ms))
        learning, until = cursor.execute(
            f"SELECT count(DISTINCT ({_KEY})), min(learning_until_ms) FROM {source} "  # noqa: S608
            "WHERE state = 'learning' AND signal = 'samples' AND end_ms > ? AND start_ms < ?",
            [start_ms, end_ms],
        ).fetchall()[0]
        oldest = min((file.minimum["start_ms"] for file in snapshot.files["anomalies"]), default=None)
        return learning, until, snapshot.versions["anomalies"] is not None, oldest

    learning, until, ever, oldest = reader.read(read)
    return JudgedAnomalies(ever, newest_end(reader), learning, until, oldest)


def groups(reader: LakeReader, address: AnomaliesAddress, start_ms: int, end_ms: int) -> Groups:
    """Groups with an anomaly that the address lets through and that touches [start_ms, end_ms)."""

    def read(cursor, snapshot):
        source = snapshot.source("anomalies", _files(snapshot, start_ms, end_ms))
        where = _where(address, start_ms, end_ms)
        total, anomalies = cursor.execute(
            f"SELECT count(DISTINCT (cluster, group_id)), count(*) FROM {source} WHERE {where.sql}",  # noqa: S608
            where.values,
        ).fetchall()[0]
        found = dicts(
            cursor.execute(
                f"""SELECT cluster, group_id, min(start_ms) AS start_ms, max(end_ms) AS end_ms, bool_or(state = 'open') AS is_open,
                       count(*) AS anomalies, count(DISTINCT (topic, partition, subscription)) AS subscriptions,
                       count(DISTINCT topic) AS topics, max(score) AS score,
                       list_sort(list_distinct(list(signal))) AS signals, list_sort(list_distinct(list(direction))) AS directions,
                       any_value(shared_kind) AS shared_kind, any_value(shared_with) AS shared_with,
                       max(group_rows) AS group_rows, bool_or(adopted) AS adopted
                FROM {source} WHERE {where.sql} GROUP BY cluster, group_id
                ORDER BY start_ms DESC, score DESC, cluster, group_id LIMIT ? OFFSET ?""",  # noqa: S608
                [*where.values, PAGE_GROUPS, (address.page - 1) * PAGE_GROUPS],
            )
        )
        most = MOST_OF_EACH if address.group is None else MOST_OF_ONE
        rows: dict[tuple[str, str], list[dict]] = {}
        if found:
            names = [[group["cluster"], group["group_id"]] for group in found]
            shown = cursor.execute(
                f"""SELECT * EXCLUDE (date) FROM {source} WHERE {where.sql} AND list_contains(?, [cluster, group_id])
                QUALIFY row_number() OVER (PARTITION BY cluster, group_id ORDER BY score DESC, {_KEY}, signal, start_ms) <= ?
                ORDER BY score DESC, {_KEY}, signal, start_ms""",  # noqa: S608
                [*where.values, names, most],
            )
            for row in dicts(shown):
                rows.setdefault((row["cluster"], row["group_id"]), []).append(row)
        return Groups(found, rows, total, anomalies)

    return reader.read(read)


def counts(
    reader: LakeReader, address: AnomaliesAddress, start_ms: int, end_ms: int
) -> dict[str, dict[str, int]]:
    """Anomalies of the range by ``signal``, ``direction``, ``state`` and ``cluster``; each without its own filter."""

    def read(cursor, snapshot):
        source = snapshot.source("anomalies", _files(snapshot, start_ms, end_ms))
        found = {}
        for column in ("signal", "direction", "state", "cluster"):
            where = _where(address, start_ms, end_ms, without=column)
            rows = cursor.execute(
                f"SELECT {column}, count(*) FROM {source} WHERE {where.sql} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50",  # noqa: S608
                where.values,
            ).fetchall()
            found[column] = {word: count for word, count in rows if word is not None}
        return found

    return reader.read(read)


def one(reader: LakeReader, wanted: Opened) -> dict | None:
    """The row of one anomaly; None where it is not there, or no longer."""

    def read(cursor, snapshot):
        key = wanted.subscription
        files = snapshot.files_of("anomalies", key, "start_ms", wanted.start_ms, wanted.start_ms)
        found = cursor.execute(
            f"SELECT * EXCLUDE (date) FROM {snapshot.source('anomalies', files)} {THIS} "  # noqa: S608
            "AND signal = ? AND start_ms = ? AND state <> 'learning'",
            [*values_of(key), wanted.signal, wanted.start_ms],
        )
        rows = dicts(found)
        return rows[0] if rows else None

    return reader.read(read)


def band(reader: LakeReader, row: dict, wanted: Opened, start_ms: int, end_ms: int) -> UsualBand | None:
    """The signal around an anomaly with what was usual, made from the weeks that the lake holds now.

    None for samples, which have no band, and where the weeks are in too many files to be read for a page.
    """
    if row["signal"] not in SIDES:
        return None
    range_ = Range.of(row["start_ms"], max(row["end_ms"], end_ms), row["zone"])

    def read(cursor, snapshot):
        files = snapshot.files_of("signals", wanted.subscription, "minute_ms", range_.first_ms, range_.end_ms)
        if len(files) > MOST_FILES or not files:
            return None
        signals = cursor.sql(
            f"SELECT {', '.join(COLUMNS)} FROM {snapshot.source('signals', files)} {THIS} "  # noqa: S608
            "AND minute_ms >= ? AND minute_ms < ?",
            params=[*values_of(wanted.subscription), range_.first_ms, range_.end_ms],
        ).to_arrow_table()
        files = snapshot.files_of(
            "verdicts", wanted.subscription, "window_end_ms", range_.first_ms, range_.end_ms
        )
        incidents = cursor.execute(
            f"SELECT window_start_ms, window_end_ms FROM {snapshot.source('verdicts', files)} {THIS} "  # noqa: S608
            "AND window_end_ms > ? AND NOT list_contains(?, cause)",
            [*values_of(wanted.subscription), range_.first_ms, list(CALM)],
        ).fetchall()
        return signals, incidents

    found: tuple[pa.Table, list] | None = reader.read(read)
    if found is None or not found[0].num_rows:
        return None
    return usual(found[0], row["signal"], range_, start_ms, end_ms, incidents=found[1])


def _files(snapshot, start_ms: int, end_ms: int) -> list[DataFile]:
    """Files that may hold a row that touches [start_ms, end_ms)."""
    return [
        file
        for file in snapshot.files["anomalies"]
        if file.minimum["start_ms"] < end_ms and file.maximum["start_ms"] >= start_ms - _LONGEST_MS
    ]


def _where(address: AnomaliesAddress, start_ms: int, end_ms: int, *, without: str = "") -> Conditions:
    where = Conditions("state <> 'learning'").add("end_ms > ?", start_ms).add("start_ms < ?", end_ms)
    where.words(address.search, f"lower({_SELECTOR})")
    for column, words in (
        ("cluster", address.clusters),
        ("signal", address.signals),
        ("direction", address.directions),
        ("state", (address.state,) if address.state else ()),
        ("group_id", (address.group,) if address.group is not None else ()),
    ):
        if column != without:
            where.among(column, words)
    return where
