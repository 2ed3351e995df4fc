"""What is known of one subscription over time. In: a reader, a subscription and a range. Out: its minutes, verdicts and truth."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.core.labels import HASH_RANGE
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.ingest.lake import DataFile
from throttlescope.models.messages.language import STORED_LANGUAGE, current
from throttlescope.models.messages.stored import unpacked, verdict_in_language

_OF_WINDOW = "window_start_ms, window_end_ms, side, cause, limiter, confidence, naive_side, backlog_entries, backlog_growth_entries"
_REASON = "[row.text for row in evidence if row.weight = 'for'][1] AS reason"
#: What renders the reason in another language; rows of older lakes have nothing.
_REASON_MESSAGE = (
    "messages.evidence[list_position([row.weight for row in evidence], 'for')] AS reason_message"
)


def hash_range(reader: LakeReader, subscription: SubscriptionPartition) -> str | None:
    """The hash range of a segment, such as ``0000-7fff``; None: it is no segment of a scalable topic."""
    if not is_scalable(subscription.topic):
        return None

    def read(cursor, snapshot):
        series = snapshot.source("series", snapshot.files["series"])
        found = cursor.execute(
            f"SELECT labels['{HASH_RANGE}'] FROM {series} WHERE metric_name = '{BACKLOG}' AND cluster = ? "  # noqa: S608
            "AND labels['topic'] = ? AND labels['partition'] = ? LIMIT 1",
            [subscription.cluster, subscription.topic, str(subscription.partition)],
        ).fetchone()
        return found[0] if found else None

    return reader.read(read)


def span(reader: LakeReader, subscription: SubscriptionPartition) -> tuple[int, int] | None:
    """First and last moment for which there is a minute or a verdict; None: never seen."""

    def read(cursor, snapshot):
        bounds = []
        for table, first, last in (
            ("signals", "min(minute_ms)", f"max(minute_ms) + {MINUTE_MS}"),
            ("verdicts", "min(window_start_ms)", "max(window_end_ms)"),
        ):
            time_column = "minute_ms" if table == "signals" else "window_end_ms"
            files = snapshot.files_of(table, subscription, time_column, 0, 2**62)
            for edge, newest in ((first, False), (last, True)):
                # Most were there all the time: the oldest and the newest hour say it, and no other file is opened.
                best = None
                for part in _by_hour(files, time_column, newest=newest):
                    part = [file for file in part if _may_beat(file, best, time_column, newest=newest)]
                    if not part:
                        continue
                    found = cursor.execute(
                        f"SELECT {edge} FROM {snapshot.source(table, part)} {THIS}",  # noqa: S608
                        values_of(subscription),
                    ).fetchall()[0][0]
                    if found is not None:
                        best = found if best is None else max(best, found) if newest else min(best, found)
                bounds += [] if best is None else [best]
        return (min(bounds), max(bounds)) if bounds else None

    return reader.read_cached(("span", subscription), read)


def _by_hour(files: list[DataFile], column: str, *, newest: bool) -> list[list[DataFile]]:
    """Files by the hours that they reach into, the outermost first, ever more hours at once."""
    if any(column not in file.minimum for file in files):
        return [files]
    ends = {id(file): (file.maximum if newest else file.minimum)[column] // BLOCK_MS for file in files}
    hours = sorted(set(ends.values()), reverse=newest)
    parts, at, step = [], 0, 1
    while at < len(hours):
        wanted = set(hours[at : at + step])
        parts.append([file for file in files if ends[id(file)] in wanted])
        at, step = at + step, step * 4
    return parts


def _may_beat(file: DataFile, best: int | None, column: str, *, newest: bool) -> bool:
    """Whether a file reaches further out than what was found."""
    if best is None or column not in file.minimum:
        return True
    return file.maximum[column] >= best if newest else file.minimum[column] < best


def signals(
    reader: LakeReader,
    subscription: SubscriptionPartition,
    start_ms: int,
    end_ms: int,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Minutes that lie inside [start_ms, end_ms), oldest first.

    Parameters
    ----------
    columns : sequence of str, optional
        Those that are read, where an older lake has them; None: all of the contract. Each takes time.
    """
    # Of names that the lake may not have: what is not there is left out.
    what = "*" if columns is None else f"COLUMNS(lambda name: name IN ({', '.join(map(repr, columns))}))"

    def read(cursor, snapshot):
        files = snapshot.files_of("signals", subscription, "minute_ms", start_ms, end_ms)
        return cursor.execute(
            f"SELECT {what} FROM {snapshot.source('signals', files)} {THIS} "  # noqa: S608
            "AND minute_ms >= ? AND minute_ms < ? ORDER BY minute_ms",
            [*values_of(subscription), start_ms, end_ms],
        ).df()

    return reader.read(read)


def verdicts(
    reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int
) -> list[dict]:
    """Verdicts whose window ends in (start_ms, end_ms], oldest first, with their evidence."""
    rows = _verdicts(reader, subscription, start_ms, end_ms, "*")
    return [verdict_in_language(row) for row in rows]


def windows(
    reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int
) -> list[dict]:
    """As :func:`verdicts` without evidence but for ``reason``: a week of it is still small."""
    rows = _verdicts(reader, subscription, start_ms, end_ms, _light(), keep=end_ms - start_ms <= DAY_MS)
    return [_reason_in_language(row) for row in rows]


def causes(reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int) -> list[dict]:
    """As :func:`verdicts`, with what :func:`runs` needs alone."""
    return _verdicts(
        reader,
        subscription,
        start_ms,
        end_ms,
        "window_start_ms, window_end_ms, cause, limiter, confidence, backlog_entries",
    )


def verdict(
    reader: LakeReader, subscription: SubscriptionPartition, window_start_ms: int, window_end_ms: int
) -> dict | None:
    """The verdict of one window with its evidence; None where there is none."""
    found = _verdicts(reader, subscription, window_end_ms - 1, window_end_ms, "*", keep=True)
    return next(
        (verdict_in_language(row) for row in found if row["window_start_ms"] == window_start_ms), None
    )


def _light() -> str:
    """What a window says without its evidence, which is most of it; ``reason`` is the strongest evidence for it, in words."""
    columns = [_OF_WINDOW, _REASON, *([] if current() == STORED_LANGUAGE else [_REASON_MESSAGE])]
    return ", ".join(columns)


def _reason_in_language(row: dict) -> dict:
    message = row.pop("reason_message", None)
    return row if message is None else {**row, "reason": unpacked(message).text}


def _verdicts(
    reader: LakeReader,
    subscription: SubscriptionPartition,
    start_ms: int,
    end_ms: int,
    columns: str,
    *,
    keep: bool = False,
) -> list[dict]:
    """``keep``: a day at most; another range up to the same end needs the same windows."""

    def read(cursor, snapshot):
        files = snapshot.files_of("verdicts", subscription, "window_end_ms", start_ms, end_ms)
        return dicts(
            cursor.execute(
                f"SELECT {columns} FROM {snapshot.source('verdicts', files)} {THIS} "  # noqa: S608
                "AND window_end_ms > ? AND window_end_ms <= ? ORDER BY window_end_ms, window_start_ms",
                [*values_of(subscription), start_ms, end_ms],
            )
        )

    if not keep:
        return reader.read(read)
    rows = reader.read_cached(("verdicts", subscription, start_ms, end_ms, columns), read)
    return [dict(row) for row in rows]


def truth(reader: LakeReader, subscription: SubscriptionPartition, start_ms: int, end_ms: int) -> list[dict]:
    """What a recording's script did, where it touches [start_ms, end_ms); empty for a live cluster."""

    def read(cursor, snapshot):
        return dicts(
            cursor.execute(
                f"SELECT * FROM {snapshot.source('truth', snapshot.files['truth'])} {THIS} "  # noqa: S608
                "AND end_ms > ? AND start_ms < ? ORDER BY start_ms",
                [*values_of(subscription), start_ms, end_ms],
            )
        )

    return reader.read(read)


#: One subscription partition; its values are given by :func:`values_of`.
OF_KEY = "cluster = ? AND topic = ? AND partition = ? AND subscription = ?"
THIS = f"WHERE {OF_KEY}"


def values_of(subscription: SubscriptionPartition) -> list:
    return [subscription.cluster, subscription.topic, subscription.partition, subscription.subscription]
