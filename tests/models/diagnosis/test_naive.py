"""The naive rule, as written: more than 1,000 entries and any event, whatever it means."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import scene
from throttlescope.models.diagnosis.naive import naive_side

TICK = {"subscription.msg": {"limit": 50, "rho": 0.1, "events": [0.0, 0.1, 0.0, 0.0, 0.0]}}


@pytest.mark.parametrize(
    ("changes", "side"),
    [
        ({}, "neither"),
        ({"limits": TICK}, "neither"),
        ({"backlog": 1000.0, "limits": TICK}, "neither"),
        ({"backlog": 1001.0, "limits": TICK}, "throttle"),
        ({"backlog": 1001.0}, "consumer_capacity"),
        ({"backlog": 1001.0, "counters": False}, "consumer_capacity"),
        ({"backlog": 5000.0, "delayed": 4500.0, "limits": TICK}, "neither"),
        ({"backlog": [None] * 5, "limits": TICK}, "unknown"),
    ],
)
def test_naive_side(changes, side):
    assert naive_side(scene(**changes)) == side
