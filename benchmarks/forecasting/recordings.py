"""Recordings as forecasts see them. In: folders of recordings. Out: a trace of every subscription partition, and when what was changed."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import yaml

from tests.accuracy.fleets import fleet_folders
from tests.lab.sets import HELD_OUT
from tests.lab.sets import SETS as LAB
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.models.forecast.read import VIEW_METRICS, traces_of
from throttlescope.models.forecast.trace import Trace
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.promql.source import MemorySource, Series

ROOT = Path(__file__).resolve().parents[2]
SETS = {
    "shipped": LAB["default"],
    "diagnosis": LAB["diagnosis"],
    "engine": LAB["engine"],
    HELD_OUT: LAB["kept-aside"],
}
#: The set of fleets that calibrates.
FLEETS = "fleet-development"
#: Scrapes of less than this are thinned.
LEAST_STEP_S, THINNED = 10, 7


@dataclass(frozen=True, eq=False)
class Recorded:
    """One subscription partition of a recording.

    Attributes
    ----------
    phase : int
        Which of the thinned forms it is.
    part : str
        Of a fleet, which subscription partition: its faults and its noise are its own.
    """

    set: str
    recording: str
    family: str
    trace: Trace
    changes_ms: tuple[int, ...]
    cause: str
    phase: int = 0
    part: str = ""

    @property
    def name(self) -> str:
        return f"{self.set}/{self.recording}"

    @property
    def unit(self) -> str:
        """What counts as one recording in a calibration."""
        return f"{self.name}#{self.part}" if self.part else self.name


@functools.cache
def recorded(folder: Path, set_: str) -> tuple[Recorded, ...]:
    """All subscription partitions of a recording, in all their forms."""
    about = json.loads((folder / "recording.json").read_text())
    name, truth = about["name"], json.loads((folder / "truth.json").read_text())["rows"]
    source, limits = samples_of(folder, name)
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


def recorded_fleet(folder: Path, set_: str) -> list[Recorded]:
    """All subscription partitions of a fleet's recording; what was changed is what bears on each of them."""
    about = json.loads((folder / "recording.json").read_text())
    name = about["name"]
    fleet = yaml.safe_load((folder / "fleet.yaml").read_text())
    namespace_of = {fault["name"]: fault.get("namespace") for fault in fleet["faults"]}
    steps = _lines(folder / "interventions.jsonl")
    source, limits = samples_of(folder, name)
    traces = traces_of(source, limits, 0, about["end_ms"] + 3_600_000)
    found = []
    for key, trace in traces.items():
        topic = key.topic.rsplit("/", 1)[-1]
        physical = key.topic.removeprefix("persistent://")
        physical += "" if int(key.partition) < 0 else f"-partition-{key.partition}"
        changes = [
            row["applied_ms"]
            for row in steps
            if namespace_of[row["fault"]] in (None, key.namespace)
            and row.get("topic") in (None, topic)
            and row.get("subscription") in (None, key.subscription)
        ]
        changes += [
            row["at_ms"] for row in about["operations"] if row["topics"] is None or physical in row["topics"]
        ]
        part = f"{physical}#{key.subscription}"
        # Each fleet is a family of its own.
        found.append(Recorded(set_, name, name, trace, tuple(sorted(changes)), "not labelled", part=part))
    return found


def recorded_fleets(name: str) -> list[Recorded]:
    """A set of fleets, as far as it is recorded."""
    return [one for folder in fleet_folders(name) for one in recorded_fleet(folder, name)]


def samples_of(folder: Path, name: str) -> tuple[MemorySource, list[dict]]:
    """A recording's series as ingest would have named them, and its limits."""
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    series = [_series(row, name) for row in rows if dict(row["labels"])["__name__"] in VIEW_METRICS]
    return MemorySource(series), effective_limits(policies_of(folder, name))


def policies_of(folder: Path, name: str) -> list[dict]:
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


def everything(sets: Iterable[str] = (*SETS, FLEETS)) -> list[Recorded]:
    """The recordings of some sets."""
    fleets = recorded_fleets(FLEETS) if FLEETS in sets else []
    return fleets + [
        one
        for set_, found in SETS.items()
        if set_ in sets
        for folder in found.folders
        for one in recorded(folder, set_)
    ]
