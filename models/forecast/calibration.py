"""How far forecasts were off. In: residuals of forecasts whose outcome is known. Out: a :class:`ForecastCalibration`, which makes intervals.

Nothing is taken to be normal. A forecast predicts a time S; it came true after A. Its residual is log((A + d) / (S + d)),
d being the distance of two samples, below which no time can be resolved; one that never came true has an infinite one. An
interval lies between the residuals of earlier forecasts (conformal prediction). Forecasts that look far beyond the stretch
that they rest on err more, so residuals are kept apart by that **reach**: predicted time / length of the stretch.

Forecasts of one recording resemble each other. So every recording counts as one, however many forecasts it gave, and the
ends of an interval are quantiles of all residuals weighed so (pooling, in Dunn, Wasserman, Ramdas 2023: *Distribution-free
prediction sets for two-layer hierarchical models*). Too few recordings make it infinite rather than too short.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

#: Ends of the reaches that are kept apart, in lengths of the stretch.
REACHES = (0.5, 2.0, math.inf)
#: Of the intervals' ends; the lower one is its mirror image.
HIGH_SHARE = 0.95
#: Below so many a twentieth of them is less than one.
LEAST_RECORDINGS = 20
#: Shares at which residuals are kept.
SHARES = tuple(round(0.05 * n, 2) for n in range(1, 20))


@dataclass(frozen=True, slots=True)
class Residual:
    """One forecast whose outcome is known.

    Attributes
    ----------
    recording, family : str
        Where it was made.
    reach : float
    log_error : float
        ``inf`` where it never came true.
    """

    recording: str
    family: str
    reach: float
    log_error: float


@dataclass(frozen=True, slots=True)
class Band:
    """Residuals of one reach.

    Attributes
    ----------
    reach_up_to : float
    low, high : float
        Ends of the interval; ``-inf`` and ``inf`` where there are too few recordings, or too many never came true.
    middle : tuple of float
        Residuals at :data:`SHARES`.
    came_true_share : float
    forecasts, recordings : int
        What it rests on.
    """

    reach_up_to: float
    low: float
    high: float
    middle: tuple[float, ...]
    came_true_share: float
    forecasts: int
    recordings: int


@dataclass(frozen=True, slots=True)
class Times:
    """A predicted time with its interval, in seconds; ``high_s`` is None where it is open."""

    median_s: float | None
    low_s: float
    high_s: float | None
    came_true_share: float


@dataclass(frozen=True, slots=True)
class ForecastCalibration:
    """Bands by rising reach.

    Attributes
    ----------
    farthest_reach : float
        As far as :data:`LEAST_RECORDINGS` recordings had forecasts. What looks farther has no end of its interval: no such
        forecast has been observed to its end.
    version : str
        Changes with the rest.
    made_from : tuple of str
        Recordings that had a part in it: what it says of them proves nothing.
    """

    bands: tuple[Band, ...]
    farthest_reach: float
    version: str
    made_from: tuple[str, ...] = ()

    def band(self, reach: float) -> Band:
        return next(band for band in self.bands if reach <= band.reach_up_to)

    def times(self, predicted_s: float, step_s: float, reach: float) -> Times:
        """The interval around a predicted time.

        Parameters
        ----------
        predicted_s, step_s : float
            Predicted time and distance of two samples, in seconds.
        reach : float
        """
        band = self.band(reach)

        def at(residual: float) -> float | None:
            after_s = (
                math.exp(residual) * (predicted_s + step_s) - step_s if math.isfinite(residual) else None
            )
            return None if after_s is None else max(0.0, after_s)

        low_s = at(band.low)
        high_s = at(band.high) if reach <= self.farthest_reach else None
        middle_s = at(band.middle[len(SHARES) // 2])
        return Times(middle_s, 0.0 if low_s is None else low_s, high_s, band.came_true_share)

    def share_after(self, time_s: float, predicted_s: float, step_s: float, reach: float) -> float:
        """Share of such forecasts that came true later than ``time_s``, or never."""
        residual = math.log((max(0.0, time_s) + step_s) / (predicted_s + step_s))
        known = [(-math.inf, 0.0), *zip(self.band(reach).middle, SHARES, strict=True)]
        return 1.0 - max(share for value, share in known if value <= residual)


def calibrate(residuals: Iterable[Residual], reaches: Sequence[float] = REACHES) -> ForecastCalibration:
    """Make intervals out of what earlier forecasts were off by."""
    residuals = list(residuals)
    bands = []
    above = 0.0
    for reach in reaches:
        bands.append(_band(reach, [one for one in residuals if above < one.reach <= reach]))
        above = reach
    most: dict[str, float] = {}
    for one in residuals:
        most[one.recording] = max(one.reach, most.get(one.recording, 0.0))
    shown = sorted(most.values(), reverse=True)
    farthest = shown[LEAST_RECORDINGS - 1] if len(shown) >= LEAST_RECORDINGS else 0.0
    version = hashlib.sha256(repr((bands, farthest)).encode()).hexdigest()[:8]
    return ForecastCalibration(tuple(bands), farthest, version, tuple(sorted(most)))


def _band(reach: float, residuals: list[Residual]) -> Band:
    of = Counter(one.recording for one in residuals)
    count = len(of)
    errors = np.array([one.log_error for one in residuals])
    weights = np.array([1.0 / of[one.recording] for one in residuals])
    finite = float(weights[np.isfinite(errors)].sum())
    return Band(
        reach,
        -_weighted(-errors, weights, HIGH_SHARE * count) if count >= LEAST_RECORDINGS else -math.inf,
        _weighted(errors, weights, HIGH_SHARE * count) if count >= LEAST_RECORDINGS else math.inf,
        tuple(_weighted(errors, weights, share * count) for share in SHARES),
        finite / count if count else 0.0,
        len(residuals),
        count,
    )


def _weighted(values: np.ndarray, weights: np.ndarray, wanted: float) -> float:
    """The smallest value up to which the weights add up to what is wanted; infinite where all of them do not."""
    order = np.argsort(values, kind="stable")
    heights = np.cumsum(weights[order])
    place = int(np.searchsorted(heights, wanted - 1e-9))
    return float(values[order][place]) if place < len(values) else math.inf
