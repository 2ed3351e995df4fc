"""How well anomalies are found in generated traffic, and how fast.

In: seeds. Out: JSON on standard output; with ``--page`` the tables of docs/accuracy/anomalies.md and
models/anomaly/measured.json. The method and those that it has to
beat see the same eight weeks with injected anomalies (tests/models/anomaly/traffic.py); the rules were chosen on
the seeds of ``TUNED_ON``, the page's figures are of ``REPORTED``.

Targets: event-wise F1 >= 0.8 at <= 0.1 false alarms per subscription-week, median delay <= 10 minutes, better than a threshold,
doing nothing and chance.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.models.anomaly import detectors
from tests.models.anomaly.scoring import Score
from tests.models.anomaly.traffic import DAY, DAYS, FIRST_MS, KINDS, SHAPES, subscription
from throttlescope.models.anomaly.calendar import calendar_of
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.anomaly.series import judge

TUNED_ON = (1, 2, 3)
REPORTED = (101, 102, 103)
F1, FALSE_PER_WEEK, DELAY_MIN = 0.8, 0.1, 10
PAGE = Path(__file__).parents[1] / "docs" / "accuracy" / "anomalies.md"
MEASURED = Path(__file__).parents[1] / "models" / "anomaly" / "measured.json"
OURS = "hour-of-week levels and sums"
WHOLE = "whole"
#: Our method with a part taken away.
WITHOUT = {
    "without the day's own wander": replace(RULES, wander_sigmas=0.0),
    "without alarm levels from history": replace(RULES, history_factor=0.0),
    "without tails (median deviation alone)": replace(RULES, tail_sigmas=1e9),
    "without adoption of levels": replace(RULES, adopt_sigmas=1e9),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(REPORTED), help="seeds of the traffic")
    parser.add_argument("--subscriptions", type=int, default=20, help="subscriptions per seed")
    parser.add_argument(
        "--parts", type=int, default=10, help="of them, of the first seed, for what each part does"
    )
    parser.add_argument("--series", type=int, default=500, help="series that are timed; 0: none")
    parser.add_argument(
        "--page",
        action="store_true",
        help="write the tables of the page, and what the package brings of them",
    )
    options = parser.parse_args()
    scores, by_shape, spread = scored(options.seeds, options.subscriptions, options.parts)
    found = {
        "seeds": options.seeds,
        "subscriptions": options.subscriptions * len(options.seeds),
        "parts": options.parts,
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_1min": os.getloadavg()[0],
        },
        "detectors": {name: figures(score) for name, score in scores.items()},
        "kinds": {
            kind: {
                "found": scores[OURS].by_kind[kind][0],
                "events": scores[OURS].by_kind[kind][1],
                "median_delay_min": _median(scores[OURS].delays_by_kind[kind]),
            }
            for kind in KINDS
        },
        "shapes": {shape: figures(score) for shape, score in by_shape.items()},
        "seeds_f1": spread,
        "speed": timed(options.series) if options.series else None,
    }
    found["met"] = met(found["detectors"])
    print(json.dumps(found, indent=1))
    if options.page:
        page = PAGE.read_text(encoding="utf-8")
        for name, table in tables(found).items():
            page = _between(page, name, table)
        PAGE.write_text(page, encoding="utf-8")
        MEASURED.write_text(json.dumps(shipped(found), indent=1) + "\n", encoding="utf-8")


def scored(
    seeds: list[int], subscriptions: int, parts: int
) -> tuple[dict[str, Score], dict[str, Score], dict[int, float]]:
    """Scores of every detector, of ours by shape of traffic, and our F1 by seed."""
    candidates = {
        OURS: detectors.ours,
        "last week's, more than half off": detectors.last_week,
        "mean and three standard deviations": detectors.sigma_threshold,
        "backlog above 1,000 for five minutes": detectors.fixed_threshold,
        "chance, 0.1 a week": partial(detectors.chance, per_week=0.1, seed=1),
        "chance, 2 a week": partial(detectors.chance, per_week=2.0, seed=2),
        "nothing": detectors.nothing,
    }
    lesser = {name: partial(detectors.ours, rules=rules) for name, rules in WITHOUT.items()}
    # Reduced methods run on some subscriptions of the first seed only, and are compared with the whole method on the same ones.
    scores = {name: Score() for name in (*candidates, *lesser, WHOLE)}
    by_shape = {shape: Score() for shape in SHAPES}
    by_seed = {seed: Score() for seed in seeds}
    judged = (DAYS - detectors.FROM_DAY) * DAY
    for seed in seeds:
        for number in range(subscriptions):
            traffic = subscription(seed, number)
            in_parts = seed == seeds[0] and number < parts
            for name, detector in (candidates | (lesser if in_parts else {})).items():
                alarms = detector(traffic)
                scores[name].add(alarms, traffic.truths, judged)
                if name == OURS:
                    if in_parts:
                        scores[WHOLE].add(alarms, traffic.truths, judged)
                    by_shape[traffic.shape].add(alarms, traffic.truths, judged)
                    by_seed[seed].add(alarms, traffic.truths, judged)
        print(f"seed {seed}: F1 {by_seed[seed].f1:.3f}", file=sys.stderr, flush=True)
    return scores, by_shape, {seed: round(score.f1, 3) for seed, score in by_seed.items()}


def figures(score: Score) -> dict[str, float | int | None]:
    return {
        "events": score.events,
        "found": score.found,
        "false": score.false,
        "repeats": score.repeats,
        "weeks": round(score.weeks, 1),
        "precision": round(score.precision, 3),
        "recall": round(score.recall, 3),
        "f1": round(score.f1, 3),
        "false_per_week": round(score.false_per_week, 3),
        "median_delay_min": score.median_delay,
    }


def met(rows: dict[str, dict]) -> dict[str, bool]:
    ours = rows[OURS]
    others = [row["f1"] for name, row in rows.items() if name not in (OURS, WHOLE, *WITHOUT)]
    return {
        "f1": ours["f1"] >= F1,
        "false_per_week": ours["false_per_week"] <= FALSE_PER_WEEK,
        "delay": ours["median_delay_min"] is not None and ours["median_delay_min"] <= DELAY_MIN,
        "beats": ours["f1"] > max(others),
    }


def timed(series: int) -> dict[str, float]:
    """Seconds for one day of so many series against four weeks, one thread, and what 10,000 would take at that pace."""
    calendar = calendar_of(FIRST_MS, FIRST_MS + 29 * DAY * 60_000, "Europe/Berlin", RULES.weeks)
    made = [subscription(1, number, 29).counts["in"] for number in range(50)]
    judge(made[0], calendar, 28, RULES)
    began_s, used_s = time.monotonic(), time.process_time()
    for number in range(series):
        judge(made[number % len(made)], calendar, 28, RULES)
    wall_s, cpu_s = time.monotonic() - began_s, time.process_time() - used_s
    return {
        "series": series,
        "wall_s": round(wall_s, 2),
        "cpu_s": round(cpu_s, 2),
        "cpu_ms_per_series": round(1000 * cpu_s / series, 2),
        "cpu_s_of_10000": round(10_000 * cpu_s / series, 1),
    }


def shipped(found: dict) -> dict:
    """What ``models/anomaly/measured.json`` holds: the scores, and nothing of the machine."""
    rows = found["detectors"]
    return {
        "page": "docs/accuracy/anomalies.md",
        "method_version": RULES.version,
        "targets": {"f1": F1, "false_per_week": FALSE_PER_WEEK, "delay_min": DELAY_MIN},
        "met": found["met"],
        "ours": OURS,
        "subscriptions": found["subscriptions"],
        "days": DAYS,
        "detectors": {name: row for name, row in rows.items() if name not in (WHOLE, *WITHOUT)},
        "without": {name: rows[name] for name in (WHOLE, *WITHOUT)},
        "kinds": found["kinds"],
        "shapes": found["shapes"],
    }


def tables(found: dict) -> dict[str, str]:
    """The page's tables by the names of their marks."""
    rows, ours = found["detectors"], found["detectors"][OURS]
    said = {True: "yes", False: "**no**"}
    targets = [
        "| target | measured | met? |",
        "|---|---|---|",
        f"| event-wise F1 at least {F1} | {ours['f1']:.3f} | {said[found['met']['f1']]} |",
        f"| at most {FALSE_PER_WEEK} false alarms per subscription-week | {ours['false_per_week']:.3f} "
        f"({ours['false']} in {ours['weeks']:,.0f} weeks) | {said[found['met']['false_per_week']]} |",
        f"| median delay at most {DELAY_MIN} min | {ours['median_delay_min']:.0f} min | {said[found['met']['delay']]} |",
        f"| beats threshold, nothing and chance | F1 of the best of them {_best(rows):.3f} | {said[found['met']['beats']]} |",
        "",
        f"{found['subscriptions']} subscriptions of seeds {_listed(found['seeds'])}, {DAYS} days each, judged from day "
        f"{detectors.FROM_DAY} on; {ours['events']} injected events. F1 by seed: "
        + ", ".join(f"{seed} {value:.3f}" for seed, value in found["seeds_f1"].items()) + ".",
    ]  # fmt: skip
    columns = ("precision", "recall", "f1", "false_per_week", "median_delay_min")
    head = "| {} | precision | recall | F1 | false alarms a week | median delay, min |\n|---|---:|---:|---:|---:|---:|"

    def line(name: str, row: dict) -> str:
        cells = ("-" if row[column] is None else f"{row[column]:.3g}" for column in columns)
        return f"| {name} | {' | '.join(cells)} |"

    rivals = [
        head.format("detector"),
        *(line(name, row) for name, row in rows.items() if name not in (WHOLE, *WITHOUT)),
    ]
    without = [
        head.format(f"our method, {found['parts']} subscriptions of seed {found['seeds'][0]}"),
        *(line(name, rows[name]) for name in (WHOLE, *WITHOUT)),
    ]
    shapes = [head.format("traffic"), *(line(name, row) for name, row in found["shapes"].items())]
    kinds = ["| injected | found | median delay, min |", "|---|---:|---:|"]
    kinds += [
        f"| {kind} | {row['found']} of {row['events']} | {'-' if row['median_delay_min'] is None else row['median_delay_min']} |"
        for kind, row in found["kinds"].items()
    ]
    tables = {"targets": targets, "detectors": rivals, "without": without, "kinds": kinds, "shapes": shapes}
    if found["speed"]:
        speed = found["speed"]
        tables["speed"] = [
            f"One day of {speed['series']} series against four weeks, one thread, Python {found['machine']['python']}: "
            f"{speed['cpu_ms_per_series']} ms of processor time each, so {speed['cpu_s_of_10000']:,.0f} s for 10,000."
        ]
    return {name: "\n".join(lines) for name, lines in tables.items()}


def _best(rows: dict[str, dict]) -> float:
    return max(row["f1"] for name, row in rows.items() if name not in (OURS, WHOLE, *WITHOUT))


def _listed(seeds: list[int]) -> str:
    return ", ".join(map(str, seeds))


def _median(values: list[int]) -> float | None:
    return float(np.median(values)) if values else None


def _between(page: str, name: str, table: str) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = page.partition(begin)
    _, also, after = rest.partition(end)
    if not found or not also:
        raise ValueError(f"{PAGE.name}: the marks {begin} and {end} are missing")
    return f"{before}{begin}\n{table}\n{end}{after}"


if __name__ == "__main__":
    main()
