"""How fast the simulator is: one day, polls, a sweep on Spark, and compared with a reduced model in SimPy.

In: a number of runs. Out: JSON on standard output; every figure is the median of the runs, after one that warms up.

``day``
    24 h of one subscription under 1000 msg/s, with rows of every second; target 120 ms. ``polls_per_s`` is what the
    kernel alone does in it with one row at the end; target 8 million
``sweep``
    200 limits x 24 h on Spark's ``local[2]`` with its Python workers warm, over 200 times the mean of one run divided by 2;
    target at most 1.4
``simpy``
    the same model as far as SimPy's version has it (one dispatcher, one token bucket, reads of 100, four consumers that take
    one message after the other, publishing aggregated between reads): seconds of each for the same simulated time; target 100
    times. Both must dispatch the same number of messages within 2 percent, else the ratio says nothing
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import simpy

from throttlescope.ingest.spark.session import spark_session
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.throttling import LAB, Machine, Scenario, sweep
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.kernel import layout
from throttlescope.models.throttling.kernel.fields import S
from throttlescope.models.throttling.kernel.simulation import run_packed
from throttlescope.models.throttling.simulate import run
from throttlescope.models.throttling.sweep import _summary

DAY_S = 86_400
LIMIT, RATE, CONSUMERS, PROCESSING_MS, BATCH, QUEUE = 1000, 1100, 4, 2.0, 100, 1000
POLICIES = 200
SIMPY_S = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--skip-sweep", action="store_true", help="no Spark")
    arguments = parser.parse_args()
    found: dict = {
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_1min": os.getloadavg()[0],
        }
    }
    for kind, consumers in (("Shared", CONSUMERS), ("Shared", 1), ("Exclusive", 1)):
        found[f"day, {kind}, {consumers} consumers"] = day(kind, consumers, arguments.runs)
    found["simpy"] = beside_simpy(arguments.runs)
    if not arguments.skip_sweep:
        found["sweep"] = on_spark(arguments.runs)
    print(json.dumps(found, indent=1))


def scenario(
    kind: str = "Shared", consumers: int = CONSUMERS, duration_s: int = DAY_S, limit: int = LIMIT
) -> Scenario:
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "speed",
            "topics": [{"name": "t"}],
            "limits": [
                {"level": "subscription", "set_at": "subscription", "topic": "t", "subscription": "s", "msg": limit}
            ],
            "subscriptions": [
                {
                    "name": "s", "topic": "t", "type": kind, "consumers": consumers,
                    "processing_ms": PROCESSING_MS * consumers / CONSUMERS, "receiver_queue": QUEUE,
                }
            ],
            "producers": [{"topic": "t", "rate_msg": RATE, "size_bytes": 100}],
            "timeline": [{"name": "all", "duration_s": duration_s}],
        }
    )  # fmt: skip


def median_s(work: Callable[[], object], runs: int) -> float:
    work()
    return statistics.median(_seconds(work) for _ in range(runs))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def day(kind: str, consumers: int, runs: int) -> dict:
    world = compile_scenario(scenario(kind, consumers), LAB)
    # With rows of every second, as `simulate` gives them.
    whole_s = median_s(lambda: run(world, LAB, 1), runs)
    polls = int(run(world, LAB, 1)["polls"][-1].sum())
    sizes = layout.first_sizes(world)
    packed = layout.pack(world, LAB, DAY_S * 1_000_000, *sizes)
    out = np.zeros((1, len(world.dispatchers), S.WIDTH), np.int64)
    times = []
    for _ in range(runs + 1):
        fresh = packed.copy()
        times.append(_seconds(lambda fresh=fresh: run_packed(fresh, out)))
    kernel_s = statistics.median(times[1:])
    return {
        "run_ms": round(whole_s * 1000, 1),
        "target_ms": 120,
        "polls": polls,
        "polls_per_s_million": round(polls / kernel_s / 1e6, 2),
        "target_polls_per_s_million": 8,
    }


def on_spark(runs: int) -> dict:
    body = scenario()
    # All of them bind.
    limits = [200 + 4 * number for number in range(POLICIES)]
    variants = [scenario(limit=limit) for limit in limits]
    for item in variants[:3]:
        _summary(item, 0, LAB, 1)
    one_s = statistics.median(
        _seconds(lambda: [_summary(item, 0, LAB, 1) for item in variants]) / POLICIES
        for _ in range(max(1, runs // 2))
    )
    session = spark_session("benchmark", master="local[2]")
    executor = SparkPoolExecutor(session)
    try:
        sweep_s = median_s(
            lambda: sweep(body, {"limits.0.msg": limits}, executor=executor), max(1, runs // 2)
        )
    finally:
        session.stop()
    return {
        "policies": POLICIES,
        "one_run_ms": round(one_s * 1000, 1),
        "sweep_s": round(sweep_s, 2),
        "ratio": round(sweep_s / (POLICIES * one_s / 2), 2),
        "target": 1.4,
    }


def beside_simpy(runs: int) -> dict:
    # Without the cache and the producers' lots, which SimPy's version has not.
    machine = replace(LAB, cached_read_us=None, cached_entry_us=None, publish_tick_us=0)
    world = compile_scenario(scenario(duration_s=SIMPY_S), machine)
    ours_s = median_s(lambda: run(world, machine, 1), runs)
    ours = int(run(world, machine, 1)["out_messages"][-1, 0])
    theirs = Reduced(machine)
    began = time.perf_counter()
    theirs.env.run(until=SIMPY_S)
    simpy_s = time.perf_counter() - began
    return {
        "simulated_s": SIMPY_S,
        "ours_ms": round(ours_s * 1000, 2),
        "simpy_ms": round(simpy_s * 1000, 1),
        "dispatched": [ours, theirs.dispatched],
        "same_within_2_percent": abs(ours - theirs.dispatched) <= 0.02 * ours,
        "ratio": round(simpy_s / ours_s),
        "target": 100,
    }


class Reduced:
    """A Shared subscription under one message limit, as one would write it with SimPy."""

    def __init__(self, machine: Machine) -> None:
        self.env = simpy.Environment()
        self.machine = machine
        self.stores = [simpy.Store(self.env) for _ in range(CONSUMERS)]
        self.permits = [QUEUE] * CONSUMERS
        self.tokens, self.anchor, self.dispatched, self.position, self.turn = LIMIT, 0.0, 0, 0, 0
        self.flow = self.env.event()
        self.env.process(self.dispatcher())
        for number in range(CONSUMERS):
            self.env.process(self.consumer(number))

    def published(self) -> int:
        return int(self.env.now * RATE)

    def refill(self) -> None:
        if self.env.now - self.anchor > 1:
            self.tokens = min(self.tokens + int((self.env.now - self.anchor) * LIMIT), LIMIT)
            self.anchor = self.env.now

    def dispatcher(self) -> Iterator[simpy.Event]:
        while True:
            self.refill()
            if sum(self.permits) <= 0:
                yield self.flow
                continue
            if self.tokens <= 0:
                # A request for more messages makes the dispatcher look again, too.
                timer = self.env.timeout(1 + self.machine.timer_late_us / 1e6)
                while not timer.processed and self.tokens <= 0:
                    yield timer | self.flow
                    self.refill()
                continue
            waiting = self.published() - self.position
            if waiting <= 0:
                yield self.env.timeout(0.01)
                continue
            count = min(BATCH, self.tokens, waiting, sum(self.permits))
            yield self.env.timeout((self.machine.read_us + count * self.machine.read_entry_us) / 1e6)
            self.position += count
            self.tokens -= count
            self.dispatched += count
            for _ in range(count):
                number = self.turn // 20 % CONSUMERS
                self.turn += 1
                self.permits[number] -= 1
                self.stores[number].put(self.env.now)

    def consumer(self, number: int) -> Iterator[simpy.Event]:
        taken = 0
        while True:
            yield self.stores[number].get()
            taken += 1
            if taken == QUEUE // 2:
                self.permits[number] += taken
                taken = 0
                flow, self.flow = self.flow, self.env.event()
                flow.succeed()
            yield self.env.timeout(PROCESSING_MS / 1000)


if __name__ == "__main__":
    main()
