"""The twin's clock: in, a world and a machine; out, every column at every full second."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from throttlescope.models.throttling.columns import COLUMNS, COUNTS, EVENTS, NO_METER
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.twin.changes import Changes
from throttlescope.models.throttling.twin.state import (
    DispatcherState,
    LimiterState,
    PortState,
    RetryLog,
    WorkerState,
)
from throttlescope.models.throttling.world import NEVER_US, World, mixed

#: The order of what happens in the same microsecond: changes, the broker's own tasks, clients, dispatchers.
CHANGES, TASKS, CLIENTS, DISPATCHERS = range(4)


def run_twin(world: World, machine: Machine, every_us: int = 1_000_000) -> dict[str, np.ndarray]:
    """Simulate one message at a time.

    Parameters
    ----------
    world
        The laid out scenario.
    machine
        Latencies.
    every_us
        Distance of the samples.

    Returns
    -------
    dict
        Arrays of int64, samples x dispatchers, one per name of ``columns.COLUMNS``; counts are totals.
    """
    return _Twin(world, machine, every_us).run()


class _Twin(Changes):
    def __init__(self, world: World, machine: Machine, every_us: int) -> None:
        self.world, self.machine, self.rules, self.every_us = world, machine, world.rules, every_us
        self.limiters = [LimiterState(world.rules.engine, item.rates) for item in world.limiters]
        for limiter in self.limiters:
            limiter.renew(limiter.rates, 0)
        # What clients publish belongs to this run, not to the world.
        self.logs = [RetryLog.of(log) if log.is_retry else log for log in world.logs]
        self.dispatchers = [
            DispatcherState(
                item,
                self.logs[item.log],
                position=item.first,
                gone=item.first,
                counts=dict.fromkeys(COUNTS, 0),
            )
            for item in world.dispatchers
        ]
        self.ports = [PortState(item) for item in world.ports]
        self.workers = [WorkerState(item, item.processing_us) for item in world.workers]
        self.averages = [[0, 0] for _ in world.logs]
        self._events: list[tuple] = []
        self._order = 0

    def at(self, at_us: int, phase: int, index: int, kind: int, what: Callable, *arguments: object) -> None:
        """Have something happen; in one microsecond the order is phase, number, kind, and then first come first."""
        self._order += 1
        heapq.heappush(self._events, (at_us, phase, index, kind, self._order, what, arguments))

    def run(self) -> dict[str, np.ndarray]:
        world = self.world
        samples = world.duration_us // self.every_us
        table = {name: np.zeros((samples, len(self.dispatchers)), np.int64) for name in COLUMNS}
        for number, worker in enumerate(world.workers):
            if worker.joined:
                self.join(number, 0)
        for order, step in enumerate(world.steps):
            self.at(step.at_us, CHANGES, order, 0, self.change, step)
        for at_us in range(self.rules.stats_us, world.duration_us, self.rules.stats_us):
            self.at(at_us, TASKS, 0, 0, self.stats_update)
        if any(log.ttl_us for log in world.logs):
            for at_us in range(self.rules.expiry_us, world.duration_us, self.rules.expiry_us):
                self.at(at_us, TASKS, 1, 0, self.expire)
        for number, state in enumerate(self.dispatchers):
            if not state.log.persistent:
                self._await_volatile(number, state)
        done = 0
        while done < samples:
            self._ask_polls()
            next_us = self._events[0][0] if self._events else NEVER_US
            while done < samples and (done + 1) * self.every_us <= next_us:
                self._sample(table, done, (done + 1) * self.every_us)
                done += 1
            if done == samples or next_us >= world.duration_us:
                continue
            at_us, _, _, _, _, what, arguments = heapq.heappop(self._events)
            self.now_us = at_us
            what(*arguments, at_us)
        return table

    def _ask_polls(self) -> None:
        """A requested poll runs once, after everything else at the clients in that microsecond."""
        for number, state in enumerate(self.dispatchers):
            if state.poll_asked and not state.poll_waits:
                state.poll_waits = True
                self.at(self.now_us, DISPATCHERS, number, 6, self._asked_poll, number)

    def _asked_poll(self, number: int, now_us: int) -> None:
        state = self.dispatchers[number]
        state.poll_asked = state.poll_waits = False
        # Every redelivery request has passes of its own. Two clients' requests meet in one microsecond only here, where
        # clients that started together work in step.
        passes = max(1, len(state.asked_by))
        for _ in state.asked_by:
            state.requests += 1
            passes += self._has_second_pass(state)
        state.asked_by.clear()
        for _ in range(passes):
            self.poll(number, now_us)

    def _has_second_pass(self, state: DispatcherState) -> bool:
        """Whether the client's request for no more messages, which a request for redelivery entails, has a pass of its own."""
        if state.spec.kind == "single":
            return True
        drawn = mixed(state.requests, state.log.salt + 4)
        return self.rules.redelivery_requests_flow and drawn < self.machine.second_pass_below

    # -- non-persistent topics -------------------------------------------------------------------

    def _await_volatile(self, number: int, state: DispatcherState) -> None:
        at_us = state.log.time_us(state.position)
        if at_us < NEVER_US:
            self.at(at_us + self.machine.notify_us, DISPATCHERS, number, 5, self._volatile, number)

    def _volatile(self, number: int, now_us: int) -> None:
        """No read loop and no limiter: an entry goes to a consumer with permits or is dropped."""
        state = self.dispatchers[number]
        for item in self._take(state, 1 << 40, now_us):
            port = self.active_port(state) if state.spec.kind == "single" else self._next(state)
            state.gone += 1
            if port is None or not self.available(port):
                state.counts["dropped_entries"] += 1
            else:
                unacked = port.unacked, state.unacked
                self._send(state, port, [item], now_us)
                # No acknowledgement is expected; unprocessed messages are gone.
                port.pending.clear()
                port.unacked, state.unacked = unacked
                port.blocked = state.blocked = False
        self._await_volatile(number, state)

    # -- samples -----------------------------------------------------------------------------------

    def _sample(self, table: dict[str, np.ndarray], row: int, before_us: int) -> None:
        for number, state in enumerate(self.dispatchers):
            published = state.log.published(before_us)
            state.counts["published_entries"] = published
            for name in COUNTS:
                table[name][row, number] = state.counts[name]
            table["backlog_entries"][row, number] = published - state.gone
            table["unacked_messages"][row, number] = state.unacked
            table["permits"][row, number] = sum(port.permits for port in self.ports_of(state))
            table["replay_entries"][row, number] = len(state.replay)
            table["delayed_entries"][row, number] = len(state.delayed)
            for level, unit in EVENTS:
                index = state.spec.limiters[("broker", "topic", "subscription").index(level)]
                meter = getattr(self.limiters[index], unit)
                value = NO_METER if meter is None else meter.balance()
                table[f"{level}_{unit}_tokens"][row, number] = value
