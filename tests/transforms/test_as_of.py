"""What was known at a time: which snapshot speaks for which moment, and what changed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.lakes import limit_row, stats_row, table_of
from throttlescope.transforms.as_of import KNOWN_FOR_MS, limits_over_time, stats_over_time

KEY = ("c", "t/n", "persistent://t/n/x", -1, "s")
OTHER = (*KEY[:4], "z")
T = 1_700_000_000_000


def named(key):
    return dict(zip(("cluster", "namespace", "topic", "partition", "subscription"), key, strict=True))


def known(rows, keys, moments, column, over_time=limits_over_time, table="limits"):
    """The column's value for each key and moment."""
    timeline = over_time(table_of(table, rows), keys)
    found = timeline.rows_at(np.array(moments, np.int64))
    return [timeline.taken(row)[column].to_pylist() for row in found]


def test_the_newest_snapshot_speaks_and_before_the_first_the_first():
    rows = [
        limit_row("topic", at_ms=T + 200, msg=20, **named(KEY)),
        limit_row("topic", at_ms=T, msg=10, **named(KEY)),
    ]
    moments = [T - 5, T, T + 199, T + 200, T + 999]
    assert known(rows, [KEY], moments, "limit_topic_msg") == [[10, 10, 10, 20, 20]]
    assert known(rows, [KEY], moments, "observed_ms") == [[T, T, T, T + 200, T + 200]]


def test_a_key_without_a_snapshot_knows_nothing():
    rows = [limit_row("topic", at_ms=T, msg=10, **named(OTHER))]
    assert known(rows, [KEY, OTHER], [T], "limit_topic_msg") == [[None], [10]]
    assert known([], [KEY], [T], "observed_ms") == [[None]]


def test_a_snapshot_does_not_speak_for_ever():
    rows = [limit_row("topic", at_ms=T, msg=10, **named(KEY))]
    moments = [T - KNOWN_FOR_MS - 1, T - KNOWN_FOR_MS, T + KNOWN_FOR_MS, T + KNOWN_FOR_MS + 1]
    assert known(rows, [KEY], moments, "limit_topic_msg") == [[None, 10, 10, None]]


def test_levels_of_a_snapshot_are_in_one_row():
    rows = [
        limit_row("broker", at_ms=T, set_by="none", **named(KEY)),
        limit_row("subscription", at_ms=T, size=7, period_s=60, set_by="namespace_policy", **named(KEY)),
    ]
    assert known(rows, [KEY], [T], "limit_broker_set_by") == [["none"]]
    assert known(rows, [KEY], [T], "limit_subscription_bytes") == [[7]]
    assert known(rows, [KEY], [T], "limit_subscription_period_s") == [[60]]
    # Not asked is not the same as no limit.
    assert known(rows, [KEY], [T], "limit_topic_set_by") == [[None]]


def test_a_level_that_a_later_snapshot_lacks_is_not_known_any_more():
    rows = [
        limit_row("topic", at_ms=T, msg=10, **named(KEY)),
        limit_row("broker", at_ms=T + 100, **named(KEY)),
    ]
    assert known(rows, [KEY], [T, T + 100], "limit_topic_set_by") == [["topic_policy", None]]


@pytest.mark.parametrize(
    ("second", "changed"),
    [
        ({"msg": 10}, None),
        ({"msg": 11}, T + 100),
        ({"msg": None}, T + 100),
        ({"msg": 10, "set_by": "namespace_policy"}, T + 100),
        ({"msg": 10, "period_s": 2}, T + 100),
        ({"msg": 10, "exempt_caught_up": True}, T + 100),
    ],
)
def test_a_change_is_what_differs_from_the_snapshot_before(second, changed):
    rows = [
        limit_row("topic", at_ms=T, msg=10, **named(KEY)),
        limit_row("topic", at_ms=T + 100, **second, **named(KEY)),
        limit_row("topic", at_ms=T + 200, **second, **named(KEY)),
        # Another key between them is no change.
        limit_row("topic", at_ms=T + 50, msg=99, **named(OTHER)),
    ]
    # It stays the newest change until another comes.
    assert known(rows, [KEY], [T, T + 100, T + 200], "last_change_ms") == [[None, changed, changed]]
    assert known(rows, [OTHER], [T + 50], "last_change_ms") == [[None]]


def test_facts_of_stats_last_until_the_next_ones():
    rows = [
        stats_row(at_ms=T, subscription_type="Shared", messages_per_entry=None, **named(KEY)),
        stats_row(at_ms=T + 100, subscription_type=None, messages_per_entry=6.0, **named(KEY)),
        stats_row(at_ms=T + 200, subscription_type="Exclusive", messages_per_entry=None, **named(KEY)),
        stats_row(at_ms=T + 100, subscription_type=None, messages_per_entry=None, **named(OTHER)),
    ]
    moments = [T - 1, T, T + 100, T + 200]
    types = known(rows, [KEY, OTHER], moments, "subscription_type", stats_over_time, "topic_stats")
    assert types == [["Shared", "Shared", "Shared", "Exclusive"], [None] * 4]
    per_entry = known(rows, [KEY, OTHER], moments, "messages_per_entry", stats_over_time, "topic_stats")
    assert per_entry == [[None, None, 6.0, 6.0], [None] * 4]
    assert known([], [KEY], [T], "subscription_type", stats_over_time, "topic_stats") == [[None]]


HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def test_the_next_snapshot_wins_over_one_of_days_before():
    # The previous incident's limit, and the one that was read a few minutes after this one's samples.
    rows = [
        limit_row("topic", at_ms=T - 6 * DAY_MS, msg=5000, **named(KEY)),
        limit_row("topic", at_ms=T, msg=1000, **named(KEY)),
    ]
    moments = [T - 6 * DAY_MS + 60_000, T - 4 * DAY_MS, T - 2 * DAY_MS, T - HOUR_MS, T]
    assert known(rows, [KEY], moments, "limit_topic_msg") == [[5000, 5000, 1000, 1000, 1000]]


def test_a_snapshot_holds_for_hours_although_the_next_is_nearer():
    rows = [
        limit_row("topic", at_ms=T, msg=10, **named(KEY)),
        limit_row("topic", at_ms=T + 6 * HOUR_MS, msg=20, **named(KEY)),
    ]
    moments = [T + HOUR_MS, T + 6 * HOUR_MS - 1, T + 6 * HOUR_MS]
    assert known(rows, [KEY], moments, "limit_topic_msg") == [[10, 10, 20]]


def test_a_snapshot_is_new_unless_the_one_before_says_the_same():
    rows = [
        limit_row("topic", at_ms=T, msg=10, **named(KEY)),
        limit_row("topic", at_ms=T + DAY_MS, msg=10, **named(KEY)),
        limit_row("topic", at_ms=T + 2 * DAY_MS, msg=11, **named(KEY)),
    ]
    moments = [T, T + DAY_MS, T + 2 * DAY_MS]
    assert known(rows, [KEY], moments, "is_new") == [[True, False, True]]


def test_the_oldest_answer_of_the_levels_is_their_time():
    rows = [
        limit_row("topic", at_ms=T, answered_ms=T - 700, **named(KEY)),
        limit_row("broker", at_ms=T, answered_ms=T - 5, **named(KEY)),
        limit_row("broker", at_ms=T + 100, **named(KEY)),
    ]
    assert known(rows, [KEY], [T, T + 100], "answered_ms") == [[T - 700, T + 100]]
