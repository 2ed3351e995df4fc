"""What is known of one subscription over time. In: a reader, a subscription and a range. Out: its minutes, verdicts and truth."""

from __future__ import annotations

import pandas as pd

from throttlescope.app.web.address import Subscription
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.times import MINUTE_MS


def span(reader: LakeReader, subscription: Subscription) -> tuple[int, int] | None:
    """First and last moment for which there is a minute or a verdict; None: never seen."""

    def read(cursor, snapshot):
        bounds = []
        for table, first, last in (
            ("signals", "min(minute_ms)", f"max(minute_ms) + {MINUTE_MS}"),
            ("verdicts", "min(window_start_ms)", "max(window_end_ms)"),
        ):
            time_column = "minute_ms" if table == "signals" else "window_end_ms"
            files = snapshot.files_of(table, subscription, time_column, 0, 2**62)
            bounds += cursor.execute(
                f"SELECT {first}, {last} FROM {snapshot.source(table, files)} {_THIS}",  # noqa: S608
                _values(subscription),
            ).fetchall()
        bounds = [pair for pair in bounds if pair[0] is not None]
        return (min(pair[0] for pair in bounds), max(pair[1] for pair in bounds)) if bounds else None

    return reader.read(read)


def signals(reader: LakeReader, subscription: Subscription, start_ms: int, end_ms: int) -> pd.DataFrame:
    """Minutes that lie inside [start_ms, end_ms), oldest first; the contract's columns."""

    def read(cursor, snapshot):
        files = snapshot.files_of("signals", subscription, "minute_ms", start_ms, end_ms)
        return cursor.execute(
            f"SELECT * FROM {snapshot.source('signals', files)} {_THIS} "  # noqa: S608
            "AND minute_ms >= ? AND minute_ms < ? ORDER BY minute_ms",
            [*_values(subscription), start_ms, end_ms],
        ).df()

    return reader.read(read)


def verdicts(reader: LakeReader, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
    """Verdicts whose window ends in (start_ms, end_ms], oldest first."""

    def read(cursor, snapshot):
        files = snapshot.files_of("verdicts", subscription, "window_end_ms", start_ms, end_ms)
        return dicts(
            cursor.execute(
                f"SELECT * FROM {snapshot.source('verdicts', files)} {_THIS} "  # noqa: S608
                "AND window_end_ms > ? AND window_end_ms <= ? ORDER BY window_end_ms, window_start_ms",
                [*_values(subscription), start_ms, end_ms],
            )
        )

    return reader.read(read)


def causes(reader: LakeReader, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
    """As :func:`verdicts`, with what :func:`runs` needs alone: a day of it is still small."""

    def read(cursor, snapshot):
        files = snapshot.files_of("verdicts", subscription, "window_end_ms", start_ms, end_ms)
        return dicts(
            cursor.execute(
                "SELECT window_start_ms, window_end_ms, cause, limiter, confidence, backlog_entries "  # noqa: S608
                f"FROM {snapshot.source('verdicts', files)} {_THIS} "
                "AND window_end_ms > ? AND window_end_ms <= ? ORDER BY window_end_ms, window_start_ms",
                [*_values(subscription), start_ms, end_ms],
            )
        )

    return reader.read(read)


def truth(reader: LakeReader, subscription: Subscription, start_ms: int, end_ms: int) -> list[dict]:
    """What a recording's script did, where it touches [start_ms, end_ms); empty for a live cluster."""

    def read(cursor, snapshot):
        return dicts(
            cursor.execute(
                f"SELECT * FROM {snapshot.source('truth', snapshot.files['truth'])} {_THIS} "  # noqa: S608
                "AND end_ms > ? AND start_ms < ? ORDER BY start_ms",
                [*_values(subscription), start_ms, end_ms],
            )
        )

    return reader.read(read)


_THIS = "WHERE cluster = ? AND topic = ? AND partition = ? AND subscription = ?"


def _values(subscription: Subscription) -> list:
    return [subscription.cluster, subscription.topic, subscription.partition, subscription.subscription]
