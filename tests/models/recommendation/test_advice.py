"""Advice on simulated brokers: what is recommended drains in time, a little less of it does not, and the twin agrees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.models.diagnosis.test_counterfactual import observed as observed_with_history
from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    scenario,
    simulated_lake,
    subscription_limit,
)
from throttlescope.models.recommendation import advise
from throttlescope.models.recommendation.smallest import drains, round_up, smallest_consumers, smallest_limit
from throttlescope.models.throttling.replay import parse_change, read_observed, replay
from throttlescope.models.throttling.replay.ground import Ground

pytestmark = pytest.mark.long

WINDOW_S, TARGET_S = 600, 1800
SLOW = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 10}
PUBLISH_300 = [{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}]


def observed(tmp_path, **fields):
    lake = simulated_lake(tmp_path / "lake", scenario(**{"duration_s": WINDOW_S} | fields), WINDOW_S)
    return read_observed(lake, SELECTOR, START_MS, START_MS + 1000 * WINDOW_S + 1)


def test_found_limit_is_the_smallest_enough(tmp_path):
    window = observed(tmp_path)
    found = smallest_limit(window, "subscription.msg", 500, TARGET_S)
    assert drains(found, TARGET_S)
    assert found.value == round_up(found.value)
    # 600 msg/s come, and 60,000 wait: 633 are needed, and up to a fifth of a limit is lost to the pauses.
    assert 633 <= found.value <= 633 / 0.75
    less = replay(window, parse_change([f"subscription.msg={round(found.value * 0.93)}"]), horizon_s=TARGET_S)
    assert less.changed.best.drain_s is None


def test_found_consumer_count_is_smallest_enough(tmp_path):
    window = observed(tmp_path, limits=[], subscriptions=[SLOW], producers=PUBLISH_300)
    found = smallest_consumers(window, TARGET_S)
    # Each does 100 msg/s; 300 come and 60,000 wait.
    assert found.value == 4
    fewer = replay(window, parse_change(["consumers=3"]), horizon_s=TARGET_S)
    assert fewer.changed.fitted.drain_s is None


@pytest.mark.parametrize("value", [1, 9, 10, 99, 100, 101, 1234, 999_999])
def test_rounding_up_keeps_two_digits(value):
    rounded = round_up(value)
    assert value <= rounded <= value * 1.1
    assert len(str(rounded).rstrip("0")) <= 2


def test_throttled_advice_rules_out_consumers(tmp_path):
    """And names the limit."""
    advice = advise(observed(tmp_path))
    first = advice.recommendations[0]
    assert first.lever == "limit"
    assert (first.limiter, first.now) == ("subscription.msg", 500)
    assert "set-subscription-dispatch-rate" in first.apply
    assert "-md 500 -bd -1 -dt 1" in first.roll_back
    assert first.earliest_drain_s <= TARGET_S
    assert "advice.no_help.consumers" in [one.key for one in advice.not_helping]
    assert not any(one.lever == "period" for one in advice.recommendations), (
        "the mean rate is what is missing"
    )


def test_slow_consumer_advice_rules_out_limit(tmp_path):
    """And says how many consumers."""
    window = observed(
        tmp_path, limits=[subscription_limit(5000)], subscriptions=[SLOW], producers=PUBLISH_300
    )
    advice = advise(window)
    assert [one.lever for one in advice.recommendations] == ["consumers"]
    assert (advice.recommendations[0].now, advice.recommendations[0].value) == (2, 4)
    assert advice.recommendations[0].apply is None
    (limit,) = advice.not_helping
    assert limit.values == {"limiter": "subscription.msg", "factor": "consumers"}


def test_single_active_consumer_must_be_faster(tmp_path):
    alone = SLOW | {"type": "Exclusive", "consumers": 1, "processing_ms": 5}
    window = observed(tmp_path, limits=[], subscriptions=[alone], producers=PUBLISH_300)
    (only,) = advise(window).recommendations
    assert only.lever == "processing"
    # 300 msg/s and a backlog of 60,000 in half an hour: 333 msg/s, 3 ms each.
    assert only.change in ("processing_ms=3", "processing_ms=2.7")
    assert only.latest_drain_s is not None


def test_consumer_that_processes_nothing_gets_no_time(tmp_path):
    """It was seen at its limit with no message in all that time: no time per message can be named, and nothing is divided by it."""
    alone = SLOW | {"type": "Exclusive", "consumers": 1, "processing_ms": 5}
    window = observed(tmp_path, limits=[], subscriptions=[alone], producers=PUBLISH_300)
    ground = Ground(window, window)
    ground.observed_capacities.update(
        {
            name: replace(found, msg_per_s=0.0, low_msg_per_s=0.0, high_msg_per_s=0.0)
            for name, found in ground.observed_capacities.items()
        }
    )
    assert advise(window, ground=ground).recommendations == ()


def test_both_are_advised_if_needed(tmp_path):
    # 200 msg/s for consumers that were seen to do 150, and now a limit of 140 in front of them.
    window, history = observed_with_history(
        tmp_path, seconds=1200, since=700, duration_s=600, then_s=600,
        limits=[subscription_limit(5000)], later_limit=(START_MS + 600_000, 140),
        subscriptions=[SLOW | {"processing_ms": 13.3}], producers=[{"topic": "orders", "rate_msg": 200, "size_bytes": 1024}],
        interventions=[{"action": "set_limit", **subscription_limit(140)}],
    )  # fmt: skip
    first = advise(window, history=history).recommendations[0]
    assert first.lever == "together"
    assert first.actions[1].values == {"value": 4, "now": 2}
    assert first.change.startswith("subscription.msg=")
    assert first.change.endswith("consumers=4")
    assert "-md 140 " in first.roll_back


def test_too_short_period_is_lengthened(tmp_path):
    """If the mean rate is enough."""
    # The limit's mean is above what is published, and is not reached because of the pause after every period.
    publish = [{"topic": "orders", "rate_msg": 620, "size_bytes": 1024}]
    advice = advise(observed(tmp_path, limits=[subscription_limit(625)], producers=publish))
    period = next(one for one in advice.recommendations if one.lever == "period")
    assert period.now == 1 < period.value
    assert "-md 500" not in period.apply
    assert period.roll_back.endswith("-md 625 -bd -1 -dt 1")


def test_blocked_subscription_gets_no_recommendation(tmp_path):
    """A replay takes messages for acknowledged, so it would drain what the broker does not even dispatch."""
    window = observed(tmp_path, limits=[], subscriptions=[SLOW], producers=PUBLISH_300)
    assert advise(window).recommendations
    mine = window.readers[("billing", -1)]
    blocked = mine.blocked.copy()
    # Only what it ends with counts.
    blocked[0] = True
    assert advise(_with_reader(window, blocked=blocked)).recommendations
    blocked[-1] = True
    found = advise(_with_reader(window, blocked=blocked))
    assert found.counterfactuals.not_modelled == "blocked_on_unacked"
    assert (found.recommendations, found.not_helping, found.counterfactuals.rows) == ((), (), ())
    assert "whatif.blocked" in {note.key for note in found.counterfactuals.notes}


@pytest.mark.parametrize(("redelivered_share", "is_refused"), [(0.2, False), (0.5, True)])
def test_redelivered_subscription_gets_no_recommendation(tmp_path, redelivered_share, is_refused):
    window = observed(tmp_path, limits=[], subscriptions=[SLOW], producers=PUBLISH_300)
    dispatched = window.readers[("billing", -1)].out_msg.sum() / window.elapsed_s
    found = advise(replace(window, redelivered_msg_per_s=redelivered_share * dispatched))
    assert (found.counterfactuals.not_modelled == "redelivery") == is_refused
    assert bool(found.recommendations) != is_refused


def _with_reader(window, **changes):
    key = ("billing", -1)
    return replace(window, readers={**window.readers, key: replace(window.readers[key], **changes)})
