"""A lake with three weeks of minutes and what was unusual in them, judged by the real method. In: a folder. Out: the lake.

Two subscriptions of one topic burst together, a third falls silent, a fourth drops to zero, a fifth is too new to be judged,
and one with a hostile name bursts alone.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from tests.models.anomaly.lakes import Subscription, fill, minute_ms, signals, verdicts
from tests.models.anomaly.traffic import DAY
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.models.anomaly.apply import build_anomalies

TODAY = 18
START_MS, END_MS = minute_ms(TODAY), minute_ms(TODAY + 1)
HOSTILE = "<img src=x onerror=alert(1)>"


def _of(name: str, topic: str, seed: int, partition: int = -1) -> Subscription:
    return Subscription(name, f"persistent://acme/shop/{topic}", partition, days=TODAY + 1, seed=seed)


def made() -> dict[str, Subscription]:
    """The subscriptions by name."""
    found = {
        "billing": _of("billing", "orders", 1, 0),
        "audit": _of("audit", "orders", 2, 0),
        "search": _of("search", "clicks", 3),
        "export": _of("export", "exports", 4),
        "fresh": _of("fresh", "new", 5),
        HOSTILE: _of(HOSTILE, "odd", 6),
    }
    for name, at in (("billing", 600), ("audit", 604), (HOSTILE, 1200)):
        found[name].arrived[TODAY * DAY + at : TODAY * DAY + at + 40] *= 4
    found["search"].present[TODAY * DAY + 900 : TODAY * DAY + 960] = False
    found["export"].arrived[TODAY * DAY + 300 : TODAY * DAY + 345] = 0
    found["fresh"].present[: 12 * DAY] = False
    return found


def write(root: Path, *, judged: bool = True) -> Lake:
    """Write minutes and verdicts, and what is unusual of the last day."""
    lake, subscriptions = Lake(root), list(made().values())
    fill(lake, "signals", signals(*subscriptions))
    said = [verdicts(one, END_MS - 3_600_000, END_MS, "healthy") for one in subscriptions]
    said.append(
        verdicts(subscriptions[0], minute_ms(TODAY, 595), minute_ms(TODAY, 650), "throttled", "topic.msg")
    )
    fill(lake, "verdicts", pa.concat_tables(said))
    if judged:
        build_anomalies(InProcessExecutor(), lake, {"prod"}, START_MS, END_MS, "by hand")
    return lake
