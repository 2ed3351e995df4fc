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
LAB = Machine(
    read_us=3_000,
    read_entry_us=100,
    notify_us=500,
    send_us=300,
    flow_us=500,
    timer_late_us=2_000,
    entry_overhead_bytes=64,
    message_overhead_bytes=6,
    reconnect_us=300_000,
)
