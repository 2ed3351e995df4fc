"""PromQL that shows a symptom in Prometheus. In: a subscription's key. Out: query text.

The queries find a topic in both shapes that brokers print (partition inside ``topic``, or as a label of its own), and
in the lake, whose labels are normalised. ``cluster`` is left out: it may be called otherwise at the source.
"""

from __future__ import annotations

from functools import lru_cache

from throttlescope.ingest.core.selector import quote
from throttlescope.ingest.core.subscription_name import remote_cluster
from throttlescope.ingest.core.topic_name import is_scalable, topic_pattern
from throttlescope.models.diagnosis.window import SubscriptionKey


def of_topic(key: SubscriptionKey, **labels: str) -> str:
    """Matchers, in braces, for a topic partition's series."""
    rest = "".join([f",{name}={quote(value)}" for name, value in labels.items()])
    return "{" + _of_part(key.topic, key.partition) + rest + "}"


# A subscription is judged in many windows, and each asks with several selectors.
@lru_cache(maxsize=4096)
def _of_part(topic: str, partition: int) -> str:
    """Matchers of a topic partition."""
    if partition < 0:
        return f'topic={quote(topic)},partition=~"|-1"'
    # A broker that splits labels gives a segment the partition -1.
    numbers = f"|-1|{partition}" if is_scalable(topic) else f"|{partition}"
    return f"topic=~{quote(topic_pattern(topic, partition))},partition=~{quote(numbers)}"


def of_all_partitions(topic: str, subscription: str | None, partition: int | None = None) -> str:
    """Matchers, in braces, for the series of one partition of a topic, or of all: a subscription's, or without one the topic's."""
    labels = {} if subscription is None else {"subscription": subscription}
    if partition is not None:
        return of_topic(SubscriptionKey("", "", topic, partition, subscription or ""), **labels)
    matchers = [f"topic=~{quote(topic_pattern(topic, None))}"]
    return "{" + ",".join(matchers + [f"{name}={quote(value)}" for name, value in labels.items()]) + "}"


def backlog_and_dispatch(topic: str, subscription: str, partition: int | None) -> tuple[str, str]:
    """Backlog in entries, and what leaves it: messages per second of a subscription, entries per second of a replicator."""
    remote = remote_cluster(subscription)
    if remote is None:
        where = of_all_partitions(topic, subscription, partition)
        return (
            f"sum(pulsar_subscription_back_log{where})",
            f"sum(rate(pulsar_out_messages_total{without_consumers(where)}[5m]))",
        )
    where = of_all_partitions(topic, None, partition)[:-1] + f",remote_cluster={quote(remote)}}}"
    return f"sum(pulsar_replication_backlog{where})", f"sum(pulsar_replication_rate_out{where})"


def without_consumers(matchers: str) -> str:
    """The same matchers without the consumers' own series, which repeat what the subscription's count."""
    return matchers[:-1] + ',consumer_name=""}'


def of_subscription(key: SubscriptionKey, **labels: str) -> str:
    """Matchers, in braces, for a subscription's series."""
    return of_topic(key, subscription=key.subscription, **labels)


def of_segments(key: SubscriptionKey, metric: str) -> str | None:
    """A subscription's series on all segments of a scalable topic; of other topics there is no such query."""
    if not is_scalable(key.topic):
        return None
    return f"{metric}{of_all_partitions(key.topic, key.subscription)}"


def of_replicator(key: SubscriptionKey, metric: str) -> str:
    """The series of a replicator."""
    return f"{metric}{of_topic(key, remote_cluster=remote_cluster(key.subscription) or '')}"


def of_topic_elsewhere(key: SubscriptionKey, metric: str) -> str:
    """The same topic's series in the cluster that a replicator sends to."""
    return f"{metric}{of_topic(key, cluster=remote_cluster(key.subscription) or '')}"


def gauge(key: SubscriptionKey, metric: str) -> str:
    """A gauge of a subscription; of a replicator there is only its backlog."""
    if remote_cluster(key.subscription) is not None and metric.startswith("pulsar_subscription_back_log"):
        return of_replicator(key, "pulsar_replication_backlog")
    return f"{metric}{of_subscription(key)}"


def events(key: SubscriptionKey, level: str, unit: str, window_ms: int) -> str:
    metric = f"pulsar_subscription_dispatch_throttled_{unit}_events"
    return f"increase({metric}{of_subscription(key, reason=level)}[{_range(window_ms)}])"


def all_events(key: SubscriptionKey, window_ms: int) -> str:
    name = quote("pulsar_subscription_dispatch_throttled_(msg|bytes)_events")
    matchers = of_subscription(key).replace("{", "{__name__=~" + name + ",", 1)
    return f"sum by (__name__, reason) (increase({matchers}[{_range(window_ms)}]))"


def use(key: SubscriptionKey, level: str, unit: str, broker: str | None, window_ms: int) -> str | None:
    """What is used of a limiter, per second, by all that share it.

    ``consumer_name=""`` keeps out the consumers' own series of the same name, which would count twice.
    """
    metric = "pulsar_out_messages_total" if unit == "msg" else "pulsar_out_bytes_total"
    span = _range(window_ms)
    if level == "subscription" and remote_cluster(key.subscription) is not None:
        return of_replicator(key, f"pulsar_replication_{'rate' if unit == 'msg' else 'throughput'}_out")
    if level == "subscription":
        return f"rate({metric}{of_subscription(key, consumer_name='')}[{span}])"
    if level == "topic":
        return f"sum(rate({metric}{of_topic(key, consumer_name='')}[{span}]))"
    if broker is None:
        return None
    gauge_name = "pulsar_broker_rate_out" if unit == "msg" else "pulsar_broker_throughput_out"
    return f"{gauge_name}{{instance={quote(broker)}}}"


def flow(key: SubscriptionKey, window_ms: int) -> str:
    """Published minus dispatched, per second."""
    span = _range(window_ms)
    published = f"rate(pulsar_in_messages_total{of_topic(key)}[{span}])"
    dispatched = f"rate(pulsar_out_messages_total{of_subscription(key, consumer_name='')}[{span}])"
    return f"{published} - ignoring(subscription) {dispatched}"


def permits(key: SubscriptionKey) -> str:
    return f"max by (subscription) (pulsar_consumer_available_permits{of_subscription(key)})"


def age(key: SubscriptionKey, metric: str) -> str:
    """Seconds since a timestamp metric of the subscription."""
    return f"time() - {metric}{of_subscription(key)} / 1000"


def _range(window_ms: int) -> str:
    minutes = window_ms // 60_000
    return f"{minutes}m" if minutes else f"{window_ms // 1000}s"
