"""Changes of the twin by the timeline and the broker's tasks: limits, consumers, unloads, seeks, expiry, stats."""

from __future__ import annotations

from throttlescope.models.throttling.twin.dispatching import Dispatching
from throttlescope.models.throttling.twin.state import DispatcherState, Item
from throttlescope.models.throttling.world import Step


class Changes(Dispatching):
    """Applies the changes of a world."""

    now_us = 0

    def change(self, step: Step, now_us: int) -> None:
        """Do one step of the timeline."""
        if step.kind == "rates":
            self._renew(step.number, step.rates, now_us)
        elif step.kind == "processing":
            self.workers[step.number].processing_us = step.value
        elif step.kind == "join":
            self.join(step.number, now_us)
        elif step.kind == "leave":
            self.leave(step.number, now_us)
        elif step.kind == "hang":
            self._hang(step.number, now_us)
        elif step.kind == "resume":
            self._resume(step.number, now_us)
        elif step.kind == "unload":
            self._unload(step.number, now_us)
        elif step.kind == "seek":
            self._seek(step.number, step.value, now_us)

    def _renew(self, number: int, rates, now_us: int) -> None:
        log = self.world.limiters[number].log
        self.limiters[number].renew(rates, now_us, tuple(self.averages[log]))

    # -- consumers ---------------------------------------------------------------------------------

    def join(self, number: int, now_us: int) -> None:
        """A client connects to all its partitions and requests messages up to its queue size."""
        worker = self.workers[number]
        if worker.joined:
            return
        worker.joined = True
        for port in worker.spec.ports:
            self._connect(port, number, now_us)

    def _connect(self, number: int, worker: int, now_us: int) -> None:
        port = self.ports[number]
        port.connected = True
        port.permits = port.parked = port.unacked = port.taken = 0
        port.blocked = False
        port.session += 1
        port.epoch += 1
        self.at(
            now_us + self.machine.flow_us,
            2,
            worker,
            1,
            self.flow,
            number,
            max(1, port.spec.queue),
            port.session,
        )

    def leave(self, number: int, now_us: int) -> None:
        """A client closes; what it had not acknowledged goes to others, or is read again when there are none."""
        worker = self.workers[number]
        if not worker.joined:
            return
        worker.joined = False
        for port in worker.spec.ports:
            self._disconnect(port, now_us)
        worker.queue.clear()
        worker.current = None
        worker.turn += 1

    def _disconnect(self, number: int, now_us: int) -> None:
        port = self.ports[number]
        state = self.dispatchers[port.spec.dispatcher]
        was_active = state.spec.kind == "single" and self.active_port(state) is port
        port.connected = False
        port.session += 1
        others = bool(self.ports_of(state))
        if state.spec.kind == "single":
            # Its unacknowledged entries are read again at once, so a read that waits for new entries must not block that.
            if was_active or port.pending:
                self.cancel_reads(state)
        elif not others:
            self.cancel_reads(state)
            # Without consumers the replay list is cleared and the cursor rewinds.
            state.again += state.replay.values()
            state.again += [Item(entry) for _, entry in state.delayed]
            state.replay.clear()
            state.delayed.clear()
        state.total_permits -= port.permits
        state.unacked -= port.unacked
        port.permits = port.unacked = 0
        if others and state.spec.kind != "single":
            for item in port.pending.values():
                self.add_replay(state, Item(item.entry, item.redeliveries, item.acked_messages))
            port.pending.clear()
            port.epoch += 1
            self.clear_queue(self.workers[port.spec.worker], number)
        else:
            self.rewind(state, port)
        if not others:
            state.total_permits = state.unacked = 0
            state.blocked = False
        elif state.spec.max_unacked_subscription and state.unacked < state.spec.max_unacked_subscription // 2:
            state.blocked = False
        state.poll_asked = others

    def _hang(self, number: int, now_us: int) -> None:
        worker = self.workers[number]
        if not worker.hung:
            worker.hung = True
            worker.turn += 1
            worker.hung_left_us = max(0, worker.busy_until_us - now_us)

    def _resume(self, number: int, now_us: int) -> None:
        worker = self.workers[number]
        if not worker.hung:
            return
        worker.hung = False
        if worker.current is None:
            self.start_next(number, now_us)
        else:
            worker.busy_until_us = now_us + worker.hung_left_us
            worker.turn += 1
            self.at(worker.busy_until_us, 2, number, 0, self.finish, number, worker.turn)

    # -- topics ------------------------------------------------------------------------------------

    def _unload(self, log: int, now_us: int) -> None:
        """The topic closes and opens again: new dispatchers, full limiters, clients that come back."""
        renewed = set()
        for state in self.dispatchers:
            if state.spec.log != log:
                continue
            self._break(state, now_us)
            for index in state.spec.limiters[1:]:
                if index not in renewed:
                    renewed.add(index)
                    self._renew_fresh(index, now_us)

    def _renew_fresh(self, number: int, now_us: int) -> None:
        limiter = self.limiters[number]
        limiter.msg = limiter.bytes = None
        self._renew(number, limiter.rates, now_us)

    def _seek(self, number: int, target: int, now_us: int) -> None:
        """The cursor moves; consumers are disconnected for it and come back."""
        state = self.dispatchers[number]
        self._break(state, now_us)
        state.again.clear()
        state.acked_late.clear()
        state.position = state.gone = state.expired_below = target

    def _break(self, state: DispatcherState, now_us: int) -> None:
        self.cancel_reads(state)
        state.again += [item for item in state.replay.values() if state.is_waited_for(item.entry)]
        state.again += [Item(entry) for _, entry in state.delayed if state.is_waited_for(entry)]
        state.replay.clear()
        state.delayed.clear()
        state.sends.clear()
        state.total_permits = state.unacked = state.round_robin = 0
        state.blocked = False
        state.backoff_us = 1_000
        for number in state.spec.ports:
            port = self.ports[number]
            self.rewind(state, port)
            if not port.connected:
                continue
            port.connected = False
            port.session += 1
            port.permits = port.unacked = 0
            at_us = now_us + self.machine.reconnect_us
            self.at(at_us, 2, port.spec.worker, 3, self._reconnect, number, port.session)

    def _reconnect(self, number: int, session: int, now_us: int) -> None:
        port = self.ports[number]
        if port.session == session and self.workers[port.spec.worker].joined:
            self._connect(number, port.spec.worker, now_us)

    # -- the broker's own tasks ----------------------------------------------------------------------

    def stats_update(self, now_us: int) -> None:
        """Every minute: average publish rates for relative limits, and which cursors are caught up."""
        for number, log in enumerate(self.logs):
            entries = log.published(now_us) - log.published(now_us - self.rules.stats_us)
            messages = entries * log.msgs * 1_000_000 // self.rules.stats_us
            size = entries * log.estimate_bytes * 1_000_000 // self.rules.stats_us
            for unit, current in enumerate((messages, size)):
                average = self.averages[number][unit]
                self.averages[number][unit] = current if current > average else (current + average) // 2
        for number, limiter in enumerate(self.limiters):
            limiter.follow(tuple(self.averages[self.world.limiters[number].log]), now_us)
        for state in self.dispatchers:
            connected = bool(self.ports_of(state))
            unread = state.log.published(now_us) - state.position + len(state.again)
            state.active = connected and (
                self.rules.keeps_cursor_active
                or self.rules.backlogged_entries < 0
                or unread <= self.rules.backlogged_entries
            )

    def expire(self, now_us: int) -> None:
        """Every few minutes: entries older than the topic's TTL leave the backlog without having been dispatched."""
        for state in self.dispatchers:
            if not state.log.ttl_us or not state.log.persistent:
                continue
            below = state.log.published(now_us - state.log.ttl_us)
            if below <= state.expired_below:
                continue
            held = [item.entry for number in state.spec.ports for item in self.ports[number].pending.values()]
            held += [item.entry for item in (*state.again, *(state.reading or ()), *(state.replaying or ()))]
            held += [*state.replay, *(entry for _, entry in state.delayed)]
            held += range(state.position, below)
            expired = sum(entry < below and state.is_waited_for(entry) for entry in held)
            state.gone += expired
            state.counts["expired_entries"] += expired
            state.expired_below = below
            state.position = max(state.position, below)
            state.again = [item for item in state.again if item.entry >= below]
            state.replay = {entry: item for entry, item in state.replay.items() if entry >= below}
            state.delayed = sorted(item for item in state.delayed if item[1] >= below)
            if state.armed:
                # The read that waits now waits for the first entry that has not expired.
                self._arm(self.dispatchers.index(state), state)
