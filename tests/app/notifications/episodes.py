"""Episodes by hand for notifications. In: entries by the minute and what windows say. Out: a lake with ``episodes``, and its clock."""

from __future__ import annotations

from tests.models.episodes.scenes import DAY, KEY, fill, minutes, verdicts
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.models.episodes.apply import build_episodes

NAME = "acme/shop/orders-partition-0#billing"
RISING = [5] * 20 + [50 * i for i in range(1, 101)]
#: Ends with a drain.
GONE = [*[5] * 20, *[50 * i for i in range(1, 61)], 1500, *[5] * 39]


def judged(folder, entries=RISING, letters="hhhhPPPPPPPPPPPPPPPPPPPP", *, keys=(KEY,), until=None):
    """A lake in which ``until`` minutes of these subscriptions were judged."""
    lake = Lake(folder)
    until = len(entries) if until is None else until
    rows = [row for key in keys for row in minutes(entries[:until], key=key)]
    said = [row for key in keys for row in verdicts(letters[: until // 5], key=key)]
    write(lake, rows, said, until)
    return lake


def write(lake, rows, said, until):
    """Replace what the lake has by these minutes and verdicts, and judge its episodes anew."""
    for table, new, column in (("signals", rows, "minute_ms"), ("verdicts", said, "window_start_ms")):
        old = lake.files(table)
        if old:
            lake.commit(table, [], old, run_id="by hand", read_version=lake.version(table))
        fill(lake, table, new, column)
    build_episodes(InProcessExecutor(), lake, ["prod"], DAY, at(until), "by hand")


def at(minute):
    return DAY + minute * MINUTE_MS
