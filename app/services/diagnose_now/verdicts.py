"""The rules over one topic's minutes. In: ``signals`` of a topic. Out: the newest window of each subscription partition, and those before.

The windows and the rules are those of a run. The newest window of each subscription ends with the newest whole minute, wherever on
the clock that is; the others lie on the epoch grid.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from throttlescope.app.services.diagnose_now.deadline import Deadline
from throttlescope.app.services.diagnose_now.question import NowQuestion
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.verdict import Verdict, diagnose
from throttlescope.models.diagnosis.window import (
    MinuteColumns,
    SubscriptionKey,
    Window,
    by_subscription,
    windows,
)

_SCHEMA = TABLES["verdicts"].loose_schema


@dataclass
class JudgedTopic:
    """Verdicts of one topic.

    Attributes
    ----------
    newest : dict
        Per subscription partition the verdict of its newest window; of the requested subscriptions on all partitions, because one
        partition's verdict means little without the others'.
    earlier : list of dict
        Rows of ``verdicts`` of the windows on the grid.
    left_out : int
        Windows on the grid for which the time was too short.
    """

    newest: dict[SubscriptionKey, Verdict] = field(default_factory=dict)
    earlier: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0

    def newest_rows(self, question: NowQuestion) -> pa.Table:
        rows = [
            one.to_row()
            for key, one in self.newest.items()
            if question.means(key.partition, key.subscription)
        ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    def earlier_rows(self) -> pa.Table:
        return pa.Table.from_pylist(self.earlier, schema=_SCHEMA)


def judge(
    signals: pa.Table,
    question: NowQuestion,
    span_ms: tuple[int, int],
    deadline: Deadline,
    *,
    window_ms: int,
    every_ms: int,
) -> JudgedTopic:
    """Judge the windows inside the range, the newest ones first.

    Parameters
    ----------
    span_ms : (int, int)
        First and newest scrape: a window that reaches out of it would be judged by a part of its minutes.
    deadline : Deadline
        Newest windows are judged in any case; the others as long as there is time.
    """
    first_ms = max(question.start_ms, span_ms[0] - span_ms[0] % MINUTE_MS)
    # A minute that is not over would be judged by half of its scrapes.
    end_ms = min(
        question.end_ms - question.end_ms % MINUTE_MS, span_ms[1] - span_ms[1] % MINUTE_MS + MINUTE_MS
    )
    columns_of = {
        key: MinuteColumns(rows)
        for key, rows in by_subscription(signals)
        if question.subscription in (None, key.subscription)
    }
    judged = JudgedTopic()
    if end_ms - window_ms >= first_ms:
        for key, columns in columns_of.items():
            deadline.check()
            window = _window(key, columns, end_ms - window_ms, end_ms)
            if window is not None:
                judged.newest[key] = diagnose(window)
    for key, columns in columns_of.items():
        if not question.means(key.partition, key.subscription):
            continue
        for window in windows(
            key, columns, window_ms=window_ms, every_ms=every_ms, first_start_ms=first_ms, end_ms=end_ms
        ):
            deadline.check()
            if deadline.left_s <= 0:
                judged.left_out += 1
            else:
                judged.earlier.append(diagnose(window).to_row())
    return judged


def _window(key: SubscriptionKey, columns: MinuteColumns, start_ms: int, end_ms: int) -> Window | None:
    minutes_ms = columns["minute_ms"]
    low = bisect_left(minutes_ms, start_ms)
    high = bisect_left(minutes_ms, end_ms, low)
    return Window(key, start_ms, end_ms, columns, low, high) if low < high else None
