"""The client side of the twin: consumers that take, process, acknowledge and give back messages, one at a time."""

from __future__ import annotations

from throttlescope.models.throttling.twin.state import DispatcherState, Item, PortState, RetryLog, WorkerState
from throttlescope.models.throttling.world import EXPONENTIAL, NEVER_US, mixed


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
        self._start_timeout(item, number, now_us)
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
        if item.epoch != port.epoch and not item.given_back:
            return
        state = self.dispatchers[port.spec.dispatcher]
        spec = state.spec
        if spec.acks:
            item.timed = False
        if item.entry in state.acked_late:
            if not item.given_back:
                port.pending.pop(item.entry, None)
                self.fewer_unacked(port, state.log.msgs - item.acked_messages)
                self.drained(state, port, item.entry, now_us)
            return
        nacked = (
            item.redeliveries < spec.nack_times and mixed(item.entry, state.log.salt + 2) < spec.nack_below
        )
        if item.given_back:
            # The broker has it already; only an acknowledgement still means something.
            if spec.acks and not nacked:
                self._acknowledge_late(state, item, dead=self._reconsume(state, item, now_us))
            return
        dead = nacked and 0 <= spec.max_redeliver <= item.redeliveries
        if spec.acks and (dead or not nacked):
            dead = self._reconsume(state, item, now_us) or dead
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

    # -- acknowledgement time-outs, and what is reconsumed later ----------------------------------

    def _start_timeout(self, item: Item, number: int, now_us: int) -> None:
        """The client's time-out for an entry begins with its first message."""
        port = self.ports[item.port]
        state = self.dispatchers[port.spec.dispatcher]
        first = item.left == state.log.msgs - item.acked_messages
        if state.spec.ack_timeout_us and first and state.log.persistent and item.epoch == port.epoch:
            item.timed = True
            self.at(now_us + state.spec.ack_timeout_us, 2, number, 4, self.time_out, item)

    def time_out(self, item: Item, now_us: int) -> None:
        """An entry was not acknowledged in time: the client gives it back, though it may still work on it."""
        port = self.ports[item.port]
        if not item.timed or item.epoch != port.epoch:
            return
        item.timed = False
        state = self.dispatchers[port.spec.dispatcher]
        if 0 <= state.spec.max_redeliver <= item.redeliveries:
            if item.entry >= state.expired_below:
                state.counts["dead_letter_entries"] += 1
            self.acknowledge(item, now_us, counted=False)
            state.acked_late.add(item.entry)
        else:
            self.give_back(item, now_us)
        item.given_back = True

    def _acknowledge_late(self, state: DispatcherState, item: Item, *, dead: bool) -> None:
        """An acknowledgement of what was given back counts; what is read again of it later is a copy."""
        state.acked_late.add(item.entry)
        if item.entry < state.expired_below:
            return
        state.gone += 1
        state.counts["dead_letter_entries" if dead else "acked_entries"] += 1
        state.again = [other for other in state.again if other.entry != item.entry]
        state.replay.pop(item.entry, None)

    def _reconsume(self, state: DispatcherState, item: Item, now_us: int) -> bool:
        """Publish an entry's messages to the retry-letter topic, if that is their fate; True: they go to the dead-letter topic."""
        spec = state.spec
        if not spec.retry_below:
            return False
        again = isinstance(state.log, RetryLog)
        attempt = state.log.attempts[item.entry] if again else 0
        if attempt >= spec.retry_times or not (
            again or mixed(item.entry, state.log.salt + 2) < spec.retry_below
        ):
            return False
        if 0 <= spec.max_reconsume <= attempt:
            return True
        retry = self.dispatchers[spec.retry_dispatcher]
        retry.log.times_us += [now_us + self.machine.flow_us] * state.log.msgs
        retry.log.attempts += [attempt + 1] * state.log.msgs
        if retry.armed and retry.arm_us >= NEVER_US:
            self._arm(spec.retry_dispatcher, retry)
        return False

    # -- what reaches the broker ---------------------------------------------------------------------

    def acknowledge(self, item: Item, now_us: int, *, counted: bool = True) -> None:
        """The broker learns that an entry is done with; a cumulative acknowledgement covers all that the client had before."""
        port = self.ports[item.port]
        state = self.dispatchers[port.spec.dispatcher]
        covered = [item]
        if state.spec.cumulative:
            covered += [other for other in port.pending.values() if other.entry < item.entry]
        for other in covered:
            port.pending.pop(other.entry, None)
            if other.entry >= state.expired_below and state.log.persistent:
                state.gone += 1
                if counted:
                    state.counts["acked_entries"] += 1
        self.fewer_unacked(port, self.logs_msgs(port.spec.dispatcher) - item.acked_messages)
        self.drained(state, port, item.entry, now_us)

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
        # The request unblocks its consumer, however many unacknowledged messages are left.
        self._unblock(port, state)
        self.drained(state, port, item.entry, now_us)
        state.poll_asked = True
        state.asked_by.add(item.port)

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
        state.asked_by.add(self.ports.index(port))

    def fewer_unacked(self, port: PortState, messages: int) -> None:
        """Unacknowledged messages of a consumer and its subscription become fewer, which may unblock either."""
        state = self.dispatchers[port.spec.dispatcher]
        spec = state.spec
        if spec.kind == "single" or not state.log.persistent:
            return
        port.unacked -= messages
        state.unacked -= messages
        if port.unacked <= spec.max_unacked_consumer // 2:
            self._unblock(port, state)
        if state.blocked and state.unacked < spec.max_unacked_subscription // 2:
            state.blocked = False
            state.poll_asked = True

    @staticmethod
    def _unblock(port: PortState, state: DispatcherState) -> None:
        """A blocked consumer can take something again, and gets the permits that it requested meanwhile."""
        if port.blocked:
            port.blocked = False
            port.permits += port.parked
            state.total_permits += port.parked
            port.parked = 0
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
