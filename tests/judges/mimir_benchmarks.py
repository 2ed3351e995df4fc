"""Mimir's benchmark queries as a judge of PromQL's speed. In: a checkout of Mimir. Out: a result for the page.

The queries of ``benchmarks.go`` and the data of ``ingester.go``, without native histograms: 10,061 samples 10 s apart of each series. A Prometheus 3.5 and ours
answer each of them in turn, from text to JSON, after a round that is not counted and in which answers are compared. A query without a number of
steps is asked with 1 (for an instant query), 100 and 1,000. Machines that do something else meanwhile move the time that passes: the figure has the
processor time next to it, and a run on a busy machine is refused.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import requests

from benchmarks.promql import ask_prometheus
from benchmarks.side_by_side.ours import running_ours
from benchmarks.side_by_side.same import difference
from benchmarks.side_by_side.usage import cpu_s
from tests.judges.checkouts import checkout
from tests.lab.parts import PartMissing
from tests.lab.prometheus import running_prometheus, write_arrays
from tests.promql.conformance.through_lake import by_labels
from tests.transforms.lakes import lake_of
from throttlescope.transforms.promql.source import Series

_FILE = Path("pkg/streamingpromql/benchmarks/benchmarks.go")
INTERVAL_MS, INTERVALS = 10_000, 10_061
#: Mimir's own sizes; the last makes 18,000 series and 180 million samples.
SIZES = (1, 100, 2000)
_BUCKETS = 5
_STEPS = (1, 100, 1000)
_RUNS = 5
_QUIET = 0.5


@dataclass
class Measured:
    """One query: its text, its steps, and per run the seconds (wall, processor) of Prometheus and of ours."""

    text: str
    steps: int
    theirs: list[tuple[float, float]] = field(default_factory=list)
    ours: list[tuple[float, float]] = field(default_factory=list)
    wrong: str | None = None

    @property
    def ratio(self) -> float:
        """How many times as long Prometheus takes, by medians of the time that passes."""
        theirs, ours = (
            statistics.median(seconds for seconds, _ in runs) for runs in (self.theirs, self.ours)
        )
        return theirs / ours


def run(most: int | None = None) -> dict:
    """Time the first ``most`` queries over series of the two smaller sizes, or all over all sizes."""
    source = checkout("grafana/mimir")
    if most is None and os.getloadavg()[0] > _QUIET:
        raise PartMissing(
            f"the machine is busy: load {os.getloadavg()[0]:.1f}, at most {_QUIET} was expected"
        )
    sizes = SIZES if most is None else SIZES[:2]
    found = [Measured(text, steps) for text, steps in queries((source.folder / _FILE).read_text(), sizes)][
        :most
    ]
    with tempfile.TemporaryDirectory(prefix="throttlescope-mimir-") as folder:
        measure(found, sizes, Path(folder))
    equal = [one for one in found if one.wrong is None]
    return {
        "version": source.version,
        "figure": f"{len(equal)} of {len(found)} queries answered as Prometheus does; of these Prometheus takes, as a geometric mean, "
        f"{statistics.geometric_mean(one.ratio for one in equal):.1f} times as long, at least {min(one.ratio for one in equal):.1f} times; "
        f"processor time of all {_processor_ratio(equal):.1f} times; sizes {', '.join(map(str, sizes))}",
        "details": [
            f"{one.text}, {one.steps} steps: " + (one.wrong or f"{one.ratio:.2f} times") for one in found
        ],
    }


def _processor_ratio(found: list[Measured]) -> float:
    """Of all runs together: the kernel counts hundredths of a second, a single query takes less."""
    theirs, ours = (
        sum(used for runs in side for _, used in runs)
        for side in zip(*((one.theirs, one.ours) for one in found), strict=True)
    )
    return theirs / ours


def queries(text: str, sizes: tuple[int, ...]) -> list[tuple[str, int]]:
    """Queries of ``benchmarks.go`` and their steps, less those of native histograms, range vectors and sizes that are not there."""
    code = re.sub(r"(?m)^\s*//.*$", "", text)
    cases = re.findall(r"\{\s*Expr:\s*(?:\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`),([^{}]*)\}", code)
    found = []
    for quoted, raw, rest in cases:
        expr = quoted or raw
        if "nh_" in expr or "InstantQueryOnly" in rest:
            continue
        steps = re.search(r"Steps:\s*(\d+)", rest)
        texts = [expr.replace("X", str(size)) for size in sizes] if "X" in expr else [expr]
        for one in texts:
            if {int(number) for number in re.findall(r"\b[abh]_(\d+)", one)} <= set(sizes):
                found += [(one, int(steps.group(1)))] if steps else [(one, number) for number in _STEPS]
    return found


def series_of(sizes: tuple[int, ...]) -> Iterator[Series]:
    """The series of ``ingester.go``; the number of a series among all is in its values."""
    names = [
        {"__name__": f"{metric}_{size}"}
        | ({} if size == 1 else {"l": str(number)})
        | ({"le": le} if le else {})
        for size in sizes
        for number in range(size)
        for metric, le in (("a", ""), ("b", ""), *(("h", str(le)) for le in range(_BUCKETS)), ("h", "+Inf"))
    ]
    times = np.arange(INTERVALS, dtype=np.int64) * INTERVAL_MS
    for number, labels in enumerate(names):
        yield Series(labels, times, np.arange(INTERVALS) + number / len(names), np.array([], np.int64))


def measure(found: list[Measured], sizes: tuple[int, ...], folder: Path, runs: int = _RUNS) -> None:
    """Ask both sides each query in turn, ``runs`` times after a first round that only compares."""
    series = list(series_of(sizes))
    # None has a cluster, a namespace or a topic: all lie in one shard.
    lake_of(folder / "lake", series, key_of=by_labels(()))
    with (
        running_prometheus(scratch_dir=folder / "prometheus", max_lifetime_s=4 * 3600) as server,
        running_ours(folder / "lake", "local", folder) as ours,
        requests.Session() as session,
    ):
        write_arrays(
            server.url, ((dict(one.labels), one.timestamps_ms, one.values) for one in series), timeout_s=600
        )
        for run_number in range(1 + runs):
            for one in found:
                end_ms = INTERVALS * INTERVAL_MS
                start_ms = end_ms - (one.steps - 1) * INTERVAL_MS
                used_s = cpu_s(server.pid)
                seconds, theirs = ask_prometheus(session, server.url, one.text, start_ms, end_ms, INTERVAL_MS)
                used_s = cpu_s(server.pid) - used_s
                timed, answer = ours.ask(one.text, start_ms, end_ms, INTERVAL_MS)
                if run_number:
                    one.theirs.append((seconds, used_s))
                    one.ours.append((timed.seconds, timed.cpu_seconds))
                else:
                    one.wrong = difference(theirs, answer)
