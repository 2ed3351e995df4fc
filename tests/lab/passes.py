"""How many passes of the read routine a request for redelivery has. In: a broker's version; out: throttled events per request.

``python -m tests.lab.passes 4.2.4`` starts a broker and prints a line. A limit of a period of an hour is used up, so that nothing is
dispatched any more and each pass is one event: the back-off timer's, one a second, and those of the requests. Messages are negatively
acknowledged one by one, further apart than the client's timer, so that each makes a request of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pulsar

from tests.lab.admin import Admin
from tests.lab.broker import running_broker
from tests.lab.producers import new_client
from throttlescope.models.throttling.scenario import Scenario

#: Between two requests. The client sends one at the third turn of its timer, a third of the delay, after the delay is over.
_APART_S = 0.2
_DELAY_MS = 100
_TIMER_POLL_S = 1.0015
_BODY = b"x" * 100


@dataclass(frozen=True)
class Passes:
    """What a broker counted while it was sent requests for redelivery one by one."""

    version: str
    requests: int
    events: int
    seconds: float
    load: float

    @property
    def per_request(self) -> float:
        """Events per request, less those of the back-off timer."""
        return (self.events - self.seconds / _TIMER_POLL_S) / self.requests


def measure(version: str, requests: int, scratch_dir: Path) -> Passes:
    """Send a broker so many requests for redelivery, and count events.

    Raises
    ------
    RuntimeError
        The messages did not all come back, so that some request was not sent.
    """
    scenario = _scenario(requests)
    path = f"/admin/v2/persistent/{scenario.namespace}/orders/stats"
    with running_broker("helm", scratch_dir=scratch_dir, version=version, heap_mb=512, direct_mb=768) as broker:
        admin = Admin(broker.admin_url, broker.cluster)
        admin.create_tenant()
        admin.create_topics(scenario)
        admin.set_limit(scenario, scenario.limits[0])
        # A policy reaches the dispatcher through a topic of its own.
        time.sleep(3)
        logger = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
        client = new_client(broker.service_url, logger)
        try:
            topic = f"persistent://{scenario.namespace}/orders"
            producer = client.create_producer(topic, batching_enabled=False)
            for _ in range(requests + 50):
                producer.send(_BODY)
            consumer = client.subscribe(
                topic,
                "billing",
                consumer_type=pulsar.ConsumerType.Shared,
                negative_ack_redelivery_delay_ms=_DELAY_MS,
            )
            held = [consumer.receive(timeout_millis=20_000) for _ in range(requests)]
            time.sleep(3)

            def counted() -> dict:
                return json.loads(admin.get_text(path) or "{}")["subscriptions"]["billing"]

            before, started_s = counted(), time.monotonic()
            for message in held:
                consumer.negative_acknowledge(message)
                time.sleep(_APART_S)
            time.sleep(1)
            after, seconds = counted(), time.monotonic() - started_s
        finally:
            client.close()
    if after["unackedMessages"] or after["msgOutCounter"] != before["msgOutCounter"]:
        raise RuntimeError(
            f"Pulsar {version}: {after['unackedMessages']} of {requests} messages were not given back, and"
            f" {after['msgOutCounter'] - before['msgOutCounter']} were sent meanwhile; expected none; is the machine too busy?"
        )
    name = "dispatchThrottledMsgEventsBySubscriptionLimit"
    return Passes(version, requests, after[name] - before[name], seconds, os.getloadavg()[0])


def _scenario(requests: int) -> Scenario:
    limit = {"level": "subscription", "set_at": "subscription", "topic": "orders", "subscription": "billing"}
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "passes",
            "topics": [{"name": "orders"}],
            "limits": [{**limit, "msg": requests, "period_s": 3600}],
            "subscriptions": [{"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 0}],
            "timeline": [{"name": "all", "duration_s": 60}],
        }
    )


def main() -> None:
    """Measure the versions that are named and print a line for each."""
    for version in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(version, 300, Path(scratch))
        print(
            f"{found.version}: {found.events} events in {found.seconds:.1f} s, {found.requests} requests:"
            f" {found.per_request:.3f} each, load {found.load:.0f}"
        )


if __name__ == "__main__":
    main()
