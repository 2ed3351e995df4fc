"""What ``pulsar_publish_rate_limit_times`` means, on a real broker: a publish limit that is exceeded all the time, scraped by a real Prometheus."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pulsar
import pytest

from tests.lab.admin import Admin
from tests.lab.broker import running_broker
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.prometheus import running_prometheus
from throttlescope.app.rules_export.alert_rules import PUBLISH_THROTTLED, alerts
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.ingest.sources.pulsar_admin import AdminSnapshot, AdminTopic, PulsarAdmin
from throttlescope.transforms.limits import publish_limits

pytestmark = [pytest.mark.study, pytest.mark.broker, pytest.mark.prometheus, pytest.mark.timeout(600)]

METRIC = "pulsar_publish_rate_limit_times"
#: 60 s by default; shorter here, so that a minute shows what otherwise takes three.
STATS_EVERY_S = 20
STATS = {
    "statsUpdateInitialDelayInSecs": str(STATS_EVERY_S),
    "statsUpdateFrequencyInSecs": str(STATS_EVERY_S),
}
SCRAPE_S = 2
LIMITED_S, AFTER_S = 75, 45
LIMIT_MSG_PER_S, PENDING_MSG = 20, 100
#: After the last message was sent, what was pending is published at the limit; then the next stats update sets the count to 0.
ZERO_AFTER_S = PENDING_MSG / LIMIT_MSG_PER_S + STATS_EVERY_S + 2 * SCRAPE_S
#: Published to ``limited`` with a limit; to ``shared`` over the same connection and to ``apart`` over another without one.
TOPICS = ("limited", "shared", "apart")
#: Subscriptions of ``apart``: one on the connection that is paused, one on the other.
CONSUMERS = ("waits", "free")


@dataclass
class Seen:
    """Samples of the metric by topic, as (second, value), when publishing ended, whom the exported alert names, and what was asked meanwhile."""

    samples: dict[str, list[tuple[float, float]]]
    limited_until_s: float
    named_by_alert: set[str]
    named_after_lull: set[str]
    admin: AdminSnapshot


@contextlib.contextmanager
def publishing(client: pulsar.Client, topic: str, msg_per_s: float) -> Iterator[None]:
    """A thread that sends without waiting for receipts, so that the broker has to hold it back."""
    producer = client.create_producer(
        f"persistent://lab/shop/{topic}",
        batching_enabled=False,
        block_if_queue_full=True,
        max_pending_messages=PENDING_MSG,
    )
    done = threading.Event()

    def send() -> None:
        while not done.wait(1 / msg_per_s):
            producer.send_async(b"x" * 100, lambda *_: None)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(30)
        producer.close()


def consuming(stack: contextlib.ExitStack, client: pulsar.Client, name: str) -> None:
    """A consumer of ``apart`` that acknowledges at once."""
    consumer = client.subscribe("persistent://lab/shop/apart", name, receiver_queue_size=10)
    done = threading.Event()

    def receive() -> None:
        while not done.is_set():
            with contextlib.suppress(pulsar.Timeout):
                consumer.acknowledge(consumer.receive(timeout_millis=500))

    thread = threading.Thread(target=receive, daemon=True)
    thread.start()
    stack.callback(thread.join, 30)
    stack.callback(done.set)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no real broker here: {missing}")
    folder = tmp_path_factory.mktemp("publish")
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(running_broker("helm", STATS, scratch_dir=folder, max_lifetime_s=500))
        return _seen(stack, broker, folder)


def _seen(stack: contextlib.ExitStack, broker, folder: Path) -> Seen:
    admin = Admin(broker.admin_url, broker.cluster)
    admin.create_tenant()
    admin.call("PUT", "/namespaces/lab/shop", {"bundles": {"numBundles": 1}})
    for topic in TOPICS:
        admin.call("PUT", f"/persistent/lab/shop/{topic}")
    limit = {"publishThrottlingRateInMsg": LIMIT_MSG_PER_S, "publishThrottlingRateInByte": -1}
    admin.call("POST", "/persistent/lab/shop/limited/publishRate", limit)
    job = {
        "job_name": "pulsar",
        "metrics_path": "/metrics/",
        "static_configs": [{"targets": [broker.web_address]}],
    }
    admin.call("PUT", "/resourcegroups/small", {"publishRateInMsgs": 900, "dispatchRateInMsgs": 1})
    admin.call("POST", "/namespaces/lab/shop/resourcegroup/small")
    prometheus = stack.enter_context(
        running_prometheus(
            [job], scratch_dir=folder / "prometheus", scrape_interval_s=SCRAPE_S, max_lifetime_s=500
        )
    )
    clients = [
        pulsar.Client(
            broker.service_url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, str(folder / "client.log"))
        )
        for _ in range(2)
    ]
    for client in clients:
        stack.callback(client.close)
    for client, name in zip(clients, CONSUMERS, strict=True):
        consuming(stack, client, name)
    with (
        publishing(clients[0], "limited", 100),
        publishing(clients[0], "shared", 10),
        publishing(clients[1], "apart", 10),
    ):
        time.sleep(LIMITED_S)
        # Sent to the very end: what is exceeded here is exceeded at every scrape.
        until_s = time.time()
        named = _named(prometheus, "1m")
        topics = [AdminTopic(f"persistent://lab/shop/{name}", (-1,)) for name in TOPICS]
        asked = PulsarAdmin([broker.admin_url], calls_per_s=100).collect(
            "lab", topics[2:], publishers=topics[:2]
        )
    time.sleep(AFTER_S)
    samples = {topic: _samples(prometheus, topic) for topic in TOPICS}
    return Seen(samples, until_s, named, _named(prometheus, f"{AFTER_S - ZERO_AFTER_S:.0f}s"), asked)


def _named(prometheus, window: str) -> set[str]:
    options = ExportOptions()
    (alert,) = [one for one in alerts(options) if one.alert == PUBLISH_THROTTLED]
    found = prometheus.query(alert.expr.replace(f"[{options.window}]", f"[{window}]"))
    return {one["metric"]["topic"].rpartition("/")[2] for one in found}


def _samples(prometheus, topic: str) -> list[tuple[float, float]]:
    (found,) = prometheus.query(f'{METRIC}{{topic="persistent://lab/shop/{topic}"}}[10m]')
    return [(at_s, float(value)) for at_s, value in found["values"]]


def test_broker_resets_count_at_stats_update(seen: Seen) -> None:
    while_limited = [one for one in seen.samples["limited"] if one[0] <= seen.limited_until_s]
    falls_s = [after[0] for before, after in itertools.pairwise(while_limited) if after[1] < before[1]]
    assert len(falls_s) >= 2
    for before_s, after_s in itertools.pairwise(falls_s):
        assert after_s - before_s == pytest.approx(STATS_EVERY_S, abs=2 * SCRAPE_S)
    assert max(value for _, value in while_limited) > 5


def test_count_is_zero_after_producers_stop(seen: Seen) -> None:
    after = [value for at_s, value in seen.samples["limited"] if at_s > seen.limited_until_s + ZERO_AFTER_S]
    assert after
    assert set(after) == {0.0}


def test_pause_counts_for_all_connection_topics(seen: Seen) -> None:
    assert max(value for _, value in seen.samples["shared"]) > 5
    assert {value for _, value in seen.samples["apart"]} == {0.0}


def test_consumer_on_paused_connection_is_found(seen: Seen) -> None:
    """It waits for the connection: 5 s of what is pending at the limit, for 10 messages of its queue, under 10 msg/s."""
    rows = {row["subscription"]: row for row in seen.admin.topic_stats.to_pylist()}
    assert rows.keys() == set(CONSUMERS)
    assert (rows["waits"]["consumers_paused"], rows["free"]["consumers_paused"]) == (1, 0)
    assert rows["waits"]["pausing_topic"] == "persistent://lab/shop/limited"
    assert rows["waits"]["connection_pauses"] > 0
    assert rows["waits"]["backlog_entries"] > 100 > rows["free"]["backlog_entries"]
    assert rows["waits"]["permits_max"] == 0


def test_limits_of_publishing_are_resolved(seen: Seen) -> None:
    assert seen.admin.failures == []
    found = {(one.level, one.owner): one for one in publish_limits(seen.admin.policies.to_pylist())}
    limited = found["topic", "persistent://lab/shop/limited"]
    assert (limited.rate_msg, limited.rate_bytes, limited.set_by) == (LIMIT_MSG_PER_S, None, "topic_policy")
    assert found["topic", "persistent://lab/shop/apart"].set_by == "none"
    group = found["resource_group", "small"]
    assert (group.rate_msg, group.namespaces) == (900, ("lab/shop",))
    assert [one.rate_msg for (level, _), one in found.items() if level == "broker"] == [None]


def test_the_exported_alert_fires_and_ends(seen: Seen) -> None:
    assert seen.named_by_alert == {"limited", "shared"}
    assert seen.named_after_lull == set()
