"""What was judged while alerts fired. In: a reader, firings and a range. Out: stretches of verdicts, and backlogs.

Files are pruned by cluster and time; rows by the labels of the firings, so that a fleet's verdicts are not read for a few alerts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.rules_export.preview.firings import VerdictStretch, key_labels
from throttlescope.app.web.data.latest import KEY
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.rules.preview import Firing

MOST_VERDICTS = 500_000
MOST_EPISODES = 5_000
_EPISODE = "since_ms, start_ms, end_ms, judged_until_ms, cause, side, limiter, peak_entries"


def stretches(
    reader: LakeReader, firings: Sequence[Firing], start_ms: int, end_ms: int
) -> list[VerdictStretch]:
    """What the subscriptions of firings were judged in [start, end).

    Raises
    ------
    InputError
        More verdicts than a page may read.
    """
    wanted = list(dict.fromkeys(tuple(sorted(key_labels(firing.labels).items())) for firing in firings))
    wanted = [dict(one) for one in wanted if one]
    if not wanted:
        return []

    def read(cursor, snapshot):
        source = snapshot.source("verdicts", _files(snapshot, "window_end_ms", wanted, start_ms, end_ms))
        requested = ", ".join("(" + ", ".join("?" for _ in SUBSCRIPTION_KEY_NAMES) + ")" for _ in wanted)
        columns = ", ".join(f"{name}_requested" for name in SUBSCRIPTION_KEY_NAMES)
        same = " AND ".join(
            f"({name}_requested IS NULL OR CAST({name} AS VARCHAR) = {name}_requested)"
            for name in SUBSCRIPTION_KEY_NAMES
        )
        values = [one.get(name) for one in wanted for name in SUBSCRIPTION_KEY_NAMES]
        return dicts(
            cursor.execute(
                f"SELECT {KEY}, window_start_ms, window_end_ms, cause, side, limiter, confidence, backlog_entries "  # noqa: S608
                f"FROM {source} WHERE window_end_ms > ? AND window_start_ms < ? "
                f"AND EXISTS (SELECT 1 FROM (VALUES {requested}) AS requested({columns}) WHERE {same}) "
                f"ORDER BY {KEY}, window_end_ms, window_start_ms LIMIT ?",
                [start_ms, end_ms, *values, MOST_VERDICTS + 1],
            )
        )

    rows = reader.read(read)
    if len(rows) > MOST_VERDICTS:
        raise InputError(
            "The alerts speak of more verdicts than a page may read",
            expected=f"at most {MOST_VERDICTS:,}",
            fix="choose a shorter range, or a rule that names the subscription",
        )
    found = []
    for key, mine in groupby(rows, key=lambda row: tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)):
        verdicts = list(mine)
        sides = {(row["cause"], row["limiter"]): row["side"] for row in verdicts}
        found += [
            VerdictStretch(
                key, run.start_ms, run.end_ms, sides[run.cause, run.limiter], run.cause, run.limiter
            )
            for run in runs(verdicts)
        ]
    return found


def episodes(reader: LakeReader, start_ms: int, end_ms: int) -> tuple[list[dict], bool] | None:
    """Backlogs that touch [start, end), the earliest first, and whether there are more; None where the lake has none at all."""

    def read(cursor, snapshot):
        if snapshot.versions["episodes"] is None:
            return None
        files = [
            file for file in snapshot.files["episodes"] if file.minimum.get("start_ms", start_ms) < end_ms
        ]
        rows = dicts(
            cursor.execute(
                f"SELECT {KEY}, {_EPISODE} FROM {snapshot.source('episodes', files)} "  # noqa: S608
                f"WHERE start_ms < ? AND (end_ms IS NULL OR end_ms > ?) ORDER BY start_ms, {KEY} LIMIT ?",
                [end_ms, start_ms, MOST_EPISODES + 1],
            )
        )
        return rows[:MOST_EPISODES], len(rows) > MOST_EPISODES

    return reader.read(read)


def _files(snapshot, column: str, wanted: Sequence[dict], start_ms: int, end_ms: int) -> list:
    clusters = {one.get("cluster") for one in wanted}
    return [
        file
        for file in snapshot.files["verdicts"]
        if (None in clusters or file.partition["cluster"] in clusters)
        # A window may begin long before its end; none is longer than an hour.
        and file.maximum[column] > start_ms
        and file.minimum[column] < end_ms + 3_600_000
    ]
