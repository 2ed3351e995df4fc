"""NAB as a judge of the anomaly detector. In: a checkout of numenta/NAB. Out: a result for the page.

NAB has 58 series with labelled windows, and a scorer that rewards an alarm the more, the earlier in its window it is. The detector gets each
series as it is: a value stands for every minute until the next one, at most for the series' usual step. NAB's own code scores
(``nab/sweeper.py``, with its profiles, its windows and its choice of a threshold), which is checked by scoring recorded results of NAB first.

An alarm is a moment: the row of its minute has the score 1, all others 0. What the detector says of a minute rests on earlier ones only.
"""

from __future__ import annotations

import csv
import importlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import numpy as np

from tests.judges.checkouts import checkout
from tests.judges.detector import anomalies_in
from tests.lab.parts import PartMissing
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.models.anomaly import RULES, AnomalyRules

PROFILES = ("standard", "reward_low_FP_rate", "reward_low_FN_rate")
#: NAB's own constants: the share of a series, of 5,000 rows at most, that is not scored.
_PROBATION_SHARE, _PROBATION_ROWS = 0.15, 5000
#: Detectors whose published scores are shown: those that model a distribution, or past values.
_OTHERS = ("relativeEntropy", "twitterADVec", "windowedGaussian", "skyline", "expose", "random")
#: What the scorer has to give for results that NAB brings.
_CHECKED = ("windowedGaussian", "relativeEntropy")

#: Scores of the rows of one file of NAB.
Detect = Callable[[str], list[float]]


def run(files: int | None = None) -> dict:
    """Score the detector as it is, and with the history that NAB leaves it, on the first ``files`` series or all."""
    source = checkout("numenta/NAB")
    corpus = Corpus(source.folder, files)
    published = json.loads((source.folder / "results" / "final_results.json").read_text())
    if files is None:
        for name in _CHECKED:
            corpus.check(name, published[name])
    as_it_is, details = corpus.score(lambda name: alarm_scores(*corpus.rows(name), RULES))
    short, short_details = corpus.score(
        lambda name: alarm_scores(*corpus.rows(name), _shortened(corpus, name))
    )
    others = ", ".join(f"{name} {_three(published[name])}" for name in _OTHERS)
    return {
        "version": source.version,
        "figure": f"as it is, with 14 days of history before it judges: {_three(as_it_is)} (profiles standard, low FP, low FN; no alarm at all is 0); "
        f"{corpus.windows_after(RULES.learning_ms)} of {corpus.windows_after(0)} windows end after those 14 days; "
        f"with the 15 % of a series that NAB leaves for learning: {_three(short)}. Published there: {others}",
        "details": ["as it is", *details, "with NAB's probation as history", *short_details],
    }


def _shortened(corpus: Corpus, name: str) -> AnomalyRules:
    """The rules, but judging begins where NAB's does."""
    times, _ = corpus.rows(name)
    at = min(math.floor(_PROBATION_SHARE * len(times)), int(_PROBATION_SHARE * _PROBATION_ROWS))
    return replace(RULES, learning_ms=max(0, _ms(times[at]) - _ms(times[0])))


def _three(scores: dict[str, float]) -> str:
    return " / ".join(f"{scores[profile]:.1f}" for profile in PROFILES)


def alarm_scores(times: list[datetime], values: list[float], rules: AnomalyRules) -> list[float]:
    """1 for rows at which an alarm is raised, else 0.

    Parameters
    ----------
    times : list of datetime
        Of the rows, taken as UTC.
    values : list of float
        Taken as counts per minute.
    """
    first_ms, minutes, row_of = on_minutes(times, values)
    scores = [0.0] * len(times)
    for one in anomalies_in(first_ms, minutes, rules):
        scores[row_of[one.alarm]] = 1.0
    return scores


def on_minutes(times: list[datetime], values: list[float]) -> tuple[int, np.ndarray, np.ndarray]:
    """The first midnight (epoch milliseconds), a value for each minute of whole days (NaN unknown), and the row that it is of (-1 none)."""
    at = np.array([_ms(time) // MINUTE_MS for time in times])
    first = int(at.min()) // _DAY * _DAY
    minutes = np.full((int(at.max()) // _DAY + 1) * _DAY - first, np.nan)
    row_of = np.full(len(minutes), -1)
    steps = np.diff(at)
    usual = int(np.median(steps[steps > 0]))
    for row, begin in enumerate((at - first).tolist()):
        # A later row overwrites what an earlier one would have stood for.
        minutes[begin : begin + usual], row_of[begin : begin + usual] = values[row], row
    return first * MINUTE_MS, minutes, row_of


_DAY = DAY_MS // MINUTE_MS


def _ms(time: datetime) -> int:
    return round(time.replace(tzinfo=UTC).timestamp() * 1000)


class Corpus:
    """NAB's series, windows and scorer.

    Parameters
    ----------
    folder : Path
        Of the checkout.
    most : int, optional
        Only so many series.
    """

    def __init__(self, folder: Path, most: int | None = None) -> None:
        windows = json.loads((folder / "labels" / "combined_windows.json").read_text())
        self._folder = folder
        self._windows = {
            name: [tuple(datetime.fromisoformat(side) for side in window) for window in windows[name]]
            for name in sorted(windows)[:most]
        }
        self._costs = {
            name: profile["CostMatrix"]
            for name, profile in json.loads((folder / "config" / "profiles.json").read_text()).items()
        }
        self._sweeper = _module_of(folder, "nab.sweeper").Sweeper

    def rows(self, name: str) -> tuple[list[datetime], list[float]]:
        """Times and values of a series."""
        rows = self._read(self._folder / "data" / name)
        return [datetime.fromisoformat(row["timestamp"]) for row in rows], [
            float(row["value"]) for row in rows
        ]

    def check(self, detector: str, published: dict[str, float]) -> None:
        """Score what NAB recorded of a detector.

        Raises
        ------
        PartMissing
            The scores are not those that NAB publishes: what ours would get would mean nothing.
        """

        def recorded(name: str) -> list[float]:
            group, _, file = name.rpartition("/")
            path = self._folder / "results" / detector / group / f"{detector}_{file}"
            return [float(row["anomaly_score"]) for row in self._read(path)]

        scores, _ = self.score(recorded)
        if any(abs(scores[profile] - published[profile]) > 0.01 for profile in PROFILES):
            raise PartMissing(f"NAB publishes {published} for {detector}, its scorer gives {scores}")

    def score(self, detect: Detect) -> tuple[dict[str, float], list[str]]:
        """Normalised scores by profile (0: no alarm, 100: perfect), and a line for each series."""
        scored = {name: detect(name) for name in self._windows}
        out = {profile: self._normalised(profile, scored) for profile in PROFILES}
        return out, [f"{name}: {line}" for name, line in self._lines(scored)]

    def windows_after(self, history_ms: int) -> int:
        """Windows that end later than so long after the first row of their series."""
        return sum(
            _ms(end) > _ms(self.rows(name)[0][0]) + history_ms
            for name, windows in self._windows.items()
            for _, end in windows
        )

    def _normalised(self, profile: str, scored: dict[str, list[float]]) -> float:
        costs = self._costs[profile]
        sweeper = self._sweeper(probationPercent=_PROBATION_SHARE, costMatrix=costs)
        points = []
        for name, scores in scored.items():
            times, _ = self.rows(name)
            points += sweeper.calcSweepScore(times, scores, self._windows[name], name)
        best = max(one.score for one in sweeper.calcScoreByThreshold(points))
        windows = sum(len(found) for found in self._windows.values())
        # No alarm at all misses each window that is scored.
        base = sweeper.calcScoreByThreshold([point._replace(anomalyScore=0.0) for point in points])[0].score
        return 100 * (best - base) / (windows * costs["tpWeight"] - base)

    def _lines(self, scored: dict[str, list[float]]) -> Iterator[tuple[str, str]]:
        for name, scores in scored.items():
            times, _ = self.rows(name)
            alarms = [time for time, score in zip(times, scores, strict=True) if score >= 1]
            windows = self._windows[name]
            hit = sum(any(begin <= at <= end for at in alarms) for begin, end in windows)
            outside = sum(not any(begin <= at <= end for begin, end in windows) for at in alarms)
            yield name, f"{hit} of {len(windows)} windows, {outside} alarms outside"

    def _read(self, path: Path) -> list[dict]:
        with path.open(newline="") as file:
            return list(csv.DictReader(file))


def _module_of(folder: Path, name: str) -> ModuleType:
    """A module of a checkout; nothing of it is installed."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PartMissing(f"{folder} has no {name} that can be imported: {error}") from error
    finally:
        sys.path.remove(str(folder))
