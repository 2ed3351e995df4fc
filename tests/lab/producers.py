"""A producer of one topic: in, a :class:`~throttlescope.models.throttling.scenario.Producer`; out, messages on an absolute schedule.

Message ``k`` has a due time, sizes and keys are drawn from a generator that starts from the topic's name; nothing is skipped when the producer falls behind, and how late it was is reported.
"""

from __future__ import annotations

import datetime
import os
import random
import threading
import time
from typing import Any

import pulsar

from throttlescope.models.throttling.scenario import Producer

#: Messages due within one tick are sent together.
_TICK_S = 0.010
_ROUTING = {
    "round_robin": pulsar.PartitionsRoutingMode.RoundRobinDistribution,
    "key": pulsar.PartitionsRoutingMode.RoundRobinDistribution,
    "single": pulsar.PartitionsRoutingMode.UseSinglePartition,
    "hot": pulsar.PartitionsRoutingMode.UseSinglePartition,
}


def new_client(service_url: str, logger: Any) -> pulsar.Client:
    """A client, whose producers and consumers share one connection to a broker."""
    return pulsar.Client(service_url, logger=logger, io_threads=1, message_listener_threads=1)


class ProducerLoad:
    """A paced producer whose rate can change while it runs."""

    def __init__(
        self,
        spec: Producer,
        topic: str,
        service_url: str,
        logger: Any,
        *,
        partitions: int,
        until_s: float,
        client: pulsar.Client | None = None,
    ) -> None:
        self.spec, self._client = spec, client
        self._topic, self._service_url, self._logger = topic, service_url, logger
        # A hot partition and its neighbours are written to by name, one producer each.
        self._topics = (
            [f"{topic}-partition-{number}" for number in range(partitions)] if spec.hot else [topic]
        )
        self._factors = spec.factors(until_s)
        self._rate_msg = spec.rate_msg
        self._deliver_after_ms = spec.deliver_after_ms or 0
        self._stopping = threading.Event()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._producers: list[pulsar.Producer] = []
        self.scheduled = self.sent = self.persisted = self.failed = 0
        self.late_s = self.worst_late_s = 0.0

    def connect(self) -> None:
        """Open the connection, so that the start is not delayed by it."""
        client = self._client or new_client(self._service_url, self._logger)
        batching = self.spec.batching
        options: dict[str, Any] = {"batching_enabled": batching is not None}
        if batching is not None:
            options["batching_max_messages"] = batching.max_messages
            options["batching_max_publish_delay_ms"] = batching.max_delay_ms
        self._producers = [
            client.create_producer(
                topic,
                block_if_queue_full=True,
                max_pending_messages=self.spec.max_pending,
                max_pending_messages_across_partitions=4 * self.spec.max_pending,
                message_routing_mode=_ROUTING[self.spec.routing],
                **options,
            )
            for topic in self._topics
        ]

    def start(self, at_s: float) -> None:
        """Begin at an epoch time."""
        self._thread = threading.Thread(target=self._run, args=(at_s,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send no more."""
        self._stopping.set()
        self._changed.set()

    def set_rate(self, rate_msg: float) -> None:
        """Change the base rate from now on; the shape's factor stays, and messages that are overdue are not sent any more."""
        self._rate_msg = rate_msg
        self._changed.set()

    def set_delay(self, deliver_after_ms: int) -> None:
        """Change how much later the messages from now on are to be delivered; 0 means at once."""
        self._deliver_after_ms = deliver_after_ms

    def report(self) -> dict[str, Any]:
        """Return scheduled, sent, persisted and failed messages and the lateness."""
        return {
            "scheduled": self.scheduled,
            "sent": self.sent,
            "persisted": self.persisted,
            "failed": self.failed,
            "mean_late_ms": round(1000 * self.late_s / max(1, self.sent), 3),
            "worst_late_ms": round(1000 * self.worst_late_s, 1),
        }

    def _rate_at(self, since_start_s: float) -> float:
        factor = 1.0
        for from_s, value in self._factors:
            if since_start_s < from_s:
                break
            factor = value
        return self._rate_msg * factor

    def _run(self, at_s: float) -> None:
        assert self._producers
        payloads, shares = _payloads(self.spec)
        chance = random.Random(self.spec.topic)  # noqa: S311 - the same sequence every time
        keys, poisson = self.spec.keys or 0, self.spec.shape == "poisson"
        options: dict[str, Any] = {}
        weights = [self.spec.share_of(number, len(self._producers)) for number in range(len(self._producers))]
        # The schedule runs on the monotonic clock from the common start.
        start = time.monotonic() + at_s - time.time()
        due = start
        while not self._stopping.is_set():
            now = time.monotonic()
            rate = self._rate_at(now - start)
            if rate <= 0:
                self._changed.wait(0.25)
                self._changed.clear()
                due = time.monotonic()
                continue
            if due > now:
                time.sleep(min(max(due - now, _TICK_S), 0.25))
                continue
            while due <= now:
                if self._changed.is_set():
                    # What a publish limit left behind is no part of the new rate.
                    self._changed.clear()
                    due = time.monotonic()
                    break
                self.scheduled += 1
                payload = payloads[0] if len(payloads) == 1 else chance.choices(payloads, shares)[0]
                if keys:
                    options["partition_key"] = f"key-{chance.randrange(keys)}"
                if self._deliver_after_ms:
                    options["deliver_after"] = datetime.timedelta(milliseconds=self._deliver_after_ms)
                else:
                    options.pop("deliver_after", None)
                producer = (
                    chance.choices(self._producers, weights)[0] if self.spec.hot else self._producers[0]
                )
                try:
                    producer.send_async(payload, self._persisted, **options)
                except pulsar.PulsarException:
                    # Its broker is away; the schedule goes on.
                    self.failed += 1
                self.sent += 1
                late = time.monotonic() - due
                self.late_s += late
                self.worst_late_s = max(self.worst_late_s, late)
                due += chance.expovariate(rate) if poisson else 1 / rate

    def _persisted(self, result: pulsar.Result, _message_id: Any) -> None:
        if result == pulsar.Result.Ok:
            self.persisted += 1
        else:
            self.failed += 1


def _payloads(spec: Producer) -> tuple[list[bytes], list[float]]:
    if not spec.sizes:
        return [os.urandom(spec.size_bytes or 0)], [1.0]
    return [os.urandom(item.size_bytes) for item in spec.sizes], [item.share for item in spec.sizes]
