"""Intervals out of residuals: compared with the slow twin, on unseen recordings, and where there is too little to go by."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from tests.examples import seeds
from tests.naive.forecast_interval import pooled_quantile
from throttlescope.models.forecast.calibration import LEAST_RECORDINGS, SHARES, Residual, calibrate
from throttlescope.models.forecast.residuals import SHIPPED


def drawn(seed: int, recordings: int, *, never: float = 0.0) -> list[Residual]:
    """Residuals of recordings that each have a bias of their own, and give between 1 and 6 forecasts."""
    rng = np.random.default_rng(seed)
    found = []
    for n in range(recordings):
        bias = rng.normal(0, 0.2)
        for _ in range(int(rng.integers(1, 7))):
            error = math.inf if rng.random() < never else float(rng.standard_t(3) * 0.1 + bias)
            found.append(Residual(f"r{n}", f"f{n % 5}", float(rng.uniform(0.1, 5)), error))
    return found


@pytest.mark.parametrize("seed", seeds(range(20)))
def test_the_bands_are_the_slow_twins_quantiles(seed: int) -> None:
    residuals = drawn(seed, 40, never=0.02)
    calibration = calibrate(residuals)
    below = 0.0
    for band in calibration.bands:
        of = defaultdict(list)
        for one in residuals:
            if below < one.reach <= band.reach_up_to:
                of[one.recording].append(one.log_error)
        below = band.reach_up_to
        assert (band.recordings, band.forecasts) == (len(of), sum(map(len, of.values())))
        assert band.high == (pooled_quantile(of, 0.95) if len(of) >= LEAST_RECORDINGS else math.inf)
        mirrored = {name: [-error for error in errors] for name, errors in of.items()}
        assert band.low == (-pooled_quantile(mirrored, 0.95) if len(of) >= LEAST_RECORDINGS else -math.inf)
        assert band.middle == tuple(pooled_quantile(of, share) for share in SHARES)


@pytest.mark.long
def test_unseen_recordings_are_inside_at_ninety() -> None:
    """One forecast of each of many new recordings, compared with intervals made from others."""
    inside = trials = 0
    for seed in range(40):
        calibration = calibrate(drawn(seed, 80))
        seen: set[str] = set()
        for one in drawn(10_000 + seed, 60):
            if one.recording not in seen:
                seen.add(one.recording)
                band = calibration.band(one.reach)
                inside += band.low <= one.log_error <= band.high
                trials += 1
    assert trials == 2400
    # Pooling is right for many recordings; bands of thirty are a few per cent short.
    assert inside / trials == pytest.approx(0.9, abs=0.03)


def test_too_few_recordings_give_no_end() -> None:
    times = calibrate(drawn(1, LEAST_RECORDINGS - 1)).times(600, 15, 0.4)
    assert (times.low_s, times.high_s) == (0.0, None)
    nothing = calibrate([]).times(600, 15, 0.4)
    assert (nothing.low_s, nothing.median_s, nothing.high_s) == (0.0, None, None)


def test_often_unfulfilled_forecasts_have_no_end() -> None:
    calibration = calibrate(drawn(2, 200, never=0.2))
    times = calibration.times(600, 15, 1.0)
    assert times.high_s is None
    assert times.low_s > 0
    assert times.came_true_share == pytest.approx(0.8, abs=0.08)


def test_reach_beyond_recordings_has_no_end() -> None:
    calibration = calibrate(drawn(3, 200))
    reach = calibration.farthest_reach
    assert calibration.times(600, 15, reach).high_s is not None
    assert calibration.times(600, 15, reach * 1.01).high_s is None


def test_the_interval_scales_with_what_is_predicted() -> None:
    calibration = calibrate(drawn(4, 200))
    near, far = calibration.times(60, 15, 1.0), calibration.times(6000, 15, 1.0)
    assert near.low_s < near.median_s < near.high_s < far.low_s < far.median_s < far.high_s
    assert (far.high_s + 15) / (6000 + 15) == pytest.approx((near.high_s + 15) / (60 + 15))


def test_share_still_to_come_falls() -> None:
    calibration = calibrate(drawn(5, 200))
    shares = [calibration.share_after(time_s, 600, 15, 1.0) for time_s in (1, 400, 600, 800, 5000)]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], round(shares[-1], 9)) == (1.0, 0.05)
    assert shares[2] == pytest.approx(0.5, abs=0.15)


def test_the_version_changes_with_the_residuals() -> None:
    first = calibrate(drawn(6, 50))
    assert first == calibrate(drawn(6, 50))
    assert first.version != calibrate(drawn(7, 50)).version


def test_shipped_calibration_has_every_end() -> None:
    assert all(math.isfinite(band.low) and math.isfinite(band.high) for band in SHIPPED.bands)
    assert all(band.recordings >= LEAST_RECORDINGS for band in SHIPPED.bands)
    assert all(band.low < 0 < band.high for band in SHIPPED.bands)
