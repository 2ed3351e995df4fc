"""The broker side of the twin, second half: who gets the entries of a read, and what is charged for them."""

from __future__ import annotations

import heapq

from throttlescope.models.throttling.twin.reading import Reading
from throttlescope.models.throttling.twin.state import DispatcherState, Item, PortState


class Dispatching(Reading):
    """Sends entries to consumers."""

    def dispatch(self, number: int, state: DispatcherState, items: list[Item], now_us: int) -> None:
        """Send what a read brought, charge for it, and read on."""
        if state.spec.kind == "single":
            self._dispatch_single(number, state, items, now_us)
            return
        if state.spec.kind == "key_shared":
            processed = self._dispatch_keys(number, state, items, now_us)
        else:
            processed = self._dispatch_shared(number, state, items, now_us)
        if processed or not (self.rules.retry_backoff or state.spec.kind == "key_shared"):
            state.backoff_us = 1_000
            self.poll(number, now_us)
        else:
            self.retry(number, state, now_us)

    def _dispatch_single(self, number: int, state: DispatcherState, items: list[Item], now_us: int) -> None:
        port = self.active_port(state)
        if port is None:
            alive = [item for item in items if state.is_waited_for(item.entry)]
            state.again = sorted([*alive, *state.again], key=lambda item: item.entry)
            return
        messages, size = self._send(state, port, items, now_us)
        at_us = now_us + self.machine.send_us
        # The limiters learn of it, and the next plan is made, only when the write is complete.
        index = self.ports.index(port)
        self.at(at_us, 3, number, 2, self.sent, number, index, port.session, len(items), messages, size)

    def sent(
        self, number: int, index: int, session: int, entries: int, messages: int, size: int, now_us: int
    ) -> None:
        """A write of a single-active dispatcher is complete, whatever was requested meanwhile on that connection."""
        state = self.dispatchers[number]
        if self.ports[index].session == session:
            self.charge(state, entries, messages, size, now_us)
            self.poll(number, now_us)

    def _dispatch_shared(self, number: int, state: DispatcherState, items: list[Item], now_us: int) -> int:
        per_entry = state.log.msgs
        remaining = per_entry * len(items)
        start = charged_entries = charged_messages = charged_bytes = 0
        while start < len(items):
            port = self._next(state)
            if port is None:
                break
            share = self._share(state, port, remaining)
            part = items[start : start + share]
            kept = [item for item in part if not self._delay(number, state, item, now_us)]
            messages, size = self._send(state, port, kept, now_us)
            charged_entries += len(kept)
            charged_messages += messages
            charged_bytes += size
            remaining -= messages
            start += share
        for item in items[start:]:
            self.add_replay(state, item)
        self.charge(state, charged_entries, charged_messages, charged_bytes, now_us)
        return min(start, len(items))

    def _share(self, state: DispatcherState, port: PortState, remaining: int) -> int:
        """How many entries one consumer gets before the next one's turn."""
        messages = min(remaining, port.permits)
        most = state.spec.max_unacked_consumer
        if most > 0:
            messages = min(messages, max(most - port.unacked, 0))
        return max(1, min(self.rules.round_robin, -(-messages // state.log.msgs)))

    def _next(self, state: DispatcherState) -> PortState | None:
        ports = self.ports_of(state)
        for step in range(len(ports)):
            port = ports[(state.round_robin + step) % len(ports)]
            if self.available(port):
                state.round_robin = (state.round_robin + step + 1) % len(ports)
                return port
        return None

    def _dispatch_keys(self, number: int, state: DispatcherState, items: list[Item], now_us: int) -> int:
        waiting = {state.log.key_of(entry) for entry in state.replay}
        draining = self.draining_keys(state)
        by_port: dict[int, list[Item]] = {}
        processed = 0
        left: dict[int, int] = {}
        for item in sorted(items, key=lambda item: item.entry):
            key = state.log.key_of(item.entry)
            owner = self.owner(state, item.entry)
            if owner is not None:
                left.setdefault(id(owner), owner.permits)
            fits = owner is not None and not owner.blocked and left[id(owner)] > 0
            blocked = key in draining or (key in waiting and self._older_waits(state, item.entry, key))
            if not fits or blocked:
                self.add_replay(state, item)
                waiting.add(key)
                continue
            # A batch counts once here; only what is sent takes permits by the message.
            left[id(owner)] -= 1
            processed += 1
            by_port.setdefault(self.ports.index(owner), []).append(item)
        entries = messages = size = 0
        for index in sorted(by_port):
            kept = [item for item in by_port[index] if not self._delay(number, state, item, now_us)]
            sent = self._send(state, self.ports[index], kept, now_us)
            entries, messages, size = entries + len(kept), messages + sent[0], size + sent[1]
        self.charge(state, entries, messages, size, now_us)
        return processed

    def _older_waits(self, state: DispatcherState, entry: int, key: int) -> bool:
        return any(other < entry and state.log.key_of(other) == key for other in state.replay)

    def _delay(self, number: int, state: DispatcherState, item: Item, now_us: int) -> bool:
        """Keep an entry that is not due yet; it costs neither permits nor tokens."""
        after_us = state.log.deliver_after_us
        if not after_us:
            return False
        due_us = state.log.time_us(item.entry) + after_us
        if due_us <= now_us + self.rules.delay_tick_us:
            return False
        heapq.heappush(state.delayed, (due_us, item.entry))
        self.arm_tick(number, state)
        return True

    def arm_tick(self, number: int, state: DispatcherState) -> None:
        """Wake up when the first delayed entry is due, at most once per tick."""
        if not state.delayed:
            return
        at_us = max(state.delayed[0][0], state.last_tick_us + self.rules.delay_tick_us)
        if state.tick_us is None or at_us < state.tick_us:
            state.tick_us = at_us
            self.at(at_us, 3, number, 4, self.tick, number, at_us)

    def tick(self, number: int, at_us: int, now_us: int) -> None:
        """The delayed delivery tracker wakes the dispatcher."""
        state = self.dispatchers[number]
        if state.tick_us != at_us:
            return
        state.tick_us, state.last_tick_us = None, now_us
        self.poll(number, now_us)
        # What is due and could not be read waits for the other reasons to poll.
        if state.delayed and state.delayed[0][0] > now_us:
            self.arm_tick(number, state)

    def _send(
        self, state: DispatcherState, port: PortState, items: list[Item], now_us: int
    ) -> tuple[int, int]:
        """Send entries to one consumer; returns messages and bytes."""
        if not items:
            return 0, 0
        per_entry, spec = state.log.msgs, state.spec
        acked = sum(item.acked_messages for item in items)
        messages = per_entry * len(items)
        size = sum(state.log.bytes_of(item.entry) for item in items)
        port.permits -= messages - acked
        state.total_permits -= messages - acked
        mean = messages / len(items)
        before = port.messages_per_entry
        port.messages_per_entry = mean if before == 0 else 0.9 * before + 0.1 * mean
        if spec.kind != "single":
            port.unacked += messages - acked
            state.unacked += messages - acked
            if 0 < spec.max_unacked_consumer <= port.unacked:
                port.blocked = True
            if 0 < spec.max_unacked_subscription <= state.unacked:
                state.blocked = True
        state.counts["out_messages"] += messages
        state.counts["out_bytes"] += size
        state.counts["out_entries"] += len(items)
        state.counts["redelivered_entries"] += sum(item.redeliveries > 0 for item in items)
        index = self.ports.index(port)
        for item in items:
            self.deliver(index, item, now_us)
        return messages, size
