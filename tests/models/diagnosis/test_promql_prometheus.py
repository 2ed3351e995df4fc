"""Evidence's queries on a real Prometheus: each finds its series, in both label shapes, and only its own."""

from __future__ import annotations

import pytest

from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis.window import SubscriptionKey

NOW_S = 1_795_000_500
WINDOW_MS = 300_000
TOPIC = "persistent://acme/shop/or.ders"
KEY = SubscriptionKey("prod", "acme/shop", TOPIC, 3, "billing")
ALONE = SubscriptionKey("prod", "acme/shop", TOPIC, -1, "billing")

#: Shape of the labels, the key that must find it, labels of its topic, and of its neighbours that must not be found.
SHAPES = {
    "joined": (KEY, {"topic": f"{TOPIC}-partition-3"}, {"topic": f"{TOPIC}-partition-33"}),
    "split": (KEY, {"topic": TOPIC, "partition": "3"}, {"topic": TOPIC, "partition": "33"}),
    "joined, not partitioned": (ALONE, {"topic": TOPIC}, {"topic": f"{TOPIC}-partition-0"}),
    "split, not partitioned": (
        ALONE,
        {"topic": TOPIC, "partition": "-1"},
        {"topic": TOPIC, "partition": "0"},
    ),
}


def queries(key: SubscriptionKey) -> dict[str, float]:
    """Query to its answer: the counters below rise by 1 per second."""
    return {
        promql.gauge(key, "pulsar_subscription_back_log"): 7.0,
        promql.events(key, "topic", "msg", WINDOW_MS): 300.0,
        promql.use(key, "subscription", "msg", None, WINDOW_MS): 1.0,
        # Two subscriptions share the topic.
        promql.use(key, "topic", "msg", None, WINDOW_MS): 2.0,
        promql.flow(key, WINDOW_MS): 0.0,
        promql.permits(key): 5.0,
        promql.age(key, "pulsar_subscription_last_acked_timestamp"): 60.0,
    }


def series(topic: dict[str, str]):
    def counter(name, **labels):
        labels = {"__name__": name, **topic, **labels}
        return labels, [((NOW_S - back) * 1000, float(1000 - back)) for back in range(600, -1, -15)]

    def gauge(name, value, **labels):
        return {"__name__": name, **topic, **labels}, [(NOW_S * 1000, value)]

    for subscription in ("billing", "audit"):
        yield counter("pulsar_out_messages_total", subscription=subscription)
        # What a broker with consumer metrics prints next to it, under the same name.
        yield counter(
            "pulsar_out_messages_total", subscription=subscription, consumer_name="c-1", consumer_id="1"
        )
        yield gauge("pulsar_subscription_back_log", 7.0, subscription=subscription)
    yield counter("pulsar_in_messages_total")
    for reason in ("broker", "topic", "subscription"):
        yield counter(
            "pulsar_subscription_dispatch_throttled_msg_events", subscription="billing", reason=reason
        )
    yield gauge("pulsar_consumer_available_permits", 5.0, subscription="billing", consumer_name="c-1")
    yield gauge("pulsar_subscription_last_acked_timestamp", (NOW_S - 60) * 1000.0, subscription="billing")


@pytest.mark.prometheus
def test_queries_find_their_series_in_both_label_shapes():
    for shape, (key, own, neighbour) in SHAPES.items():
        # A server each: the shapes never meet in one Prometheus.
        with running_prometheus() as server:
            write_series(server.url, [*series(own), *series(neighbour)])
            for query, expected in queries(key).items():
                result = server.query(query, NOW_S)
                assert len(result) == 1, (shape, query, result)
                assert float(result[0]["value"][1]) == pytest.approx(expected, rel=1e-3), (shape, query)
            both = server.query(promql.all_events(key, WINDOW_MS), NOW_S)
            assert {row["metric"]["reason"] for row in both} == {"broker", "topic", "subscription"}
