"""Changes of limits as the page shows them. In: a reader, an address and a range. Out: events, each with what it did to one subscription.

``models/episodes/changes.py`` defines what a change is, ``before_after.py`` what is compared; here only what they need is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.data.history import OF_KEY, values_of
from throttlescope.app.web.data.latest import KEY
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.app.web.data.snapshot import Snapshot
from throttlescope.app.web.data.table_query import Conditions
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.core.topic_name import namespace_of
from throttlescope.ingest.lake import DataFile
from throttlescope.models.episodes.before_after import (
    SIGNAL_COLUMNS,
    SPAN_MS,
    VERDICT_COLUMNS,
    Compared,
    compare,
)
from throttlescope.models.episodes.changes import (
    COLUMNS,
    LimitChange,
    PolicyEvent,
    limit_changes,
    policy_events,
)

#: Limiters whose history is read; there are more only where a change reached very many at once.
MOST_SERIES = 3_000
MOST_EVENTS = 12


@dataclass(frozen=True)
class LimitChangeEvent:
    """One change of one record.

    Attributes
    ----------
    event : PolicyEvent
        All that it reached, of those that were read.
    compared : Compared
        Before and after, of the subscription partition among them whose backlog is the largest now.
    """

    event: PolicyEvent
    compared: Compared


@dataclass(frozen=True)
class LimitChanges:
    """Events, the newest first.

    Attributes
    ----------
    total : int
        How many there are in the range, of the limiters that were read.
    is_whole : bool
        Every limiter that changed was read.
    """

    events: tuple[LimitChangeEvent, ...]
    total: int
    is_whole: bool


def changes(reader: LakeReader, address: LimitsAddress, start_ms: int, end_ms: int) -> LimitChanges:
    """Changes that were seen in [start_ms, end_ms)."""

    def read(cursor, snapshot):
        # The first answer of the range is compared with the one before it.
        files = _between(snapshot.files["limits"], "observed_ms", start_ms - DAY_MS, end_ms - 1)
        source = snapshot.source("limits", files)
        where = _where(address).add("observed_ms >= ? AND observed_ms < ?", start_ms - DAY_MS, end_ms)
        changed = cursor.execute(
            f"SELECT {KEY}, level FROM {source} WHERE {where.sql} GROUP BY ALL "  # noqa: S608
            "HAVING count(DISTINCT {a: rate_msg, b: rate_bytes, c: period_s, d: counts, e: relative_to_publish}) > 1 "
            f"ORDER BY ALL LIMIT {MOST_SERIES + 1}",
            where.values,
        ).fetchall()
        if not changed:
            return LimitChanges((), 0, True)
        is_whole = len(changed) <= MOST_SERIES
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE changed AS SELECT {KEY}, level FROM {source} LIMIT 0")  # noqa: S608
        cursor.executemany("INSERT INTO changed VALUES (?, ?, ?, ?, ?, ?)", changed[:MOST_SERIES])
        rows = cursor.sql(
            f"SELECT {', '.join(COLUMNS)} FROM {source} WHERE {where.sql} AND ({KEY}, level) IN (FROM changed)",  # noqa: S608
            params=where.values,
        ).to_arrow_table()
        found = policy_events([one for one in limit_changes(rows) if one.new_from_ms >= start_ms])
        found.sort(key=lambda one: -one.new_from_ms)
        if not found:
            # What changed did so before the range.
            return LimitChanges((), 0, is_whole)
        shown = found[:MOST_EVENTS]
        worst = [_worst(cursor, event) for event in shown]
        compared = _compared(cursor, snapshot, worst)
        return LimitChanges(tuple(map(LimitChangeEvent, shown, compared)), len(found), is_whole)

    return reader.read(read)


def _where(address: LimitsAddress) -> Conditions:
    where = Conditions()
    key = address.subject
    if key is not None:
        where.add(OF_KEY, *values_of(key))
        return where.add("namespace = ?", namespace_of(key.topic))
    where.among("cluster", address.clusters).among("namespace", address.namespaces)
    where.among("level", address.levels)
    return where.words(address.search, "lower(cluster || ' ' || topic || '#' || subscription)")


def _worst(cursor, event: PolicyEvent) -> LimitChange:
    """The change of the subscription partition with the largest backlog now; the first where none is known."""
    if len(event.changes) == 1:
        return event.changes[0]
    topics = sorted({one.key.topic for one in event.changes})[:500]
    found = dicts(
        cursor.execute(
            f"SELECT {KEY} FROM latest WHERE cluster = ? AND list_contains(?, topic) "  # noqa: S608
            "ORDER BY backlog_entries DESC NULLS LAST LIMIT 200",
            [event.cluster, topics],
        )
    )
    by_key = {tuple(one.key): one for one in event.changes}
    return next((by_key[key] for row in found if (key := tuple(row.values())) in by_key), event.changes[0])


def _compared(cursor, snapshot: Snapshot, changes: list[LimitChange]) -> list[Compared]:
    signals, verdicts, when_s, when_v, values_s, values_v = [], [], [], [], [], []
    for one in changes:
        first, last = one.old_until_ms - SPAN_MS, one.new_from_ms + SPAN_MS
        bounds = {"cluster": (one.key.cluster,) * 2, "topic": (one.key.topic,) * 2}
        # Only the minutes before the first answer and after the second count: between them it is not known which limit was in force.
        for start_ms, end_ms in ((first, one.old_until_ms), (one.new_from_ms, last)):
            signals += _between(snapshot.files["signals"], "minute_ms", start_ms, end_ms, bounds)
            verdicts += _between(snapshot.files["verdicts"], "window_end_ms", start_ms, end_ms, bounds)
        when_s.append(f"(({KEY}) = (?, ?, ?, ?, ?) AND minute_ms >= ? AND minute_ms < ?)")
        when_v.append(f"(({KEY}) = (?, ?, ?, ?, ?) AND window_start_ms >= ? AND window_end_ms <= ?)")
        values_s += [*one.key, first, last]
        values_v += [*one.key, first, last]
    minutes = cursor.sql(
        f"SELECT {', '.join(SIGNAL_COLUMNS)} FROM {snapshot.source('signals', _once(signals))} WHERE {' OR '.join(when_s)}",  # noqa: S608
        params=values_s,
    ).to_arrow_table()
    windows = dicts(
        cursor.execute(
            f"SELECT {', '.join(VERDICT_COLUMNS)} FROM {snapshot.source('verdicts', _once(verdicts))} WHERE {' OR '.join(when_v)}",  # noqa: S608
            values_v,
        )
    )
    return compare(changes, minutes, windows)


def _once(files: list[DataFile]) -> list[DataFile]:
    return list({file.path: file for file in files}.values())


def _between(
    files: list[DataFile], column: str, start: int, end: int, bounds: dict | None = None
) -> list[DataFile]:
    wanted = {column: (start, end), **(bounds or {})}
    return [
        file
        for file in files
        if all(
            name not in file.minimum or (file.minimum[name] <= last and file.maximum[name] >= first)
            for name, (first, last) in wanted.items()
        )
    ]
