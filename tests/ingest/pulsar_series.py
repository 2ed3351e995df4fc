"""Series as a broker's scrape leaves them in Prometheus: in, topics and a range; out, what ``write_series`` takes."""

from __future__ import annotations

from collections.abc import Sequence

START_MS = 1_760_000_400_000
STEP_MS = 15_000

#: A whole UTC hour, and the scrapes in it.
HOUR_MS = 3_600_000
SCRAPES_PER_HOUR = HOUR_MS // STEP_MS

TARGET = {"job": "broker", "instance": "10.0.0.1:8080"}
SUBSCRIPTION_METRICS = (
    "pulsar_subscription_back_log",
    "pulsar_subscription_msg_rate_out",
    "pulsar_out_messages_total",
)
TOPIC_METRICS = ("pulsar_rate_in",)
BROKER_METRICS = ("pulsar_broker_rate_out", "pulsar_version_info")


def scrapes(hours: float, start_ms: int = START_MS, value: float = 1.0) -> list[tuple[int, float]]:
    """A sample per scrape, rising."""
    return [(start_ms + i * STEP_MS, value * i) for i in range(int(hours * SCRAPES_PER_HOUR))]


def broker(
    hours: float,
    *,
    topics: int = 3,
    partitions: int = 2,
    split: bool = True,
    cluster: str | None = "prod",
    start_ms: int = START_MS,
    subscriptions: Sequence[str] = ("billing", "audit"),
    namespace: str = "acme/shop",
    namespace_label: str = "namespace",
) -> list[tuple[dict[str, str], list[tuple[int, float]]]]:
    """A broker with partitioned topics. ``split`` makes the partition a label of its own, otherwise into it."""
    named = {"cluster": cluster} if cluster else {}
    samples = scrapes(hours, start_ms)
    series = [({"__name__": "up", **TARGET}, samples)]
    series += [({"__name__": name, **named, **TARGET}, samples) for name in BROKER_METRICS]
    for number in range(topics):
        for partition in range(partitions):
            topic = f"persistent://{namespace}/orders-{number}"
            place = (
                {"topic": topic, "partition": str(partition)}
                if split
                else {"topic": f"{topic}-partition-{partition}"}
            )
            labels = {**named, **TARGET, namespace_label: namespace, **place}
            series += [({"__name__": name, **labels}, samples) for name in TOPIC_METRICS]
            for subscription in subscriptions:
                labels = {**labels, "subscription": subscription}
                series += [({"__name__": name, **labels}, samples) for name in SUBSCRIPTION_METRICS]
    return series
