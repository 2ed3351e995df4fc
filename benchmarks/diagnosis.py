"""How fast a fleet is diagnosed: a day of signals to verdicts, episodes and counterfactuals, on Spark ``local[2]``.

In: fleets (numbers of subscriptions) and a number of runs. Out: a table on standard output, and JSON where it is wanted. Each
fleet is judged in a process of its own, in a lake of its own whose signals are made at the first start and kept in
``.bench/diagnosis`` (``benchmarks/fleet/signals.py`` and ``samples.py`` say what is in them). Verdicts are of windows of five minutes;
episodes follow from them, and each cause of those that leave it open is lifted in replays of their samples. The forecasts of the
newest hour are timed apart. The first run, in which Spark and its workers
start, is told apart. Before each run verdicts, episodes and incidents are deleted, so that all files are written and everything is asked anew. Some
subscriptions are judged once more one window at a time, some episodes once more by a replay that reads the lake by itself, and
an answer that differs makes the figure void. Beside the time that passed stands the
processor time of all processes: the machine's other work moves the first, not the second.

Target: 10,000 subscriptions in less than 120 s, and time that grows at most as the fleet does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.fleet import signals as made
from benchmarks.fleet.samples import add_samples
from benchmarks.side_by_side.usage import cpu_s, memory_mb
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.spark.session import spark_session
from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
from throttlescope.models.diagnosis.apply import build_verdicts, verdicts_of
from throttlescope.models.diagnosis.counterfactual import counterfactuals
from throttlescope.models.episodes.apply import build_episodes
from throttlescope.models.episodes.levers.apply import build_counterfactuals
from throttlescope.models.episodes.levers.lifted import HISTORY_MS
from throttlescope.models.forecast.apply import build_forecasts
from throttlescope.models.throttling.replay import read_observed

FLEETS = (1_000, 10_000)
TARGET_S = 120
END_MS = made.START_MS + made.HOURS * BLOCK_MS
#: Subscriptions whose verdicts are compared with the rules', window by window.
_COMPARED = 12
#: Episodes whose counterfactuals are compared with a single replay.
_REPLAYED = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=list(FLEETS), metavar="N")
    parser.add_argument("--runs", type=int, default=3, help="runs with everything started")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    parser.add_argument("--alone", type=int, metavar="N", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measure(arguments.alone, arguments.runs)))
        return
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "target_s": TARGET_S,
        "fleets": {},
    }
    for subscriptions in arguments.subscriptions:
        add_samples(made.lake_of(subscriptions), subscriptions)
        one = found["fleets"][subscriptions] = _alone(subscriptions, arguments.runs)
        print(
            f"{subscriptions:,} subscriptions: {one['median_s']} s (first {one['first_s']} s), processors "
            f"{one['cpu_median_s']} s, load {one['load_1min']}; {one['verdicts']:,} verdicts, {one['quiet_share']:.1%} of "
            f"them screened, {one['megabytes']} MB; {one['episodes']} episodes, {one['asked']} asked, {one['failed']} without an "
            f"answer; seconds of the steps {one['steps_s']}, of an hour's forecasts {one['forecasts_s']}; {'; '.join(one['wrong']) or 'as the rules and single replays say'}; "
            f"peak MB {one['memory_mb']}",
            flush=True,
        )
    if len(found["fleets"]) > 1:
        (small, first), *_, (large, last) = found["fleets"].items()
        found["growth"] = {
            "fleet": large / small,
            "time": round(last["median_s"] / first["median_s"], 1),
            "cpu": round(last["cpu_median_s"] / first["cpu_median_s"], 1),
        }
        print(f"{large / small:g} times the fleet takes {found['growth']['time']} times as long")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _alone(subscriptions: int, runs: int) -> dict:
    """One fleet in a process of its own, so that memory is of this fleet alone."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.diagnosis",
        "--alone",
        str(subscriptions),
        "--runs",
        str(runs),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(subscriptions: int, runs: int) -> dict:
    """Judge one fleet again and again."""
    lake, load = made.lake_of(subscriptions), os.getloadavg()[0]
    session = spark_session("throttlescope-benchmark", cores=2)
    executor = SparkPoolExecutor(session)
    seconds, processors, steps, forecasts = [], [], [], []
    for number in range(1 + runs):
        for table in ("verdicts", "episodes", "incidents", "forecasts"):
            shutil.rmtree(Path(lake.root) / table, ignore_errors=True)
        began_s, used_s, run_id = time.monotonic(), cpu_s(os.getpid()), f"run-{number}"
        span = ([made.CLUSTER], made.START_MS, END_MS, run_id)
        build_verdicts(executor, lake, *span)
        judged_s = time.monotonic()
        build_episodes(executor, lake, *span)
        followed_s = time.monotonic()
        answered = build_counterfactuals(executor, lake, *span)
        ended_s = time.monotonic()
        processors.append(round(cpu_s(os.getpid()) - used_s, 2))
        # As the hourly run makes them: of the newest hour, with the day before it in the lake.
        build_forecasts(executor, lake, [made.CLUSTER], END_MS - BLOCK_MS, END_MS, run_id)
        forecasts.append(round(time.monotonic() - ended_s, 1))
        seconds.append(round(ended_s - began_s, 2))
        steps.append(
            [round(one, 1) for one in (judged_s - began_s, followed_s - judged_s, ended_s - followed_s)]
        )
        print(
            f"{subscriptions} subscriptions, run {number}: {seconds[-1]} s: verdicts, episodes, counterfactuals {steps[-1]}",
            file=sys.stderr,
            flush=True,
        )
    memory = memory_mb(os.getpid())
    session.stop()
    files = lake.files("verdicts")
    rows = lake.read("verdicts", columns=["cause", "why", "confidence"])
    quiet = pc.sum(pc.equal(rows["cause"], "healthy")).as_py()
    return {
        "first_s": seconds[0],
        "seconds": seconds[1:],
        "steps_s": steps[1:],
        "forecasts_s": forecasts[1:],
        "median_s": round(statistics.median(seconds[1:]), 1),
        "cpu_seconds": processors[1:],
        "cpu_median_s": round(statistics.median(processors[1:]), 1),
        "load_1min": load,
        "memory_mb": memory,
        "verdicts": rows.num_rows,
        "healthy_share": quiet / rows.num_rows,
        "quiet_share": _quiet_rows(files) / rows.num_rows,
        "causes": {row["cause"]: row["cause_count"] for row in rows.group_by("cause").aggregate([("cause", "count")]).to_pylist()},
        "episodes": lake.read("episodes", columns=["cause"]).num_rows,
        "asked": answered.needed,
        "failed": answered.failed,
        "megabytes": round(sum(file.size_bytes for file in files) / 1e6, 1),
        "wrong": _wrong(lake) + _otherwise(lake),
    }  # fmt: skip


def _quiet_rows(files: list) -> int:
    """Verdicts of the screen: of an hour's two files the larger."""
    by_hour: dict[int, int] = {}
    for file in files:
        hour = file.minimum["window_start_ms"] // BLOCK_MS
        by_hour[hour] = max(by_hour.get(hour, 0), file.rows)
    return sum(by_hour.values())


def _wrong(lake: Lake) -> list[str]:
    """Topics, of every kind of verdict some, whose verdicts are not those of the rules one by one."""
    verdicts = lake.read("verdicts", columns=["topic", "cause"])
    kinds = (
        verdicts.group_by(["topic", "cause"])
        .aggregate([])
        .sort_by([("cause", "ascending"), ("topic", "ascending")])
    )
    step = max(1, kinds.num_rows // _COMPARED)
    topics = kinds["topic"].take(pa.array(range(0, kinds.num_rows, step))).unique()[:_COMPARED]
    where = pc.field("topic").isin(topics)
    stored = _by_topic(lake.read("verdicts", where=where))
    judged = _by_topic(verdicts_of(lake.read("signals", where=where), made.START_MS, END_MS))
    return [
        f"{topic} differs"
        for topic in judged.keys() | stored.keys()
        if judged.get(topic) != stored.get(topic)
    ]


def _otherwise(lake: Lake) -> list[str]:
    """Episodes, the largest of those that were answered, whose gains are not those of one replay by itself."""
    rows = [row for row in lake.read("episodes").to_pylist() if row["counterfactual"] is not None]
    rows = [row for row in rows if row["counterfactual"]["failed"] is None]
    found = []
    for row in sorted(rows, key=lambda row: -row["peak_entries"])[:_REPLAYED]:
        told = row["counterfactual"]
        name = f"{row['topic']}-partition-{row['partition']}#{row['subscription']}"
        at_ms = told["at_ms"]
        window = read_observed(lake, name, at_ms - told["window_s"] * 1000, at_ms)
        history = read_observed(lake, name, at_ms - HISTORY_MS, at_ms)
        alone = counterfactuals(window, told["limiters"], history=history, horizon_s=told["horizon_s"])
        gains = [(one["lever"], one["limiter"], one["gain_high_entries"]) for one in told["tried"]]
        if gains != [(one.lever, one.limiter, one.gain_entries.high) for one in alone.rows]:
            found.append(f"the replay of {name} differs")
    return found


def _by_topic(rows: pa.Table) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    by = [(name, "ascending") for name in (*SUBSCRIPTION_KEY_NAMES, "window_start_ms")]
    for row in rows.sort_by(by).to_pylist():
        found.setdefault(row["topic"], []).append(row)
    return found


if __name__ == "__main__":
    main()
