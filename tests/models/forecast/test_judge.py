"""Forecasts against what happened: what is decided, what is censored, and how censored ones are weighed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.examples import seeds
from tests.models.forecast.test_calibration import drawn
from tests.naive.forecast_interval import share_between
from throttlescope.models.forecast.calibration import calibrate
from throttlescope.models.forecast.drain import time_to_drain
from throttlescope.models.forecast.judge import (
    ForecastOutcome,
    _place,
    coverage,
    kaplan_meier_inside,
    outcomes,
)
from throttlescope.models.forecast.trace import Trace

CALIBRATION = calibrate(drawn(1, 200))
STEP_S = 15


def trace_of(values) -> Trace:
    values = np.asarray(values, float)
    times_ms = np.arange(len(values), dtype=np.int64) * STEP_S * 1000
    return Trace(times_ms, values, values, np.full(len(values), 15.0))


#: Falls by 300 entries every 15 s, from 9,000; 100 entries are none: the first such sample is the 30th, 450 s in.
FALLING = [max(0.0, 9000 - 300 * n) for n in range(40)]


def judged(values, **changed) -> list[ForecastOutcome]:
    return outcomes(trace_of(values), CALIBRATION, every_ms=STEP_S * 1000, recording="r", **changed)


def test_first_drained_sample_is_measured() -> None:
    found = judged(FALLING)
    assert [one.drain.made_at_ms // 1000 for one in found] == [15 * n for n in range(30)]
    for one in found:
        assert one.after_s == 450 - one.drain.made_at_ms / 1000
    assert [one.drain.state for one in found[:3]] == ["unknown", "unknown", "expected"]
    assert all(one.inside for one in found if one.drain.state == "expected")


def test_forecasts_are_made_every_so_often() -> None:
    found = outcomes(trace_of(FALLING), CALIBRATION, every_ms=60_000)
    assert [one.drain.made_at_ms // 1000 for one in found] == [60 * n for n in range(8)]


def test_change_censors_earlier_forecasts() -> None:
    found = judged(FALLING, changes_ms=[200_000])
    before = [one for one in found if one.drain.made_at_ms < 200_000 and one.drain.times]
    after = [one for one in found if one.drain.made_at_ms >= 200_000]
    assert before
    assert all(one.after_s is None and one.inside is None for one in before)
    assert after
    assert all(one.after_s is not None for one in after)
    assert after[0].since_change_s == 10
    assert before[0].since_change_s is None


def test_history_end_censors_or_misses() -> None:
    # It falls for a while and then stays: what was said while it fell was wrong, once the interval has ended.
    values = [9000 - 300 * min(n, 10) for n in range(80)]
    first = next(one for one in judged(values) if one.drain.times and one.drain.times.high_s)
    assert first.after_s is None
    assert first.inside is False
    assert first.residual.log_error == float("inf")
    early = next(one for one in judged(values[:14]) if one.drain.times and one.drain.times.high_s)
    assert early.inside is None
    assert early.residual is None


def test_a_growing_backlog_has_nothing_to_cover() -> None:
    found = coverage(judged([1000 + 50 * n for n in range(40)]), lambda one: CALIBRATION)
    assert (found.forecasts, found.decided, found.wilson, found.kaplan_meier) == (0, 0, None, None)


@pytest.mark.parametrize("seed", seeds(range(30)))
def test_kaplan_meier_is_efrons_redistribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drain = time_to_drain(trace_of(FALLING), 150_000, CALIBRATION)
    band = CALIBRATION.band(drain.reach)
    made = []
    for _ in range(25):
        time_s = float(rng.uniform(0.3, 2.0) * drain.predicted_s)
        came = bool(rng.random() < 0.6)
        made.append(ForecastOutcome("r", "", "", drain, time_s if came else None, time_s))
    places = [
        _place(
            np.log(((one.after_s or one.censored_s) + STEP_S) / (drain.predicted_s + STEP_S)),
            band.low,
            band.high,
        )
        for one in made
    ]
    expected = share_between(places, [one.after_s is not None for one in made], 1.0, 2.0)
    assert kaplan_meier_inside(made, lambda one: CALIBRATION) == pytest.approx(expected)


def test_uncensored_kaplan_meier_equals_share() -> None:
    rng = np.random.default_rng(5)
    drain = time_to_drain(trace_of(FALLING), 150_000, CALIBRATION)
    times_s = rng.uniform(0.5, 1.6, 200) * drain.predicted_s
    made = [ForecastOutcome(f"r{n % 7}", "", "", drain, float(t), float(t)) for n, t in enumerate(times_s)]
    found = coverage(made, lambda one: CALIBRATION)
    assert 20 < found.inside < 180
    assert found.kaplan_meier == pytest.approx(found.inside / 200)
    assert found.inside + found.before + found.after == found.decided == 200


def test_dropping_the_undecided_would_flatter_or_blame() -> None:
    """Three of four are watched only for as long as predicted: of those the quick ones alone are decided."""
    drain = time_to_drain(trace_of(FALLING), 150_000, CALIBRATION)
    rng = np.random.default_rng(6)
    true_s = drain.predicted_s * np.exp(rng.normal(0, 0.5, 4000))
    end_s = drain.times.high_s
    watched_s = np.where(np.arange(4000) % 4 == 0, 1e9, drain.predicted_s)
    made = [
        ForecastOutcome("r", "", "", drain, float(t) if t <= w else None, float(min(t, w)))
        for t, w in zip(true_s, watched_s, strict=True)
    ]
    inside = float(((true_s >= drain.times.low_s) & (true_s <= end_s)).mean())
    assert kaplan_meier_inside(made, lambda one: CALIBRATION) == pytest.approx(inside, abs=0.02)
    found = coverage(made, lambda one: CALIBRATION)
    assert abs(found.inside / found.decided - inside) > 0.02
