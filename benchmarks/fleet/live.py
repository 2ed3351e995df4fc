"""A fleet that is being scraped: every metric of the default set, whatever the clock says. In: a size, times. Out: series, their values.

One subscription in fifty has a backlog that grows; its topic is published to faster than it is dispatched. The others keep up.
"""

from __future__ import annotations

import numpy as np

from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.metrics import METRICS, Metric
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS

CLUSTER = "fleet"
#: Counters have counted for a day by then.
START_MS = 1_795_003_200_000 // BLOCK_MS * BLOCK_MS
_BUSY_ONE_IN = 50


class LiveFleet:
    """Series by metric.

    Attributes
    ----------
    labels : dict of str to list of dict
        By metric name, without ``__name__``; subscriptions in the order of their numbers.
    """

    def __init__(self, subscriptions: int) -> None:
        self.labels: dict[str, list[dict[str, str]]] = {name: [] for name in METRICS}
        for number in range(subscriptions):
            topic = number // 2
            labels = {
                "cluster": CLUSTER, "namespace": "bench/flow", "topic": f"persistent://bench/flow/topic-{topic}",
                "subscription": f"sub-{number}", "instance": f"broker-{topic % 3}:8080", "job": "pulsar",
            }  # fmt: skip
            of_topic = {name: value for name, value in labels.items() if name != "subscription"}
            for metric in METRICS.values():
                if metric.level == "subscription" and not metric.name.endswith("_events"):
                    self.labels[metric.name].append(labels)
                elif metric.level == "subscription":
                    self.labels[metric.name] += [labels | {"reason": level} for level in LEVELS]
                elif metric.level == "consumer":
                    self.labels[metric.name].append(labels | {"consumer_name": "c", "consumer_id": "0"})
                elif metric.level == "topic" and number % 2 == 0:
                    self.labels[metric.name].append(of_topic)
        for broker in range(3):
            labels = {"cluster": CLUSTER, "instance": f"broker-{broker}:8080", "job": "pulsar"}
            for metric in METRICS.values():
                if metric.level in ("broker", "target"):
                    self.labels[metric.name].append(labels)

    def values(self, metric: Metric, number: int, times_ms: np.ndarray) -> np.ndarray:
        """What the series of that number shows at those times."""
        s = (times_ms - START_MS + DAY_MS) / 1000
        busy = number % _BUSY_ONE_IN == 0
        if metric.name in ("pulsar_subscription_back_log", "pulsar_subscription_back_log_no_delayed"):
            return 30.0 * s if busy else np.zeros(len(s))
        if metric.name == "pulsar_out_messages_total":
            return (70.0 if busy else 100.0) * s
        if metric.kind == "counter" and metric.name.startswith("pulsar_in_"):
            return 100.0 * s
        if metric.name in ("pulsar_subscription_consumers_count", "up"):
            return np.ones(len(s))
        if metric.name == "pulsar_consumer_available_permits":
            return np.zeros(len(s)) if busy else np.full(len(s), 900.0)
        return np.zeros(len(s))

    def page(self, at_ms: int, instance: str) -> str:
        """What one of the brokers answers a scrape with, in Prometheus' text format."""
        times, lines = np.array([at_ms], np.int64), []
        for metric in METRICS.values():
            if metric.level == "target":
                continue
            for number, labels in enumerate(self.labels[metric.name]):
                if labels["instance"] == instance:
                    own = ",".join(
                        f'{name}="{text}"' for name, text in labels.items() if name not in ("instance", "job")
                    )
                    lines.append(f"{metric.name}{{{own}}} {self.values(metric, number, times)[0]:.17g}\n")
        return "".join(lines)
