"""The band that is drawn is the one that judged: at an anomaly's worst minute it is what its row holds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.anomaly.lakes import Subscription, minute_ms, signals
from tests.models.anomaly.traffic import DAY
from throttlescope.models.anomaly.band import usual
from throttlescope.models.anomaly.subscription import SIDES, Range, anomalies_of

TODAY = 18


@pytest.fixture(scope="module")
def made():
    one = Subscription(days=TODAY + 1)
    one.arrived[TODAY * DAY + 600 : TODAY * DAY + 640] *= 4
    one.backlog[TODAY * DAY + 600 : TODAY * DAY + 700] += 5_000
    one.arrived[TODAY * DAY + 1000 : TODAY * DAY + 1060] = 0
    return signals(one)


@pytest.fixture(scope="module")
def judged():
    return Range.of(minute_ms(TODAY), minute_ms(TODAY + 1))


@pytest.mark.long
def test_band_at_worst_minute_equals_row(made, judged):
    rows = [row for row in anomalies_of(made, judged) if row["state"] != "learning"]
    assert {(row["signal"], row["direction"]) for row in rows} >= {
        ("in_msg_rate", "up"), ("in_msg_rate", "down"), ("backlog_ready_entries", "up"),
    }  # fmt: skip
    for row in rows:
        found = usual(made, row["signal"], judged, row["start_ms"], row["end_ms"])
        at = int(np.flatnonzero(found.minute_ms == row["worst_ms"])[0])
        for name in ("value", "expected", "low", "high"):
            assert getattr(found, name)[at] == pytest.approx(row[name]), (row["signal"], name)


def test_calm_minutes_are_inside_the_band(made, judged):
    """Its lines keep their order."""
    for signal in SIDES:
        found = usual(made, signal, judged, minute_ms(TODAY, 100), minute_ms(TODAY, 500))
        assert len(found.minute_ms) == 400
        assert (found.low <= found.expected).all()
        assert (found.expected <= found.high).all()
    rate = usual(made, "in_msg_rate", judged, minute_ms(TODAY, 100), minute_ms(TODAY, 500))
    assert np.mean((rate.low <= rate.value) & (rate.value <= rate.high)) > 0.99


def test_no_band_without_history(made):
    early = Range.of(minute_ms(3), minute_ms(4))
    found = usual(made, "in_msg_rate", early, minute_ms(3), minute_ms(4))
    assert np.isfinite(found.value).all()
    assert np.isnan(found.high).all()
