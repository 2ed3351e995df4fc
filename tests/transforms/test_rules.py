"""The shipped rules file: Prometheus accepts it, every column has its rule, and the values are what the notes promise."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from tests.lab.parts import promtool_binary
from throttlescope.ingest.contracts.results import RULE_COLUMNS
from throttlescope.ingest.core.metrics import METRICS
from throttlescope.transforms.promql.evaluate import evaluate
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.source import MemorySource, Series
from throttlescope.transforms.rules import RULES_FILE, column_rules, load_rules
from throttlescope.transforms.rules.rule_file import RecordingRule

KEY = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "partition": "-1"}
SUB = {**KEY, "subscription": "s"}
NOW_MS = 1_700_000_000_000


def series(name, points, *, stale_ms=(), **labels):
    """Samples as (seconds before now, value), all at the instance i1 unless given."""
    points = sorted((NOW_MS - round(ago * 1000), float(v)) for ago, v in points)
    labels = {"__name__": name, "instance": "i1", **labels}
    times, values = [t for t, _ in points], [v for _, v in points]
    return Series(labels, np.array(times, np.int64), np.array(values), np.array(stale_ms, np.int64))


def value(column, *data):
    """The rule's one value now, after a look at its labels."""
    matrix = evaluate(rules_by_name()[f"throttlescope:{column}"].plan, MemorySource(data), Steps.at(NOW_MS))
    if not matrix.labels:
        return None
    assert matrix.labels == (tuple(sorted(SUB.items())),)
    return matrix.values[0, 0]


def rules_by_name():
    return {rule.name: rule for rule in load_rules()}


@pytest.mark.prometheus
def test_promtool_accepts_the_file():
    done = subprocess.run(
        [str(promtool_binary()), "check", "rules", "--lint=all", "--lint-fatal", str(RULES_FILE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(load_rules())} rules found" in done.stdout


def test_every_rule_column_has_its_rule():
    assert tuple(column_rules()) == RULE_COLUMNS


def test_every_recording_rule_has_its_column():
    recorded = {rule.name for rule in load_rules() if isinstance(rule, RecordingRule)}
    # The naive rules are compared with, and are no columns.
    naive = {"throttlescope:naive_throttle", "throttlescope:naive_consumer_capacity"}
    assert recorded - naive == {f"throttlescope:{column}" for column in RULE_COLUMNS}


def test_rules_read_what_is_pulled():
    read = {selector.metric_name for rule in load_rules() for selector in rule.selectors}
    # Known gap, documented in docs/reference/signals.md: not in the default set, NULL unless enabled.
    assert read - set(METRICS) <= {"pulsar_subscription_msg_rate_expired"}


def test_consumer_series_do_not_count_again():
    points = [(240, 1000), (180, 1600), (120, 2200), (60, 2800), (0, 3400)]
    data = [
        series("pulsar_out_messages_total", points, **SUB),
        series("pulsar_out_messages_total", points, **SUB, consumer_name="a", consumer_id="0"),
        # A consumer without a name is a consumer still.
        series("pulsar_out_messages_total", points, **SUB, consumer_id="1"),
    ]
    assert value("out_msg_rate_5m", *data) == pytest.approx(10, rel=0.1)
    assert value("out_msg_rate_5m", data[0]) == value("out_msg_rate_5m", *data)


def test_namespace_sums_are_no_subscription():
    assert (
        value(
            "delayed_entries", series("pulsar_subscription_delayed", [(0, 5)], cluster="c", namespace="t/n")
        )
        is None
    )
    assert value("delayed_entries", series("pulsar_subscription_delayed", [(0, 5)], **SUB)) == 5


def test_moved_topic_has_one_backlog():
    old = series("pulsar_subscription_back_log", [(30, 900)], **SUB)
    new = series("pulsar_subscription_back_log", [(0, 1000)], **{**SUB, "instance": "i2"})
    assert value("backlog_entries", old, new) == 1000


def test_old_instance_ends_at_staleness_marker():
    old = series("pulsar_subscription_back_log", [(30, 9000)], stale_ms=[NOW_MS - 15_000], **SUB)
    new = series("pulsar_subscription_back_log", [(0, 1000)], **{**SUB, "instance": "i2"})
    assert value("backlog_entries", old, new) == 1000


def test_topic_input_is_repeated_per_subscription():
    incoming = [series("pulsar_in_messages_total", [(240, 10_000), (120, 10_600), (0, 11_200)], **KEY)]
    backlog = [
        series("pulsar_subscription_back_log", [(0, n)], **KEY, subscription=n_)
        for n, n_ in ((1, "s"), (2, "z"))
    ]
    matrix = evaluate(
        rules_by_name()["throttlescope:in_msg_rate_5m"].plan,
        MemorySource([*incoming, *backlog]),
        Steps.at(NOW_MS),
    )
    assert [dict(labels)["subscription"] for labels in matrix.labels] == ["s", "z"]
    assert matrix.values[:, 0].tolist() == [matrix.values[0, 0]] * 2
    assert matrix.values[0, 0] == pytest.approx(5, rel=0.1)


def test_moved_topic_has_one_input():
    incoming = [
        series("pulsar_in_messages_total", [(240, 1000), (180, 1300)], **KEY),
        series("pulsar_in_messages_total", [(60, 100), (0, 400)], **{**KEY, "instance": "i2"}),
    ]
    assert value("in_msg_rate_5m", *incoming, series("pulsar_subscription_back_log", [(0, 1)], **SUB)) > 0


def test_age_counts_from_broker_timestamp():
    """Zero means never, and gives no age."""
    flow = "pulsar_subscription_last_consumed_flow_timestamp"
    assert value("last_flow_age_s", series(flow, [(0, NOW_MS - 90_000)], **SUB)) == pytest.approx(90)
    assert value("last_flow_age_s", series(flow, [(0, 0)], **SUB)) is None


def test_backlog_age_is_per_subscription():
    metric = "pulsar_subscription_storage_backlog_age_seconds"
    of_topic = series("pulsar_storage_backlog_age_seconds", [(0, 7200)], **KEY)
    backlog = series("pulsar_subscription_back_log", [(0, 1)], **SUB)
    assert value("subscription_backlog_age_s", series(metric, [(0, 90)], **SUB), of_topic, backlog) == 90
    assert value("subscription_backlog_age_s", series(metric, [(0, -1)], **SUB), of_topic, backlog) is None
    # Brokers expose it only when configured to.
    assert value("subscription_backlog_age_s", of_topic, backlog) is None


def test_an_unknown_backlog_age_is_nothing():
    backlog = series("pulsar_subscription_back_log", [(0, 1)], **SUB)
    assert (
        value("backlog_age_s", series("pulsar_storage_backlog_age_seconds", [(0, -1)], **KEY), backlog)
        is None
    )
    assert value("backlog_age_s", series("pulsar_storage_backlog_age_seconds", [(0, 0)], **KEY), backlog) == 0


def test_broker_output_belongs_to_its_subscriptions():
    backlog = series("pulsar_subscription_back_log", [(0, 1)], **SUB)
    rates = [
        series("pulsar_broker_rate_out", [(0, 70)], cluster="c"),
        series("pulsar_broker_rate_out", [(0, 90)], cluster="c", instance="i2"),
    ]
    assert value("broker_out_msg_rate", backlog, *rates) == 70


def test_consumers_are_counted_by_remaining_permits():
    permits = [
        series("pulsar_consumer_available_permits", [(0, left)], **SUB, consumer_name=name)
        for name, left in (("a", 0), ("b", -3), ("c", 500))
    ]
    assert value("consumers_without_permits", *permits) == 2
    assert value("consumers_without_permits", permits[2]) == 0
    assert value("consumers_without_permits") is None


def test_namespace_ack_rate_is_not_a_consumers():
    rates = [
        series("pulsar_consumer_msg_ack_rate", [(0, 7)], **SUB, consumer_name="a"),
        series("pulsar_consumer_msg_ack_rate", [(0, 9)], **SUB, consumer_name="b"),
        series("pulsar_consumer_msg_ack_rate", [(0, 1)], cluster="c", namespace="t/n"),
    ]
    assert value("consumer_ack_msg_rate_min", *rates) == 7
    assert value("consumer_ack_msg_rate_max", *rates) == 9


def test_evictions_are_repeated_per_subscription():
    """By any quota."""
    evictions = [
        series("pulsar_storage_backlog_quota_exceeded_evictions_total", points, **KEY, quota_type=kind)
        for kind, points in (("size", [(240, 0), (120, 0), (0, 2)]), ("time", [(240, 1), (120, 1), (0, 1)]))
    ]
    backlog = series("pulsar_subscription_back_log", [(0, 1)], **SUB)
    assert value("quota_evictions_5m", *evictions, backlog) == pytest.approx(2.0)
    assert value("quota_evictions_5m", *evictions) is None


def test_inflight_reads_belong_to_broker_subscriptions():
    backlog = series("pulsar_subscription_back_log", [(0, 1)], **SUB)
    left = [
        series("pulsar_ml_reads_available_inflight_bytes", [(0, 70)], cluster="c"),
        series("pulsar_ml_reads_available_inflight_bytes", [(0, 90)], cluster="c", instance="i2"),
    ]
    assert value("reads_available_inflight_bytes", backlog, *left) == 70


def naive_case(backlog, events):
    data = [
        series("pulsar_subscription_back_log_no_delayed", [(0, backlog)], **SUB),
        *(
            series(
                f"pulsar_subscription_dispatch_throttled_{unit}_events",
                [(120, 7), (60, 7), (0, 7 + n)],
                **SUB,
                reason=reason,
            )
            for unit, reason, n in events
        ),
    ]
    return value("naive_throttle", *data), value("naive_consumer_capacity", *data)


@pytest.mark.parametrize(
    ("backlog", "events", "expected"),
    [
        (1001, [("msg", "topic", 1)], (1001, None)),
        (1001, [("msg", "topic", 0), ("bytes", "broker", 3)], (1001, None)),
        (1001, [("msg", "topic", 0), ("bytes", "broker", 0)], (None, 1001)),
        (1001, [], (None, 1001)),
        (1000, [("msg", "topic", 1)], (None, None)),
    ],
)
def test_the_naive_rule(backlog, events, expected):
    assert naive_case(backlog, events) == expected
