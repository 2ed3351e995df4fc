"""An hour of a made fleet as a Prometheus has it. In: a number of subscriptions. Out: series with their scrapes.

The subscriptions are those of :mod:`benchmarks.fleet.signals`: counters are the sums of what each minute added, gauges as they stood. Every
broker is scraped at its own moment of the minute, a few milliseconds sooner or later each time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.fleet import signals as made
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

#: In which some subscriptions are in an episode.
HOUR = 12
START_MS = made.START_MS + HOUR * BLOCK_MS
END_MS = START_MS + BLOCK_MS
#: Metrics with the column of ``signals`` that each follows: 13 series a subscription, 3 a topic of two of them.
GAUGES = {
    "pulsar_subscription_back_log": "backlog_entries",
    "pulsar_subscription_unacked_messages": "unacked_msg",
    "pulsar_subscription_back_log_no_delayed": "backlog_ready_entries",
    "pulsar_subscription_consumers_count": "consumers",
}
COUNTERS = {
    "pulsar_out_messages_total": "out_msg_delta",
    "pulsar_out_bytes_total": "out_bytes_delta",
}
PERMITS = "pulsar_consumer_available_permits"
OF_TOPIC = {
    "pulsar_in_messages_total": "in_msg_delta",
    "pulsar_in_bytes_total": "in_bytes_delta",
}
WRITTEN = "pulsar_storage_write_rate"

Series = tuple[dict[str, str], np.ndarray, np.ndarray]


def hour_of_scrapes(subscriptions: int) -> Iterator[Series]:
    """Labels, times in epoch milliseconds and values: 60 scrapes of every series."""
    minutes = made.Fleet(subscriptions).hour(HOUR)
    names = ("cluster", "namespace", "topic", "partition", "subscription", "broker")
    texts = {name: minutes.column(name).to_pylist()[::60] for name in names if name != "broker"}
    rng = np.random.default_rng(2026)
    brokers = [f"broker-{at // 2 % 8}.pulsar.internal:8080" for at in range(subscriptions)]
    # A second before the end of the minute that a sample sums up.
    scrapes_ms = {
        name: START_MS + 58_000 + np.arange(60) * MINUTE_MS + rng.integers(0, 1_000) + rng.integers(0, 6, 60)
        for name in sorted(set(brokers))
    }

    def matrix(column: str) -> np.ndarray:
        values = minutes.column(column).cast(pa.float64()).combine_chunks().fill_null(0.0).to_numpy()
        return values.reshape(subscriptions, 60)

    def counted(column: str) -> np.ndarray:
        # It has counted for days.
        before = np.rint(matrix(column).mean(axis=1) * rng.uniform(1_000, 40_000, subscriptions))
        return np.rint(before[:, None] + np.cumsum(matrix(column), axis=1))

    own = [({"__name__": name}, matrix(column)) for name, column in GAUGES.items()]
    own += [({"__name__": name}, counted(column)) for name, column in COUNTERS.items()]
    own += [
        (
            {"__name__": f"pulsar_subscription_dispatch_throttled_{unit}_events", "reason": level},
            counted(f"throttled_{unit}_events_{level}_delta"),
        )
        for unit in UNITS
        for level in LEVELS
    ]
    own.append(({"__name__": PERMITS, "consumer_name": "c-0", "consumer_id": "0"}, matrix("permits_min")))
    shared = [({"__name__": name}, counted(column)) for name, column in OF_TOPIC.items()]
    shared.append(({"__name__": WRITTEN}, matrix("write_entry_rate")))
    for at in range(subscriptions):
        place = {name: str(texts[name][at]) for name in ("cluster", "namespace", "topic", "partition")}
        place["instance"] = brokers[at]
        times = scrapes_ms[brokers[at]]
        for labels, values in own:
            yield place | {"subscription": texts["subscription"][at]} | labels, times, values[at]
        # Two subscriptions have a topic: the first one's arrivals are the topic's.
        if at % 2 == 0:
            for labels, values in shared:
                yield place | labels, times, values[at]
