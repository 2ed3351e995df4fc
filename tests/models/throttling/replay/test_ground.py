"""Replays that share their ground are those that do not; arrivals of a window whose counters restarted."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from tests.models.throttling.replay.samples import (
    EVERY_S,
    SELECTOR,
    START_MS,
    observed_of,
    scenario,
    simulated_lake,
)
from throttlescope.models.throttling.replay import Ground, parse_change, read_observed, replay
from throttlescope.models.throttling.replay import speed as speeds
from throttlescope.models.throttling.replay.ground import fit_arrivals

WINDOW_S = 300
CHANGES = (
    [], ["subscription.msg=800"], ["subscription.msg=none"], ["processing_ms=0"], ["processing_ms=5"], ["consumers=8"],
    ["subscription.msg=none", "processing_ms=0"], ["subscription.period_s=60"], ["rate_msg=100"],
)  # fmt: skip


@pytest.mark.long
def test_shared_ground_saves_replays_keeps_answers(tmp_path, monkeypatch):
    lake = simulated_lake(tmp_path / "lake", scenario(duration_s=WINDOW_S), WINDOW_S)
    window = read_observed(lake, SELECTOR, START_MS, START_MS + 1000 * WINDOW_S + 1)
    counted = []
    run = speeds.run
    monkeypatch.setattr(speeds, "run", lambda *more: counted.append(1) or run(*more))
    alone = [replay(window, parse_change(one), horizon_s=600) for one in CHANGES]
    apart = len(counted)
    ground = Ground(window, window)
    shared = [replay(window, parse_change(one), horizon_s=600, ground=ground) for one in CHANGES]
    # Processing times that are given count for the window as well: none given, 0 and 5 ms.
    assert len(counted) - apart == 3 * apart // len(CHANGES)
    for first, second in zip(alone, shared, strict=True):
        for which in ("as_is", "changed"):
            for one, other in zip(getattr(first, which).all, getattr(second, which).all, strict=True):
                assert np.array_equal(one.backlog_entries, other.backlog_entries)
                assert (one.drain_s, one.held_by, one.out_msg_per_s) == (
                    other.drain_s,
                    other.held_by,
                    other.out_msg_per_s,
                )
        assert (first.effect, first.notes, asdict(first.capacity)) == (
            second.effect,
            second.notes,
            asdict(second.capacity),
        )


def test_scrapes_before_a_restart_are_left_out_of_arrivals():
    """Ten messages a second; of the two scrapes before counters restarted most were lost."""
    came = [50.0] * 61
    came[20], came[40] = 4.0, 0.0
    times_ms = [START_MS + 1000 * EVERY_S * at for at in range(61)]
    backlog = list(range(61))
    whole = fit_arrivals(observed_of(backlog=backlog, in_msg=50.0))
    lossy = fit_arrivals(
        observed_of(backlog=backlog, in_msg=came, restarts_ms=[times_ms[20], times_ms[40] - 1_000])
    )
    assert (lossy.msg_per_s, lossy.low_msg_per_s, lossy.high_msg_per_s) == (10.0, 10.0, 10.0)
    assert whole.msg_per_s == lossy.msg_per_s
    # Where restarts are most of the window, all of it counts.
    assert fit_arrivals(observed_of(backlog=backlog, in_msg=came, restarts_ms=times_ms[1:])).msg_per_s < 10.0
