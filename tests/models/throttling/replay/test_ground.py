"""Replays that share their ground are those that do not."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from tests.models.throttling.replay.samples import SELECTOR, START_MS, scenario, simulated_lake
from throttlescope.models.throttling.replay import Ground, parse_change, read_observed, replay
from throttlescope.models.throttling.replay import speed as speeds

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
