"""The context of a verdict: who shares its limit, which consumers are slow, what a change of a limit did. In: a reader and a window. Out: what the models report.

Each is computed only where it applies.
"""

from __future__ import annotations

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.queries.consumers import of_window
from throttlescope.app.web.data.history import THIS, values_of
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.neighbours import COLUMNS as USE_COLUMNS
from throttlescope.models.diagnosis.neighbours import QuotaUse, quota_neighbours
from throttlescope.models.diagnosis.slowest import SlowConsumers
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes.before_after import (
    SIGNAL_COLUMNS,
    SPAN_MS,
    VERDICT_COLUMNS,
    Compared,
    compare,
)
from throttlescope.models.episodes.changes import COLUMNS as LIMIT_COLUMNS
from throttlescope.models.episodes.changes import limit_changes


def key_of(subscription: SubscriptionPartition) -> SubscriptionKey:
    """The same subscription, as the models name it."""
    namespace = "/".join(subscription.topic.split("://", 1)[-1].split("/")[:2])
    return SubscriptionKey(
        subscription.cluster,
        namespace,
        subscription.topic,
        subscription.partition,
        subscription.subscription,
    )


def neighbours(
    reader: LakeReader, subscription: SubscriptionPartition, limiter: str | None, start_ms: int, end_ms: int
) -> list[QuotaUse]:
    """Who used a shared limit, most first; empty where the limit is the subscription's own."""
    level = (limiter or "").split(".")[0]
    if level not in ("topic", "broker"):
        return []
    columns = ", ".join(USE_COLUMNS)

    def read(cursor, snapshot):
        if level == "topic":
            files = snapshot.files_of("signals", subscription, "minute_ms", start_ms, end_ms - 1)
            where, values = "topic = ? AND partition = ?", [subscription.topic, subscription.partition]
        else:
            files = [
                file
                for file in snapshot.files["signals"]
                if file.partition["cluster"] == subscription.cluster
                and file.minimum["minute_ms"] < end_ms
                and file.maximum["minute_ms"] >= start_ms
            ]
            mine = f"SELECT DISTINCT broker FROM {snapshot.source('signals', files)} {THIS} AND minute_ms >= ? AND minute_ms < ?"  # noqa: S608
            brokers = [
                row[0]
                for row in cursor.execute(mine, [*values_of(subscription), start_ms, end_ms]).fetchall()
            ]
            where, values = "list_contains(?, broker)", [[broker for broker in brokers if broker]]
        return cursor.sql(
            f"SELECT {columns} FROM {snapshot.source('signals', files)} "  # noqa: S608
            f"WHERE cluster = ? AND {where} AND minute_ms >= ? AND minute_ms < ? ORDER BY {', '.join(SubscriptionKey._fields)}, minute_ms",
            params=[subscription.cluster, *values, start_ms, end_ms],
        ).to_arrow_table()

    return quota_neighbours(reader.read(read), key_of(subscription), limiter, start_ms, end_ms)


def consumers(
    reader: LakeReader, subscription: SubscriptionPartition, cause: str, start_ms: int, end_ms: int
) -> SlowConsumers | None:
    """The consumers of a window whose verdict names a cause, from the samples of the lake; None where it is healthy."""
    if cause == "healthy":
        return None
    window = {"window_start_ms": start_ms, "window_end_ms": end_ms}
    return of_window(Lake(reader.lake_path), key_of(subscription)._asdict() | window)


def changes(
    reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int
) -> list[Compared]:
    """Changes of the effective limits that were seen in [start_ms, end_ms), newest first, with the minutes before and after."""

    def read(cursor, snapshot):
        values = values_of(subscription)

        def rows(table: str, columns: tuple[str, ...], time: str, first_ms: int, last_ms: int):
            files = snapshot.files_of(table, subscription, time, first_ms, last_ms)
            return cursor.sql(
                f"SELECT {', '.join(columns)} FROM {snapshot.source(table, files)} {THIS} AND {time} >= ? AND {time} <= ? "  # noqa: S608
                f"ORDER BY {time}",
                params=[*values, first_ms, last_ms],
            ).to_arrow_table()

        # The answer before a change may be hours old.
        known = rows("limits", LIMIT_COLUMNS, "observed_ms", 0, end_ms)
        found = [one for one in limit_changes(known) if start_ms <= one.new_from_ms < end_ms]
        if not found:
            return []
        first_ms = min(one.old_until_ms for one in found) - SPAN_MS
        last_ms = max(one.new_from_ms for one in found) + SPAN_MS
        signals = rows("signals", SIGNAL_COLUMNS, "minute_ms", first_ms, last_ms - 1)
        verdicts = rows("verdicts", VERDICT_COLUMNS, "window_start_ms", first_ms, last_ms)
        return compare(found, signals, verdicts.to_pylist())

    return sorted(reader.read(read), key=lambda one: (-one.change.new_from_ms, one.change.level))
