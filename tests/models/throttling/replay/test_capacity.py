"""What consumers can do: seen only while nothing else holds them back."""

import math

import numpy as np
import pytest

from tests.models.throttling.replay.samples import EVERY_S, START_MS, key, observed_of
from tests.transforms.lakes import limit_row
from throttlescope.models.throttling.replay import fit_capacity
from throttlescope.models.throttling.replay.binding import bound

COUNT = 121  # ten minutes
AT = np.arange(COUNT)


def capacity(**fields):
    return fit_capacity(observed_of(**fields), "billing")


def limit(msg, *, level="subscription", at_ms=START_MS - 1, **more):
    return limit_row(level, at_ms=at_ms, msg=msg, **key(), **more)


def growing(per_s=100.0, begin=1000.0):
    """A backlog that grows by so many entries a second."""
    return begin + per_s * EVERY_S * AT


def test_saturated_consumers_show_what_they_can_do():
    """300 msg/s come, the backlog grows by 100/s: 200 msg/s were worked off."""
    found = capacity(backlog=growing(), in_msg=300.0 * EVERY_S, consumers=4)
    assert (found.seen, found.consumers) == ("saturated", 4)
    assert found.msg_per_s == pytest.approx(200)
    assert (found.low_msg_per_s, found.high_msg_per_s) == pytest.approx((200, 200))
    assert (found.age_s, found.seen_ms) == (0, START_MS + 1000 * EVERY_S * (COUNT - 1))


def test_interval_uses_the_newest_ten_minutes():
    minutes = np.minimum(np.maximum(AT - 1, 0) // 12, 9)
    acked = EVERY_S * np.where(AT == 0, 0, 200.0 + 10 * minutes)
    found = capacity(backlog=1000 + 300.0 * EVERY_S * AT - np.cumsum(acked), in_msg=300.0 * EVERY_S)
    assert (found.low_msg_per_s, found.msg_per_s, found.high_msg_per_s) == pytest.approx((200, 245, 290))


def test_age_counts_from_saturated_span_end():
    backlog = np.where(AT < 60, growing(begin=1000), 0.0)
    found = capacity(backlog=backlog, in_msg=300.0 * EVERY_S)
    assert found.seen == "saturated"
    # Five minutes hold four whole ones and the rest of one.
    assert found.age_s == (COUNT - 1 - 48) * EVERY_S


@pytest.mark.parametrize(
    "fields",
    [
        {"backlog": growing(begin=0.0)[:20]},
        {"backlog": np.full(COUNT, 150.0)},
        {"backlog": growing(), "delayed": growing() - 100},
        {"backlog": growing(), "unacked": growing() - 100},
        {"backlog": growing(), "blocked": True},
        {"backlog": growing(), "consumers": 0},
        {"backlog": growing(), "consumers": np.where(AT % 10, 4, 5)},
        {"backlog": growing(), "events": {"broker.msg": 1.0}},
        {"backlog": growing(), "events": {"subscription.msg": 1.0}},
        {"backlog": growing(), "events": {"topic.bytes": 1.0}, "limits": [limit(10_000, level="topic")]},
        {"backlog": growing(), "gaps": [(0, START_MS + 1000 * EVERY_S * number) for number in range(0, COUNT, 10)]},
        {"backlog": growing(), "restarts_ms": [START_MS + 1000 * EVERY_S * number for number in range(0, COUNT, 10)]},
    ],
    ids=[
        "too short", "nothing waits", "all delayed", "all delivered", "blocked on unacknowledged", "no consumers",
        "consumers come and go", "a broker limit ticks", "an unknown limit ticks", "a lifted byte limit ticks", "gaps", "restarts",
    ],
)  # fmt: skip
def test_hidden_capacity_has_a_lower_bound(fields):
    found = capacity(in_msg=300.0 * EVERY_S, **fields)
    assert (found.seen, found.msg_per_s, found.high_msg_per_s, found.age_s) == (
        "at_least",
        None,
        math.inf,
        None,
    )


def test_lower_bound_is_best_minute_per_consumer():
    """A throttled hour in which 200 msg/s went through, with one minute of 350 in it."""
    acked = EVERY_S * np.where((AT > 60) & (AT <= 72), 350.0, 200.0)
    backlog = 50_000 + 300.0 * EVERY_S * AT - np.cumsum(acked)
    ticks = {"subscription.msg": np.where((AT > 58) & (AT <= 74), 0.0, 5.0)}
    found = capacity(backlog=backlog, in_msg=300.0 * EVERY_S, events=ticks, consumers=np.where(AT < 90, 2, 4))
    assert found.seen == "at_least"
    assert (found.low_msg_per_s, found.consumers) == (pytest.approx(2 * 350), 4)


def test_ticking_limit_does_not_hide_capacity():
    """50 msg/s is less than a read of 100 entries, so every read is trimmed: consumers of 20 msg/s hold it all the same."""
    ticks = {"subscription.msg": 5.0}
    found = capacity(backlog=growing(10), in_msg=30.0 * EVERY_S, events=ticks, limits=[limit(50)])
    assert (found.seen, found.msg_per_s) == ("saturated", pytest.approx(20))
    binding = capacity(backlog=growing(10), in_msg=58.0 * EVERY_S, events=ticks, limits=[limit(50)])
    assert (binding.seen, binding.low_msg_per_s) == ("at_least", pytest.approx(48))


def test_large_limit_binds_only_where_ticking():
    ticks = {"subscription.msg": np.where(AT > 60, 1.0, 0.0)}
    fields = {"backlog": growing(), "in_msg": 300.0 * EVERY_S, "events": ticks, "limits": [limit(220)]}
    assert bound(observed_of(**fields), "billing", -1).tolist() == (AT > 60).tolist()
    assert capacity(**fields).age_s == 60 * EVERY_S


def test_a_limit_that_was_raised_held_before():
    """With the limit of today nothing would have been limited by the one of yesterday."""
    ticks = {"subscription.msg": 5.0}
    raised = [limit(25), limit(90, at_ms=START_MS + 1000 * EVERY_S * (COUNT - 10))]
    fields = {"backlog": growing(10), "in_msg": 34.0 * EVERY_S, "events": ticks}
    assert capacity(**fields, limits=raised).seen == "at_least"
    assert capacity(**fields, limits=raised[1:]).seen == "saturated"


def test_entry_limit_is_compared_with_entries():
    """100 msg/s in entries of ten are 10 of 50 entries per second."""
    fields = {
        "backlog": growing(10), "in_msg": 200.0 * EVERY_S, "events": {"subscription.msg": 5.0}, "messages_per_entry": 10.0
    }  # fmt: skip
    assert capacity(**fields, limits=[limit(50, counts="entries")]).seen == "saturated"
    assert capacity(**fields, limits=[limit(50)]).seen == "at_least"


@pytest.mark.parametrize(("msg", "seen"), [(210, "at_least"), (1000, "saturated"), (None, "saturated")])
def test_limit_use_replaces_missing_counters(msg, seen):
    found = capacity(backlog=growing(), in_msg=300.0 * EVERY_S, counted=False, limits=[limit(msg)])
    assert found.seen == seen


def test_broker_limit_counts_others_without_counters():
    limits = [limit(1000, level="broker")]
    fields = {"backlog": growing(), "in_msg": 300.0 * EVERY_S, "counted": False, "limits": limits}
    assert capacity(**fields, others_per_s={"msg": 0.0}).seen == "saturated"
    assert capacity(**fields, others_per_s={"msg": 700.0}).seen == "at_least"


def test_what_expired_was_not_consumed():
    found = capacity(backlog=growing(), in_msg=300.0 * EVERY_S, expired=50.0 * EVERY_S)
    assert found.msg_per_s == pytest.approx(150)


def test_batches_count_as_their_messages():
    found = capacity(backlog=growing(10), in_msg=300.0 * EVERY_S, messages_per_entry=10.0)
    assert found.msg_per_s == pytest.approx(200)


@pytest.mark.parametrize(("kind", "expected"), [("Shared", 400), ("Failover", 200)])
def test_joining_consumers_get_observed_capacity(kind, expected):
    """Two consumers until minute eight, then four: the newest saturated minutes are theirs, and count the older ones doubled."""
    consumers = np.where(AT <= 96, 2, 4)
    rate = np.where(AT <= 96, 200.0, 400.0 if kind == "Shared" else 200.0)
    backlog = 90_000 + EVERY_S * np.cumsum(300.0 - rate)
    found = capacity(backlog=backlog, in_msg=300.0 * EVERY_S, consumers=consumers, kind=kind)
    assert (found.seen, found.consumers) == ("saturated", 4)
    assert (found.low_msg_per_s, found.high_msg_per_s) == pytest.approx((expected, expected), rel=0.02)
