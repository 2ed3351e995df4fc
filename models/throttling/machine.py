"""Latencies and sizes of a machine. In: nothing; out: the figures that Pulsar's rules do not define.

They are free parameters of the model: :data:`INSTANT` takes none of them into account (the worked examples), :data:`LAB` was fitted to
the recordings outside the held-out set.
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
    cached_read_us, cached_entry_us
        The same where all entries, or an entry, are young enough to be in the broker's cache; None: no faster.
    notify_us
        From a published entry to the completion of a read that waited for it.
    send_us
        From the send to its completed write (single-active dispatchers plan only then).
    flow_us
        From the client's request for more messages to the broker.
    timer_late_us
        How much later than 1000 ms the back-off timer fires.
    entry_overhead_bytes, message_overhead_bytes
        Stored bytes of an entry and of each of its messages in addition to the payload.
    publish_tick_us
        Producers send in lots, so far apart; 0: every entry at its own time.
    nack_timer
        Clients send what is due when a timer of a third of the delay fires, which every negative
        acknowledgement restarts, as those in C++ and Python do; else each goes at its own time.
    reconnect_us
        How long clients need to be back after an unload or a seek.
    second_pass_share
        Of the requests for redelivery that ask for two passes of the dispatcher's read routine, the share whose second pass is one of its
        own: it is joined with the first where that has not begun yet when the second is requested.
    pass_us
        How long one pass of the dispatcher's read routine runs. Only versions that merge read requests need it; it was not
        measured, and 0 means that no request comes while a pass runs.
    """

    read_us: int = 0
    read_entry_us: int = 0
    cached_read_us: int | None = None
    cached_entry_us: int | None = None
    notify_us: int = 0
    send_us: int = 0
    flow_us: int = 0
    timer_late_us: int = 1_000
    entry_overhead_bytes: int = 0
    message_overhead_bytes: int = 0
    publish_tick_us: int = 0
    nack_timer: bool = False
    reconnect_us: int = 100_000
    second_pass_share: float = 1.0
    pass_us: int = 0

    @property
    def young(self) -> tuple[int, int]:
        """What a read of young entries takes, and each of them."""
        read_us = self.read_us if self.cached_read_us is None else self.cached_read_us
        return read_us, self.read_entry_us if self.cached_entry_us is None else self.cached_entry_us

    @property
    def second_pass_below(self) -> int:
        """Up to which 32-bit number a request for redelivery has a second pass of its own."""
        return round(self.second_pass_share * 2**32)


INSTANT = Machine()
#: Fitted by ``python -m tests.lab.simulated.fit`` to the recordings of a real broker outside the held-out set: the stored sizes measured
#: (published bytes over published messages), the latencies by the least mean of error over target, each capped at 3, over dispatched
#: messages, backlog, drain time and events. An idle machine reads faster (0.5 ms, and 0.075 ms per entry): brokers, clients and
#: Prometheus shared two cores. No recording has an unload or a seek, so ``reconnect_us`` is an assumption.
#: ``second_pass_share`` was measured apart from all recordings, by counting events of a broker that was sent single requests.
LAB = Machine(
    read_us=5_000,
    read_entry_us=250,
    cached_read_us=500,
    cached_entry_us=10,
    notify_us=500,
    send_us=600,
    flow_us=1_000,
    timer_late_us=3_000,
    entry_overhead_bytes=30,
    message_overhead_bytes=11,
    publish_tick_us=10_000,
    nack_timer=True,
    reconnect_us=300_000,
    second_pass_share=0.58,
)
