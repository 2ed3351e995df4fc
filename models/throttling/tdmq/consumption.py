"""Subscriptions: in, processed messages; out, deliveries pushed while the channel is open.

Consumers take whatever is pushed, so a message waits for nothing but its delay field, the subscription's pace and the throttle.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from throttlescope.models.throttling.tdmq.agenda import Agenda, Rank
from throttlescope.models.throttling.tdmq.records import Delivery, Request
from throttlescope.models.throttling.tdmq.scenario import Consumers
from throttlescope.models.throttling.tdmq.throttle_gates import TdmqGate, Throttle


@dataclass(slots=True)
class _Subscription:
    number: int
    gate: TdmqGate
    waiting: deque[Delivery] = field(default_factory=deque)
    ready_us: int = 0
    awaited: bool = False


class Consumption:
    """All subscriptions of a run; every node (partition) has the same number.

    Parameters
    ----------
    gates : list of TdmqGate
        One for each node (partition).
    deliveries : list of Delivery
        Filled with every delivery, in the order in which they become available.
    """

    def __init__(
        self,
        consumers: Consumers,
        agenda: Agenda,
        gates: list[TdmqGate],
        throttle: Throttle,
        deliveries: list[Delivery],
    ) -> None:
        self._consumers = consumers
        self._agenda = agenda
        self._throttle = throttle
        self._deliveries = deliveries
        self._at = {
            gate.place: [_Subscription(number, gate) for number in range(consumers.subscriptions)]
            for gate in gates
        }
        for gate in gates:
            gate.when_opened = self._opened

    def start(self) -> None:
        backlog = self._consumers.backlog
        for place, subscriptions in self._at.items():
            for number in range(backlog.messages if backlog else 0):
                for subscription in subscriptions:
                    self._wait(
                        subscription, Delivery(place, subscription.number, -1, number, backlog.size_bytes, 0)
                    )
            for subscription in subscriptions:
                self._push_at(subscription, 0)

    def add(self, request: Request) -> None:
        """Every subscription of the place gets the message, not before it is due."""
        due_us = max(self._agenda.now_us, request.available_us)
        if due_us > self._agenda.now_us:
            self._agenda.add(due_us, Rank.PUSH, self._due, request)
        else:
            self._due(request)

    def _due(self, request: Request) -> None:
        now_us = self._agenda.now_us
        for subscription in self._at[request.place]:
            delivery = Delivery(
                request.place,
                subscription.number,
                request.producer,
                request.number,
                request.size_bytes,
                now_us,
            )
            self._wait(subscription, delivery)
            self._push_at(subscription, now_us)

    def _wait(self, subscription: _Subscription, delivery: Delivery) -> None:
        self._deliveries.append(delivery)
        subscription.waiting.append(delivery)

    def _push_at(self, subscription: _Subscription, at_us: int) -> None:
        if not subscription.awaited:
            subscription.awaited = True
            self._agenda.add(max(at_us, subscription.ready_us), Rank.PUSH, self._push, subscription)

    def _push(self, subscription: _Subscription) -> None:
        subscription.awaited = False
        gate, now_us = subscription.gate, self._agenda.now_us
        if not gate.is_open or not subscription.waiting:
            return
        # The quota is looked at before and after a push, not within it: a push may exceed it by all but one message.
        for _ in range(min(self._consumers.push_messages, len(subscription.waiting))):
            delivery = subscription.waiting.popleft()
            delivery.pushed_us = now_us
            delivery.waited_for_channel = gate.was_closed_since(delivery.available_us)
            gate.count("consumption", delivery.size_bytes)
        subscription.ready_us = now_us + self._consumers.push_interval_us
        self._throttle.counted(gate, "consumption")
        if subscription.waiting:
            self._push_at(subscription, subscription.ready_us)

    def _opened(self, gate: TdmqGate) -> None:
        for subscription in self._at[gate.place]:
            self._push_at(subscription, self._agenda.now_us)
