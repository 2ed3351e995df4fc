"""The simpler rules: each of their branches once."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import scene
from throttlescope.ingest.contracts.vocabulary import SIDES
from throttlescope.models.evaluation.baselines import (
    BURROW_SIDE,
    CAUSE_OF_SIDE,
    burrow,
    burrow_status,
    majority,
    rho_alone,
)


def used(rho):
    return {"topic.msg": {"limit": 500, "rho": rho}}


@pytest.mark.parametrize(
    ("changes", "side"),
    [
        ({"limits": used(0.9)}, "throttle"),
        ({"limits": used(0.89)}, "neither"),
        # Near its limit and healthy: rho alone does not ask for a backlog.
        ({"limits": used(0.95), "backlog": 0.0}, "throttle"),
        ({"limits": used(0.5), "backlog": 1001.0}, "consumer_capacity"),
        ({"backlog": 1001.0}, "consumer_capacity"),
        ({"backlog": 1001.0, "limits_observed": False}, "unknown"),
        ({"backlog": 1000.0, "limits_observed": False}, "neither"),
        ({"backlog": [None] * 5}, "unknown"),
    ],
)
def test_rho_alone(changes, side):
    assert rho_alone(scene(**changes)) == side


RISING = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"backlog": [5.0, 4.0, 6.0, 5.0, 7.0]}, "OK"),
        ({"backlog": RISING}, "WARN"),
        # It never falls, however small it is.
        ({"backlog": 4.0}, "WARN"),
        ({"backlog": [1000.0, 2000.0, 1999.0, 4000.0, 5000.0]}, "OK"),
        ({"backlog": [0.0, 2000.0, 3000.0, 4000.0, 5000.0]}, "OK"),
        ({"backlog": RISING, "ack_age_s": 301.0}, "STOP"),
        ({"backlog": RISING, "ack_age_s": 300.0}, "WARN"),
        ({"backlog": RISING, "mark_delete_age_s": 301.0}, "STALL"),
        ({"backlog": RISING, "mark_delete_age_s": 301.0, "ack_age_s": 301.0}, "STOP"),
        ({"backlog": RISING, "ack_age_s": None, "out_rate": 0.0}, "STOP"),
        ({"backlog": RISING, "ack_age_s": None}, "WARN"),
        ({"backlog": [0.0] * 5, "ack_age_s": 4000.0}, "OK"),
        ({"backlog": [None] * 5}, None),
    ],
)
def test_burrows_statuses_come_in_burrows_order(changes, status):
    window = scene(**changes)
    assert burrow_status(window) == status
    assert burrow(window) == ("unknown" if status is None else BURROW_SIDE[status])


def test_burrow_never_blames_a_limiter():
    assert set(BURROW_SIDE.values()) == {"neither", "consumer_capacity"}
    throttled = scene(backlog=RISING, limits={"topic.msg": {"limit": 100, "rho": 0.99, "events": 2.0}})
    assert burrow(throttled) == "consumer_capacity"


def test_majority_ties_are_alphabetical():
    assert majority(["throttled", "healthy", "healthy"]) == "healthy"
    assert majority(["throttled", "slow_consumers"]) == "slow_consumers"


def test_every_side_means_a_cause():
    assert set(CAUSE_OF_SIDE) == set(SIDES)
