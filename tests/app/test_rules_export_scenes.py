"""Exported rules over made-up subscriptions: the branches that no shipped recording shows."""

from __future__ import annotations

import time

import numpy as np
import pytest
import requests
import yaml

from tests.app.api.serving import serving
from tests.app.lake_of_verdicts import healthy, lake_with
from tests.app.live_rules import MINUTE_MS, firing
from tests.lab.prometheus import running_prometheus, write_arrays
from tests.transforms.lakes import limit_row, table_of
from tests.transforms.rules_in_memory import results_of, scheduled
from throttlescope.app.rules_export import alert_rules as a
from throttlescope.app.rules_export.export import all_rules, export_rules
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.promql.source import Series

END_MS = 30 * MINUTE_MS
STEP_MS = 15_000
TIMES_MS = np.arange(0, END_MS, STEP_MS)
TOPIC = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/orders", "partition": "-1"}
LEVELS = ("broker", "topic", "subscription")


def gauge(name: str, value: float, **labels) -> Series:
    return Series(
        {"__name__": name, "instance": "b:8080", **TOPIC, **labels}, TIMES_MS, np.full(len(TIMES_MS), value)
    )


def rising(name: str, per_s: float, start: float = 0.0, **labels) -> Series:
    return Series(
        {"__name__": name, "instance": "b:8080", **TOPIC, **labels}, TIMES_MS, start + TIMES_MS / 1000 * per_s
    )


def limits(subscription: str, levels=LEVELS, period_s=1, **set_) -> list[Series]:
    """Six limits; those that are given as ``level_unit=(per_s, more labels)`` are set."""
    found = []
    for level in levels:
        for unit in ("msg", "bytes"):
            per_s, more = set_.get(f"{level}_{unit}", (float("inf"), {}))
            labels = {"subscription": subscription, "level": level, "unit": unit, "period_s": str(period_s)}
            found.append(gauge(LIMIT_METRIC, per_s, set_by="topic_policy", **labels, **more))
    return found


def scene(
    subscription="s", *, published=100.0, dispatched=50.0, grows=None, start=5000.0, permits=500.0, unacked=10.0,
    blocked=0.0, consumers=2.0, redelivered=0.0, per_entry=1.0, events=None, levels=LEVELS, period_s=1, **limits_set,
) -> list[Series]:  # fmt: skip
    """A subscription in a steady state for half an hour."""
    own = {"subscription": subscription}
    grows = (published - dispatched) / per_entry if grows is None else grows
    found = [
        rising("pulsar_subscription_back_log", grows, start, **own),
        rising("pulsar_subscription_back_log_no_delayed", grows, start, **own),
        gauge("pulsar_subscription_unacked_messages", unacked, **own),
        gauge("pulsar_subscription_blocked_on_unacked_messages", blocked, **own),
        gauge("pulsar_subscription_consumers_count", consumers, **own),
        gauge("pulsar_subscription_msg_rate_redeliver", redelivered, **own),
        rising("pulsar_out_messages_total", dispatched, **own),
        rising("pulsar_out_bytes_total", dispatched * 1000, **own),
        rising("pulsar_in_messages_total", published),
        rising("pulsar_in_bytes_total", published * 1000),
        gauge("pulsar_storage_write_rate", published / per_entry),
        *limits(subscription, levels, period_s, **limits_set),
    ]
    if permits is not None:
        found.append(
            gauge("pulsar_consumer_available_permits", permits, **own, consumer_id="0", consumer_name="x")
        )
    for limiter in (f"{level}.{unit}" for level in LEVELS for unit in ("msg", "bytes")):
        level, unit = limiter.split(".")
        rate = (events or {}).get(limiter, 0.0)
        found.append(
            rising(f"pulsar_subscription_dispatch_throttled_{unit}_events", rate, **own, reason=level)
        )
    return found


INFORMATIVE, TICKING = {"events_informative": "true"}, {"events_informative": "false"}
AT_LIMIT = {"subscription_msg": (50.0, TICKING), "events": {"subscription.msg": 2.0}}


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    (written, _) = export_rules(tmp_path_factory.mktemp("rules"), ExportOptions(scrape_interval_ms=STEP_MS))
    return scheduled(written.path, MINUTE_MS)


def fired(rules, *series) -> dict[str, set[str]]:
    """Alerts at the end, with what their labels add."""
    unique = {tuple(sorted(one.labels.items())): one for one in series}
    results, evaluation = results_of(rules, list(unique.values()), 0, END_MS)
    assert not any(outcome.failures for outcome in evaluation.outcomes.values())
    found: dict[str, set[str]] = {}
    for alert, subscription, _ in firing(results, END_MS - MINUTE_MS):
        found.setdefault(alert, set()).add(subscription)
    return found


def causes(found: dict[str, set[str]], subscription="s") -> set[str]:
    known = {a.THROTTLED, a.BOTH, a.NO_CONSUMERS, a.BLOCKED, a.REDELIVERY, a.SLOW, a.UNEXPLAINED}
    return {
        alert for alert, subscriptions in found.items() if alert in known and subscription in subscriptions
    }


#: What is changed about a steady scene, and the alert that has to fire.
CASES = [
    (AT_LIMIT, a.THROTTLED),
    # The queues are full as well.
    (AT_LIMIT | {"permits": 0.0}, a.BOTH),
    (AT_LIMIT | {"blocked": 1.0}, a.BLOCKED),
    (AT_LIMIT | {"consumers": 0.0, "dispatched": 0.0, "permits": None, "unacked": 0.0}, a.NO_CONSUMERS),
    # No plan is lowered: the use is near the limit by chance, and the queues are full.
    (AT_LIMIT | {"events": {}, "permits": 0.0}, a.SLOW),
    # Far from it, although every read counts as an event.
    ({"subscription_msg": (90.0, TICKING), "events": {"subscription.msg": 20.0}, "permits": 0.0}, a.SLOW),
    ({"permits": 0.0}, a.SLOW),
    ({"permits": 0.0, "redelivered": 30.0}, a.REDELIVERY),
    # Near the limit: a counter that means something is enough, one that ticks needs empty queues.
    ({"subscription_msg": (60.0, INFORMATIVE), "events": {"subscription.msg": 1.0}, "permits": 20.0, "unacked": 20.0}, a.THROTTLED),
    ({"subscription_msg": (60.0, TICKING), "events": {"subscription.msg": 1.0}}, a.THROTTLED),
    ({"subscription_msg": (60.0, TICKING), "events": {"subscription.msg": 1.0}, "permits": 20.0, "unacked": 20.0}, a.UNEXPLAINED),
    # A period of ten seconds: a plan is lowered every ten.
    (AT_LIMIT | {"period_s": 10, "events": {"subscription.msg": 0.1}}, a.THROTTLED),
    (AT_LIMIT | {"period_s": 600, "events": {"subscription.msg": 0.1}}, a.UNEXPLAINED),
    # Entries of ten messages under a limit of five entries.
    ({"subscription_msg": (5.0, {"counts": "entries", **TICKING}), "per_entry": 10.0, "events": {"subscription.msg": 2.0}}, a.THROTTLED),
    # 20 on top of what is published.
    ({"subscription_msg": (20.0, {"relative_to_publish": "true", **TICKING}), "dispatched": 119.0, "grows": 1.0,
      "events": {"subscription.msg": 2.0}}, a.THROTTLED),
    # Nobody knows of the broker's limit.
    ({"levels": ("topic", "subscription"), "permits": 0.0}, a.UNEXPLAINED),
    # Nothing is dispatched, and not because the queues are full.
    ({"dispatched": 0.0, "permits": 500.0, "unacked": 0.0}, a.UNEXPLAINED),
    # The consumers have room, and no limiter is near.
    ({"permits": 900.0, "unacked": 1.0}, a.UNEXPLAINED),
    # Half an hour is enough to work it off.
    ({"dispatched": 150.0, "start": 100_000.0, "permits": 0.0}, None),
    # Small and steady: what one read clears.
    ({"dispatched": 100.0, "start": 90.0, "permits": 0.0}, None),
    # 99 entries of a thousand messages under a limit that is used up.
    ({"subscription_msg": (1000.0, INFORMATIVE), "published": 1000.0, "dispatched": 1000.0, "per_entry": 1000.0, "start": 99.0,
      "grows": 0.0, "events": {"subscription.msg": 1.0}}, a.THROTTLED),
    # A thousand messages are with the consumers, and nothing waits for them.
    ({"dispatched": 100.0, "start": 1050.0, "unacked": 1000.0}, None),
]  # fmt: skip


@pytest.fixture(scope="module")
def alerts_by_case(rules):
    """All cases in one evaluation, each a topic of its own; what fires at the end by topic."""
    series = [
        Series({**one.labels, "topic": f"persistent://t/n/{n}"}, one.timestamps_ms, one.values)
        for n, (changed, _) in enumerate(CASES)
        for one in scene(**changed)
    ]
    results, evaluation = results_of(rules, series, 0, END_MS)
    assert not any(outcome.failures for outcome in evaluation.outcomes.values())
    return [
        [one for one in results if one.labels.get("topic") == f"persistent://t/n/{n}"]
        for n in range(len(CASES))
    ]


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(("number", "wanted"), [(n, wanted) for n, (_, wanted) in enumerate(CASES)])
def test_each_branch_has_its_alert(alerts_by_case, number, wanted):
    found: dict[str, set[str]] = {}
    for alert, subscription, _ in firing(alerts_by_case[number], END_MS - MINUTE_MS):
        found.setdefault(alert, set()).add(subscription)
    assert causes(found) == ({wanted} if wanted else set()), CASES[number][0]


@pytest.mark.long
def test_topic_limit_is_shared_by_subscriptions(rules):
    """A subscription whose queues are full is slow, although another one is throttled."""
    shared = {"topic_msg": (100.0, TICKING), "events": {"topic.msg": 2.0}}
    greedy = scene("greedy", dispatched=80.0, **shared)
    modest = scene("modest", dispatched=20.0, **shared)
    full = scene("modest", dispatched=20.0, permits=0.0, **shared)
    found = fired(rules, *greedy, *modest)
    assert found[a.THROTTLED] == {"greedy", "modest"}
    found = fired(rules, *greedy, *full)
    assert (causes(found, "greedy"), causes(found, "modest")) == ({a.THROTTLED}, {a.SLOW})


@pytest.mark.long
def test_broker_limit_is_shared_by_topics(rules):
    shared = {"broker_msg": (100.0, TICKING), "events": {"broker.msg": 2.0}}
    here = scene("here", dispatched=50.0, **shared)
    other = [
        Series({**one.labels, "topic": "persistent://t/n/clicks"}, one.timestamps_ms, one.values)
        for one in scene("there", dispatched=48.0, **shared)
    ]
    assert fired(rules, *here, *other)[a.THROTTLED] == {"here", "there"}
    # Served by another broker, each has the limit for itself.
    moved = [Series({**one.labels, "instance": "b2:8080"}, one.timestamps_ms, one.values) for one in other]
    assert a.THROTTLED not in fired(rules, *here, *moved)


@pytest.mark.long
def test_use_near_a_limit_alerts_without_backlog(rules):
    found = fired(
        rules, *scene(published=85.0, dispatched=85.0, start=0.0, subscription_msg=(100.0, INFORMATIVE))
    )
    assert found == {a.LIMIT_NEARLY_USED: {"s"}}
    found = fired(rules, *scene(published=85.0, dispatched=85.0, start=0.0, topic_msg=(100.0, INFORMATIVE)))
    assert found == {a.LIMIT_NEARLY_USED: {""}}
    assert (
        fired(rules, *scene(published=75.0, dispatched=75.0, start=0.0, topic_msg=(100.0, INFORMATIVE))) == {}
    )


@pytest.mark.long
def test_publish_throttling_raises_an_alert(rules):
    """The broker sets the metric to 0 every 60 s: scraped once a minute, a steady publish limit is a constant."""
    metric = "pulsar_publish_rate_limit_times"
    quiet = scene(dispatched=100.0, start=0.0)
    by_minute = rising(metric, 0.2)
    sawtooth = Series(by_minute.labels, TIMES_MS, TIMES_MS % MINUTE_MS / 1000 * 0.2)
    assert fired(rules, *quiet, gauge(metric, 0.0)) == {}
    assert set(fired(rules, *quiet, sawtooth)) == {a.PUBLISH_THROTTLED}
    assert set(fired(rules, *quiet, gauge(metric, 50.0))) == {a.PUBLISH_THROTTLED}


@pytest.mark.long
def test_full_quota_that_stops_producers_alerts(rules):
    """A quota that evicts keeps its topic published."""
    quiet = scene(dispatched=100.0, start=0.0)
    full = [
        gauge("pulsar_storage_backlog_size", 9000.0),
        gauge("pulsar_storage_backlog_quota_limit", 8000.0),
    ]
    stopped, published = gauge("pulsar_rate_in", 0.0), gauge("pulsar_rate_in", 5.0)
    assert set(fired(rules, *quiet, *full, stopped)) == {a.QUOTA_STOPS}
    assert fired(rules, *quiet, *full, published) == {}
    assert fired(rules, *quiet, full[0], gauge("pulsar_storage_backlog_quota_limit", -1.0), stopped) == {}


@pytest.mark.long
def test_old_backlog_raises_an_alert(rules):
    own, topic = "pulsar_subscription_storage_backlog_age_seconds", "pulsar_storage_backlog_age_seconds"
    healthy_scene = [*scene(dispatched=100.0, start=0.0), gauge(topic, 1700.0)]
    assert not {a.BACKLOG_OLD, a.TOPIC_BACKLOG_OLD} & set(fired(rules, *healthy_scene))
    # However few wait; the topic's age is that subscription's, and is not said twice.
    old = [gauge(own, 1900.0, subscription="s"), gauge(topic, 1900.0)]
    found = fired(rules, *healthy_scene[:-1], *old)
    assert found[a.BACKLOG_OLD] == {"s"}
    assert a.TOPIC_BACKLOG_OLD not in found
    # -1: the broker does not know the subscription's.
    found = fired(rules, *healthy_scene[:-1], gauge(own, -1.0, subscription="s"), gauge(topic, 1900.0))
    assert a.TOPIC_BACKLOG_OLD in found
    assert a.BACKLOG_OLD not in found
    # What Pulsar itself reads is no incident.
    own_reader = gauge(own, 1e6, subscription="__compaction")
    assert a.BACKLOG_OLD not in fired(rules, *healthy_scene, own_reader)


def test_objective_sets_the_age_of_the_alert():
    for age_s, text in ((90.0, "90 s"), (7200.0, "2 h")):
        alerts = [one for one in all_rules(ExportOptions(backlog_age_s=age_s)) if isinstance(one, Alerting)]
        (old,) = [one for one in alerts if one.alert == a.BACKLOG_OLD]
        assert old.expr.endswith(f"> {age_s:g}")
        assert f"the objective of {text}." in old.annotations["description"]


@pytest.mark.long
def test_old_or_missing_limits_alert(rules):
    observed = "throttlescope_limits_observed_timestamp_seconds"
    fresh = Series({"__name__": observed, "cluster": "c"}, TIMES_MS, TIMES_MS / 1000 - 3600)
    old = Series({"__name__": observed, "cluster": "c"}, TIMES_MS, TIMES_MS / 1000 - 90_000)
    quiet = scene(dispatched=100.0, start=0.0)
    assert fired(rules, *quiet, fresh) == {}
    assert set(fired(rules, *quiet, old)) == {a.LIMITS_OLD}
    assert set(fired(rules, *(one for one in quiet if one.labels["__name__"] != LIMIT_METRIC))) == {
        a.LIMITS_MISSING
    }


@pytest.mark.long
def test_pulsar_system_topics_raise_nothing(rules):
    alone = {"consumers": 0.0, "permits": None, "dispatched": 0.0, "unacked": 0.0}

    def of_topic(topic):
        return [
            Series({**one.labels, "topic": topic}, one.timestamps_ms, one.values) for one in scene(**alone)
        ]

    assert fired(rules, *scene("__compaction", **alone)) == {}
    assert fired(rules, *scene("compaction", **alone))
    for name in (
        "t/n/__change_events",
        "t/n/orders-billing__transaction_pending_ack",
        "pulsar/b:8080/healthcheck",
    ):
        assert fired(rules, *of_topic(f"persistent://{name}")) == {}
    assert fired(rules, *of_topic("persistent://t/n/healthcheck"))


def test_duplicate_limit_series_do_not_break_rules(rules):
    series = scene(**AT_LIMIT)
    again = [
        Series(
            {**one.labels, "instance": "other:8050", "set_by": "namespace_policy"},
            one.timestamps_ms,
            one.values,
        )
        for one in series
        if one.labels["__name__"] == LIMIT_METRIC
    ]
    assert causes(fired(rules, *series, *again)) == {a.THROTTLED}


def test_both_label_shapes_work_together(rules):
    """A broker whose setting is changed: its old series end, its new ones have another shape."""
    joined = []
    for one in scene(**AT_LIMIT):
        if one.labels["__name__"] == LIMIT_METRIC:
            joined.append(Series({**one.labels, "partition": "7"}, one.timestamps_ms, one.values))
            continue
        half = len(one.timestamps_ms) // 2
        labels = {name: value for name, value in one.labels.items() if name != "partition"}
        before = {**labels, "topic": f"{one.labels['topic']}-partition-7"}
        after = {**one.labels, "partition": "7"}
        joined.append(
            Series(before, one.timestamps_ms[:half], one.values[:half], one.timestamps_ms[half : half + 1])
        )
        joined.append(Series(after, one.timestamps_ms[half:], one.values[half:]))
    assert causes(fired(rules, *joined)) == {a.THROTTLED}


@pytest.mark.study
@pytest.mark.prometheus
@pytest.mark.long
def test_real_prometheus_evaluates_every_rule(tmp_path):
    """Brokers that put the partition into the topic, limits scraped from serve: they meet, and the alert fires."""
    now_ms = time.time_ns() // 1_000_000
    row = limit_row(
        "subscription", at_ms=now_ms - MINUTE_MS, msg=50, subscription="s", **TOPIC | {"partition": 3}
    )
    others = [row | {"level": level, "rate_msg": None, "set_by": "none"} for level in ("topic", "broker")]
    Lake(tmp_path / "lake").upsert("limits", table_of("limits", [row, *others]), run_id="test")
    lake_with(tmp_path / "lake", [healthy(0)])
    (rules, _) = export_rules(tmp_path, ExportOptions(scrape_interval_ms=STEP_MS, interval_ms=1000, for_ms=0))
    scraped = []
    for one in scene(**AT_LIMIT):
        labels = dict(one.labels)
        if labels.pop("partition") and labels["__name__"] != LIMIT_METRIC:
            labels["topic"] += "-partition-3"
            # From twenty minutes ago to nine minutes ahead, which is as far as Prometheus takes them.
            times_ms = one.timestamps_ms + (now_ms - 21 * MINUTE_MS)
            scraped.append((labels, times_ms, one.values))
    with serving(tmp_path / "lake", tmp_path / "serve.log") as server:
        target = {"targets": [server.url.removeprefix("http://")]}
        job = {"job_name": "throttlescope", "honor_labels": True, "static_configs": [target]}
        with running_prometheus(
            [job], scrape_interval_s=5, extra_flags=["--web.enable-lifecycle"]
        ) as prometheus:
            write_arrays(prometheus.url, scraped)
            config = yaml.safe_load(prometheus.config_file.read_text())
            prometheus.config_file.write_text(yaml.safe_dump(config | {"rule_files": [str(rules.path)]}))
            assert requests.post(f"{prometheus.url}/-/reload", timeout=30).status_code == 200
            firing_now = f'ALERTS{{alertname="{a.THROTTLED}", alertstate="firing"}}'
            deadline_s = time.monotonic() + 180
            while not (found := prometheus.query(firing_now)) and time.monotonic() < deadline_s:
                time.sleep(0.5)
            (alert,) = [one["metric"] for one in found]
            assert {"topic": TOPIC["topic"], "partition": "3", "subscription": "s"}.items() <= alert.items()
            while True:
                groups = requests.get(f"{prometheus.url}/api/v1/rules", timeout=30).json()["data"]["groups"]
                health = {
                    rule["name"]: (rule["health"], rule.get("lastError")) for rule in groups[0]["rules"]
                }
                if ("unknown", None) not in health.values() or time.monotonic() > deadline_s:
                    break
                time.sleep(0.5)
            assert set(health.values()) == {("ok", None)}, health
