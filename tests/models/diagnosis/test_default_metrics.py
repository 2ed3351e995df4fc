"""Evidence where consumer metrics are off, which is Pulsar's default: verdicts from the admin API's stats, and without them."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import growing, scene
from throttlescope.models.diagnosis.stats_samples import read_stats
from throttlescope.models.diagnosis.verdict import diagnose

#: What a broker with its defaults does not show.
DEFAULTS = {
    "permits": None,
    "starved": None,
    "without_permits": None,
    "consumers_blocked": None,
    "slowest_acks": None,
    "fastest_acks": None,
}
STARVED = {"stats": 1, "stats_starved": 1.0}
ROOM = {"stats": 1, "stats_starved": 0.0}


def behind(out, published, **more):
    """A backlog that grows and is read from storage, as every backlog that has grown is."""
    backlog = growing(20_000, published - out)
    rates = {"in_rate": published, "out_rate": out, "ack_rate": out, "misses": out}
    return {**DEFAULTS, "backlog": backlog, **rates, **more}


FAILOVER = behind(40.0, 60.0, kind="Failover", consumers=3.0)
SHARED = behind(60.0, 80.0, unacked=900.0)


@pytest.mark.parametrize("window", [FAILOVER, SHARED], ids=["failover", "shared"])
def test_starved_snapshots_prove_slow_consumers(window):
    verdict = diagnose(scene(**window, **STARVED))
    assert (verdict.cause, verdict.confidence) == ("slow_consumers", 0.95)
    shown = {row.symptom: row for row in verdict.evidence}["consumer_queue_full"]
    assert shown.weight == "for"
    assert "admin API, 5 samples, newest 20 s before the window's end" in shown.text
    # No query of Prometheus shows a snapshot.
    assert shown.promql is None


@pytest.mark.parametrize("window", [FAILOVER, SHARED], ids=["failover", "shared"])
def test_slow_reads_are_excluded_by_their_pace(window):
    """Without the admin API: one read of a batch would have to take more than a second and a half."""
    verdict = diagnose(scene(**window))
    assert (verdict.cause, verdict.confidence) == ("slow_consumers", 0.70)
    assert "storage_faster" in {row.symptom for row in verdict.evidence if row.weight == "for"}


FAST = behind(400.0, 600.0, kind="Exclusive", consumers=1.0)


def test_fast_cold_reads_name_both_candidates():
    verdict = diagnose(scene(**FAST, limits_observed=False))
    assert verdict.cause == "unknown"
    assert "consumers" in verdict.why
    assert "storage" in verdict.why
    fixes = " ".join(row.fix for row in verdict.missing_evidence)
    assert "exposeConsumerLevelMetricsInPrometheus" in fixes
    assert "--pulsar-admin" in fixes


def test_storage_that_delivered_more_is_ruled_out():
    drained = {"out_rate": 900.0, "misses": 880.0, "backlog": 50_000.0}
    assert diagnose(scene(**FAST, before=[drained] * 2)).cause == "slow_consumers"
    # As much as now proves nothing, nor does what came from the cache.
    assert diagnose(scene(**FAST, before=[drained | {"out_rate": 450.0}] * 2)).cause == "unknown"
    assert diagnose(scene(**FAST, before=[drained | {"misses": 10.0}] * 2)).cause == "unknown"


def test_room_in_snapshots_leaves_cold_reads():
    assert diagnose(scene(**FAST, **ROOM)).cause == "cold_reads"


def test_few_snapshots_are_no_share():
    window = scene(**FAST, stats=[1, None, None, None, 1], stats_starved=1.0)
    assert (read_stats(window).samples, read_stats(window).starved_share) == (2, None)
    assert diagnose(window).cause == "unknown"


def test_several_snapshots_of_one_minute_count():
    stats = [None, None, None, None, 5]
    assert diagnose(scene(**FAST, stats=stats, stats_starved=1.0)).cause == "slow_consumers"


def test_scraped_permits_come_before_snapshots():
    scraped = {"permits": 900.0, "starved": 0.0, "without_permits": 0.0}
    verdict = diagnose(scene(**FAST | scraped, **STARVED))
    assert verdict.symptoms.queue.queue == "empty"


def test_capacity_comes_from_snapshots():
    """At its limit now; half an hour ago the consumers did less than is published, without a limit."""
    limit = {"subscription.msg": {"limit": 100, "rho": 0.99, "events": 1.0}}
    slow = {**DEFAULTS, **STARVED, "out_rate": 120.0}
    window = behind(100.0, 200.0, **ROOM, limits=limit, before=[slow] * 3 + [DEFAULTS] * 10)
    verdict = diagnose(scene(**window))
    assert (verdict.cause, verdict.limiter) == ("both", "subscription.msg")
    assert verdict.capacity.msg_per_s == pytest.approx(120.0)


KEYS = {"kind": "Key_Shared", "consumers": 4.0, "replay": 900.0, "stats": 1, "stats_starved": 0.25}


@pytest.mark.parametrize("out", [20.0, 0.0])
def test_key_shared_blocked_in_snapshots(out):
    """The head of a key waits for one consumer of four; that one may stop everything."""
    stopped = {"flow_age_s": 900.0, "ack_age_s": 900.0} if out == 0 else {}
    window = behind(out, 100.0, **KEYS, stats_uneven=1.0, stats_draining=0.4, **stopped)
    verdict = diagnose(scene(**window))
    assert verdict.cause == "key_shared_blocked"
    text = {row.symptom: row.text for row in verdict.evidence}["hash_blocked"]
    assert "hashes are draining in 40 %" in text
    assert "admin API, 5 samples" in text


def test_even_consumers_are_not_key_shared_blocked():
    window = behind(20.0, 100.0, **KEYS | {"stats_starved": 1.0}, stats_uneven=0.0)
    assert diagnose(scene(**window)).cause == "slow_consumers"


def test_every_consumer_blocked_in_snapshots():
    window = behind(0.0, 100.0, stats=1, stats_starved=1.0, stats_blocked=1.0, unacked=100_000.0)
    verdict = diagnose(scene(**window))
    assert (verdict.cause, verdict.variant) == ("blocked_on_unacked", "consumer_limit")


def test_stuck_dispatch_names_both_candidates():
    """Permits are there and nothing is dispatched: no consumer is slow."""
    verdict = diagnose(scene(**behind(0.0, 60.0, **ROOM, flow_age_s=900.0, ack_age_s=900.0)))
    assert verdict.cause == "unknown"
    assert "stuck" in verdict.why
    assert "backlog is not there" in verdict.why


def test_lost_permits_name_both_candidates():
    """Dispatched at 60 % of what is published while every consumer has room: apache/pulsar#26288, or slow reads."""
    verdict = diagnose(scene(**behind(60.0, 100.0, **ROOM) | {"misses": 0.0}))
    assert verdict.cause == "unknown"
    assert "lost count of permits" in verdict.why
    assert "reads are slow" in verdict.why


def test_growth_by_replication_markers():
    window = behind(0.0, 0.0, **ROOM, replicated=True) | {"backlog": growing(2000, 1.0)}
    verdict = diagnose(scene(**window))
    assert verdict.cause == "snapshot_markers"
    unread = {"consumers": 0.0, "mark_delete_age_s": 9e4}
    assert diagnose(scene(**window | unread)).cause == "snapshot_markers"
    assert diagnose(scene(**window | {"replicated": False})).cause == "unknown"
    assert diagnose(scene(**window | unread | {"replicated": False})).cause == "no_consumers"


def test_steady_unacked_messages_exclude_storage():
    """Shared, 400 of 600 msg/s: at every minute the consumers hold more than a second of dispatching."""
    measured = FAST | {"kind": "Shared", "consumers": 2.0, "unacked": [700.0, 900.0, 600.0, 800.0, 650.0]}
    verdict = diagnose(scene(**measured))
    assert (verdict.cause, verdict.confidence) == ("slow_consumers", 0.70)
    assert "unacked_steady" in {row.symptom for row in verdict.evidence if row.weight == "for"}
    assert diagnose(scene(**measured | {"unacked": 300.0})).cause == "unknown"


def test_earlier_unacked_reveals_shared_subscription():
    """Without the admin API nothing says Shared; that messages were unacked before says that zero is measured now."""
    window = behind(30.0, 86.0, kind=None, limits_observed=False, limits={"topic.msg": {"events": 1.9}})
    assert diagnose(scene(**window)).cause == "unknown"
    before = [{**DEFAULTS, "kind": None, "unacked": 4.0}] * 3
    verdict = diagnose(scene(**window, before=before))
    assert (verdict.cause, verdict.limiter) == ("throttled", "topic.msg")


def test_bursts_under_an_unknown_limit_are_unknown():
    """The backlog comes and goes while a limiter ticks: healthy with the limit far, throttled with it near."""
    bursts = {"in_rate": 150.0, "out_rate": 150.0, "backlog": [0.0, 4000.0, 0.0, 3500.0, 5.0], **DEFAULTS}
    ticks = {"subscription.msg": {"events": 0.4, "duty": 0.4}}
    verdict = diagnose(scene(**bursts, limits_observed=False, limits=ticks))
    assert verdict.cause == "unknown"
    assert "limit" in verdict.why
    assert "--pulsar-admin" in " ".join(row.fix for row in verdict.missing_evidence)
    assert diagnose(scene(**bursts, limits_observed=False)).cause == "healthy"


def test_busy_consumers_exclude_limiter_alone():
    measured = {
        "kind": "Shared", "consumers": 4.0, "permits": None, "starved": None, "in_rate": 35.0, "out_rate": 21.0,
        "backlog": growing(6000, 14), "limits": {"subscription.msg": {"limit": 21, "rho": 1.0, "events": 2.0}},
    }  # fmt: skip
    both = diagnose(scene(**measured, unacked=[1648.0, 1527.0, 1510.0, 1500.0, 1494.0]))
    assert (both.cause, both.limiter) == ("both", "subscription.msg")
    assert both.confidence <= 0.7
    # What was let through at once is gone before the next period: nothing but the limiter holds them.
    assert diagnose(scene(**measured, unacked=[3.0, 12.0, 0.0, 8.0, 5.0])).cause == "throttled"
