"""GutenTAG as a judge of the anomaly detector. In: the generator, from PyPI. Out: a result for the page.

GutenTAG (of the TimeEval project) makes series with labelled anomalies. It is asked for what the detector is for: four weeks of counts per minute
with a daily and a weekly wave, at three levels of traffic. In each series is at most one anomaly, of one of the generator's kinds, in
the last twelve days. The detector judges the last two weeks, as does a Gaussian over a sliding window, as NAB has it, for comparison.

The design was written before the first run, and is not changed after it. A labelled anomaly is found if a reported one overlaps it; every reported
one that overlaps none is a false alarm. Reported ones that begin before the last two weeks do not count.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.judges.detector import anomalies_in
from tests.judges.environment import run_with
from throttlescope.models.anomaly import RULES

GUTENTAG, NUMPY = "1.5.0", "2.2.6"
LEVELS = (5, 100, 2000)
SEEDS = (1, 2, 3, 4)
DAYS, HISTORY_DAYS = 28, 14
#: Of the generator, which makes a seed of its own for each series, from its name.
_GENERATOR_SEED = 1
_DAY = 1440
#: The first day that an anomaly may begin on: the judged range has ordinary days before it.
_FIRST_DAY = 16
#: A Monday, epoch milliseconds.
_FIRST_MS = 1_704_067_200_000
#: Frequencies are cycles in 100 minutes there.
_DAILY, _WEEKLY = 100 / _DAY, 100 / (7 * _DAY)
#: GutenTAG's unit is the amplitude of the daily wave, because its noise of another variance is right only where that is 1. In it, the level
#: (so that the wave is half of it) and the amplitude of the weekly wave.
_LEVEL, _WEEKLY_AMPLITUDE = 2.0, 0.4
#: Noise is that of counts, but at least this share of the level.
_LEAST_NOISE = 0.05
_GENERATE_S = 300
#: NAB's ``windowedGaussian``: so many values make mean and spread, which are made anew after so many.
_WINDOW, _STEP = 6400, 100
_SIGMAS = (3, 4, 5)


@dataclass(frozen=True)
class Kind:
    """A kind of anomaly: how many minutes it lasts, and its parameters by the noise and direction (1 or -1)."""

    name: str
    minutes: int
    parameters: Callable[[float, int], dict]
    #: It is a change of a day's shape, so it begins at midnight.
    from_midnight: bool = False


KINDS = (
    Kind(
        "extremum",
        1,
        lambda _noise, side: {"kind": "extremum", "min": side < 0, "local": False, "context_window": 10},
    ),
    Kind("mean", 120, lambda _noise, side: {"kind": "mean", "offset": side * 0.5 * _LEVEL}),
    Kind(
        "amplitude",
        360,
        lambda _noise, side: {"kind": "amplitude", "amplitude_factor": 2.0 if side > 0 else 0.25},
    ),
    Kind("pattern", _DAY, lambda _noise, _side: {"kind": "pattern", "sinusoid_k": 10.0}, from_midnight=True),
    Kind(
        "pattern-shift",
        _DAY,
        lambda _noise, side: {"kind": "pattern-shift", "shift_by": side * 180, "transition_window": 240},
        from_midnight=True,
    ),
    Kind(
        "trend",
        720,
        lambda _noise, side: {
            "kind": "trend",
            "oscillation": {"kind": "polynomial", "polynomial": [0.0, side * 0.5 * _LEVEL / 720]},
        },
    ),
    Kind("variance", 360, lambda noise, _side: {"kind": "variance", "variance": 3 * noise}),
    # Nothing at all, or a constant at the top of the daily wave.
    Kind(
        "platform",
        120,
        lambda _noise, side: {"kind": "platform", "value": -_LEVEL if side < 0 else 1.0},
    ),
)
#: Series without an anomaly are named so.
_ORDINARY = "ordinary"


@dataclass(frozen=True)
class Event:
    """Minutes ``[start, end)`` that are reported or labelled, and the minute of the alarm."""

    start: int
    end: int
    alarm: int

    def overlaps(self, other: Event) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass
class Count:
    """What a detector made of series."""

    series: int = 0
    labels: int = 0
    found: int = 0
    #: Found ones whose alarm is raised before the label ends.
    in_time: int = 0
    false: int = 0

    def add(self, labels: list[Event], reported: list[Event]) -> None:
        """Count one series in."""
        hits = [[one for one in reported if one.overlaps(label)] for label in labels]
        self.series += 1
        self.labels += len(labels)
        self.found += sum(bool(hit) for hit in hits)
        self.in_time += sum(
            any(one.alarm < label.end for one in hit) for label, hit in zip(labels, hits, strict=True)
        )
        self.false += sum(not any(one.overlaps(label) for label in labels) for one in reported)

    @property
    def line(self) -> str:
        """Found, false alarms by week, and by events precision, recall, F1."""
        weekly = self.false / (self.series * (DAYS - HISTORY_DAYS) / 7)
        text = f"{self.found} of {self.labels} found ({self.in_time} of them before they end), {self.false} false alarms ({weekly:.2f} per series and week)"
        if not self.labels:
            return text
        precision = self.found / max(1, self.found + self.false)
        recall = self.found / self.labels
        both = 2 * precision * recall / (precision + recall) if self.found else 0.0
        return f"{text}, precision {precision:.2f}, recall {recall:.2f}, F1 {both:.2f}"


def run(series: int | None = None) -> dict:
    """Judge the first ``series`` series, or all."""
    with tempfile.TemporaryDirectory(prefix="throttlescope-gutentag-") as folder:
        configuration, out = Path(folder) / "configuration.json", Path(folder) / "series.npz"
        configuration.write_text(json.dumps({"timeseries": configurations()[:series]}))
        run_with(
            (f"timeeval_gutentag=={GUTENTAG}", f"numpy=={NUMPY}"),
            Path(__file__).with_name("gutentag_series.py"),
            (str(configuration), str(_GENERATOR_SEED), str(out)),
            timeout_s=_GENERATE_S,
        )
        with np.load(out) as arrays:
            names = [name.removesuffix(".values") for name in arrays.files if name.endswith(".values")]
            played = [
                (
                    name,
                    counts_of(arrays[f"{name}.values"], float(name.split("_")[1])),
                    labels_of(arrays[f"{name}.labels"]),
                )
                for name in names
            ]
    detectors: dict[str, Callable[[np.ndarray], list[Event]]] = {"ours": ours}
    for sigmas in _SIGMAS:
        detectors[f"Gaussian, {sigmas} sigmas"] = lambda counts, sigmas=sigmas: gaussian(counts, sigmas)
    figures, details = [], []
    for named, detect in detectors.items():
        total, by_kind, by_level = Count(), {}, {}
        for name, counts, labels in played:
            kind, level, _ = name.rsplit("_", 2)
            reported = [one for one in detect(counts) if one.start >= HISTORY_DAYS * _DAY]
            for count in (
                total,
                by_kind.setdefault(kind, Count()),
                by_level.setdefault(f"{level} per minute", Count()),
            ):
                count.add(labels, reported)
            if named == "ours":
                details.append(
                    f"{name}: labelled {_spans(labels)}, reported {_spans(reported)} (minutes from the first)"
                )
        figures.append(f"{named}: {total.line}")
        details += [f"{named}, {key}: {one.line}" for key, one in (by_kind | by_level).items()]
    return {
        "version": f"timeeval_gutentag {GUTENTAG}",
        "figure": f"{len(played)} series of {DAYS} days, {total.labels} labelled anomalies; "
        + "; ".join(figures),
        "details": details,
    }


def configurations() -> list[dict]:
    """GutenTAG's configuration of each series, the same on every call; a series is named ``kind_level_seed``."""
    out = []
    for seed in SEEDS:
        for level in LEVELS:
            out.append(_configuration(f"{_ORDINARY}_{level}_{seed}", level, []))
            for number, kind in enumerate(KINDS):
                random = np.random.default_rng([seed, level, number])
                latest = DAYS * _DAY - kind.minutes - _DAY
                position = int(random.integers(_FIRST_DAY * _DAY, latest))
                if kind.from_midnight:
                    position -= position % _DAY
                side = 1 if seed % 2 else -1
                anomaly = {
                    "length": kind.minutes,
                    "exact-position": position,
                    "kinds": [kind.parameters(noise_of(level), side)],
                }
                out.append(_configuration(f"{kind.name}_{level}_{seed}", level, [anomaly]))
    return out


def _configuration(name: str, level: float, anomalies: list[dict]) -> dict:
    return {
        "name": name,
        "length": DAYS * _DAY,
        "base-oscillations": [
            {
                "kind": "sine",
                "frequency": _DAILY,
                "amplitude": 1.0,
                "variance": noise_of(level),
                "offset": _LEVEL,
                "trend": {
                    "kind": "sine",
                    "frequency": _WEEKLY,
                    "amplitude": _WEEKLY_AMPLITUDE,
                },
            }
        ],
        "anomalies": anomalies,
    }


def noise_of(level: float) -> float:
    """Standard deviation of the noise, in amplitudes of the daily wave, as GutenTAG wants it."""
    return max(level**0.5, _LEAST_NOISE * level) * _LEVEL / level


def counts_of(values: np.ndarray, level: float) -> np.ndarray:
    """Whole counts of a level of traffic, none below 0."""
    return np.rint(np.maximum(values, 0.0) * level / _LEVEL)


def labels_of(labels: np.ndarray) -> list[Event]:
    """Labelled spans."""
    return _events(np.flatnonzero(labels), 1)


def ours(counts: np.ndarray) -> list[Event]:
    """What our detector reports."""
    return [Event(one.start, one.end, one.alarm) for one in anomalies_in(_FIRST_MS, counts, RULES)]


def gaussian(counts: np.ndarray, sigmas: float) -> list[Event]:
    """Minutes that are so many spreads away from the mean of a sliding window before them; those near each other are one event."""
    odd = np.zeros(len(counts), bool)
    for begin in range(_WINDOW, len(counts), _STEP):
        window, here = counts[begin - _WINDOW : begin], slice(begin, begin + _STEP)
        odd[here] = np.abs(counts[here] - window.mean()) >= sigmas * max(window.std(), 1e-6)
    return _events(np.flatnonzero(odd), RULES.join_minutes)


def _events(minutes: np.ndarray, join: int) -> list[Event]:
    """Spans of minutes that are at most ``join`` apart."""
    if not len(minutes):
        return []
    parts = np.split(minutes, np.flatnonzero(np.diff(minutes) > join) + 1)
    return [Event(int(part[0]), int(part[-1]) + 1, int(part[0])) for part in parts]


def _spans(events: Iterable[Event]) -> str:
    return ", ".join(f"{one.start}-{one.end}" for one in events) or "nothing"
