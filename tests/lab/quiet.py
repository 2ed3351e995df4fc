"""Do the admin API and Prometheus count alike? In, a live broker and Prometheus; out, one row per throttle counter.

Only meaningful where nothing is dispatched: counts that move differ by what happened since the last scrape.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import requests

UNITS = {"msg": "Msg", "bytes": "Bytes"}
REASONS = {"subscription": "Subscription", "topic": "Topic", "broker": "Broker"}


@dataclass(frozen=True)
class Comparison:
    """One throttle counter as both sources count it; ``series_events`` None means that Prometheus has no sample."""

    topic: str
    subscription: str
    unit: str
    reason: str
    admin_events: int
    series_events: float | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same number."""
        return self.series_events is not None and self.series_events == self.admin_events


def compare_counts(admin_url: str, prometheus_url: str, namespace: str) -> list[Comparison]:
    """Compare the six throttle counts of every subscription of a namespace.

    Parameters
    ----------
    admin_url, prometheus_url
        Addresses without path.
    namespace
        ``tenant/namespace``.
    """
    series = _series_counts(prometheus_url, namespace)
    answer = requests.get(f"{admin_url}/admin/v2/persistent/{namespace}", timeout=30)
    answer.raise_for_status()
    rows = []
    for topic in answer.json():
        path = topic.removeprefix("persistent://")
        stats = requests.get(f"{admin_url}/admin/v2/persistent/{path}/stats", timeout=30)
        stats.raise_for_status()
        for subscription, body in stats.json()["subscriptions"].items():
            for unit, unit_word in UNITS.items():
                for reason, reason_word in REASONS.items():
                    count = body[f"dispatchThrottled{unit_word}EventsBy{reason_word}Limit"]
                    key = (topic, subscription, unit, reason)
                    rows.append(Comparison(topic, subscription, unit, reason, count, series.get(key)))
    return rows


def _series_counts(prometheus_url: str, namespace: str) -> dict[tuple[str, str, str, str], float]:
    counts = {}
    for unit in UNITS:
        query = f"pulsar_subscription_dispatch_throttled_{unit}_events{{namespace={json.dumps(namespace)}}}"
        answer = requests.post(f"{prometheus_url}/api/v1/query", data={"query": query}, timeout=30)
        answer.raise_for_status()
        for row in answer.json()["data"]["result"]:
            labels = row["metric"]
            partition = labels.get("partition", "-1")
            suffix = "" if partition == "-1" else f"-partition-{partition}"
            key = (labels["topic"] + suffix, labels["subscription"], unit, labels["reason"])
            counts[key] = float(row["value"][1])
    return counts
