"""Rows of a task, on series small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.lakes import limit_row, stats_row, table_of
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.transforms.minutes import SCHEMA, minute_rows
from throttlescope.transforms.promql.source import MemorySource, Series

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000 // HOUR_MS * HOUR_MS
TOPIC = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "partition": "-1"}
SUB = {**TOPIC, "subscription": "s"}
KEY = {**TOPIC, "partition": -1, "subscription": "s"}


def series(name, points, *, stale_s=(), **labels):
    """Samples as (seconds after the first minute's start, value)."""
    return Series(
        {"__name__": name, "instance": "i1:8080", **labels},
        np.array([START_MS + round(s * 1000) for s, _ in points], np.int64),
        np.array([float(v) for _, v in points]),
        np.array([START_MS + round(s * 1000) for s in stale_s], np.int64),
    )


def every(step_s, first_s, last_s, value):
    return [(s, value(s)) for s in range(first_s, last_s, step_s)]


def backlog(first_s=-300, last_s=300, **labels):
    return series(
        "pulsar_subscription_back_log", every(15, first_s, last_s, lambda s: 1000 + s), **{**SUB, **labels}
    )


def out(rate, first_s=-300, last_s=300, unit="messages", **labels):
    points = every(15, first_s, last_s, lambda s: 1e6 + rate * s)
    return series(f"pulsar_out_{unit}_total", points, **{**SUB, **labels})


def rows(*data, limits=(), stats=(), newest_s=3600):
    found = minute_rows(
        MemorySource(data),
        table_of("limits", limits),
        table_of("topic_stats", stats),
        START_MS,
        START_MS + HOUR_MS,
        {"c": START_MS + newest_s * 1000},
    )
    assert found.schema.equals(SCHEMA)
    return found.to_pylist()


def minute(number, *data, **more):
    return {row["minute_ms"]: row for row in rows(*data, **more)}[START_MS + number * 60_000]


def test_a_row_needs_a_scrape_in_the_minute_or_a_backlog_that_is_current_at_its_end():
    found = rows(backlog())
    # Scraped until 285 s; the look-back holds until 585 s.
    assert [(row["minute_ms"] - START_MS) // 60_000 for row in found] == list(range(9))
    assert [row["coverage_share"] for row in found] == [1.0] * 5 + [0.0] * 4
    assert found[0] | KEY == found[0]


def test_a_series_that_ended_has_no_rows_behind_its_marker():
    ended = series("pulsar_subscription_back_log", every(15, -300, 100, lambda s: 5), stale_s=[110], **SUB)
    assert [(row["minute_ms"] - START_MS) // 60_000 for row in rows(ended)] == [0, 1]


def test_no_minute_begins_behind_the_end_of_the_data():
    assert len(rows(backlog(), newest_s=285)) == 5


def test_a_rule_s_value_is_that_of_the_minute_s_end():
    row = minute(1, backlog())
    assert row["backlog_entries"] == 1000 + 120
    assert row["backlog_ready_entries"] is None
    assert row["consumers"] is None


def test_differences_and_rates_of_a_steady_counter():
    row = minute(1, backlog(), out(50), out(5000, unit="bytes"))
    assert (row["out_msg_delta"], row["out_bytes_delta"], row["delta_span_ms"]) == (3000, 300_000, 60_000)
    assert row["out_msg_rate_5m"] == pytest.approx(50)


def test_consumers_series_do_not_add_to_the_subscription_s():
    row = minute(1, backlog(), out(50), out(50, consumer_name="a", consumer_id="0"), out(50, consumer_id="1"))
    assert row["out_msg_delta"] == 3000


def test_what_a_topic_publishes_is_said_of_each_subscription():
    published = series("pulsar_in_messages_total", every(15, -300, 300, lambda s: 1e6 + 10 * s), **TOPIC)
    found = [
        row for row in rows(backlog(), backlog(subscription="z"), published) if row["minute_ms"] == START_MS
    ]
    assert [row["subscription"] for row in found] == ["s", "z"]
    assert [row["in_msg_delta"] for row in found] == [600, 600]


def test_events_by_reason_and_the_share_of_scrapes_that_saw_one():
    def events(reason, values):
        points = [(15 * n, v) for n, v in enumerate(values)]
        return series("pulsar_subscription_dispatch_throttled_msg_events", points, reason=reason, **SUB)

    row = minute(1, backlog(), events("topic", [0, 0, 0, 0, 5, 5, 6, 6]), events("broker", [7] * 8))
    assert row["throttled_msg_events_topic_delta"] == 6
    assert row["throttled_msg_duty_topic_share"] == 0.5
    # Standing still is zero, no series is nothing.
    assert (row["throttled_msg_events_broker_delta"], row["throttled_msg_duty_broker_share"]) == (0, 0)
    assert row["throttled_msg_events_subscription_delta"] is None
    assert row["throttled_bytes_duty_topic_share"] is None


def test_permits_of_consumers():
    points = every(15, 60, 120, lambda s: 0 if s < 90 else 10)
    other = every(15, 60, 120, lambda s: -2)
    row = minute(
        1,
        backlog(),
        series("pulsar_consumer_available_permits", points, consumer_id="0", **SUB),
        series("pulsar_consumer_available_permits", other, consumer_id="1", **SUB),
    )
    assert row["permits_exhausted_share"] == 6 / 8
    assert (row["permits_min"], row["permits_max"]) == (-2, 10)


def test_coverage_counts_scrapes_against_the_usual_distance():
    sparse = [(s, 1) for s in (*range(-300, 60, 15), 60, 75, *range(120, 300, 15))]
    found = {row["minute_ms"]: row for row in rows(series("pulsar_subscription_back_log", sparse, **SUB))}
    assert found[START_MS + 60_000]["coverage_share"] == 0.5
    assert found[START_MS + 120_000]["coverage_share"] == 1.0
    assert found[START_MS]["scrape_interval_ms"] == 15_000


def test_a_topic_that_moves():
    data = [
        backlog(last_s=100),
        out(50, last_s=100),
        backlog(first_s=110, instance="i2:8080"),
        series(
            "pulsar_out_messages_total",
            every(15, 110, 300, lambda s: 50 * (s - 100)),
            **{**SUB, "instance": "i2:8080"},
        ),
    ]
    moved = minute(1, *data)
    assert (moved["broker"], moved["broker_changed"], moved["counter_resets"]) == ("i2:8080", True, 1)
    # 2,250 of the old one's last 45 s, and all 500 of the new one.
    assert moved["out_msg_delta"] == 2250 + 500
    before, after = minute(0, *data), minute(2, *data)
    assert (before["broker"], before["broker_changed"]) == ("i1:8080", False)
    assert (after["broker"], after["broker_changed"], after["counter_resets"]) == ("i2:8080", False, 0)


def test_a_limit_and_the_use_of_it():
    limits = [
        limit_row("subscription", at_ms=START_MS, msg=600, period_s=10, **KEY),
        limit_row("topic", at_ms=START_MS, size=10_000, **KEY),
        limit_row("broker", at_ms=START_MS, set_by="none", **KEY),
    ]
    row = minute(1, backlog(), out(45), out(4000, unit="bytes"), limits=limits)
    assert (row["limit_subscription_msg"], row["limit_subscription_period_s"]) == (600, 10)
    assert row["rho_subscription_msg"] == pytest.approx(45 / 60)
    assert row["rho_topic_bytes"] == pytest.approx(0.4)
    assert row["rho_subscription_bytes"] is None
    assert row["limit_broker_set_by"] == "none"
    assert row["limits_observed"] is True
    assert row["limits_observed_ms"] == START_MS


def test_subscriptions_of_a_partition_share_the_topic_s_limit():
    other = {"subscription": "z"}
    limits = [limit_row("topic", at_ms=START_MS, msg=100, **{**KEY, **key}) for key in ({}, other)]
    data = [backlog(), out(20), backlog(**other), out(70, **other)]
    found = [row for row in rows(*data, limits=limits) if row["minute_ms"] == START_MS + 60_000]
    assert [row["rho_topic_msg"] for row in found] == pytest.approx([0.9, 0.9])
    apart = [backlog(), out(20), backlog(partition="0"), out(70, partition="0")]
    found = [row for row in rows(*apart, limits=limits) if row["minute_ms"] == START_MS + 60_000]
    assert found[0]["rho_topic_msg"] == pytest.approx(0.2)


def test_part_of_a_topic_s_use_is_no_use():
    """A subscription whose counter began in this minute took nobody knows how much."""
    other = {"subscription": "z"}
    limits = [limit_row("topic", at_ms=START_MS, msg=100, **{**KEY, **key}) for key in ({}, other)]
    data = [backlog(), out(20), backlog(first_s=70, **other), out(70, first_s=110, **other)]
    found = [row["rho_topic_msg"] for row in rows(*data, limits=limits) if row["subscription"] == "s"]
    assert found[:5] == [pytest.approx(0.2), None, *[pytest.approx(0.9)] * 3]


def test_without_limits_there_is_no_use_and_nothing_was_observed():
    row = minute(1, backlog(), out(50))
    assert row["limits_observed"] is False
    assert row["limit_observed_later"] is False
    assert row["limits_changed"] is False
    for name in ("limits_observed_ms", "limit_counts", "relative_to_publish", "exempt_caught_up"):
        assert row[name] is None
    for level in LEVELS:
        assert row[f"limit_{level}_set_by"] is None


def test_minutes_before_the_first_snapshot_say_so():
    limits = [limit_row("topic", at_ms=START_MS + 121_000, msg=100, **KEY)]
    found = rows(backlog(), out(20), limits=limits)
    assert [row["limit_observed_later"] for row in found[:4]] == [True, True, False, False]
    assert [row["limit_topic_msg"] for row in found[:4]] == [100] * 4
    assert not any(row["limits_changed"] for row in found)


def test_a_change_marks_the_minute_that_it_came_in():
    limits = [
        limit_row("topic", at_ms=START_MS, msg=100, **KEY),
        limit_row("topic", at_ms=START_MS + 120_000, msg=50, **KEY),
        limit_row("topic", at_ms=START_MS + 170_000, msg=50, **KEY),
    ]
    found = rows(backlog(), out(20), limits=limits)
    # The change at 120 s was known at the end of the minute that ends there.
    assert [row["limits_changed"] for row in found[:4]] == [False, True, False, False]
    assert [row["limit_topic_msg"] for row in found[:4]] == [100, 50, 50, 50]


def test_limit_of_entries_is_compared_with_entries():
    limits = [limit_row("subscription", at_ms=START_MS, msg=10, counts="entries", **KEY)]
    stats = [stats_row(at_ms=START_MS, messages_per_entry=5.0, subscription_type="Shared", **KEY)]
    row = minute(1, backlog(), out(40), limits=limits, stats=stats)
    assert row["rho_subscription_msg"] == pytest.approx(0.8)
    assert (row["limit_counts"], row["messages_per_entry"], row["subscription_type"]) == (
        "entries",
        5,
        "Shared",
    )
    unknown = minute(1, backlog(), out(40), limits=limits)
    assert (unknown["rho_subscription_msg"], unknown["messages_per_entry"]) == (None, None)


def test_messages_per_entry_without_stats_is_published_by_written():
    published = series("pulsar_in_messages_total", every(15, -600, 300, lambda s: 1e6 + 30 * s), **TOPIC)
    written = series("pulsar_storage_write_rate", every(15, -300, 300, lambda s: 10), **TOPIC)
    assert minute(1, backlog(), published, written)["messages_per_entry"] == pytest.approx(3)
    nothing = series("pulsar_storage_write_rate", every(15, -300, 300, lambda s: 0), **TOPIC)
    assert minute(1, backlog(), published, nothing)["messages_per_entry"] is None


def test_the_use_of_a_relative_limit_is_not_known():
    limits = [limit_row("topic", at_ms=START_MS, msg=100, relative_to_publish=True, **KEY)]
    row = minute(1, backlog(), out(40), limits=limits)
    assert (row["rho_topic_msg"], row["relative_to_publish"], row["limit_topic_msg"]) == (None, True, 100)


def test_a_nan_that_a_broker_exposed_is_nothing():
    odd = series("pulsar_subscription_unacked_messages", every(15, -300, 300, lambda s: float("nan")), **SUB)
    assert minute(1, backlog(), odd)["unacked_msg"] is None


def test_series_without_a_whole_key_are_left_out():
    nameless = series(
        "pulsar_subscription_back_log", every(15, -300, 300, lambda s: 1), cluster="c", namespace="t/n"
    )
    assert rows(nameless) == []
    assert len(rows(nameless, backlog())) == 9


def test_a_first_run_of_a_new_incident_uses_the_fresh_limit():
    days_ago = START_MS - 6 * 86_400_000
    limits = [
        limit_row("subscription", at_ms=days_ago, msg=5000, **KEY),
        limit_row("subscription", at_ms=START_MS + 1_800_000, msg=1000, **KEY),
    ]
    row = minute(1, backlog(), out(1000), limits=limits)
    assert row["limit_subscription_msg"] == 1000
    assert row["rho_subscription_msg"] == pytest.approx(1.0)
    assert (row["limit_observed_later"], row["limits_observed_ms"]) == (True, START_MS + 1_800_000)


def test_the_same_limit_before_and_after_was_not_observed_later():
    limits = [
        limit_row("topic", at_ms=START_MS - 86_400_000, msg=100, **KEY),
        limit_row("topic", at_ms=START_MS + 1_800_000, msg=100, **KEY),
    ]
    row = minute(1, backlog(), out(20), limits=limits)
    assert (row["limit_observed_later"], row["limits_observed_ms"]) == (False, START_MS + 1_800_000)


# -- a broker that is scraped twice -------------------------------------------------------------


def scraped(job, instance, shift_s, first_s=-3000, last_s=1800, pods=False):
    """A subscription at 40 msg/s of 100 published, with two consumers, as one job reads it."""
    here = {"job": job, "instance": instance}

    def of(name, value, labels=SUB, **more):
        points = [(s + shift_s, value(s + shift_s)) for s in range(first_s, last_s, 15)]
        return series(name, points, **{**labels, **here, **more})

    return [
        of("pulsar_subscription_back_log", lambda s: 9000 + 60 * s),
        of("pulsar_out_messages_total", lambda s: 1e6 + 40 * s),
        of("pulsar_out_bytes_total", lambda s: 1e9 + 40_000 * s),
        of("pulsar_in_messages_total", lambda s: 2e6 + 100 * s, TOPIC),
        of("pulsar_subscription_dispatch_throttled_msg_events", lambda s: 2 * s, reason="subscription"),
        *(of("pulsar_consumer_available_permits", lambda s: 0, consumer_id=one) for one in "ab"),
    ]


@pytest.mark.parametrize("other", ["i1:8080", "10.0.0.7:8080"])
@pytest.mark.parametrize("shift_s", [0, 7])
def test_a_broker_that_two_jobs_scrape_is_counted_once(other, shift_s):
    limits = [limit_row("subscription", at_ms=START_MS, msg=41, **KEY)]
    limits += [limit_row("broker", at_ms=START_MS, set_by="none", **KEY)]
    once = rows(*scraped("brokers", "i1:8080", 0), limits=limits)
    twice = rows(*scraped("brokers", "i1:8080", 0), *scraped("pods", other, shift_s), limits=limits)
    # Of several targets the first by name is read: here the address, where there is one.
    assert {row["broker"] for row in twice} == {other}
    # At the end of the data a scrape more or less makes a difference.
    for row, expected in zip(twice[:28], once[:28], strict=True):
        for name in ("out_msg_rate_5m", "in_msg_rate_5m", "rho_subscription_msg", "use_msg_per_s"):
            assert row[name] == pytest.approx(expected[name]), name
        for name in ("consumers_without_permits", "counter_resets", "coverage_share", "broker_changed"):
            assert row[name] == expected[name], name
    assert twice[10]["rho_subscription_msg"] == pytest.approx(40 / 41)
    assert (twice[10]["out_msg_delta"], twice[10]["delta_span_ms"]) == (2400, 60_000)


def test_a_job_that_joins_or_leaves_adds_nothing():
    joined = rows(
        *scraped("brokers", "i1:8080", 0), *scraped("pods", "10.0.0.7:8080", 7, first_s=300, last_s=900)
    )
    assert [row["counter_resets"] for row in joined] == [0] * len(joined)
    for row in joined:
        assert row["delta_span_ms"] is None or row["out_msg_delta"] * 1000 == 40 * row["delta_span_ms"]
    unknown = [row for row in joined if row["delta_span_ms"] is None and row["coverage_share"]]
    assert len(unknown) <= 2


def test_a_topic_that_moves_to_and_fro_is_not_read_twice():
    """Two instances have it in turn, never at the same time."""
    stays = [
        (0, "i1:8080", -3000, 0),
        (1, "i2:8080", 0, 300),
        (2, "i1:8080", 300, 600),
        (3, "i2:8080", 600, 900),
    ]
    data = []
    for _, instance, first_s, last_s in stays:
        for name, labels, rate in (
            ("pulsar_out_messages_total", SUB, 40), ("pulsar_in_messages_total", TOPIC, 100),
            ("pulsar_subscription_back_log", SUB, 60),
        ):  # fmt: skip
            points = every(
                15, first_s, last_s, lambda s, rate=rate, first_s=first_s: rate * (s - first_s + 5)
            )
            data.append((name, labels, instance, points))
    together = {}
    for name, labels, instance, points in data:
        together.setdefault((name, instance), (labels, []))[1].extend(points)
    found = rows(
        *(series(name, points, **{**labels, "instance": instance})
          for (name, instance), (labels, points) in together.items())
    )  # fmt: skip
    by_minute = {(row["minute_ms"] - START_MS) // 60_000: row for row in found}
    assert [by_minute[n]["broker"] for n in (3, 8, 13)] == ["i2:8080", "i1:8080", "i2:8080"]
    assert [by_minute[n]["out_msg_delta"] for n in (3, 8, 13)] == [2400] * 3


def test_brokers_that_show_a_subscription_at_the_same_time_are_counted():
    alone = [row["brokers_serving"] for row in rows(backlog())]
    assert alone == [1] * 5 + [0] * 4
    both = [backlog(), backlog(instance="i2:8080", last_s=120), backlog(subscription="z")]
    found = [row for row in rows(*both) if row["subscription"] == "s"]
    assert [row["brokers_serving"] for row in found[:5]] == [2, 2, 1, 1, 1]
    # A topic that moves is shown by one after the other, also where it returns at once.
    moved = rows(backlog(last_s=100), backlog(first_s=110, instance="i2:8080"))
    assert [row["brokers_serving"] for row in moved[:5]] == [1] * 5
    # A broker that had it for one scrape now and again some minutes later was not there in between.
    visits = series(
        "pulsar_subscription_back_log", every(180, 60, 241, float), **{**SUB, "instance": "i2:8080"}
    )
    stays = every(15, -300, 45, float) + every(15, 75, 225, float)
    found = rows(series("pulsar_subscription_back_log", stays, **SUB), visits)
    assert [row["brokers_serving"] for row in found[:4]] == [1] * 4
