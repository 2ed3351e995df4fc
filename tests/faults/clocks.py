"""Study: a scheduler that runs intervals twice, late and out of order, on a machine whose clock is set. In: a seed. Out: whether it is the same lake.

Hours of a real Prometheus are run as a scheduler runs them, one interval each, in a drawn order, some more than once, and the clock
of the process jumps between them: minutes to days, back and ahead. In the end every table is that of one run an hour, in order.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from tests.app.incremental import differences, put, rows_of, run
from tests.faults.study import Found, Study
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.check import check

HOURS = 3
#: Less than a day ahead: files keep the machine's own clock, and notes that look a day old are not believed.
_OFF_S = (0, 0, -600, -3 * 3600, -2 * 86_400, 1800, 20 * 3600)


@contextlib.contextmanager
def clock_off(seconds: float) -> Iterator[None]:
    """A wall clock that is wrong in this process; what measures how long something takes goes on."""
    real, real_ns = time.time, time.time_ns
    with (
        mock.patch("time.time", lambda: real() + seconds),  # noqa: PT008
        mock.patch("time.time_ns", lambda: real_ns() + round(seconds * 1e9)),  # noqa: PT008
    ):
        yield


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    from throttlescope.ingest.spark.session import spark_session

    with running_prometheus() as server, contextlib.ExitStack() as stack:
        session = spark_session("throttlescope-faults", cores=2, driver_memory="1g")
        stack.callback(session.stop)
        yield instants_of(session, server.url, seed, scratch)


def instants_of(
    session: Any, url: str, seed: int, scratch: Path, hours: int = HOURS
) -> Iterator[tuple[str, Callable[[], Found]]]:
    put(url, 0, hours)
    in_order = scratch / "in-order"
    for number in range(hours):
        run(session, in_order, url, number, number + 1)
    for number in itertools.count():
        draw = random.Random(f"{seed} {number}")  # noqa: S311
        turns = [*range(hours), *draw.choices(range(hours), k=2)]
        draw.shuffle(turns)
        plan = [(turn, draw.choice(_OFF_S)) for turn in turns]
        name = f"lake {number}: " + ", ".join(f"hour {turn} at {off_s:+d} s" for turn, off_s in plan)
        yield name, lambda name=name, plan=plan: _lake(session, url, name, plan, scratch / "drawn", in_order)


def _lake(
    session: Any, url: str, name: str, plan: list[tuple[int, int]], lake: Path, in_order: Path
) -> Found:
    shutil.rmtree(lake, ignore_errors=True)
    found = Found(name, counts=len(plan))
    for turn, off_s in plan:
        with clock_off(off_s):
            try:
                run(session, lake, url, turn, turn + 1)
            except ThrottlescopeError as error:
                found.wrong.append(f"hour {turn} at {off_s:+d} s: {error}")
    for table in differences(lake, in_order):
        one, other = rows_of(lake, table), rows_of(in_order, table)
        found.lost += len(set(other) - set(one))
        found.doubled += len(set(one) - set(other)) + len(one) - len(set(one))
        found.wrong.append(f"{table}: {len(one)} rows, and {len(other)} in order")
    found.wrong += [f"lake check: {fault.path or fault.table}: {fault.what}" for fault in check(Lake(lake))]
    found.tally = {
        "run twice": len(plan) - len({turn for turn, _ in plan}),
        "out of order": sum(before > after for (before, _), (after, _) in itertools.pairwise(plan)),
        "clock went back": sum(before > after for (_, before), (_, after) in itertools.pairwise(plan)),
    }
    return found


STUDY = Study(
    "clocks and schedulers", "in any order and with any clock, every table is as in order", 60, opened
)
