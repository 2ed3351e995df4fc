"""Many scenarios at once. In: a scenario and a grid of values for some of its fields; out: a table, one row per point and
subscription partition.

>>> from throttlescope.models.throttling import load_scenario, sweep
>>> table = sweep(load_scenario(path), {"limits.0.msg": [400, 800], "subscriptions.0.consumers": [2, 4]})  # doctest: +SKIP

Fields have the names that the scenario's file gives them; a number counts in a list. Runs in threads of this process, one per core (the
kernel needs no lock), or in another executor, such as Spark's.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.scenario import Scenario, ScenarioError
from throttlescope.models.throttling.scenario.file import one_line
from throttlescope.models.throttling.simulate import run

#: More points than this are a typing error: at a tenth of a second each they take three hours.
MAX_POINTS = 100_000

_COUNTED = ("out_messages", "out_bytes", "expired_entries", "dead_letter_entries")
_EVENTS = tuple(f"{level}_{unit}_events" for level, unit in EVENTS)


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Sequence[Any]],
    seed: int = 0,
    *,
    machine: Machine = LAB,
    every_s: int = 1,
    executor: Executor | None = None,
) -> pa.Table:
    """Simulate a scenario at every point of a grid.

    Parameters
    ----------
    scenario
        What all points have in common.
    grid
        Values by field, such as ``limits.0.msg`` or ``broker.version``; every combination is a point.
    seed
        The same for all points, so that they differ by nothing but their values.
    machine, every_s
        As for :func:`simulate`; backlogs are looked at every ``every_s`` seconds.
    executor
        Makes the runs; threads of this process by default, one per core.

    Returns
    -------
    pyarrow.Table
        ``point`` (its number), one column per field of the grid, ``topic``, ``partition``, ``subscription``; over the whole
        timeline: ``published_messages``, ``out_messages``, ``out_bytes``, ``expired_entries``, ``dead_letter_entries`` and the six
        counters; ``backlog_peak_entries``, ``backlog_mean_entries`` and ``backlog_end_entries``. Sorted by point.

    Raises
    ------
    ScenarioError
        A field of the grid is not in the scenario, a value does not fit, or there are too many points; before anything runs.
    """
    points = _points(grid)
    variants = [_variant(scenario, point) for point in points]
    summary_of = partial(_summary, seed=seed, machine=machine, every_s=every_s)
    with ThreadPoolExecutor(os.cpu_count() or 1) if executor is None else nullcontext(executor) as calls:
        found = list(calls.map(summary_of, variants))
    rows = [
        {"point": number, **point, **row}
        for number, (point, summary) in enumerate(zip(points, found, strict=True))
        for row in summary
    ]
    return pa.Table.from_pylist(rows)


def _points(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise ScenarioError(f"grid.{name}: a list of values", got=repr(values), fix=f"{name}: [1, 2, 3]")
    count = math.prod(len(values) for values in grid.values())
    if count > MAX_POINTS:
        raise ScenarioError("grid: too many points", got=f"{count:,}", expected=f"at most {MAX_POINTS:,}")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _variant(scenario: Scenario, point: Mapping[str, Any]) -> Scenario:
    body = scenario.model_dump(mode="json", exclude_unset=True)
    for name, value in point.items():
        *path, last = name.split(".")
        place: Any = body
        try:
            for part in path:
                place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
            if isinstance(place, list):
                place[int(last)] = value
            else:
                place[last] = value
        except (IndexError, ValueError, AttributeError, TypeError) as error:
            raise ScenarioError(
                f"grid.{name}: no such field in the scenario", expected="names of its file, as limits.0.msg"
            ) from error
    try:
        changed = Scenario.model_validate(body)
    except ValidationError as error:
        raise ScenarioError(f"grid: {one_line(error)}") from error
    check(changed)
    return changed


def _summary(scenario: Scenario, seed: int, machine: Machine, every_s: int) -> list[dict[str, Any]]:
    world = compile_scenario(scenario, machine, seed)
    totals = run(world, machine, every_s)
    rows = []
    for number, item in enumerate(world.dispatchers):
        log = world.logs[item.log]
        backlog = totals["backlog_entries"][:, number]
        rows.append(
            {
                "topic": log.topic,
                "partition": log.partition,
                "subscription": item.subscription,
                "published_messages": int(totals["published_entries"][-1, number]) * log.msgs,
                **{name: int(totals[name][-1, number]) for name in (*_COUNTED, *_EVENTS)},
                "backlog_peak_entries": int(backlog.max()),
                "backlog_mean_entries": float(backlog.mean()),
                "backlog_end_entries": int(backlog[-1]),
            }
        )
    return rows
