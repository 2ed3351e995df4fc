"""A producer that writes JSON with a schema: in, a topic and a rate; out, messages of one schema version, then of the next.

The lab's other producers write bytes, which no cluster refuses.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

import pulsar
from pulsar.schema import JsonSchema, Record, String


class OrderV1(Record):
    """An order as it was."""

    text = String()


class OrderV2(Record):
    """An order with one more field: compatible, but a version of its own."""

    text = String()
    note = String(required_default=True)


class SchemaProducer:
    """A paced producer whose schema can change while it runs."""

    def __init__(self, service_url: str, topic: str, rate_msg: float, size_bytes: int, logger: Any) -> None:
        self._client = pulsar.Client(service_url, logger=logger, io_threads=1, message_listener_threads=1)
        self._topic, self._rate_msg, self._text = topic, rate_msg, "x" * size_bytes
        self._kind: type[Record] = OrderV1
        self._changed, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.scheduled = self.persisted = self.failed = 0
        self.error: str | None = None

    def start(self) -> None:
        """Begin to write."""
        self._producer = self._connect()
        self._thread.start()

    def change_schema(self) -> None:
        """Write the next version from now on."""
        self._kind = OrderV2
        self._changed.set()

    def stop(self) -> None:
        """Write no more."""
        self._stopping.set()
        self._thread.join(10)
        with contextlib.suppress(pulsar.PulsarException):
            self._client.close()

    def report(self) -> dict[str, Any]:
        """Messages so far, in the form of the other producers."""
        return {
            "scheduled": self.scheduled,
            "sent": self.scheduled,
            "persisted": self.persisted,
            "failed": self.failed,
        }

    def _connect(self) -> pulsar.Producer:
        return self._client.create_producer(
            self._topic, schema=JsonSchema(self._kind), batching_enabled=False, block_if_queue_full=True
        )

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            if self._changed.is_set():
                self._changed.clear()
                self._producer.close()
                self._producer = self._connect()
            now = time.monotonic()
            if due > now:
                time.sleep(min(due - now, 0.25))
                continue
            due += 1 / self._rate_msg
            self.scheduled += 1
            try:
                self._producer.send_async(
                    self._kind(**dict.fromkeys(self._kind._fields, self._text)), self._done
                )
            except pulsar.PulsarException as error:
                self.failed += 1
                self.error = str(error)

    def _done(self, result: pulsar.Result, _message_id: Any) -> None:
        if result == pulsar.Result.Ok:
            self.persisted += 1
        else:
            self.failed += 1
