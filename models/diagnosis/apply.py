"""The rules over a lake. In: ``signals`` of a range. Out: ``verdicts``, one row per subscription partition and window.

:func:`build_verdicts` judges a fleet, on Spark or in this process: the windows in which nothing waits and nothing happened are
screened many at once, the others go through the rules one by one, with a day of what came before. :func:`verdicts_of` sends every
window through the rules: the same answers, and what the fleet's are tested against.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start, check_range
from throttlescope.ingest.lake.staged import StagedCommit
from throttlescope.models.diagnosis.fleet.full_rules import judge_left
from throttlescope.models.diagnosis.fleet.hours import bounds, hours
from throttlescope.models.diagnosis.fleet.quiet import judge_quiet
from throttlescope.models.diagnosis.history import HISTORY_MS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import MinuteColumns, by_subscription, check_grid, windows

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

WINDOW_MS = 5 * MINUTE_MS


def build_verdicts(
    executor: Executor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    window_ms: int = WINDOW_MS,
    every_ms: int = WINDOW_MS,
) -> int:
    """Judge every window that has a minute of [start_ms, end_ms) in it, and write the verdicts: :func:`stage_verdicts`, committed.

    Returns
    -------
    int
        Rows of ``verdicts`` in the hours that were written.
    """
    staged = stage_verdicts(
        executor, lake, clusters, start_ms, end_ms, run_id, window_ms=window_ms, every_ms=every_ms
    )
    lake.commit_staged(staged)
    return staged.rows


def stage_verdicts(
    executor: Executor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    window_ms: int = WINDOW_MS,
    every_ms: int = WINDOW_MS,
) -> StagedCommit:
    """Judge every window that has a minute of [start_ms, end_ms) in it; nothing is committed.

    Parameters
    ----------
    executor : Executor
        Spark's, or one of this process.
    clusters : iterable of str
        Clusters whose verdicts are built.
    window_ms, every_ms : int
        Length of a window and distance between the starts of two, on the epoch grid, in whole minutes.

    Notes
    -----
    Verdicts are replaced by whole UTC hours of their window's start, in one commit. A window whose minutes have not all
    come yet is left to the run that brings them; until then it has no verdict. An hour's quiet windows are in a file of
    their own.
    """
    check_range(start_ms, end_ms)
    check_grid(window_ms, every_ms)
    clusters = sorted(set(clusters))
    # Windows that began earlier and reach into the range are judged now that it is there, and with them their hour.
    first_ms = block_start((start_ms - window_ms) // every_ms * every_ms + every_ms)
    last_ms = block_start(end_ms - 1) + BLOCK_MS
    version = lake.version("verdicts")
    old = lake.files(
        "verdicts",
        partition={"cluster": clusters},
        between={"window_start_ms": (first_ms, last_ms - 1)},
        version=version,
    )
    signals = lake.files(
        "signals",
        partition={"cluster": clusters},
        between={"minute_ms": (first_ms - HISTORY_MS, last_ms + window_ms)},
    )
    now = [file for file in signals if file.maximum["minute_ms"] >= first_ms]
    spans = bounds(now, first_ms, last_ms + window_ms - MINUTE_MS)
    new, left = judge_quiet(executor, lake.root, hours(now, spans, window_ms, every_ms))
    if left:
        new += judge_left(executor, lake.root, signals, left, window_ms)
    return StagedCommit("verdicts", tuple(new), tuple(old), run_id, version)


def verdicts_of(
    signals: pa.Table, start_ms: int, end_ms: int, *, window_ms: int = WINDOW_MS, every_ms: int = WINDOW_MS
) -> pa.Table:
    """Judge all windows inside [start_ms, end_ms) of some subscriptions, in-process.

    Parameters
    ----------
    signals : pyarrow.Table
        Rows of ``signals`` in any order. Rows before ``start_ms`` are history: a day of it, with the columns of
        :data:`~history.HISTORY_COLUMNS`, is as good as all.

    Returns
    -------
    pyarrow.Table
        Rows of ``verdicts``.
    """
    rows = [
        diagnose(window).to_row()
        for key, mine in by_subscription(signals)
        for window in windows(
            key,
            MinuteColumns(mine),
            window_ms=window_ms,
            every_ms=every_ms,
            first_start_ms=start_ms,
            end_ms=end_ms,
        )
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)
