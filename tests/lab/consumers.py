"""Consumers of one subscription: in, a :class:`~throttlescope.models.throttling.scenario.Subscription`; out, acknowledged messages.

A consumer takes ``processing_ms`` (or its own of ``each_processing_ms``) for every message: it is a thread that sleeps until the
message's time is over and then acknowledges it, so its capacity is ``1000 / processing_ms`` messages per second. What is given
back takes that time too, at every delivery.
"""

from __future__ import annotations

import contextlib
import threading
import time
import zlib
from typing import Any

import pulsar

from tests.lab.producers import new_client
from throttlescope.models.throttling.scenario import Subscription
from throttlescope.models.throttling.scenario.load import Redelivery

_TYPES = {
    "Exclusive": pulsar.ConsumerType.Exclusive,
    "Failover": pulsar.ConsumerType.Failover,
    "Shared": pulsar.ConsumerType.Shared,
    "Key_Shared": pulsar.ConsumerType.KeyShared,
}
_RECEIVE_TIMEOUT_MS = 250
#: A consumer that waited longer than this for a message was idle.
_IDLE_S = 0.01
_CATCH_UP_S = 0.05
_SUBSCRIBE_TRIES = 4


class SubscriptionLoad:
    """The consumers of a subscription, whose number and speed can change while they run."""

    def __init__(
        self,
        spec: Subscription,
        topics: list[str],
        service_url: str,
        logger: Any,
        client: pulsar.Client | None = None,
    ) -> None:
        self.spec = spec
        self.ack, self.redelivery = spec.ack, spec.redelivery
        self._further_ms, self._each_ms = spec.processing_ms, spec.each_processing_ms
        self._topics, self._service_url, self._logger = topics, service_url, logger
        self._client = client
        self._workers: list[_Worker] = []
        self._departed = {"acked": 0, "nacked": 0, "late_s": 0.0}
        self._lock = threading.Lock()

    def resize(self, consumers: int) -> None:
        """Connect or disconnect consumers until there are that many."""
        with self._lock:
            if self._client is None:
                self._client = new_client(self._service_url, self._logger)
            while len(self._workers) < consumers:
                worker = _Worker(self, self._subscribe(), self._takes_ms(len(self._workers)) / 1000)
                worker.start()
                self._workers.append(worker)
            leaving = self._workers[consumers:]
            del self._workers[consumers:]
            for worker in leaving:
                worker.leave()
            for worker in leaving:
                worker.join(10)
                self._departed["acked"] += worker.acked
                self._departed["nacked"] += worker.nacked
                self._departed["late_s"] += worker.late_s

    def set_processing(self, processing_ms: float) -> None:
        """Change the time that every message takes, for all consumers alike."""
        with self._lock:
            self._further_ms, self._each_ms = processing_ms, ()
            for worker in self._workers:
                worker.processing_s = processing_ms / 1000

    def set_ack(self, ack: str) -> None:
        """Replace the consumers by as many that acknowledge so; what they had not acknowledged comes back to the new ones."""
        consumers = len(self._workers)
        self.resize(0)
        self.ack = ack
        self.resize(consumers)

    def set_redelivery(self, nack_share: float) -> None:
        """Change the share of the messages that is given back."""
        assert self.redelivery is not None
        self.redelivery = self.redelivery.model_copy(update={"nack_share": nack_share})

    def _takes_ms(self, number: int) -> float:
        return self._each_ms[number] if number < len(self._each_ms) else self._further_ms

    def hang(self, consumers: int) -> None:
        """Let the newest so many consumers stop, with what they hold; the others go on."""
        with self._lock:
            first = len(self._workers) - consumers
            for number, worker in enumerate(self._workers):
                worker.hang(number >= first)

    def report(self) -> dict[str, Any]:
        """Return how many messages were acknowledged and given back, and how much later than planned in sum."""
        workers = list(self._workers)
        return {
            "consumers": len(workers),
            "acked": self._departed["acked"] + sum(worker.acked for worker in workers),
            "nacked": self._departed["nacked"] + sum(worker.nacked for worker in workers),
            "late_s": round(self._departed["late_s"] + sum(worker.late_s for worker in workers), 3),
        }

    def _subscribe(self) -> pulsar.Consumer:
        assert self._client is not None
        options: dict[str, Any] = {}
        redelivery = self.spec.redelivery
        if redelivery is not None:
            options["negative_ack_redelivery_delay_ms"] = redelivery.nack_delay_ms
            if redelivery.ack_timeout_ms is not None:
                options["unacked_messages_timeout_ms"] = redelivery.ack_timeout_ms
            if redelivery.max_redeliver is not None:
                options["dead_letter_policy"] = pulsar.ConsumerDeadLetterPolicy(redelivery.max_redeliver)
        if self.spec.batch_index_ack:
            options["batch_index_ack_enabled"] = True
        for more in reversed(range(_SUBSCRIBE_TRIES)):
            try:
                return self._client.subscribe(
                    self._topics[0] if len(self._topics) == 1 else self._topics,
                    self.spec.name,
                    consumer_type=_TYPES[self.spec.type],
                    receiver_queue_size=self.spec.receiver_queue,
                    **options,
                )
            except pulsar.PulsarException:
                # The broker may be away for a moment, on purpose.
                if not more:
                    raise
                time.sleep(2)
        raise AssertionError("unreachable")


class _Worker(threading.Thread):
    def __init__(self, load: SubscriptionLoad, consumer: pulsar.Consumer, processing_s: float) -> None:
        super().__init__(daemon=True)
        self.processing_s = processing_s
        self.acked = self.nacked = 0
        self.late_s = 0.0
        self._load, self._consumer = load, consumer
        self._leaving = threading.Event()
        self._going = threading.Event()
        self._going.set()

    def leave(self) -> None:
        self._leaving.set()
        self._going.set()

    def hang(self, hanging: bool) -> None:
        if hanging:
            self._going.clear()
        else:
            self._going.set()

    def run(self) -> None:
        consumer = self._consumer
        cumulative = self._load.ack == "cumulative"
        acknowledge = consumer.acknowledge_cumulative if cumulative else consumer.acknowledge
        silent = self._load.ack == "none"
        free_at = time.monotonic()
        while not self._leaving.is_set():
            # One that hangs keeps its connection, its queue and what it has not acknowledged.
            self._going.wait()
            asked_at = time.monotonic()
            try:
                message = consumer.receive(timeout_millis=_RECEIVE_TIMEOUT_MS)
            except pulsar.Timeout:
                continue
            except pulsar.PulsarException:
                if self._leaving.wait(0.5):
                    break
                continue
            if self.processing_s:
                now = time.monotonic()
                waited = now - asked_at > _IDLE_S
                # A busy consumer counts from the end of the previous message, so that oversleeping does not add up.
                free_at = (now if waited else max(free_at, now - _CATCH_UP_S)) + self.processing_s
                if free_at > now:
                    time.sleep(free_at - now)
                self.late_s += time.monotonic() - max(free_at, now)
            if not self._going.is_set():
                self._going.wait()
            redelivery = self._load.redelivery
            if redelivery is not None and _given_back(redelivery, message):
                consumer.negative_acknowledge(message)
                self.nacked += 1
            elif not silent:
                with contextlib.suppress(pulsar.PulsarException):
                    acknowledge(message)
                self.acked += 1
        with contextlib.suppress(pulsar.PulsarException):
            consumer.close()


def _given_back(redelivery: Redelivery, message: pulsar.Message) -> bool:
    """Say whether this delivery is negatively acknowledged; the message's identity alone decides which messages are."""
    if message.redelivery_count() >= redelivery.nack_times:
        return False
    place = message.message_id()
    name = f"{place.ledger_id()}:{place.entry_id()}:{place.batch_index()}".encode()
    return zlib.crc32(name) < redelivery.nack_share * 2**32
