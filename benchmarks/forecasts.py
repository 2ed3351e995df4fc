"""Forecasts of drains beside what the recordings show. In: recordings of a real broker. Out: the page's tables, and the calibration.

``python -m benchmarks.forecasts`` writes the tables of ``docs/accuracy/forecasts.md`` anew. ``--write`` first makes the calibration that is
shipped (``models/forecast/residuals.py``) out of all recordings. ``--print`` only prints the figures, as JSON.

No interval is judged by a recording that made it: whoever judges a recording calibrates with the shipped ones and the engine's,
but those of its family and those of its name. The set of the diagnosis is only judged. The set that the engine is judged on was scraped every 2 s, as nobody scrapes in the field:
of its samples every seventh is taken (14 s). Calibration takes all seven ways to do so, judging takes the first.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from throttlescope.ingest.labels import LabelMapping, normalise
from throttlescope.models.forecast.calibration import REACHES, Calibration, calibrate
from throttlescope.models.forecast.forecasts import forecasts_at
from throttlescope.models.forecast.judge import Coverage, Outcome, coverage, outcomes
from throttlescope.models.forecast.read import VIEW_METRICS, traces_of, views_of_samples
from throttlescope.models.forecast.trace import Trace
from throttlescope.transforms.deadlines import Answers
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.promql.source import MemorySource, Series

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "accuracy" / "forecasts.md"
RESIDUALS = ROOT / "models" / "forecast" / "residuals.py"
SETS = {
    "shipped": ROOT / "ingest" / "recordings",
    "diagnosis": ROOT / "tests" / "recordings" / "diagnosis",
    "engine": ROOT / "tests" / "recordings" / "engine",
}
#: Sets that calibrate. What was recorded later is only judged.
CALIBRATED = ("shipped", "engine")
EVERY_MS = 15_000
#: Scrapes of less than this are thinned.
LEAST_STEP_S, THINNED = 10, 7
_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Recorded:
    """One subscription partition of a recording; ``phase`` is which of the thinned forms it is."""

    set: str
    recording: str
    family: str
    trace: Trace
    changes_ms: tuple[int, ...]
    cause: str
    phase: int = 0

    @property
    def name(self) -> str:
        return f"{self.set}/{self.recording}"


@functools.cache
def recorded(folder: Path, set_: str) -> tuple[Recorded, ...]:
    """All subscription partitions of a recording, in all their forms."""
    about = json.loads((folder / "recording.json").read_text())
    name, truth = about["name"], json.loads((folder / "truth.json").read_text())["rows"]
    source, limits = _samples(folder, name)
    traces = traces_of(source, limits, 0, about["end_ms"] + 3_600_000)
    # What a script changes is changed between two states. What is done inside one has its own time.
    changes = [state["start_ms"] for state in about["states"][1:]]
    changes += [row["applied_ms"] for row in _lines(folder / "interventions.jsonl")]
    causes = [row["cause"] for row in truth if row["cause"] != "healthy"]
    cause = causes[0] if causes else "not labelled"
    forms = THINNED if about["scrape_interval_s"] < LEAST_STEP_S else 1
    return tuple(
        Recorded(
            set_, name, about["family"], thinned(trace, forms, phase), tuple(sorted(changes)), cause, phase
        )
        for trace in traces.values()
        for phase in range(forms)
    )


def _samples(folder: Path, name: str) -> tuple[MemorySource, list[dict]]:
    """A recording's series as the door would have named them, and its limits."""
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    series = [_series(row, name) for row in rows if dict(row["labels"])["__name__"] in VIEW_METRICS]
    return MemorySource(series), effective_limits(_policies(folder, name))


def _policies(folder: Path, name: str) -> list[dict]:
    return [row | {"cluster": name} for row in _lines(folder / "policies.jsonl")]


def _lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def thinned(trace: Trace, every: int, phase: int) -> Trace:
    """Every so manyeth sample of a trace; arrivals are added up."""
    if every == 1:
        return trace
    keep = np.arange(phase, len(trace.times_ms), every)
    total = np.cumsum(np.nan_to_num(trace.in_entries))
    return replace(
        trace,
        times_ms=trace.times_ms[keep],
        ready_entries=trace.ready_entries[keep],
        backlog_entries=trace.backlog_entries[keep],
        in_entries=np.diff(total[keep], prepend=total[keep][:1]),
    )


def _series(row: dict, cluster: str) -> Series:
    key = normalise(tuple(sorted(row["labels"])), LabelMapping(cluster=cluster, override_cluster=True))
    return Series(
        {"__name__": key.metric_name, **dict(key.labels)},
        np.array(row["timestamps_ms"], np.int64),
        np.array(row["values"], np.float64),
        np.array(row["stale_ms"], np.int64),
    )


def everything(sets: Iterable[str] = tuple(SETS)) -> list[Recorded]:
    return [
        one
        for set_, root in SETS.items()
        if set_ in sets and root.is_dir()
        for folder in sorted(root.iterdir())
        if (folder / "recording.json").is_file()
        for one in recorded(folder, set_)
    ]


#: Makes intervals that nothing hangs on, where only what was predicted is looked at.
NONE = calibrate([])


def judged(items: Sequence[Recorded], calibration: Calibration, every_ms: int = EVERY_MS) -> list[Outcome]:
    found = []
    for one in items:
        found += outcomes(
            one.trace, calibration, every_ms=every_ms, changes_ms=one.changes_ms, recording=one.name, family=one.family,
            cause_at=lambda at_ms, cause=one.cause: cause,
        )  # fmt: skip
    return found


def residuals_of(items: Iterable[Recorded], every_ms: int = EVERY_MS) -> list:
    return [one.residual for one in judged(list(items), NONE, every_ms) if one.residual is not None]


def without(residuals: list, one: Recorded) -> Calibration:
    """The calibration of everything but a recording's family and name."""
    return calibrate(
        item
        for item in residuals
        if item.family != one.family and item.recording.split("/")[1] != one.recording
    )


def cross_judged(every_ms: int = EVERY_MS) -> tuple[list[Outcome], dict[str, Calibration]]:
    """Every recording, judged with intervals that it had no part in; and these calibrations by recording."""
    residuals = residuals_of(everything(CALIBRATED))
    found, used = [], {}
    for one in everything():
        if one.phase == 0:
            used[one.name] = used.get(one.name) or without(residuals, one)
            found += judged([one], used[one.name], every_ms)
    return found, used


def part(found: list[Outcome], used: dict[str, Calibration], keep) -> Coverage:
    return coverage([one for one in found if keep(one)], lambda one: used[one.recording])


@dataclass(frozen=True)
class FirstLoss:
    """One forecast of the first loss of a state of a recording, and when a scrape first showed that loss."""

    recording: str
    kind: str
    made_at_ms: int
    predicted_ms: int | None
    low_ms: int | None
    high_ms: int | None
    check_ms: int
    scrape_ms: int
    came_ms: int

    @property
    def ahead_s(self) -> float:
        return (self.came_ms - self.made_at_ms) / 1000

    @property
    def off_s(self) -> float | None:
        """Predicted less real; real is known to one scrape."""
        return None if self.predicted_ms is None else (self.predicted_ms - self.came_ms) / 1000

    @property
    def within_one_check(self) -> bool:
        return self.off_s is not None and abs(self.off_s) * 1000 <= self.check_ms

    @property
    def inside(self) -> bool:
        if self.low_ms is None or self.predicted_ms is None:
            return False
        return self.low_ms <= self.came_ms <= (self.high_ms or self.came_ms) + self.scrape_ms


def first_losses(folder: Path, set_: str, every_ms: int = EVERY_MS) -> list[FirstLoss]:
    """Forecasts from the start of every state in which messages were lost, until they were."""
    about = json.loads((folder / "recording.json").read_text())
    lossy = [state for state in about["states"] if state.get("first_loss_ms")]
    if not lossy:
        return []
    source, limits = _samples(folder, about["name"])
    views = views_of_samples(source, limits, 0, about["end_ms"] + 3_600_000)
    policies = _policies(folder, about["name"])
    found = []
    # What was lost once goes on being lost: only the first state of a recording begins without.
    start_ms, came_ms = lossy[0]["start_ms"], lossy[0]["first_loss_ms"]
    for at_ms in range(start_ms + every_ms, came_ms, every_ms):
        answers = Answers(policies, at_ms)
        for topic in sorted({view.key.topic for view in views}):
            mine = [view for view in views if view.key.topic == topic]
            found += [
                FirstLoss(
                    f"{set_}/{about['name']}", row["kind"], at_ms, row["predicted_ms"], row["low_ms"], row["high_ms"],
                    row["check_interval_ms"], about["scrape_interval_s"] * 1000, came_ms,
                )
                for row in forecasts_at(mine, answers.deadlines(topic), at_ms)
                if row["kind"] != "drain"
            ]  # fmt: skip
    return found


def all_first_losses() -> list[FirstLoss]:
    return [
        loss
        for set_, root in SETS.items()
        if root.is_dir()
        for folder in sorted(root.iterdir())
        if (folder / "recording.json").is_file()
        for loss in first_losses(folder, set_)
    ]


def losses_table(found: list[FirstLoss]) -> str:
    lines = [("recording", "deadline", "check s", "forecasts", "earliest, s ahead", "within one check", "inside the interval", "off by, s: least to most")]  # fmt: skip
    for name, kind in sorted({(one.recording, one.kind) for one in found}):
        mine = [one for one in found if (one.recording, one.kind) == (name, kind)]
        off = sorted(one.off_s for one in mine if one.off_s is not None)
        lines.append(
            (name, kind, f"{mine[0].check_ms / 1000:g}", len(mine), f"{max(one.ahead_s for one in mine):.0f}",
             _share(sum(one.within_one_check for one in mine), len(mine)), _share(sum(one.inside for one in mine), len(mine)),
             f"{off[0]:+.0f} to {off[-1]:+.0f}" if off else "-")
        )  # fmt: skip
    return _table(lines)


PARTS = {
    "all": lambda one: True,
    "shipped and engine": lambda one: not one.recording.startswith("diagnosis/"),
    "shipped": lambda one: one.recording.startswith("shipped/"),
    "diagnosis": lambda one: one.recording.startswith("diagnosis/"),
    "engine": lambda one: one.recording.startswith("engine/"),
}


def figures(found: list[Outcome], used: dict[str, Calibration]) -> dict:
    """Everything that the page tells."""
    reaches = {
        f"up to {high:g} times" if math.isfinite(high) else "farther": (low, high)
        for low, high in pairwise((0.0, *REACHES))
    }
    causes = sorted({one.cause for one in found})
    never = [one for one in found if one.drain.state == "never"]
    return {
        "parts": {name: asdict(part(found, used, keep)) for name, keep in PARTS.items()},
        "reaches": {
            name: asdict(
                part(found, used, lambda one, low=low, high=high: low < (one.drain.reach or 0) <= high)
            )
            for name, (low, high) in reaches.items()
        },
        "causes": {
            name: asdict(part(found, used, lambda one, name=name: one.cause == name)) for name in causes
        },
        "states": {
            state: sum(one.drain.state == state for one in found)
            for state in ("expected", "never", "unknown")
        },
        "never": {
            "forecasts": len(never),
            "recordings": len({one.recording for one in never}),
            "drained": sum(one.after_s is not None for one in never),
            "drained_later_than_a_minute_after_a_change": sum(
                one.after_s is not None and one.since_change_s is not None and one.since_change_s > 60
                for one in never
            ),
            "drained_within_a_minute_of_a_change": sum(
                one.after_s is not None and one.since_change_s is not None and one.since_change_s <= 60
                for one in never
            ),
        },
    }


def summary(found: dict) -> str:
    names = [name for name, one in found["parts"].items() if one["forecasts"]]
    lines = [("figure", *names)]
    for title, show in (
        ("forecasts with an interval", lambda one: str(one["forecasts"])),
        ("recordings", lambda one: str(one["recordings"])),
        ("measured inside the 90 % interval", lambda one: _share(one["inside"], one["decided"])),
        ("Wilson interval, as if independent", lambda one: _range(one["wilson"])),
        ("interval over whole recordings", lambda one: _range(one["clustered"])),
        ("with the undecided weighed in (Kaplan-Meier)", lambda one: _percent(one["kaplan_meier"])),
        (
            "undecided (history ended or something changed first)",
            lambda one: str(one["forecasts"] - one["decided"]),
        ),
        ("earlier than the interval / later", lambda one: f"{one['before']} / {one['after']}"),
        ("intervals without an end", lambda one: str(one["open_intervals"])),
        ("median error of the median", lambda one: _percent(one["median_error_share"])),
        ("median of interval's end over its start", lambda one: f"{one['median_width']:.2f}"),
    ):
        lines.append((title, *(show(found["parts"][name]) for name in names)))
    return _table(lines)


def split(found: dict, by: str, title: str) -> str:
    lines = [(title, "forecasts", "recordings", "inside", "Wilson", "over recordings", "median error")]
    for name, one in found[by].items():
        if one["forecasts"]:
            lines.append(
                (name, one["forecasts"], one["recordings"], _share(one["inside"], one["decided"]), _range(one["wilson"]),
                 _range(one["clustered"]), _percent(one["median_error_share"]))
            )  # fmt: skip
    return _table(lines)


def never(found: dict) -> str:
    told = found["never"]
    states = found["states"]
    return _table(
        [
            ("figure", "forecasts"),
            ("made in all, every 15 s while there was a backlog", sum(states.values())),
            ("with a time", states["expected"]),
            ("never at this rate", f"{states['never']}, of {told['recordings']} recordings"),
            ("of these, drained before anything was changed", told["drained"]),
            ("of those, made within a minute after a change", told["drained_within_a_minute_of_a_change"]),
            ("no trend to go by yet", states["unknown"]),
        ]
    )


def _share(count: int, of: int) -> str:
    return f"{count} of {of} = {100 * count / of:.1f} %" if of else "-"


def _range(pair) -> str:
    return "-" if pair is None else "{:.1f} to {:.1f} %".format(*(100 * end for end in pair))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _table(lines: Sequence[Sequence]) -> str:
    head, *rest = [[str(cell) for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rest])


def page(text: str, found: dict) -> str:
    """The page with every marked table made anew."""
    tables = {
        "summary": summary(found),
        "reaches": split(found, "reaches", "looks ahead"),
        "causes": split(found, "causes", "what held it before"),
        "never": never(found),
        "losses": losses_table(all_first_losses()),
    }
    return _MARKED.sub(lambda match: match[1] + tables[match[2]] + match[3], text)


def shipped_calibration() -> Calibration:
    return calibrate(residuals_of(everything(CALIBRATED)))


def residuals_text(calibration: Calibration) -> str:
    """``models/forecast/residuals.py``."""
    lines = [
        '"""How far forecasts of drains were off on the recordings. Written by ``python -m benchmarks.forecasts --write``; not by hand."""',
        "",
        "from __future__ import annotations",
        "",
        "from math import inf",
        "",
        "from throttlescope.models.forecast.calibration import Band, Calibration",
        "",
        "SHIPPED = Calibration(",
        "    bands=(",
    ]
    for band in calibration.bands:
        values = ", ".join(f"{name}={_literal(value)}" for name, value in asdict(band).items())
        lines.append(f"        Band({values}),")
    lines += [
        "    ),",
        f"    farthest_reach={_literal(calibration.farthest_reach)},",
        f'    version="{calibration.version}",',
    ]
    # A lake calls a recording by its name alone.
    lines += [
        f"    made_from={_literal(tuple(sorted({name.split('/')[1] for name in calibration.made_from})))},",
        ")",
        "",
    ]
    return "\n".join(lines)


def _literal(value) -> str:
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    return repr(round(value, 4)) if isinstance(value, float) else repr(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the shipped calibration anew first")
    parser.add_argument("--print", action="store_true", help="print the figures as JSON and write nothing")
    asked = parser.parse_args()
    if asked.write:
        RESIDUALS.write_text(residuals_text(shipped_calibration()))
        subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(RESIDUALS)], check=True)
    found = figures(*cross_judged())
    if asked.print:
        print(json.dumps(found, indent=1))
    else:
        PAGE.write_text(page(PAGE.read_text(), found))


if __name__ == "__main__":
    main()
