"""A month of a large fleet, hour by hour, on a real Spark standalone cluster: what an hour costs, by the size of the fleet and by the age of the lake.

In: sizes and days. Out: tables on standard output. What was measured is kept in ``.bench/fleet_month``, and a run that was interrupted goes on from there.

A month of 100,000 subscriptions is 63 billion samples: too many for one machine. It is thinned to two cuts through it, and no hour of either is:

*wide*
    the first hour of fleets of up to 100,000 subscriptions, each in a new lake
*second day*
    the first two hours of the second day of a fleet, which look back to the first
*long*
    a month of one small fleet. In every probed day its first hours are diagnosed one by one, as the hourly chain does it; what lies between is diagnosed
    eight hours at a time in one process. So the lake grows as it does under the hourly chain, with fewer commits.

Each hour is ``throttlescope diagnose`` from samples to the last step, with two workers of one core each; reading from Prometheus is not in it (``benchmarks.hour``
has that). Processor seconds are those of the driver, the master, the workers and all that they start. 2 % of the subscriptions exceed a limit in some hours of each day.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.fleet.diagnosed import Diagnosed, diagnosed, diagnosed_range, made_lake
from tests.cluster.fleet import START_MS, Fleet
from tests.lab.spark_cluster import running_spark_cluster
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.ingest.lake import Lake

FOLDER = Path(".bench/fleet_month")
WIDE, SECOND_DAY, LONG = (1_000, 10_000, 100_000), 2_000, 200
DAYS, PROBED_DAYS, PROBED_HOURS, FILLED_HOURS = 30, (0, 7, 14, 21, 29), 3, 8
ILL_IN_100, ILL_HOURS_A_DAY = 2, 3
_LONGEST_S = 3 * 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wide", type=int, nargs="*", default=list(WIDE), metavar="N")
    parser.add_argument("--second-day", type=int, default=SECOND_DAY, metavar="N", help="0: not measured")
    parser.add_argument("--long", type=int, default=LONG, metavar="N", help="0: not measured")
    parser.add_argument("--days", type=int, default=DAYS, metavar="N")
    arguments = parser.parse_args()
    kept = FOLDER / "measured.json"
    found: dict[str, dict] = json.loads(kept.read_text()) if kept.exists() else {}

    def keep(name: str, measured: dict) -> None:
        found[name] = measured
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{name}: {measured['work_s']} s, {measured['cpu_s']} processor s", file=sys.stderr, flush=True)

    for subscriptions in arguments.wide:
        if (name := f"wide {subscriptions}") not in found:
            keep(name, wide(subscriptions))
    if arguments.wide:
        print(table_wide(found))
    if arguments.second_day:
        second_day(arguments.second_day, found, keep)
        print(table_second_day(found, arguments.second_day))
    if arguments.long:
        long(arguments.long, arguments.days, found, keep)
        print(table_long(found, arguments.long))


def fleet_of(subscriptions: int, hours: int) -> Fleet:
    ill = subscriptions * ILL_IN_100 // 100
    return Fleet(subscriptions - ill, ill, hours=hours, ill_hours_a_day=ILL_HOURS_A_DAY)


def wide(subscriptions: int) -> dict:
    """The first hour of a fleet, in a lake that holds nothing else."""
    fleet = fleet_of(subscriptions, 1)
    lake = made_lake(FOLDER, fleet)
    with running_spark_cluster(2, max_lifetime_s=_LONGEST_S) as cluster:
        measured = _measured(diagnosed(lake, fleet, cluster.url, _LONGEST_S), lake)
    shutil.rmtree(lake.parent)
    return measured


def second_day(subscriptions: int, found: dict[str, dict], keep) -> None:
    """Two hours of a fleet behind a day of it, each step unless it was measured before."""
    lake = made_lake(FOLDER, fleet_of(subscriptions, 26))
    before = [(f"from hour {hour}", hour, hour + FILLED_HOURS) for hour in range(0, 24, FILLED_HOURS)]
    for name, span in _left(subscriptions, 0, before, found, "second day of"):
        keep(name, _measured(diagnosed_range(lake, *span, None), lake))
    hours = [(f"hour {hour}", hour, hour + 1) for hour in range(2)]
    if steps := _left(subscriptions, 1, hours, found, "second day of"):
        with running_spark_cluster(2, max_lifetime_s=_LONGEST_S) as cluster:
            for name, span in steps:
                keep(name, _measured(diagnosed_range(lake, *span, cluster.url), lake))


def long(subscriptions: int, days: int, found: dict[str, dict], keep) -> None:
    """A month of a fleet, each step of it unless it was measured before."""
    lake = made_lake(FOLDER, fleet_of(subscriptions, days * 24))
    for day in range(days):
        probed = PROBED_HOURS if day in PROBED_DAYS else 0
        hours = [(f"hour {hour}", hour, hour + 1) for hour in range(probed)]
        between = [
            (f"from hour {hour}", hour, min(hour + FILLED_HOURS, 24))
            for hour in range(probed, 24, FILLED_HOURS)
        ]
        if steps := _left(subscriptions, day, hours, found):
            with running_spark_cluster(2, max_lifetime_s=_LONGEST_S) as cluster:
                for name, span in steps:
                    keep(name, _measured(diagnosed_range(lake, *span, cluster.url), lake))
        for name, span in _left(subscriptions, day, between, found):
            keep(name, _measured(diagnosed_range(lake, *span, None), lake))


def _left(
    subscriptions: int,
    day: int,
    steps: list[tuple[str, int, int]],
    found: dict[str, dict],
    cut: str = "long",
) -> list[tuple[str, tuple[int, int]]]:
    """Steps of a day that were not measured before, by name, with where they begin and end."""
    first_ms = START_MS + day * DAY_MS
    named = [
        (
            f"{cut} {subscriptions} day {day + 1} {name}",
            (first_ms + low * BLOCK_MS, first_ms + high * BLOCK_MS),
        )
        for name, low, high in steps
    ]
    return [(name, span) for name, span in named if name not in found]


def _measured(one: Diagnosed, lake: Path) -> dict:
    size = sum(file.size_bytes for table in ("signals", "verdicts") for file in Lake(lake).files(table))
    return asdict(one) | {"work_s": one.work_s, "computed_mb": round(size / 1e6, 1)}


def table_wide(found: dict[str, dict]) -> str:
    """By the size of the fleet: one hour, and what a subscription costs a day."""
    lines = [
        "| subscriptions | an hour, s | processor s | for 1,000 and a day, processor s | signals and verdicts, MB | driver | its JVM |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        if not name.startswith("wide "):
            continue
        number = int(name.split()[1])
        peak = one["peak_mb"]
        lines.append(
            f"| {number:,} | {one['work_s']:.0f} | {one['cpu_s']:.0f} | {24 * one['cpu_s'] / number * 1000:.0f} | "
            f"{one['computed_mb']:.1f} | {peak.get('process', 0):.0f} MB | {peak.get('jvm', 0):.0f} MB |"
        )
    return "\n".join(lines)


def table_second_day(found: dict[str, dict], subscriptions: int) -> str:
    """The steps of both hours."""
    hours = [found[f"second day of {subscriptions} day 2 hour {hour}"] for hour in range(2)]
    lines = ["| step | first hour of the second day | second hour |", "|---|---|---|"]
    steps = dict.fromkeys(step for one in hours for step in one["steps_s"])
    rows = [(step, [f"{one['steps_s'].get(step, 0.0):.1f} s" for one in hours]) for step in steps]
    rows.append(("all but the start", [f"{one['work_s']:.1f} s" for one in hours]))
    rows.append(("processor seconds", [f"{one['cpu_s']:.0f}" for one in hours]))
    rows.append(
        (
            "driver, its JVM",
            [
                f"{one['peak_mb'].get('process', 0):.0f}, {one['peak_mb'].get('jvm', 0):.0f} MB"
                for one in hours
            ],
        )
    )
    return "\n".join([*lines, *(f"| {name} | {' | '.join(values)} |" for name, values in rows)])


def table_long(found: dict[str, dict], subscriptions: int) -> str:
    """By the age of the lake: the first hour of each probed day, which computes its baselines, and the median of the other ones; and the steps."""
    days: dict[tuple[int, str], list[dict]] = {}
    for name, one in found.items():
        if name.startswith(f"long {subscriptions} day ") and name.split()[4] == "hour":
            day, hour = int(name.split()[3]), int(name.split()[5])
            days.setdefault((day, "others" if hour else "first"), []).append(one)
    steps = sorted({step for ones in days.values() for one in ones for step in one["steps_s"]})
    lines = [
        f"| day | hour | an hour, s | processor s | {' | '.join(steps)} | driver |",
        "|---" * (len(steps) + 5) + "|",
    ]
    for (day, hour), ones in sorted(days.items()):
        middle = [f"{statistics.median(one['steps_s'].get(step, 0.0) for one in ones):.1f}" for step in steps]
        lines.append(
            f"| {day} | {hour} | {statistics.median(one['work_s'] for one in ones):.1f} | {statistics.median(one['cpu_s'] for one in ones):.1f} | "
            f"{' | '.join(middle)} | {max(one['peak_mb'].get('process', 0) for one in ones):.0f} MB |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
