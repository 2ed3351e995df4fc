"""What a scenario's backlog would be if messages were water: in, a scenario and a world; out, the series that a scrape would see.

Second by second, with rates and times alone: no reads, no permits, no cache. Good enough to say whether a drawn scenario's checks can
be seen, and slow. A world says how much a limiter and consumers let through; what a real broker does lies between two worlds.
"""

from __future__ import annotations

import heapq
import itertools

from tests.lab.checks import Span
from tests.lab.readback import Series
from tests.naive.lab_fluid_state import Queue, Reader, World
from throttlescope.models.throttling.scenario import (
    Hang,
    LiftLimit,
    Limit,
    Producer,
    Scenario,
    SetAck,
    SetBacklogQuota,
    SetConsumers,
    SetDelay,
    SetLimit,
    SetRate,
    SetRedelivery,
    SetTtl,
    Subscription,
)

_CHECK_S = 60
_FOR_EVER = 100


def fluid(scenario: Scenario, world: World) -> tuple[list[Span], list[Series]]:
    """Let a scenario run.

    Parameters
    ----------
    scenario
        A checked scenario; the first reader of several topics is not modelled.
    world
        What comes through.

    Returns
    -------
    tuple
        The spans of the states, and series at the scrape interval as Prometheus would have them, times from 0.
    """
    return _Fluid(scenario, world).run()


class _Fluid:
    def __init__(self, scenario: Scenario, world: World) -> None:
        self.scenario, self.world = scenario, world
        self.limits = {_place(limit): limit for limit in scenario.limits}
        self.rates = {item.topic: item.rate_msg for item in scenario.producers}
        self.delays_ms = {item.topic: item.deliver_after_ms or 0 for item in scenario.producers}
        self.ttl_s = {topic.name: topic.ttl_s for topic in scenario.topics}
        self.quota = {topic.name: topic.backlog_quota for topic in scenario.topics}
        self.readers = {
            item.name: Reader(
                item,
                [item.takes_ms(number) for number in range(item.consumers)],
                item.processing_ms,
                ack=item.ack,
                nack_share=item.redelivery.nack_share if item.redelivery else 0.0,
            )
            for item in scenario.subscriptions
        }
        self.queues = {
            (item.name, partition): Queue()
            for item in scenario.subscriptions
            for partition in scenario.partitions_of(item.topic)
        }
        self.series: dict[tuple[tuple[str, str], ...], Series] = {}

    def run(self) -> tuple[list[Span], list[Series]]:
        spans, second = [], 0
        for state in self.scenario.timeline:
            for step in state.interventions:
                self._change(step)
            end = second + round(state.duration_s)
            spans.append(Span(state.name, 1000 * second, 1000 * end))
            for now in range(second, end):
                self._second(now)
                if now % self.scenario.scrape_interval_s == 0:
                    self._scrape(now)
            second = end
        return spans, list(self.series.values())

    # -- one second ---------------------------------------------------------------------------

    def _second(self, now: int) -> None:
        for producer in self.scenario.producers:
            self._publish(producer, now)
        for name, reader in self.readers.items():
            queues = [queue for (subscription, _), queue in self.queues.items() if subscription == name]
            self._consume(reader, queues)
        if now % _CHECK_S == self.world.check_phase_s:
            self._lose(now)

    def _publish(self, producer: Producer, now: int) -> None:
        factor = [value for from_s, value in producer.factors(self.scenario.duration_s) if from_s <= now][-1]
        amount = self.rates[producer.topic] * factor
        delay_s = self.delays_ms[producer.topic] / 1000
        partitions = self.scenario.partitions_of(producer.topic)
        for (name, partition), queue in self.queues.items():
            if self.readers[name].spec.topic != producer.topic:
                continue
            count = amount * producer.share_of(max(partition, 0), len(partitions))
            if delay_s:
                heapq.heappush(queue.later, (now + delay_s, now, count))
            elif count:
                queue.ready.append([now, count])
            while queue.later and queue.later[0][0] <= now:
                _, at_s, due = heapq.heappop(queue.later)
                queue.ready.append([at_s, due])

    def _consume(self, reader: Reader, queues: list[Queue]) -> None:
        capacity = self.world.consumers * reader.capacity
        if self._blocked(reader):
            return
        if reader.spec.type == "Key_Shared" and reader.stuck:
            self._look_ahead(reader, queues[0], capacity)
            return
        reader.waiting = 0
        deliveries = 1.0
        again = reader.spec.redelivery
        if again is not None and again.nack_times >= _FOR_EVER:
            cycle_s = again.nack_delay_ms * 4 / 3000 + reader.further_ms / 1000
            cycle_s += reader.spec.receiver_queue * len(reader.takes_ms) / capacity
            reader.redelivered_per_s = min(capacity, reader.poison / cycle_s)
            capacity -= reader.redelivered_per_s
        elif again is not None:
            deliveries += reader.nack_share * again.nack_times
        capacity /= deliveries
        taken = 0.0
        for number, queue in enumerate(queues):
            wanted = sum(count for _, count in queue.ready)
            # Consumers that read several partitions give each what the ones before left.
            most = min(wanted, (capacity - taken) if number else capacity)
            taken += queue.take(min(most, self._allowed(reader.spec, queue, most)))
        if again is not None and again.nack_times >= _FOR_EVER:
            reader.poison += reader.nack_share * taken
        else:
            reader.redelivered_per_s = taken * (deliveries - 1)
        self._hold(reader, queues, taken)

    def _look_ahead(self, reader: Reader, queue: Queue, capacity: float) -> None:
        """Others' messages pass those that wait for one consumer, until so many wait that nothing new is read."""
        share = reader.stuck / len(reader.takes_ms)
        if reader.waiting < min(2000 * len(reader.takes_ms), 20_000):
            fresh = sum(count for _, count in queue.ready) - reader.waiting
            passed = queue.take(min(capacity, fresh * (1 - share)))
            reader.waiting += passed * share / (1 - share)

    def _blocked(self, reader: Reader) -> bool:
        topic = self.scenario.topic(reader.spec.topic)
        most, each = topic.max_unacked_per_subscription, topic.max_unacked_per_consumer
        return (most is not None and reader.held >= most) or (
            each is not None and reader.held >= each * len(reader.takes_ms)
        )

    def _hold(self, reader: Reader, queues: list[Queue], taken: float) -> None:
        """What is taken without ever being acknowledged stays in the backlog."""
        if reader.ack == "none":
            share = 1.0
        else:
            share = reader.hanging / len(reader.takes_ms) if reader.hanging else 0.0
        if share:
            kept = taken if share == 1 else taken * share / (1 - share)
            reader.held += kept
            if share == 1:
                queues[0].ready.appendleft([0, taken])

    def _allowed(self, spec: Subscription, queue: Queue, wanted: float) -> float:
        allowed = float("inf")
        for limit in self.limits.values():
            if limit.topic not in (None, spec.topic) or limit.subscription not in (None, spec.name):
                continue
            sharers = sum(
                limit.level == "broker" or item.topic == spec.topic for item in self.scenario.subscriptions
            )
            part = self.world.of_shared if limit.level != "subscription" and sharers > 1 else 1.0
            passes = self.world.limiter_exclusive if spec.type == "Exclusive" else self.world.limiter
            size = self._entry_bytes(spec.topic)
            for unit, rate in (("msg", limit.msg), ("bytes", limit.bytes and limit.bytes / size)):
                if rate is None:
                    continue
                per_s = rate / limit.period_s * passes * part
                trims = rate < 100 if unit == "msg" else limit.bytes < 5_242_880
                if wanted > per_s:
                    queue.events[limit.level, unit] += 1
                elif trims:
                    # A read that is under way when messages arrive takes several at once.
                    queue.events[limit.level, unit] += 0.5 * min(wanted, 60)
                allowed = min(allowed, per_s)
        return allowed

    def _entry_bytes(self, topic: str) -> float:
        producer = next(item for item in self.scenario.producers if item.topic == topic)
        return producer.mean_bytes + self.world.extra_bytes

    def _lose(self, now: int) -> None:
        for (name, _), queue in self.queues.items():
            topic = self.readers[name].spec.topic
            ttl_s, quota = self.ttl_s[topic], self.quota[topic]
            if ttl_s is not None:
                while queue.ready and queue.ready[0][0] <= now - ttl_s:
                    queue.expired += queue.ready.popleft()[1]
            if quota is not None and queue.backlog * self._entry_bytes(topic) > quota.limit_bytes:
                queue.take(queue.backlog - 0.9 * quota.limit_bytes / self._entry_bytes(topic))
                queue.evictions += 1

    # -- what changes and what is seen --------------------------------------------------------

    def _change(self, step: object) -> None:
        if isinstance(step, SetLimit):
            self.limits[_place(step)] = step
        elif isinstance(step, LiftLimit):
            self.limits.pop(_place(step), None)
        elif isinstance(step, SetConsumers):
            reader = self.readers[step.subscription]
            if step.processing_ms is not None:
                reader.further_ms = step.processing_ms
                reader.takes_ms = [step.processing_ms] * len(reader.takes_ms)
            if step.consumers is not None:
                missing = step.consumers - len(reader.takes_ms)
                reader.takes_ms = [*reader.takes_ms[: step.consumers], *[reader.further_ms] * missing]
        elif isinstance(step, SetAck):
            reader = self.readers[step.subscription]
            reader.ack, reader.held = step.ack, 0
        elif isinstance(step, Hang):
            reader = self.readers[step.subscription]
            reader.hanging, reader.held = step.consumers, 0
        elif isinstance(step, SetRedelivery):
            reader = self.readers[step.subscription]
            queue = next(queue for (name, _), queue in self.queues.items() if name == step.subscription)
            queue.ready.appendleft([0, reader.poison])
            reader.nack_share, reader.poison = step.nack_share, 0
        elif isinstance(step, SetRate):
            self.rates[step.topic] = step.rate_msg
        elif isinstance(step, SetDelay):
            self.delays_ms[step.topic] = step.deliver_after_ms
        elif isinstance(step, SetTtl):
            self.ttl_s[step.topic] = step.ttl_s
        elif isinstance(step, SetBacklogQuota):
            self.quota[step.topic] = step.backlog_quota

    def _scrape(self, now: int) -> None:
        for (name, partition), queue in self.queues.items():
            reader = self.readers[name]
            topic = {
                "topic": f"persistent://{self.scenario.namespace}/{reader.spec.topic}",
                "partition": str(partition),
            }
            mine = {**topic, "subscription": name}
            gauges = {
                "back_log": queue.backlog + reader.poison,
                "delayed": queue.delayed,
                "blocked_on_unacked_messages": float(self._blocked(reader)),
                "msg_rate_redeliver": reader.redelivered_per_s,
                "unacked_messages": reader.held,
                "total_msg_expired": queue.expired,
            }
            for metric, value in gauges.items():
                self._say(now, value, {"__name__": f"pulsar_subscription_{metric}", **mine})
            for level, unit in itertools.product(("broker", "topic", "subscription"), ("msg", "bytes")):
                metric = f"pulsar_subscription_dispatch_throttled_{unit}_events"
                self._say(now, queue.events[level, unit], {"__name__": metric, "reason": level, **mine})
            metric = "pulsar_storage_backlog_quota_exceeded_evictions_total"
            self._say(now, queue.evictions, {"__name__": metric, "quota_type": "size", **topic})

    def _say(self, now: int, value: float, labels: dict[str, str]) -> None:
        item = self.series.setdefault(tuple(labels.items()), Series(labels))
        item.timestamps_ms.append(1000 * now)
        item.values.append(value)


def _place(limit: LiftLimit | Limit) -> tuple[str, str, str | None, str | None]:
    return limit.level, limit.set_at, limit.topic, limit.subscription
