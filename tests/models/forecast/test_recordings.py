"""Forecasts on recordings of a real broker: the shipped calibration is theirs, and the page tells what they show."""

from __future__ import annotations

import pytest

from benchmarks import forecasts as bench
from benchmarks.forecasting.losses import all_first_losses
from benchmarks.forecasting.page import share, span, targets
from benchmarks.forecasting.recordings import everything
from tests.lab.sets import HELD_OUT
from throttlescope.models.forecast.residuals import SHIPPED

pytestmark = pytest.mark.study


@pytest.fixture(scope="module")
def judged():
    return bench.cross_judged()


def test_shipped_calibration_equals_recordings() -> None:
    made = bench.shipped_calibration()
    assert made.version == SHIPPED.version
    assert bench.residuals_text(made).count("Band(") == len(SHIPPED.bands)
    for band, shipped in zip(made.bands, SHIPPED.bands, strict=True):
        assert (band.forecasts, band.recordings) == (shipped.forecasts, shipped.recordings)
        assert (band.low, band.high) == pytest.approx((shipped.low, shipped.high), abs=1e-4)


def test_recordings_are_not_judged_by_own_family(judged) -> None:
    _, used = judged
    families = {name: one.family for one in everything() for name in (one.unit, one.name)}
    for name, calibration in used.items():
        assert not {other for other in calibration.made_from if families[other] == families[name]}
        assert name.split("/")[1] not in {other.split("/")[1] for other in calibration.made_from}


def test_measured_drains_match_interval_level(judged) -> None:
    """At least 200 forecasts; 90 % lies inside the interval of the share, as if independent and over recordings."""
    found, used = judged
    aside = bench.part(found, used, bench.PARTS[HELD_OUT])
    assert aside.wilson[0] <= 0.9 <= aside.wilson[1]
    assert aside.decided >= 200
    for name in ("all", HELD_OUT, "shipped", "engine"):
        part = bench.part(found, used, bench.PARTS[name])
        assert part.clustered[0] <= 0.9 <= part.clustered[1], name
    assert bench.part(found, used, bench.PARTS["all"]).recordings >= 150


def test_long_drains_are_not_outside_more(judged) -> None:
    """Those of the set of the diagnosis are inside more often: the page says so."""
    part = bench.part(*judged, bench.PARTS["diagnosis"])
    assert part.decided >= 30
    assert part.wilson[1] >= 0.9


def test_the_page_tells_these_figures(judged) -> None:
    """Of the sets that do not grow; what the set of the diagnosis adds is recomputed with the page."""
    page = bench.PAGE.read_text()
    for name in ("shipped", "engine"):
        part = bench.part(*judged, bench.PARTS[name])
        assert share(part.inside, part.decided) in page
        assert span(part.wilson) in page


def test_page_says_held_out_target_missed(judged) -> None:
    text = targets(bench.figures(*judged), bench.JUDGED_UNSEEN)
    unseen, validated, fleets, *held_out = text.splitlines()[2:]
    assert "570 of 662 = 86.1 % | 83.3 to 88.5 %" in unseen
    assert unseen.endswith("| no |")
    assert validated.endswith("| cannot meet it |")
    assert unseen in bench.PAGE.read_text()
    assert fleets.endswith("| cannot meet it |")
    assert all("seen by no calibration" in line for line in held_out)


def test_first_losses_are_predicted_within_one_check() -> None:
    """Once there are samples enough for a trend: from the first minute of the state on."""
    found = all_first_losses()
    assert {one.kind for one in found} >= {"ttl", "quota_size"}
    for name in sorted({one.recording for one in found}):
        mine = [one for one in found if one.recording == name]
        first_ms = min(one.made_at_ms for one in mine)
        settled = [one for one in mine if one.made_at_ms >= first_ms + 60_000]
        predicted = [one for one in settled if one.predicted_ms is not None]
        assert len(predicted) >= max(10, 0.9 * len(settled)), name
        assert all(one.within_one_check and one.inside for one in predicted), name
