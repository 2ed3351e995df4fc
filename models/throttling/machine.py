"""What a machine adds to Pulsar's rules. In: nothing; out: latencies and sizes, which Pulsar does not define.

They are free parameters of the model: :data:`INSTANT` takes none of them into account (the worked examples), :data:`LAB` was fitted to
the recordings that were not kept aside.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Latencies in microseconds, stored sizes in bytes.

    Attributes
    ----------
    read_us, read_entry_us
        From plan to entries: for every read, and for every entry of it.
    notify_us
        From a published entry to the completion of a read that waited for it.
    send_us
        From the send to its completed write (single-active dispatchers plan only then).
    flow_us
        From the client's request for more messages to the broker.
    timer_late_us
        How much later than 1000 ms the back-off timer fires.
    entry_overhead_bytes, message_overhead_bytes
        What is stored of an entry and of each of its messages beside the payload.
    reconnect_us
        How long clients need to be back after an unload or a seek.
    """

    read_us: int = 0
    read_entry_us: int = 0
    notify_us: int = 0
    send_us: int = 0
    flow_us: int = 0
    timer_late_us: int = 1_000
    entry_overhead_bytes: int = 0
    message_overhead_bytes: int = 0
    reconnect_us: int = 100_000


INSTANT = Machine()
#: Fitted by ``python -m tests.lab.simulated.fit`` to the recordings of a real broker that are not kept aside: the stored sizes measured
#: (published bytes over published messages), the latencies by the least mean of error over target, each capped at 3, over dispatched
#: messages, backlog, drain time and events. An idle machine reads faster (0.5 ms, and 0.075 ms per entry): brokers, clients and
#: Prometheus shared two cores. No recording has an unload or a seek, so ``reconnect_us`` is an assumption.
LAB = Machine(
    read_us=3_000,
    read_entry_us=350,
    notify_us=1_000,
    send_us=1_000,
    flow_us=500,
    timer_late_us=1_000,
    entry_overhead_bytes=30,
    message_overhead_bytes=11,
    reconnect_us=300_000,
)
