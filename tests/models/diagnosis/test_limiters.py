"""Readings of limiters: zone, activity, and when events prove nothing."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import scene
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.models.diagnosis.limiters import read_limiter, read_limiters
from throttlescope.models.diagnosis.symptoms.limiters import events_finding


def reading(name: str = "subscription.msg", **changes):
    level, unit = name.split(".")
    return read_limiter(scene(**changes), level, unit)


def of(**limiter):
    return reading(limits={"subscription.msg": limiter})


def test_six_limiters_are_in_list_order():
    assert tuple(limiter.name for limiter in read_limiters(scene())) == LIMITERS


@pytest.mark.parametrize(
    ("rho", "zone"),
    [(0.0, "far"), (0.49, "far"), (0.5, "possible"), (0.79, "possible"), (0.8, "near"), (0.89, "near"),
     (0.9, "at"), (1.0, "at"), (1.1, "at")],
)  # fmt: skip
def test_zones(rho, zone):
    assert of(limit=500, rho=rho).zone == zone


def test_unread_limit_is_unknown_not_far():
    """A level without a limit is far."""
    assert reading().zone == "far"
    assert reading(limits_observed=False).zone == "unknown"


def test_exceeded_limit_is_not_in_force():
    exceeded = of(limit=500, rho=1.8)
    assert not exceeded.in_force
    assert exceeded.zone == "unknown"
    # One period's burst in a short window is no contradiction: 60 of 300 s.
    assert of(limit=30_000, period_s=60, rho=1.4).in_force


def test_period_must_fit_twice():
    assert of(limit=60_000, period_s=151, rho=0.0).zone == "unknown"
    assert of(limit=60_000, period_s=150, rho=0.95).zone == "at"


def test_early_lifted_limit_is_none():
    lifted = {"limit": [500, 500, None, None, None], "rho": [1.0, 1.0, None, None, None]}
    assert of(**lifted).limit is None
    kept = {"limit": [500, 500, 500, None, None], "rho": [1.0, 1.0, 1.0, None, None]}
    assert of(**kept).zone == "at"


@pytest.mark.parametrize(
    ("name", "limit", "informative"),
    [
        ("subscription.msg", 99, False),
        ("subscription.msg", 100, True),
        ("topic.msg", 50, False),
        ("broker.msg", 10_000, True),
        ("subscription.bytes", 5_242_879, False),
        ("subscription.bytes", 5_242_880, True),
    ],
)
def test_events_are_informative_above_one_read(name, limit, informative):
    read = reading(name, limits={name: {"limit": limit, "rho": 0.2, "events": 5.0}})
    assert read.informative is informative


@pytest.mark.parametrize(
    ("limit", "events", "duty", "activity"),
    [
        (500, 1.0, 1.0, "continuous"),  # once a second, as a limiter does that holds
        (500, 0.03, 0.3, "sparse"),  # a consumer just below the limit
        (500, 1.0, 0.5, "sparse"),  # often, but only half of the time
        (50, 5.0, 1.0, "ticking"),  # every read counts
        (50, 0.1, 0.4, "sparse"),
        (500, 0.0, 0.0, "silent"),
    ],
)
def test_activity(limit, events, duty, activity):
    assert of(limit=limit, rho=0.98, events=events, duty=duty).activity == activity


def test_a_longer_period_needs_fewer_events():
    # Used up once a minute, then tried every second while exhausted; the duty is the dry part only.
    assert of(limit=6000, period_s=60, rho=0.98, events=0.6, duty=0.6).activity == "continuous"


def test_missing_counters_are_unknown_not_zero():
    assert reading(counters=False).activity == "unseen"
    assert reading(counters=False).events is None


def test_entries_per_event_reveal_large_limit():
    """If the limit itself is unknown."""
    # 500 msg/s with an event per second: not every read of at most 100 entries was counted.
    many = reading(out_rate=500.0, limits_observed=False, limits={"subscription.msg": {"events": 1.0}})
    assert (many.informative, many.activity) == (True, "continuous")
    few = reading(out_rate=50.0, limits_observed=False, limits={"subscription.msg": {"events": 2.0}})
    assert (few.informative, few.activity) == (None, "ticking")
    # 500 messages, but in 50 entries.
    batched = reading(
        out_rate=500.0, per_entry=10.0, limits_observed=False, limits={"subscription.msg": {"events": 1.0}}
    )
    assert batched.informative is None


def test_own_use_of_a_shared_limit():
    read = reading(
        "topic.msg", out_rate=50.0, limits={"topic.msg": {"limit": 500, "rho": 0.99, "events": 1.0}}
    )
    assert read.shared
    assert read.own_rho == pytest.approx(0.1)


def test_entry_limit_has_use_in_entries():
    read = reading(
        out_rate=500.0, per_entry=10.0, counts="entries",
        limits={"subscription.msg": {"limit": 100, "rho": 0.5}},
    )  # fmt: skip
    assert read.own_rho == pytest.approx(0.5)


def test_relative_limit_adds_publish_rate():
    # 100 configured + 900 published: 1,000 are allowed, 980 are used. Signals leave rho open.
    read = reading(
        in_rate=900.0, out_rate=980.0, relative=True, limits={"subscription.msg": {"limit": 100, "rho": None}}
    )
    assert read.rho == pytest.approx(0.98)
    assert read.zone == "at"
    # What the other subscriptions of the topic use is not known here.
    topic = reading(
        "topic.msg", in_rate=900.0, relative=True, limits={"topic.msg": {"limit": 100, "rho": None}}
    )
    assert (topic.rho, topic.zone) == (None, "unknown")
    # Another level's limit may be an ordinary one.
    broker = reading(
        "broker.msg", in_rate=900.0, relative=True, limits={"broker.msg": {"limit": 100, "rho": 0.9}}
    )
    assert broker.rho == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("events", "duty", "situation"),
    [
        (0.03, 0.3, "sparse"),
        (1.0, 0.5, "in_bursts"),  # above the threshold, but only half of the time
    ],
)
def test_events_say_why_they_are_sparse(events, duty, situation):
    read = of(limit=500, rho=0.98, events=events, duty=duty)
    assert read.activity == "sparse"
    assert events_finding(read).key == f"symptom.throttle_events.{situation}"
