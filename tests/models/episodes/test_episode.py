"""One episode: its bounds, heights, causes and marks, in scenes whose answer is known; and input that is not as it should be."""

from __future__ import annotations

import math

import pytest

from tests.models.episodes.scenes import DAY, KEY, episodes, minutes, verdicts
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes.steady import joined
from throttlescope.models.episodes.trace import MOST_STEPS

UP = [300 * i for i in range(1, 21)]
DRAIN = [4000, 2000, 0]
CALM = [5] * 20


def minute(ms):
    return (ms - DAY) // MINUTE_MS


@pytest.mark.long
def test_a_backlog_from_start_to_drain():
    rows = minutes([*CALM, *UP, *DRAIN, *CALM], backlog_age_s={39: 600.0, 41: 700.0})
    (one,) = episodes(rows, verdicts("hhhhTTTTThhh"))
    assert (minute(one["start_ms"]), minute(one["end_ms"]), one["state"]) == (20, 42, "drained")
    assert (minute(one["since_ms"]), one["since_method"]) == (20, "change_point")
    assert (one["peak_entries"], minute(one["peak_ms"])) == (6000, 40)
    assert (one["worst_age_s"], minute(one["worst_ms"])) == (700, 42)
    assert (one["start_entries"], one["last_entries"]) == (300, 2000)
    assert (one["side"], one["cause"], one["limiter"]) == ("throttle", "throttled", "subscription.msg")
    assert one["confidence"] == pytest.approx(0.9)
    assert [(row["cause"], minute(row["end_ms"])) for row in one["causes"]] == [("throttled", 42)]
    assert one["marks"] == []
    assert [point["entries"] for point in one["backlog"]] == [*UP, *DRAIN[:2]]
    assert TABLES["episodes"].key == (
        "cluster",
        "namespace",
        "topic",
        "partition",
        "subscription",
        "start_ms",
    )


def test_what_has_not_drained_is_open():
    (one,) = episodes(minutes([*CALM, *UP, 5, 5, 5, 5]), verdicts("hhhhTTTT"))
    assert (one["end_ms"], one["state"], one["last_entries"]) == (None, "open", 5)
    assert (minute(one["over_until_ms"]), minute(one["known_until_ms"])) == (40, 44)


def test_what_is_no_longer_seen_is_silent():
    rows = minutes([*CALM, *UP])
    (one,) = episodes(rows, until_ms=rows[-1]["minute_ms"] + 61 * MINUTE_MS)
    assert (one["end_ms"], one["state"]) == (None, "silent")


def test_single_minute_above_floor_is_no_backlog():
    assert episodes(minutes([*CALM, 900, *CALM])) == []


def test_queued_messages_are_no_backlog():
    assert episodes(minutes([1000] * 30, unacked_msg=990.0)) == []
    assert len(episodes(minutes([1000] * 30, unacked_msg=800.0))) == 1


def test_ten_seconds_of_publishing_are_no_backlog():
    assert episodes(minutes([900] * 30, rate=100.0)) == []
    assert len(episodes(minutes([1100] * 30, rate=100.0))) == 1


def test_a_gap_ends_nothing_and_is_marked():
    (one,) = episodes(minutes([*CALM, *UP, *[None] * 40, *UP, *CALM]), verdicts("hhhhTTTT        TTTTh"))
    assert (minute(one["start_ms"]), minute(one["end_ms"])) == (20, 100)
    (mark,) = one["marks"]
    assert (mark["kind"], minute(mark["start_ms"]), minute(mark["end_ms"])) == ("gap", 40, 80)
    assert [minute(row["start_ms"]) for row in one["causes"]] == [20, 80]


def test_flapping_verdicts_are_counted_and_smoothed():
    (one,) = episodes(minutes([900] * 60), verdicts("TTTSTSTSTSTT"))
    assert [(row["cause"], row["windows"]) for row in joined(one["causes"])] == [("throttled", 12)]
    assert one["flips_before_per_h"] == pytest.approx(8)
    assert one["flips_after_per_h"] == 0
    # Only what named the cause counts for it: 8 of 12 windows.
    assert one["named_ms"] == 8 * 5 * MINUTE_MS


def test_main_cause_weighs_time_and_confidence():
    long_but_unsure = verdicts("SSSSSS", confidence=0.55)
    short_but_sure = verdicts("TTTT", start_ms=DAY + 30 * MINUTE_MS, confidence=0.95)
    (one,) = episodes(minutes([900] * 50), [*long_but_unsure, *short_but_sure])
    assert (one["cause"], one["side"]) == ("throttled", "throttle")
    (one,) = episodes(minutes([900] * 50), verdicts("uuuuuuuuTT"))
    assert one["cause"] == "throttled"
    (one,) = episodes(minutes([900] * 50), verdicts("hhhhhhhhuu"))
    assert (one["cause"], one["confidence"]) == ("unknown", 0)


def test_limiters_come_with_who_set_them():
    rows = minutes([900] * 40, limit_topic_set_by="namespace_policy", limit_subscription_set_by={0: "none"})
    (one,) = episodes(rows, verdicts("PPPPPPTT"))
    assert [(row["limiter"], row["set_by"]) for row in one["limiters"]] == [
        ("topic.msg", "namespace_policy"),
        ("subscription.msg", None),
    ]


def test_limits_restarts_and_moves_are_marked():
    rows = minutes(
        [900] * 40,
        limits_changed={10: True},
        limit_topic_msg={i: 500 if i >= 10 else None for i in range(40)},
        counter_resets={20: 6},
        broker_changed={20: True},
        broker=dict.fromkeys(range(20, 40), "broker-1:8080"),
    )
    (one,) = episodes(rows)
    assert [(mark["kind"], minute(mark["start_ms"]), mark["text"]) for mark in one["marks"]] == [
        ("limit_changed", 10, "topic.msg none -> 500 per 1 s"),
        ("counter_reset", 20, "6 counters restarted"),
        ("moved", 20, "broker-0:8080 -> broker-1:8080"),
    ]
    assert one["broker"] == "broker-1:8080"


def test_a_long_backlog_is_summarised():
    (one,) = episodes(minutes([200 + i for i in range(1000)]))
    assert one["backlog_step_ms"] == 16 * MINUTE_MS
    assert len(one["backlog"]) <= MOST_STEPS
    assert one["backlog"][-1]["entries"] == one["peak_entries"] == 1199


def test_id_follows_from_key_and_start():
    (one,) = episodes(minutes([*CALM, *UP, *CALM]))
    (longer,) = episodes(minutes([*CALM, *UP, *UP]))
    (other,) = episodes(minutes([*CALM, *UP], key=KEY._replace(partition=1)))
    assert one["episode_id"] == longer["episode_id"] != other["episode_id"]


# -- input that is not as it should be --------------------------------------------------------------


def test_no_data_gives_no_episodes():
    assert episodes(minutes([None, 5])) == []
    assert episodes(minutes([math.nan] * 10)) == []


def test_nan_is_a_missing_minute():
    (one,) = episodes(minutes([*CALM, *UP, *[math.nan] * 10, *UP]))
    assert [(mark["kind"], mark["end_ms"] - mark["start_ms"]) for mark in one["marks"]] == [
        ("gap", 10 * MINUTE_MS)
    ]


def test_order_and_repetition_do_not_matter():
    rows = minutes([*CALM, *UP, *CALM])
    said = verdicts("hhhhTTTTh")
    assert episodes([*rows[::-1], *rows[:30]], said[::-1]) == episodes(rows, said)


def test_without_verdicts_the_cause_is_unknown():
    (one,) = episodes(minutes([*CALM, *UP]))
    assert (one["cause"], one["side"], one["limiter"], one["confidence"]) == ("unknown", "unknown", None, 0)
    assert (one["flips_before_per_h"], one["rules_version"]) == (None, None)


def test_without_rates_the_floor_is_one_read():
    assert len(episodes(minutes([101] * 30, in_msg_rate_5m=None, messages_per_entry=None, broker=None))) == 1
    assert episodes(minutes([100] * 30, in_msg_rate_5m=None, messages_per_entry=None)) == []


def test_system_subscriptions_have_no_episodes():
    rows = minutes([*CALM, *UP, *DRAIN, *CALM])
    for own in (
        KEY._replace(subscription="__compaction"),
        KEY._replace(topic="persistent://a/b/__change_events"),
    ):
        assert episodes([row | own._asdict() for row in rows]) == []
    assert len(episodes(rows)) == 1


def test_entries_that_are_batches_count_their_messages():
    assert episodes(minutes([60] * 30)) == []
    assert len(episodes(minutes([60] * 30, messages_per_entry=50.0))) == 1
    assert episodes(minutes([9] * 30, messages_per_entry=50.0)) == []


STILL = {
    "out_msg_delta": 0.0,
    "backlog_age_s": 86_400.0,
    "mark_delete_age_s": 86_400.0,
    "last_ack_age_s": None,
}


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({}, 0),
        (STILL, 1),
        (STILL | {"subscription_backlog_age_s": 60.0}, 0),
        (STILL | {"out_msg_delta": 1.0}, 0),
        (STILL | {"mark_delete_age_s": 600.0}, 0),
        (STILL | {"delayed_entries": 3.0}, 0),
        ({"subscription_backlog_age_s": 7200.0, "out_msg_delta": 1.0}, 1),
    ],
)
def test_few_old_entries_are_a_backlog(columns, found):
    assert len(episodes(minutes([60] * 30, rate=1.0, **columns))) == found
    assert episodes(minutes([8] * 30, rate=0.1, **columns)) == []


def test_old_entries_of_readers_are_no_backlog():
    assert episodes(minutes([60] * 30, key=KEY._replace(subscription="reader-4f1c9a0b2d"), **STILL)) == []
