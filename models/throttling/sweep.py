"""Many scenarios at once. In: a scenario and a grid of values for some of its fields; out: a table, one row per point and
subscription partition.

>>> from throttlescope.models.throttling import load_scenario, sweep
>>> table = sweep(load_scenario(path), {"limits.0.msg": [400, 800], "subscriptions.0.consumers": [2, 4]})  # doctest: +SKIP

Fields have the names that the scenario's file gives them; a number counts in a list. Runs in this process, one thread per core (the
kernel needs no lock), or on Spark.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import ValidationError

from throttlescope.ingest.spark.executors import parallelism
from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import LAB, Machine
from throttlescope.models.throttling.scenario import Scenario, ScenarioError
from throttlescope.models.throttling.scenario.file import one_line
from throttlescope.models.throttling.simulate import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: More points than this are a typing error: at a tenth of a second each they take three hours.
MAX_POINTS = 100_000
#: Spark's tasks per core: runs take different times, small tasks even that out.
TASKS_PER_CORE = 4

_COUNTED = ("out_messages", "out_bytes", "expired_entries", "dead_letter_entries")
_EVENTS = tuple(f"{level}_{unit}_events" for level, unit in EVENTS)


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Sequence[Any]],
    seed: int = 0,
    *,
    machine: Machine = LAB,
    every_s: int = 1,
    session: SparkSession | None = None,
    threads: int | None = None,
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
    session
        Spark's session; without it this process does the work.
    threads
        Threads of this process; by default one per core.

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
    if session is None:
        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            found = list(pool.map(lambda item: _summary(item, seed, machine, every_s), variants))
    else:
        found = _on_spark(session, variants, seed, machine, every_s)
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


def _on_spark(
    session: SparkSession, variants: list[Scenario], seed: int, machine: Machine, every_s: int
) -> list[list[dict[str, Any]]]:
    import json

    texts = [item.model_dump_json(exclude_unset=True) for item in variants]

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column("id").to_pylist()
            found = [
                json.dumps(_summary(Scenario.model_validate_json(texts[number]), seed, machine, every_s))
                for number in numbers
            ]
            yield pa.RecordBatch.from_arrays(
                [pa.array(numbers, pa.int64()), pa.array(found)], ["id", "summary"]
            )

    cores = parallelism(session)
    tasks = min(len(texts), TASKS_PER_CORE * cores)
    numbers = session.range(0, len(texts), 1, tasks)
    rows = numbers.mapInArrow(work, "id long, summary string").collect()
    return [json.loads(row.summary) for row in sorted(rows, key=lambda row: row.id)]
