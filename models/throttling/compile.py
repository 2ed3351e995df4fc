"""Compilation of a scenario into a world. In: a checked scenario, a machine and a seed; out: logs, limiters, dispatchers, clients, steps.

Everything that has a name becomes a number here; limits are resolved for every moment at which one changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from throttlescope.models.throttling.arrivals import limit_publishing, logs_of, retry_log
from throttlescope.models.throttling.bounds import check
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.resolve import Key, Place, change_limits, place_of, rates_in_force
from throttlescope.models.throttling.scenario import (
    Hang,
    Intervention,
    LiftLimit,
    Limit,
    Scenario,
    Seek,
    SetConsumers,
    SetLimit,
    Subscription,
    Topic,
    TouchPolicy,
    Unload,
)
from throttlescope.models.throttling.world import (
    Dispatcher,
    Limiter,
    Log,
    Port,
    Rates,
    Rules,
    Step,
    Worker,
    World,
)

_KINDS = {"Exclusive": "single", "Failover": "single", "Shared": "shared", "Key_Shared": "key_shared"}


def compile_scenario(scenario: Scenario, machine: Machine, seed: int = 0) -> World:
    """Lay a scenario out for computation.

    Parameters
    ----------
    scenario
        A checked scenario.
    machine
        Latencies and stored sizes.
    seed
        Draws what the scenario leaves to chance.

    Raises
    ------
    ScenarioError
        The scenario is too large to compute.
    """
    check(scenario)
    return _Compiler(scenario, machine, seed).world()


class _Compiler:
    def __init__(self, scenario: Scenario, machine: Machine, seed: int) -> None:
        self.scenario, self.machine, self.seed = scenario, machine, seed
        self.logs: list[Log] = []
        self.limiters: list[Limiter] = []
        self.dispatchers: list[Dispatcher] = []
        self.ports: list[Port] = []
        self.workers: list[Worker] = []
        self.steps: list[Step] = []
        self._log_of: dict[tuple[str, int], int] = {}
        self._limiter_of: dict[tuple, int] = {}
        self._dispatcher_of: dict[Key, int] = {}
        self._workers_of: dict[str, list[int]] = {}
        self._limits: dict[Place, Limit] = {place_of(limit): limit for limit in scenario.limits}
        self._rates: dict[tuple[str, Key], Rates] = rates_in_force(scenario, self._limits)
        for topic in scenario.topics:
            for log in logs_of(scenario, topic, machine, seed):
                self._log_of[topic.name, log.partition] = len(self.logs)
                self.logs.append(log)
        limit_publishing(self.logs, scenario, machine)
        for subscription in scenario.subscriptions:
            self._add(subscription)

    def world(self) -> World:
        for at_us, step in _changes(self.scenario):
            self._change(at_us, step)
        duration_us = round(self.scenario.duration_s * 1_000_000)
        return World(
            _rules(self.scenario),
            self.logs,
            self.limiters,
            self.dispatchers,
            self.ports,
            self.workers,
            sorted(self.steps, key=lambda step: step.at_us),
            duration_us,
        )

    # -- what is there at the start -----------------------------------------------------------

    def _add(self, item: Subscription) -> None:
        most = max([item.consumers, *(c for c in _consumer_counts(self.scenario, item.name))])
        mine = []
        for number in range(most):
            mine.append(len(self.workers))
            self.workers.append(
                Worker(
                    item.name,
                    round(item.takes_ms(number) * 1000),
                    exponential=item.processing == "exponential",
                    joined=number < item.consumers,
                )
            )
        self._workers_of[item.name] = mine
        first = len(self.dispatchers)
        for name in item.reads:
            topic = self.scenario.topic(name)
            for partition in self.scenario.partitions_of(name):
                self._connect(item, topic, (name, partition, item.name))
        if item.retry_letter is not None:
            topic = self.scenario.topic(item.reads[0])
            name = item.retry_topic
            self._log_of[name, -1] = len(self.logs)
            self.logs.append(retry_log(self.scenario, item, self.machine, self.seed))
            retry = len(self.dispatchers)
            # A topic of its own: the policies of the topic it is named after do not hold for it.
            own = topic.model_copy(
                update={"name": name, "max_unacked_per_consumer": None, "max_unacked_per_subscription": None}
            )
            self._connect(item, own, (name, -1, item.name))
            for dispatcher in self.dispatchers[first:]:
                dispatcher.retry_dispatcher = retry

    def _connect(self, item: Subscription, topic: Topic, key: Key) -> None:
        """Lay out a subscription on one partition: its dispatcher, and a port for each of its clients."""
        settings = self.scenario.broker.settings
        dispatcher = Dispatcher(
            subscription=item.name,
            log=self._log_of[key[:2]],
            kind=_KINDS[item.type],
            limiters=(
                self._limiter("broker", key, topic.broker),
                self._limiter("topic", key, key[:2]),
                self._limiter("subscription", key, key),
            ),
            max_unacked_consumer=_first(
                topic.max_unacked_per_consumer, settings.max_unacked_messages_per_consumer
            ),
            max_unacked_subscription=_first(
                topic.max_unacked_per_subscription, settings.max_unacked_messages_per_subscription
            ),
            acks=item.ack != "none",
            cumulative=item.ack == "cumulative",
            batch_index_ack=item.batch_index_ack and self.scenario.broker.acknowledges_batch_indexes,
            drawn=item.processing == "exponential",
            active_offset=max(key[1], 0),
        )
        _give_back(dispatcher, item, nack_timer=self.machine.nack_timer)
        self._dispatcher_of[key] = len(self.dispatchers)
        for worker in self._workers_of[item.name]:
            number = len(self.ports)
            self.ports.append(Port(worker, len(self.dispatchers), item.receiver_queue))
            self.workers[worker].ports.append(number)
            dispatcher.ports.append(number)
        self.dispatchers.append(dispatcher)

    def _limiter(self, level: str, key: Key, owner: object) -> int:
        found = self._limiter_of.get((level, owner))
        if found is None:
            found = self._limiter_of[level, owner] = len(self.limiters)
            log = self._log_of[key[0], key[1]]
            self.limiters.append(Limiter(level, self._rates[level, key], log))
        return found

    # -- what changes --------------------------------------------------------------------------

    def _change(self, at_us: int, step: Intervention) -> None:
        if isinstance(step, (SetLimit, LiftLimit)):
            change_limits(self._limits, step)
            self._rates = rates_in_force(self.scenario, self._limits)
            self._renew(at_us, step.topic, broker=step.level == "broker")
        elif isinstance(step, TouchPolicy):
            self._renew(at_us, step.topic, broker=False)
        elif isinstance(step, SetConsumers):
            self._consumers(at_us, step)
        elif isinstance(step, Hang):
            for number, worker in enumerate(self._workers_of[step.subscription]):
                kind = "hang" if number < step.consumers else "resume"
                self.steps.append(Step(at_us, kind, worker))
        elif isinstance(step, Unload):
            for partition in self.scenario.partitions_of(step.topic):
                self.steps.append(Step(at_us, "unload", self._log_of[step.topic, partition]))
        elif isinstance(step, Seek):
            for key, number in self._dispatcher_of.items():
                # An admin seeks on one topic; the retry-letter topic is another one.
                if key[2] == step.subscription and not self.logs[self.dispatchers[number].log].is_retry:
                    self.steps.append(Step(at_us, "seek", number, self._target(at_us, step, number)))

    def _renew(self, at_us: int, topic: str | None, *, broker: bool) -> None:
        """Every limiter that the broker renews when a policy of the topic (None: of the namespace) is saved."""
        for key in self._dispatcher_of:
            for (level, owner), number in self._limiter_of.items():
                mine = owner in (key, key[:2]) or level == "broker"
                if (level, key) not in self._rates or not mine or (level == "broker") != broker:
                    continue
                if broker or topic is None or key[0] == topic:
                    step = Step(at_us, "rates", number, rates=self._rates[level, key])
                    if step not in self.steps:
                        self.steps.append(step)

    def _consumers(self, at_us: int, step: SetConsumers) -> None:
        mine = self._workers_of[step.subscription]
        if step.processing_ms is not None:
            self.steps += [Step(at_us, "processing", item, round(step.processing_ms * 1000)) for item in mine]
        if step.consumers is not None:
            for number, worker in enumerate(mine):
                self.steps.append(Step(at_us, "join" if number < step.consumers else "leave", worker))

    def _target(self, at_us: int, step: Seek, dispatcher: int) -> int:
        log = self.logs[self.dispatchers[dispatcher].log]
        if step.to == "earliest":
            return 0
        back_us = round((step.seconds_back or 0) * 1_000_000)
        return log.published(max(0, at_us - back_us))


def _give_back(dispatcher: Dispatcher, item: Subscription, *, nack_timer: bool) -> None:
    """What the clients give back or reconsume later, and when."""
    redelivery, retry = item.redelivery, item.retry_letter
    if redelivery is not None:
        dispatcher.max_redeliver = _first(redelivery.max_redeliver, -1)
        dispatcher.ack_timeout_us = (redelivery.ack_timeout_ms or 0) * 1000
        if redelivery.nack_share > 0:
            dispatcher.nack_below = round(redelivery.nack_share * (1 << 32))
            dispatcher.nack_times = redelivery.nack_times
            # The clients with a timer wait for 100 ms at least, and their timer takes whole milliseconds.
            delay_ms = max(redelivery.nack_delay_ms, 100) if nack_timer else redelivery.nack_delay_ms
            dispatcher.nack_delay_us = delay_ms * 1000
            dispatcher.nack_timer_us = delay_ms // 3 * 1000 if nack_timer else 0
    if retry is not None:
        dispatcher.retry_below = round(retry.share * (1 << 32))
        dispatcher.retry_times = retry.times
        dispatcher.max_reconsume = _first(retry.max_reconsume, -1)


def _rules(scenario: Scenario) -> Rules:
    settings, numbers = scenario.broker.settings, scenario.broker.numbers
    classic = settings.subscription_shared_use_classic_persistent_implementation
    look_ahead_per_consumer, look_ahead = scenario.broker.look_ahead_entries
    return Rules(
        engine=scenario.broker.limiter_engine,
        read_batch=scenario.broker.read_batch,
        read_bytes=settings.dispatcher_max_read_size_bytes,
        # managedLedgerCacheEvictionTimeThresholdMillis; since 4.1 six times that for entries that a cursor has yet to read.
        cache_us=6_000_000 if numbers >= (4, 1, 0) else 1_000_000,
        round_robin=settings.dispatcher_max_round_robin_batch_size,
        precise=settings.precise_dispatcher_flow_control,
        per_entry=settings.dispatch_throttling_on_batch_message_enabled,
        limits_caught_up=settings.dispatch_throttling_on_non_backlog_consumer_enabled,
        # Since 3.0.11, 3.3.6 and 4.0.4 an entry counts 64 bytes more than the ledger's mean.
        estimate_extra_bytes=64
        if numbers >= (4, 0, 4) or (3, 3, 6) <= numbers < (4, 0, 0) or (3, 0, 11) <= numbers < (3, 1, 0)
        else 0,
        retry_backoff=numbers >= (4, 0, 0) and not classic,
        delay_tick_us=settings.delayed_delivery_tick_time_millis * 1000,
        stats_us=settings.stats_update_frequency_in_secs * 1_000_000,
        expiry_us=settings.message_expiry_check_interval_in_minutes * 60_000_000,
        backlogged_entries=settings.managed_ledger_cursor_backlogged_threshold,
        keeps_cursor_active=numbers >= (4, 1, 0),
        merges_reads=scenario.broker.merges_reads,
        redelivery_requests_flow=scenario.broker.redelivery_requests_flow,
        drains_hashes=scenario.broker.drains_hashes,
        look_ahead_per_consumer=look_ahead_per_consumer,
        look_ahead=look_ahead,
    )


def _changes(scenario: Scenario) -> Iterator[tuple[int, Intervention]]:
    at_s = 0.0
    for state in scenario.timeline:
        for step in state.interventions:
            yield round(at_s * 1_000_000), step
        at_s += state.duration_s


def _consumer_counts(scenario: Scenario, subscription: str) -> Iterator[int]:
    for _, step in _changes(scenario):
        if (
            isinstance(step, SetConsumers)
            and step.subscription == subscription
            and step.consumers is not None
        ):
            yield step.consumers


def _first(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value
