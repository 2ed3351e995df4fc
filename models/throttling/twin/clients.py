"""The client side of the twin: consumers that take, process, acknowledge and give back messages, one at a time."""

from __future__ import annotations

from throttlescope.models.throttling.twin.state import Item, PortState, WorkerState
from throttlescope.models.throttling.world import EXPONENTIAL, mixed


class Clients:
    """What happens at the clients; the rest of the simulation is in the classes that build on it."""

    def deliver(self, port_number: int, item: Item, now_us: int) -> None:
        """An entry arrives at the client of a port."""
        port = self.ports[port_number]
        worker = self.workers[port.spec.worker]
        item.port, item.epoch = port_number, port.epoch
        item.left = self.logs_msgs(port.spec.dispatcher) - item.acked_messages
        port.pending[item.entry] = item
        worker.queue.append(item)
        if worker.current is None:
            self.start_next(port.spec.worker, now_us)

    def start_next(self, number: int, now_us: int) -> None:
        """Take the next message from the queue; taking it is what gives its permit back."""
        worker = self.workers[number]
        if worker.hung or not worker.joined or not worker.queue:
            return
        item = worker.queue[0]
        worker.current = item
        item.left -= 1
        if item.left == 0:
            worker.queue.popleft()
        port = self.ports[item.port]
        port.taken += 1
        if port.taken >= max(1, port.spec.queue // 2):
            self.at(
                now_us + self.machine.flow_us, 2, number, 1, self.flow, item.port, port.taken, port.session
            )
            port.taken = 0
        worker.busy_until_us = now_us + self._processing_us(worker, item)
        worker.turn += 1
        self.at(worker.busy_until_us, 2, number, 0, self.finish, number, worker.turn)

    def _processing_us(self, worker: WorkerState, item: Item) -> int:
        if not worker.spec.exponential:
            return worker.processing_us
        log = self.dispatchers[self.ports[item.port].spec.dispatcher].log
        drawn = mixed(item.entry, log.salt + 1_000 + item.left) % len(EXPONENTIAL)
        return worker.processing_us * int(EXPONENTIAL[drawn]) >> 16

    def finish(self, number: int, turn: int, now_us: int) -> None:
        """A message is processed; the entry's last one acknowledges the entry or gives it back."""
        worker = self.workers[number]
        if worker.turn != turn or worker.hung:
            return
        item, worker.current = worker.current, None
        if item.left == 0:
            self.entry_done(item, number, now_us)
        self.start_next(number, now_us)

    def entry_done(self, item: Item, number: int, now_us: int) -> None:
        """Every message of an entry is processed."""
        port = self.ports[item.port]
        if item.epoch != port.epoch:
            return
        state = self.dispatchers[port.spec.dispatcher]
        spec = state.spec
        nacked = (
            item.redeliveries < spec.nack_times and mixed(item.entry, state.log.salt + 2) < spec.nack_below
        )
        dead = nacked and 0 <= spec.max_redeliver <= item.redeliveries
        if spec.acks and (dead or not nacked):
            if dead and item.entry >= state.expired_below:
                state.counts["dead_letter_entries"] += 1
            self.acknowledge(item, now_us, counted=not dead)
        elif nacked or spec.nack_delay_us:
            due_us = now_us + spec.nack_delay_us
            if spec.nack_timer_us:
                port.nacked.append((due_us, item))
                self._start_nack_timer(item.port, now_us)
            else:
                self.at(due_us, 2, number, 2, self.give_back, item)

    def _start_nack_timer(self, port_number: int, now_us: int) -> None:
        port = self.ports[port_number]
        port.nack_timer_us = now_us + self.dispatchers[port.spec.dispatcher].spec.nack_timer_us
        self.at(port.nack_timer_us, 2, port.spec.worker, 3, self.nack_timer, port_number, port.nack_timer_us)

    def nack_timer(self, port_number: int, at_us: int, now_us: int) -> None:
        """A client gives back what is due; what is not waits for the next time."""
        port = self.ports[port_number]
        if port.nack_timer_us != at_us:
            return
        port.nack_timer_us = None
        waiting, port.nacked = port.nacked, []
        for due_us, item in waiting:
            if due_us <= now_us:
                self.give_back(item, now_us)
            else:
                port.nacked.append((due_us, item))
        if port.nacked:
            self._start_nack_timer(port_number, now_us)

    def acknowledge(self, item: Item, now_us: int, *, counted: bool = True) -> None:
        """The broker learns that an entry is done with."""
        port = self.ports[item.port]
        state = self.dispatchers[port.spec.dispatcher]
        port.pending.pop(item.entry, None)
        if item.entry >= state.expired_below and state.log.persistent:
            state.gone += 1
            if counted:
                state.counts["acked_entries"] += 1
        self.fewer_unacked(port, self.logs_msgs(port.spec.dispatcher) - item.acked_messages)

    def give_back(self, item: Item, now_us: int) -> None:
        """A negative acknowledgement (or a time-out) reaches the broker."""
        port = self.ports[item.port]
        state = self.dispatchers[port.spec.dispatcher]
        if item.epoch != port.epoch or not state.log.persistent:
            return
        if state.spec.kind == "single":
            self.give_all_back(port, item, now_us)
            return
        port.pending.pop(item.entry, None)
        messages = self.logs_msgs(port.spec.dispatcher)
        acked = messages - 1 if state.spec.batch_index_ack else 0
        self.add_replay(state, Item(item.entry, item.redeliveries + 1, acked))
        self.fewer_unacked(port, messages - item.acked_messages)
        state.poll_asked = True

    def give_all_back(self, port: PortState, item: Item, now_us: int) -> None:
        """A single active consumer gives one back: the cursor rewinds, everything unacknowledged is read again."""
        number = port.spec.dispatcher
        state = self.dispatchers[number]
        self.cancel_reads(state)
        returned = 0
        worker = self.workers[port.spec.worker]
        for other in worker.queue:
            if self.ports[other.port] is port:
                returned += other.left
        self.rewind(state, port, item)
        port.permits += returned
        state.total_permits += returned
        state.poll_asked = True

    def fewer_unacked(self, port: PortState, messages: int) -> None:
        """Unacknowledged messages of a consumer and its subscription become fewer, which may unblock either."""
        state = self.dispatchers[port.spec.dispatcher]
        spec = state.spec
        if spec.kind == "single" or not state.log.persistent:
            return
        port.unacked -= messages
        state.unacked -= messages
        if port.blocked and port.unacked <= spec.max_unacked_consumer // 2:
            port.blocked = False
            port.permits += port.parked
            state.total_permits += port.parked
            port.parked = 0
            state.poll_asked = True
        if state.blocked and state.unacked < spec.max_unacked_subscription // 2:
            state.blocked = False
            state.poll_asked = True

    def flow(self, port_number: int, messages: int, session: int, now_us: int) -> None:
        """A client's request for more messages reaches the broker."""
        port = self.ports[port_number]
        if port.session != session or not port.connected:
            return
        if port.blocked:
            port.parked += messages
            return
        state = self.dispatchers[port.spec.dispatcher]
        port.permits += messages
        state.total_permits += messages
        state.poll_asked = True

    def clear_queue(self, worker: WorkerState, port_number: int) -> None:
        """The client drops the messages of a port; the one that it is processing is not lost."""
        worker.queue = type(worker.queue)(item for item in worker.queue if item.port != port_number)
