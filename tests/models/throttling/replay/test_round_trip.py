"""A simulated broker, scraped, replayed: arrivals and capacity come back, and what is predicted is what the simulator does."""

import math
from itertools import pairwise

import pytest

from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    measured_drain_s,
    scenario,
    simulated_lake,
    subscription_limit,
)
from throttlescope.models.throttling.replay import parse_change, read_observed, replay

pytestmark = pytest.mark.long

AT_S, THEN_S = 600, 1500
BELOW = 1000
SLOW = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 10}
MORE_CONSUMERS = {"action": "set_consumers", "subscription": "billing", "consumers": 8}
BATCHES = {
    "topic": "orders",
    "rate_msg": 600,
    "size_bytes": 1024,
    "batching": {"max_messages": 10, "max_delay_ms": 1000},
}


def set_limit(msg, **more):
    return {"action": "set_limit", **subscription_limit(msg, **more)}


CASES = {
    # Name: scenario, what is done to it, the same after --set; whether the consumers show what they can do.
    "consumers": (
        {"limits": [], "subscriptions": [SLOW], "producers": [{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}]},
        MORE_CONSUMERS, ["consumers=8"], True,
    ),
    "failover": (
        {"topics": [{"name": "orders", "partitions": 3}], "limits": [],
         "subscriptions": [SLOW | {"type": "Failover", "consumers": 3, "processing_ms": 15}],
         "producers": [{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}]},
        {"action": "set_consumers", "subscription": "billing", "processing_ms": 5}, ["processing_ms=5"], True,
    ),
    "limit": ({}, set_limit(1200), ["subscription.msg=1200", "processing_ms=2"], False),
    "lifted": (
        {}, {"action": "lift_limit", "level": "subscription", "set_at": "subscription", "topic": "orders", "subscription": "billing"},
        ["subscription.msg=none", "processing_ms=2"], False,
    ),
    "partitions": (
        {"topics": [{"name": "orders", "partitions": 2}], "limits": [subscription_limit(250)]},
        set_limit(600), ["subscription.msg=600", "processing_ms=2"], False,
    ),
    "batches": ({"producers": [BATCHES]}, set_limit(1200), ["subscription.msg=1200", "processing_ms=2"], False),
    "period": (
        {"limits": [subscription_limit(5000, period_s=10)]}, set_limit(12_000, period_s=10),
        ["subscription.msg=12000", "processing_ms=2"], False,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Every case once: its scenario, and the window that was read of it."""
    made = {}

    def play(name):
        if name not in made:
            fields, step, *_ = CASES[name]
            whole = scenario(duration_s=AT_S, then_s=THEN_S, interventions=[step], **fields)
            lake = simulated_lake(tmp_path_factory.mktemp(name), whole, AT_S)
            made[name] = whole, read_observed(lake, SELECTOR, START_MS, START_MS + 1000 * AT_S + 1)
        return made[name]

    return play


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_the_simulators_own_drain_is_predicted(played, name):
    _, _, settings, saturated = CASES[name]
    whole, observed = played(name)
    measured_s = measured_drain_s(whole, AT_S, BELOW)
    assert 30 < measured_s < THEN_S
    answer = replay(observed, parse_change(settings), drained_below_entries=BELOW)
    assert answer.changed.fitted.drain_s == pytest.approx(measured_s, rel=0.03, abs=3)
    assert answer.changed.earliest_s <= answer.changed.fitted.drain_s <= answer.changed.latest_s
    assert (answer.as_is.fitted.drain_s, answer.effect) == (None, "sooner")
    assert answer.speed.error_share < 0.02
    assert answer.backlog_entries == int(observed.backlog_entries[-1])
    expected = "consumers" if saturated else "subscription.msg"
    assert answer.as_is.fitted.held_by == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_arrivals_are_recovered(played, name):
    whole, observed = played(name)
    found = replay(observed, parse_change([])).arrivals
    expected = whole.producers[0].rate_msg
    assert found.msg_per_s == pytest.approx(expected, rel=0.01)
    assert found.low_msg_per_s <= found.msg_per_s <= found.high_msg_per_s
    assert found.high_msg_per_s == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3]])
def test_capacity_is_recovered_when_consumers_limit(played, name):
    found = replay(played(name)[1], parse_change([])).capacity
    assert (found.seen, found.msg_per_s) == ("saturated", pytest.approx(200, rel=0.02))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case[3]])
def test_capacity_is_unknown_when_limit_binds(played, name):
    answer = replay(played(name)[1], parse_change(["subscription.msg=none"]), drained_below_entries=BELOW)
    assert answer.capacity.seen == "at_least"
    assert 400 < answer.capacity.low_msg_per_s < 2000
    assert (answer.changed.fitted, answer.effect) == (None, "open")
    assert answer.changed.best.drain_s < 60
    assert answer.changed.latest_s is None
    assert any(note.key == "whatif.capacity_at_least" for note in answer.notes)


def test_samples_reproduce_batches_and_partitions(played):
    assert played("batches")[1].messages_per_entry == pytest.approx(10, rel=0.02)
    assert sorted(played("partitions")[1].partitions) == [0, 1]


def test_more_consumers_do_not_help_throttled(played):
    answer = replay(played("limit")[1], parse_change(["consumers=8"]))
    assert answer.effect == "none"
    assert answer.changed.best.held_by == "subscription.msg"


def test_read_speed_is_recovered(played):
    """The scenario was played with the latencies that a replay tries first."""
    answer = replay(played("limit")[1], parse_change([]))
    assert answer.speed.fitted_share == 1.0
    assert answer.speed.fastest_share > 0.2


def test_a_looser_limit_never_drains_later(played):
    observed = played("limit")[1]
    drains = []
    for msg in (550, 700, 900, 1200, 2000, 5000):
        answer = replay(
            observed, parse_change([f"subscription.msg={msg}", "processing_ms=1"]), horizon_s=3600
        )
        drains.append(
            [math.inf if outlook.drain_s is None else outlook.drain_s for outlook in answer.changed.all]
        )
    for tighter, looser in pairwise(drains):
        # A period more or less, by where the drain ends in it.
        assert all(later <= before + 1 for before, later in zip(tighter, looser, strict=True)), drains
    assert drains[0][0] > drains[-1][0]


@pytest.mark.study
def test_more_arrivals_never_drain_sooner(played):
    drains = []
    for rate in (0, 100, 150, 190, 250):
        answer = replay(
            played("consumers")[1], parse_change([f"rate_msg={rate}"]), drained_below_entries=BELOW
        )
        drains.append(answer.changed.fitted.drain_s or math.inf)
    assert drains == sorted(drains)
    assert drains[0] < drains[-1] == math.inf


@pytest.mark.study
def test_healthy_replay_drains_only_below_load(tmp_path):
    """Nothing to drain, until the limit is too low."""
    fine = scenario(duration_s=300, limits=[subscription_limit(1500)])
    observed = read_observed(simulated_lake(tmp_path, fine, 300), SELECTOR, START_MS, START_MS + 300_001)
    answer = replay(observed, parse_change([]))
    assert (answer.as_is.best.drain_s, answer.as_is.best.held_by, answer.effect) == (0, "arrivals", "none")
    worse = replay(observed, parse_change(["subscription.msg=300"]), horizon_s=3_600)
    assert (worse.changed.best.drain_s, worse.effect) == (None, "later")
    assert worse.changed.best.growth_entries_per_s > 250
    assert worse.changed.best.held_by == "subscription.msg"
