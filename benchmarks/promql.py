"""How fast PromQL is answered, compared with a real Prometheus 3.5 that has the same samples.

In: workloads, engines and a number of runs. Out: a table on standard output, and JSON where it is wanted. W1 is 24 h of 500
subscriptions (3,500 series, 10 million samples), W2 of 5,000. Two queries, at steps of 60 s and 30 s:

``Q1``
    the rate of throttled reads of every subscription, by reason
``Q2``
    backlogs above 1,000 entries that no throttling explains

Each is timed as ``count(...)`` of it, which is what the targets are about, and as written with all its points as JSON. Every
run asks both sides, one after the other, so that they share what else the machine does. Prometheus is asked over HTTP without
compression, ours in a process of its own, from text to JSON. Both are warm: one round that is not counted comes first, and in
it every answer of ours is compared with Prometheus' own. A figure whose answers differ, in any run, is void. Beside the time
that passed stands the processor time of all processes of a side: the machine's other work moves the first, not the second.

The data is made at the first start and kept in ``.bench/promql``: about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import requests

from benchmarks.side_by_side import workload as data
from benchmarks.side_by_side.ours import Ours, Timed, running_ours
from benchmarks.side_by_side.same import difference, points
from benchmarks.side_by_side.stores import Stores, blocks_of, serving, stores_of
from benchmarks.side_by_side.usage import cpu_s, peak_mb
from tests.lab.prometheus import Prometheus

_RATE = f"rate({data.THROTTLED_MSG}[5m])"
QUERIES = {
    "Q1": f"sum by (cluster,namespace,topic,subscription,reason) ({_RATE})",
    "Q2": f"({data.BACKLOG} > 1000) unless on (cluster,namespace,topic,subscription) "
    f"(sum by (cluster,namespace,topic,subscription) ({_RATE}) > 0.01)",
}
STEPS_MS = (60_000, 30_000)
START_MS, END_MS = data.START_MS, data.START_MS + data.DAY_MS
ENGINES = ("local", "spark")
MAX_GROWTH = 11
MAX_EXECUTOR_MB = 2_000


@dataclass(frozen=True)
class Case:
    """One query as it is timed."""

    query: str
    step_ms: int
    as_written: bool

    @property
    def text(self) -> str:
        return QUERIES[self.query] if self.as_written else f"count({QUERIES[self.query]})"

    @property
    def name(self) -> str:
        form = "as written" if self.as_written else "count"
        return f"{self.query} {self.step_ms // 1000} s {form}"


@dataclass
class Side:
    """What one side needed for one case, run by run."""

    first_s: float = 0.0
    seconds: list[float] = field(default_factory=list)
    json_seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    wrong: str | None = None

    @property
    def median_s(self) -> float:
        return statistics.median(self.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workload", choices=(*data.WORKLOADS, "both"), default="both")
    parser.add_argument("--engine", choices=(*ENGINES, "both"), default="both")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--as-written",
        choices=(*data.WORKLOADS, "both", "none"),
        default="W1",
        help="workloads whose queries are also timed as written; W2 moves gigabytes of JSON",
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    arguments = parser.parse_args()
    names = list(data.WORKLOADS) if arguments.workload == "both" else [arguments.workload]
    engines = list(ENGINES) if arguments.engine == "both" else [arguments.engine]
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "runs": arguments.runs,
        "workloads": {},
    }
    for name in names:
        as_written = arguments.as_written in (name, "both")
        found["workloads"][name] = measure(data.WORKLOADS[name], engines, arguments.runs, as_written)
        print_workload(name, found["workloads"][name])
    found["growth"] = growth(found["workloads"])
    for case, ratios in found["growth"].items():
        told = ", ".join(
            f"{engine} {times['median']} times (cpu {times.get('cpu_median', '-')})"
            for engine, times in ratios.items()
        )
        print(f"W1 to W2, {case}: {told}; at most {MAX_GROWTH}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def measure(workload: data.Workload, engines: list[str], runs: int, as_written: bool) -> dict:
    """Time all cases on one workload, run by run, side by side."""
    stores = stores_of(workload)
    cases = [
        Case(query, step_ms, whole)
        for whole in ((False, True) if as_written else (False,))
        for query in QUERIES
        for step_ms in STEPS_MS
    ]
    before = blocks_of(stores)
    load = [round(os.getloadavg()[0], 2)]
    with ExitStack() as stack:
        scratch_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="throttlescope-promql-")))
        server = stack.enter_context(serving(stores))
        cold = {engine: _cold(stores, engine, scratch_dir) for engine in engines}
        ours = {
            engine: stack.enter_context(running_ours(stores.lake_dir, engine, scratch_dir))
            for engine in engines
        }
        sides, sizes, memory = _rounds(server, ours, cases, runs)
        prometheus_mb = peak_mb(server.pid)
    load.append(round(os.getloadavg()[0], 2))
    if blocks_of(stores) != before:
        raise RuntimeError("Prometheus merged blocks meanwhile: measure again")
    return {
        "series": workload.series,
        "samples": stores.samples,
        "prometheus_blocks": len(before),
        "load_1min_before_and_after": load,
        "memory_mb": {"prometheus": {"process": prometheus_mb}, **memory},
        "cold_s": cold,
        "cases": {
            case.name: {
                "text": case.text,
                **sizes[case],
                **{who: _told(who, side, sides[case]["prometheus"], workload.name, case, memory)
                   for who, side in sides[case].items()},
            }
            for case in cases
        },
    }  # fmt: skip


def growth(workloads: dict[str, dict]) -> dict[str, dict[str, dict[str, float]]]:
    """How much longer ours took on W2 than on W1, case by case and engine by engine; in processor time, too."""
    if set(workloads) != set(data.WORKLOADS):
        return {}
    small, large = (workloads[name]["cases"] for name in data.WORKLOADS)
    return {
        case: {
            engine: {
                what: round(large[case][engine][f"{what}_s"] / small[case][engine][f"{what}_s"], 1)
                for what in ("median", "cpu_median")
                if small[case][engine][f"{what}_s"]
            }
            for engine in ENGINES
            if all(engine in one[case] and not one[case][engine]["wrong"] for one in (small, large))
        }
        for case in small
        if case in large
    }


def print_workload(name: str, found: dict) -> None:
    """The table of one workload."""
    before, after = found["load_1min_before_and_after"]
    print(
        f"{name}: {found['samples']:,} samples, {found['series']:,} series; load average {before} to {after}"
    )
    rows = [
        [
            "query",
            "Prometheus",
            "cpu",
            *(head for one in found["cold_s"] for head in (one, "cpu", "ratio", "target")),
        ]
    ]
    for case, one in found["cases"].items():
        row = [case, *_seconds(one["prometheus"])]
        for engine in found["cold_s"]:
            ours = one[engine]
            void = ours["wrong"] is not None
            row += [
                *_seconds(ours),
                "void" if void else f"{ours['times_faster']:.2f}",
                "missed" if ours["met"] is False else "met" if ours["met"] else "-",
            ]
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    for engine, seconds in found["cold_s"].items():
        print(f"first query of a process, {engine}: {seconds:.2f} s")
    for who, kinds in found["memory_mb"].items():
        print(f"peak memory, {who}: " + ", ".join(f"{kind} {mb:,.0f} MB" for kind, mb in kinds.items()))
    for case, one in found["cases"].items():
        for engine in found["cold_s"]:
            if one[engine]["wrong"]:
                print(f"VOID: {case} on {engine}: {one[engine]['wrong']}")
    sys.stdout.flush()


def _seconds(side: dict) -> tuple[str, str]:
    return f"{side['median_s']:.3f} s", f"{side['cpu_median_s']:.2f} s"


def _rounds(
    server: Prometheus, ours: dict[str, Ours], cases: list[Case], runs: int
) -> tuple[dict[Case, dict[str, Side]], dict[Case, dict], dict[str, dict[str, float]]]:
    sides = {case: {who: Side() for who in ("prometheus", *ours)} for case in cases}
    sizes: dict[Case, dict] = {}
    memory: dict[str, dict[str, float]] = {}
    with requests.Session() as session:
        for run in range(1 + runs):
            for case in cases:
                used_s = cpu_s(server.pid)
                seconds, theirs = ask_prometheus(
                    session, server.url, case.text, START_MS, END_MS, case.step_ms
                )
                used_s = cpu_s(server.pid) - used_s
                _note(sides[case]["prometheus"], run, Timed(seconds, 0.0, used_s, len(theirs), {}))
                if run == 0:
                    sizes[case] = {"points": points(theirs), "bytes": len(theirs)}
                for engine, process in ours.items():
                    timed, answer = process.ask(case.text, START_MS, END_MS, case.step_ms)
                    side = sides[case][engine]
                    _note(side, run, timed)
                    memory[engine] = timed.memory_mb
                    # As written, one look is enough: comparing takes longer than answering.
                    if side.wrong is None and (run == 0 or not case.as_written):
                        side.wrong = difference(theirs, answer)
                del theirs
                _say(run, runs, case, sides[case])
    return sides, sizes, memory


def _note(side: Side, run: int, timed: Timed) -> None:
    if run == 0:
        side.first_s = timed.seconds
    else:
        side.seconds.append(timed.seconds)
        side.json_seconds.append(timed.json_seconds)
        side.cpu_seconds.append(timed.cpu_seconds)


def ask_prometheus(
    session: requests.Session, url: str, text: str, start_ms: int, end_ms: int, step_ms: int
) -> tuple[float, bytes]:
    """Have a range query answered; returns the seconds that passed, and the JSON.

    Raises
    ------
    RuntimeError
        Prometheus refuses the query.
    """
    form = {"query": text, "start": start_ms / 1000, "end": end_ms / 1000, "step": step_ms / 1000}
    began_s = time.perf_counter()
    with session.post(
        f"{url}/api/v1/query_range",
        data=form,
        headers={"Accept-Encoding": "identity"},
        timeout=3600,
        stream=True,
    ) as response:
        # In large pieces: what requests does by itself would slow Prometheus down.
        content = b"".join(response.raw.stream(1 << 20))
    seconds = time.perf_counter() - began_s
    if response.status_code != 200:
        raise RuntimeError(f"Prometheus refused {text}: {content[:300]!r}")
    return seconds, content


def _cold(stores: Stores, engine: str, scratch_dir: Path) -> float:
    """The first query of a process that has only started."""
    case = Case("Q1", STEPS_MS[0], as_written=False)
    # Twice: code is compiled once per installation, which the first process does if it has not happened yet.
    for _ in range(2):
        with running_ours(stores.lake_dir, engine, scratch_dir) as process:
            timed, _ = process.ask(case.text, START_MS, END_MS, case.step_ms)
    return round(timed.seconds, 3)


def _told(
    who: str, side: Side, theirs: Side, workload: str, case: Case, memory: dict[str, dict[str, float]]
) -> dict:
    told = {
        "median_s": round(side.median_s, 4),
        "all_s": [round(one, 4) for one in side.seconds],
        "cpu_median_s": round(statistics.median(side.cpu_seconds), 2),
        "first_s": round(side.first_s, 4),
    }
    if who == "prometheus":
        return told
    executor_mb = sum(memory[who].get(kind, 0.0) for kind in ("jvm", "workers"))
    met = (
        side.wrong is None
        and {
            ("W1", "local"): theirs.median_s >= 3 * side.median_s,
            ("W1", "spark"): side.median_s <= theirs.median_s + 1,
            ("W2", "local"): theirs.median_s >= 2 * side.median_s,
            ("W2", "spark"): side.median_s < theirs.median_s and executor_mb < MAX_EXECUTOR_MB,
        }[workload, who]
    )
    return told | {
        "json_median_s": round(statistics.median(side.json_seconds), 4),
        "times_faster": round(theirs.median_s / side.median_s, 2),
        "wrong": side.wrong,
        "met": None if case.as_written else met,
    }


def _say(run: int, runs: int, case: Case, sides: dict[str, Side]) -> None:
    last = {who: side.seconds[-1] if side.seconds else side.first_s for who, side in sides.items()}
    told = ", ".join(f"{who} {seconds:.3f} s" for who, seconds in last.items())
    print(f"run {run}/{runs} {case.name}: {told}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
