"""How many passes of the read routine an answer of a client causes. In: a broker's version; out: throttled events per answer.

``python -m tests.lab.passes 4.2.4`` starts a broker, sends it requests for redelivery and prints a line; with ``--acks`` it sends acknowledgements, without
a limit of unacknowledged messages. A limit of a period of an hour is used up, so that nothing is dispatched any more and each pass is
one event: the back-off timer's, one a second, and those of the answers. Messages are answered one by one, further apart than the client's timers, so that
each makes a request of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pulsar

from tests.lab.admin import Admin
from tests.lab.broker import running_broker
from tests.lab.producers import new_client
from throttlescope.models.throttling.scenario import Scenario

#: Between two answers. The client sends a request for redelivery within a third of the delay after it, an acknowledgement within 100 ms.
_APART_S = 0.2
_DELAY_MS = 100
_TIMER_POLL_S = 1.0015
_BODY = b"x" * 100


@dataclass(frozen=True)
class Passes:
    """What a broker counted while it was sent answers one by one."""

    version: str
    answers: int
    events: int
    seconds: float
    load: float

    @property
    def per_answer(self) -> float:
        """Events per answer, less those of the back-off timer."""
        return (self.events - self.seconds / _TIMER_POLL_S) / self.answers


def measure(version: str, answers: int, scratch_dir: Path, *, acks: bool = False) -> Passes:
    """Send a broker so many requests for redelivery (or acknowledgements), and count events.

    Raises
    ------
    RuntimeError
        Some message was not answered.
    """
    scenario = _scenario(answers, acks=acks)
    path = f"/admin/v2/persistent/{scenario.namespace}/orders/stats"
    with running_broker(
        "helm", scratch_dir=scratch_dir, version=version, heap_mb=512, direct_mb=768
    ) as broker:
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
            for _ in range(answers + 50):
                producer.send(_BODY)
            consumer = client.subscribe(
                topic,
                "billing",
                consumer_type=pulsar.ConsumerType.Shared,
                negative_ack_redelivery_delay_ms=_DELAY_MS,
            )
            held = [consumer.receive(timeout_millis=20_000) for _ in range(answers)]
            time.sleep(3)

            def counted() -> dict:
                return json.loads(admin.get_text(path) or "{}")["subscriptions"]["billing"]

            before, started_s = counted(), time.monotonic()
            for message in held:
                (consumer.acknowledge if acks else consumer.negative_acknowledge)(message)
                time.sleep(_APART_S)
            time.sleep(1)
            after, seconds = counted(), time.monotonic() - started_s
        finally:
            client.close()
    if after["unackedMessages"] or after["msgOutCounter"] != before["msgOutCounter"]:
        raise RuntimeError(
            f"Pulsar {version}: {after['unackedMessages']} of {answers} messages were not answered, and"
            f" {after['msgOutCounter'] - before['msgOutCounter']} were sent meanwhile; expected none; is the machine too busy?"
        )
    name = "dispatchThrottledMsgEventsBySubscriptionLimit"
    return Passes(version, answers, after[name] - before[name], seconds, os.getloadavg()[0])


def _scenario(answers: int, *, acks: bool) -> Scenario:
    limit = {"level": "subscription", "set_at": "subscription", "topic": "orders", "subscription": "billing"}
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "passes",
            "topics": [{"name": "orders", **({"max_unacked_per_consumer": 0} if acks else {})}],
            "limits": [{**limit, "msg": answers, "period_s": 3600}],
            "subscriptions": [
                {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 0}
            ],
            "timeline": [{"name": "all", "duration_s": 60}],
        }
    )


def main() -> None:
    """Measure the versions that are named and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("versions", nargs="+")
    parser.add_argument(
        "--acks", action="store_true", help="acknowledge, without a limit of unacknowledged messages"
    )
    parser.add_argument("--answers", type=int, default=300)
    arguments = parser.parse_args()
    for version in arguments.versions:
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(version, arguments.answers, Path(scratch), acks=arguments.acks)
        print(
            f"{found.version}: {found.events} events in {found.seconds:.1f} s, {found.answers} answers:"
            f" {found.per_answer:.3f} each, load {found.load:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
