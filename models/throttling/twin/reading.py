"""The broker side of the twin, first half: when a dispatcher polls, what it plans, and what a read brings."""

from __future__ import annotations

import heapq

from throttlescope.models.throttling.twin.clients import Clients
from throttlescope.models.throttling.twin.state import DispatcherState, Item, PortState
from throttlescope.models.throttling.world import NEVER_US, mixed

BACKOFF_US = 1_000_000
RETRY_MAX_US = 10_000
#: After a key of Key_Shared has become free its dispatcher polls so much later (``keySharedUnblockingIntervalMs``).
UNBLOCKING_US = 10_000


class Reading(Clients):
    """Polls and plans; dispatching what was read is in the class that builds on it."""

    def poll(self, number: int, now_us: int) -> None:
        """Run the dispatcher's routine that tries to read more."""
        state = self.dispatchers[number]
        if state.log.persistent:
            if self.rules.merges_reads and state.spec.kind != "single":
                if now_us < state.pass_until_us:
                    if not state.follows_up:
                        state.follows_up = True
                        self.at(state.pass_until_us, 3, number, 7, self._follow_up, number)
                    return
                state.pass_until_us = now_us + self.machine.pass_us
            state.counts["polls"] += 1
            (self._poll_single if state.spec.kind == "single" else self._poll_shared)(number, state, now_us)

    def _follow_up(self, number: int, now_us: int) -> None:
        """The one pass for all requests that came while another pass ran."""
        self.dispatchers[number].follows_up = False
        self.poll(number, now_us)

    def _poll_single(self, number: int, state: DispatcherState, now_us: int) -> None:
        port = self.active_port(state)
        if port is None or state.reading is not None or state.armed or port.permits <= 0:
            return
        entries = self._precise(port, port.permits) if self.rules.precise else port.permits
        plan = self._limited(number, state, min(entries, self.rules.read_batch), now_us)
        if plan is not None:
            self._read(number, state, *plan, now_us)

    def _poll_shared(self, number: int, state: DispatcherState, now_us: int) -> None:
        first = next((port.permits for port in self.ports_of(state) if self.available(port)), 0)
        permits = max(state.total_permits, first)
        if permits <= 0 or first <= 0:
            return
        entries = permits
        if self.rules.precise:
            ports = self.ports_of(state)
            drawn = mixed(state.counts["polls"], state.log.salt + 3) % len(ports)
            entries = self._precise(ports[drawn], permits)
        plan = self._limited(number, state, min(entries, self.rules.read_batch), now_us)
        if plan is None or state.replaying is not None:
            return
        chosen = self._replay_candidates(state, *plan, now_us)
        if chosen:
            state.replaying = chosen
            self._at_dispatcher(now_us + self._read_us(state, chosen, now_us), number, 1, self.replay_done)
        elif state.blocked:
            return
        elif state.reading is None and not state.armed:
            if state.spec.kind == "key_shared" and not self._may_look_ahead(state):
                self.retry(number, state, now_us)
                return
            self._read(number, state, *plan, now_us)

    def _may_look_ahead(self, state: DispatcherState) -> bool:
        most = min(self.rules.look_ahead_per_consumer * len(self.ports_of(state)), self.rules.look_ahead)
        return state.replaying is None and len(state.replay) < most

    @staticmethod
    def _precise(port: PortState, permits: int) -> int:
        per_entry = max(1, int(port.messages_per_entry + 0.5))
        return -(-permits // per_entry)

    # -- limiters ------------------------------------------------------------------------------

    def _limited(
        self, number: int, state: DispatcherState, entries: int, now_us: int
    ) -> tuple[int, int] | None:
        """Lower a plan by every limiter; None (and the back-off timer) when one gives nothing."""
        size = self.rules.read_bytes
        if self.rules.limits_caught_up or not state.active:
            for level, index in zip(("broker", "topic", "subscription"), state.spec.limiters, strict=True):
                limiter = self.limiters[index]
                before = entries, size
                if limiter.msg is not None:
                    entries = min(entries, limiter.msg.available(now_us))
                if limiter.bytes is not None:
                    size = min(size, limiter.bytes.available(now_us))
                state.counts[f"{level}_msg_events"] += entries < before[0]
                state.counts[f"{level}_bytes_events"] += size < before[1]
                if entries == 0 or size == 0:
                    self._arm_timer(number, state, now_us + BACKOFF_US + self.machine.timer_late_us)
                    return None
        return max(entries, 1), max(size, 1)

    def charge(self, state: DispatcherState, entries: int, messages: int, size: int, now_us: int) -> None:
        """Charge every limiter for what was sent, whichever one was binding."""
        if not self.rules.limits_caught_up and state.active:
            return
        amount = entries if self.rules.per_entry else messages
        for index in state.spec.limiters:
            limiter = self.limiters[index]
            if limiter.msg is not None and amount > 0:
                limiter.msg.charge(amount, now_us)
            if limiter.bytes is not None and size > 0:
                limiter.bytes.charge(size, now_us)

    def _arm_timer(self, number: int, state: DispatcherState, at_us: int) -> None:
        if state.timer_us is None:
            state.timer_us = at_us
            self._at_dispatcher(at_us, number, 3, self.timer_fires, at_us)

    def timer_fires(self, number: int, at_us: int, now_us: int) -> None:
        """The one-shot timer of the rate back-off or of the retry back-off."""
        state = self.dispatchers[number]
        if state.timer_us == at_us:
            state.timer_us = None
            self.poll(number, now_us)

    def retry(self, number: int, state: DispatcherState, now_us: int) -> None:
        """Poll again after 1 to 10 ms; shares its flag with the rate back-off."""
        self._arm_timer(number, state, now_us + state.backoff_us)
        state.backoff_us = min(2 * state.backoff_us, RETRY_MAX_US)

    # -- reads -----------------------------------------------------------------------------------

    def _entries_for(self, state: DispatcherState, entries: int, size: int) -> int:
        mean = max(1, state.log.estimate_bytes) + self.rules.estimate_extra_bytes
        return max(1, min(entries, size // mean))

    def _read_us(self, state: DispatcherState, found: list[Item], now_us: int) -> int:
        """What a read takes: entries that are young enough come from the broker's cache."""
        oldest_cached = state.log.published(now_us - self.rules.cache_us)
        stored = sum(item.entry < oldest_cached for item in found)
        read_us, entry_us = self.machine.young
        if not stored:
            return read_us + len(found) * entry_us
        return self.machine.read_us + stored * self.machine.read_entry_us + (len(found) - stored) * entry_us

    def _read(self, number: int, state: DispatcherState, entries: int, size: int, now_us: int) -> None:
        wanted = self._entries_for(state, entries, size)
        found = self._take(state, wanted, now_us)
        if found:
            state.reading = found
            self._at_dispatcher(now_us + self._read_us(state, found, now_us), number, 0, self.read_done)
            return
        state.armed = wanted
        self._arm(number, state)

    def _arm(self, number: int, state: DispatcherState) -> None:
        at_us = state.log.time_us(state.position) + self.machine.notify_us
        state.arm_us = at_us
        if at_us < NEVER_US:
            self._at_dispatcher(at_us, number, 5, self.armed_done, at_us)

    def _take(self, state: DispatcherState, most: int, now_us: int) -> list[Item]:
        """Up to so many entries from the read position: first those that have to be read again."""
        found = state.again[:most]
        del state.again[:most]
        last = min(state.log.published(now_us + 1), state.position + most - len(found))
        found += [Item(entry) for entry in range(state.position, last)]
        state.position = max(state.position, last)
        return found

    def read_done(self, number: int, turn: int, now_us: int) -> None:
        """A normal read brings its entries."""
        state = self.dispatchers[number]
        if state.turn == turn and state.reading is not None:
            found, state.reading = state.reading, None
            self.dispatch(number, state, found, now_us)

    def armed_done(self, number: int, at_us: int, now_us: int) -> None:
        """A read that waited for new entries completes, without checking the limiters again."""
        state = self.dispatchers[number]
        if state.armed and state.arm_us == at_us:
            found = self._take(state, state.armed, now_us)
            state.armed = 0
            self.dispatch(number, state, found, now_us)

    def replay_done(self, number: int, turn: int, now_us: int) -> None:
        """A replay read brings its entries."""
        state = self.dispatchers[number]
        if state.turn == turn and state.replaying is not None:
            found, state.replaying = state.replaying, None
            self.dispatch(number, state, found, now_us)

    def _replay_candidates(self, state: DispatcherState, entries: int, size: int, now_us: int) -> list[Item]:
        while state.delayed and state.delayed[0][0] <= now_us + self.rules.delay_tick_us:
            entry = heapq.heappop(state.delayed)[1]
            self.add_replay(state, Item(entry))
        most = self._entries_for(state, entries, size)
        chosen = []
        permits = {id(port): port.permits for port in self.ports_of(state)}
        draining = self.draining_keys(state)
        for entry in sorted(state.replay):
            if len(chosen) == most:
                break
            if state.spec.kind == "key_shared":
                owner = self.owner(state, entry)
                if owner is None or owner.blocked or permits[id(owner)] <= 0:
                    continue
                if state.log.key_of(entry) in draining:
                    continue
                permits[id(owner)] -= 1
            chosen.append(state.replay[entry])
        for item in chosen:
            del state.replay[item.entry]
        return chosen

    def add_replay(self, state: DispatcherState, item: Item) -> None:
        """An entry waits to be read again, unless it expired or was acknowledged meanwhile."""
        if state.is_waited_for(item.entry):
            state.replay[item.entry] = item

    def cancel_reads(self, state: DispatcherState) -> None:
        """Forget reads and timers; what they would have brought is read again."""
        state.turn += 1
        for items in (state.reading, state.replaying):
            state.again += [item for item in items or () if state.is_waited_for(item.entry)]
        state.reading = state.replaying = None
        state.armed = 0
        state.timer_us = None
        state.tick_us = None
        state.again.sort(key=lambda item: item.entry)

    def rewind(self, state: DispatcherState, port: PortState, cause: Item | None = None) -> None:
        """Everything that a consumer has not acknowledged is to be read again."""
        for item in port.pending.values():
            if state.is_waited_for(item.entry):
                more = item.redeliveries + 1 if item is cause else item.redeliveries
                state.again.append(Item(item.entry, more, item.acked_messages))
        port.pending.clear()
        port.epoch += 1
        self.clear_queue(self.workers[port.spec.worker], self.ports.index(port))
        state.again.sort(key=lambda item: item.entry)

    # -- who can take something --------------------------------------------------------------

    def ports_of(self, state: DispatcherState) -> list[PortState]:
        """Connected consumers, in the order of their list."""
        return [self.ports[number] for number in state.spec.ports if self.ports[number].connected]

    @staticmethod
    def available(port: PortState) -> bool:
        """Whether a consumer takes something now."""
        return port.permits > 0 and not port.blocked

    def active_port(self, state: DispatcherState) -> PortState | None:
        """The one consumer that a single-active dispatcher serves."""
        ports = self.ports_of(state)
        return ports[state.spec.active_offset % len(ports)] if ports else None

    def owner(self, state: DispatcherState, entry: int) -> PortState | None:
        """The consumer that owns an entry's key."""
        ports = self.ports_of(state)
        return ports[state.log.key_of(entry) % len(ports)] if ports else None

    def draining_keys(self, state: DispatcherState) -> set[int]:
        """Keys of which a connected consumer that no longer owns them has unacknowledged messages."""
        if not self.rules.drains_hashes or state.spec.kind != "key_shared":
            return set()
        ports = self.ports_of(state)
        return {
            state.log.key_of(entry)
            for port in ports
            for entry in port.pending
            if self.owner(state, entry) is not port
        }

    def drained(self, state: DispatcherState, port: PortState, entry: int, now_us: int) -> None:
        """A consumer is done with an entry; if it was the last one for which its key's new owner waited, poll a little later."""
        if not self.rules.drains_hashes or state.spec.kind != "key_shared" or not port.connected:
            return
        if self.owner(state, entry) is port or state.log.key_of(entry) in self.draining_keys(state):
            return
        number = port.spec.dispatcher
        self._arm_timer(number, state, now_us + UNBLOCKING_US)

    def logs_msgs(self, dispatcher: int) -> int:
        """Messages of every entry of a dispatcher's log."""
        return self.dispatchers[dispatcher].log.msgs

    def _at_dispatcher(self, at_us: int, number: int, kind: int, what, *arguments) -> None:
        if arguments:
            self.at(at_us, 3, number, kind, what, number, *arguments)
        else:
            self.at(at_us, 3, number, kind, what, number, self.dispatchers[number].turn)
