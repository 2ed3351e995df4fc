"""A counter that never rests against limits that may be old: never the other side, and the limit's age is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.models.diagnosis.scenes import growing, scene
from throttlescope.models.diagnosis.limiters import read_limiters
from throttlescope.models.diagnosis.verdict import diagnose

DAY_S = 86_400.0
#: 1,000 msg/s through a limit of 1,000 that has one event per second; what was read is a limit of 5,000.
THROTTLED = {
    "backlog": growing(5000, 100), "in_rate": 1100.0, "out_rate": 1000.0, "permits": None, "starved": None,
    "unacked": None, "kind": "Exclusive", "consumers": 1.0,
    "limits": {"subscription.msg": {"limit": 5000, "rho": 0.2, "events": 1.0}},
}  # fmt: skip
SIDES_OF_A_THROTTLE = ("throttle", "unknown")


def verdict_of(**changes):
    return diagnose(scene(**(THROTTLED | changes)))


def missing(verdict) -> str:
    return "; ".join(one.what for one in verdict.missing_evidence)


def test_old_limit_does_not_overrule_the_counter():
    verdict = verdict_of(limits_age_s=6 * DAY_S)
    assert (verdict.cause, verdict.limiter) == ("throttled", "subscription.msg")
    assert verdict.confidence == pytest.approx(0.7 * 0.9)
    assert "read 6 d before the window's end" in missing(verdict)
    assert any("read 6 d before" in row.text for row in verdict.evidence)


def test_late_limit_does_not_overrule_counter():
    verdict = verdict_of(limits_age_s=-2 * DAY_S, observed_later=True)
    assert verdict.side in SIDES_OF_A_THROTTLE
    assert "read 2 d after the window's end" in missing(verdict)


def test_fresh_limit_against_counter_is_unknown():
    verdict = verdict_of(limits_age_s=600.0)
    assert verdict.side == "unknown"
    assert "subscription.msg limit in force" in missing(verdict)
    assert "read 10 min before" in missing(verdict)


def test_events_on_no_limit_contradict_it():
    no_limit = {"subscription.msg": {"events": 1.0}}
    assert verdict_of(limits=no_limit).cause == "throttled"
    assert verdict_of(limits=no_limit, limits_age_s=6 * DAY_S).cause == "throttled"


@pytest.mark.parametrize(("limit", "fresh"), [(50, "slow_consumers"), (200, "unknown")])
def test_old_limit_with_uninformative_events_excludes_nothing(limit, fresh):
    # 10 msg/s through a limit of 10 that was 50 or 200 six days ago: each read is counted, which alone proves nothing.
    now = {"in_rate": 20.0, "out_rate": 10.0, "backlog": growing(5000, 10)}
    limits = {"subscription.msg": {"limit": limit, "rho": 10 / limit, "events": 2.0}}
    assert verdict_of(limits_age_s=6 * DAY_S, limits=limits, **now).side == "unknown"
    # A limit of 50 that was read today is excluded; one of 200 would not let reads be cut twice a second.
    assert verdict_of(limits=limits, **now).cause == fresh


def test_old_limits_with_silent_counters_still_exclude():
    silent = {"subscription.msg": {"limit": 5000, "rho": 0.2, "events": 0.0}}
    verdict = verdict_of(limits_age_s=6 * DAY_S, limits=silent)
    assert verdict.cause == "slow_consumers"
    assert "read 6 d before" in missing(verdict)


def test_use_of_old_limit_is_proof():
    at_limit = {"subscription.msg": {"limit": 1000, "rho": 1.0, "events": 1.0}}
    assert verdict_of(limits_age_s=6 * DAY_S, limits=at_limit).cause == "throttled"


def test_full_queues_need_fresh_limit():
    """Only then do they overrule the counter."""
    full = {"permits": 0.0, "starved": 0.9, "unacked": 900.0, "kind": "Shared"}
    assert (verdict_of(**full).cause, verdict_of(**full).confidence) == ("slow_consumers", 0.85)
    assert verdict_of(**full, limits_age_s=6 * DAY_S).side == "unknown"


def test_ticking_of_a_far_limit_proves_nothing():
    # Of 150 tokens 60 are used: what is left is less than a read of 100, so healthy reads are counted as well.
    trimmed = {"subscription.msg": {"limit": 150, "rho": 0.4, "events": 9.0}}
    verdict = verdict_of(in_rate=80.0, out_rate=60.0, backlog=growing(5000, 20), limits=trimmed)
    assert verdict.cause == "slow_consumers"


def test_far_limit_events_use_full_period():
    # 0.2 events per second would do for a fifth of a limit; a limiter that binds shows 0.7 per period.
    seldom = {"subscription.msg": {"limit": 5000, "rho": 0.2, "events": 0.2}}
    assert verdict_of(limits=seldom).cause == "slow_consumers"


@pytest.mark.parametrize(
    ("per_event", "read_batch", "cause"),
    [(300, 100, "throttled"), (300, None, "unknown"), (300, 500, "unknown"), (600, None, "throttled")],
)
def test_unread_batch_may_be_either_default(per_event, read_batch, cause):
    # Without a limit an event is proof only if more is dispatched per event than a read brings, 100 or 500 entries.
    limits = {"subscription.msg": {"events": 1000.0 / per_event}}
    assert verdict_of(limits_observed=False, read_batch=read_batch, limits=limits).cause == cause


def test_limit_between_both_defaults_needs_the_batch():
    limits = {"subscription.msg": {"limit": 300, "rho": 0.85, "events": 3.0}}
    now = {"in_rate": 300.0, "out_rate": 255.0, "backlog": growing(5000, 45), "limits": limits}
    assert verdict_of(**now).confidence == pytest.approx(0.85)
    unread = verdict_of(**now, read_batch=None)
    assert (unread.cause, unread.confidence) == ("throttled", pytest.approx(0.55))
    assert any("dispatcherMaxReadBatchSize, which was not read" in row.text for row in unread.evidence)


def set_late(minutes: int):
    """A limit of 1,000 msg/s that holds for the last minutes of five, the one in which it was set included."""
    at_limit = {"subscription.msg": {"limit": 1000, "rho": 1.0, "events": 1.0}}
    window = scene(**(THROTTLED | {"limits": at_limit}))
    columns = {name: list(values) for name, values in window.columns.items()}
    for name in ("limit_subscription_msg", "rho_subscription_msg"):
        columns[name][: 5 - minutes] = [None] * (5 - minutes)
    columns["limits_changed"] = [n == 5 - minutes for n in range(5)]
    return diagnose(replace(window, columns=columns))


@pytest.mark.parametrize("minutes", [2, 3, 4])
def test_new_limit_is_judged_since_set(minutes):
    """A limit that was set within the window."""
    verdict = set_late(minutes)
    assert (verdict.cause, verdict.limiter) == ("throttled", "subscription.msg")


def test_limit_of_last_minute_names_no_other():
    assert set_late(1).side in SIDES_OF_A_THROTTLE


def test_unused_new_limit_excludes_nothing_yet():
    far = {"subscription.msg": {"limit": 5000, "rho": 0.2, "events": 0.0}}
    window = scene(**(THROTTLED | {"limits": far}))
    columns = {name: list(values) for name, values in window.columns.items()}
    columns["limit_subscription_msg"][:3] = [None] * 3
    readings = {one.name: one for one in read_limiters(replace(window, columns=columns))}
    assert readings["subscription.msg"].zone == "unknown"
