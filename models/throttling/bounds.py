"""Size limits of a scenario, and notes about it. In: a scenario. Out: an error, or notes for its answer."""

from __future__ import annotations

from throttlescope.models.throttling.scenario import (
    Scenario,
    ScenarioError,
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

_ONLY_REAL = (SetAck, SetRedelivery, SetDelay, SetTtl, SetBacklogQuota)

#: At a few million polls and entries per second a simulation of this many takes about an hour.
MAX_EVENTS = 10_000_000_000
MAX_PORTS = 100_000
#: Each is two changes of a rate.
MAX_BURSTS = 100_000


def check(scenario: Scenario) -> None:
    """Refuse what would take too long or too much memory.

    Raises
    ------
    ScenarioError
        Names the field, the figure got and the one that is allowed.
    """
    seconds = scenario.duration_s
    if scenario.broker.settings.max_unacked_messages_per_broker:
        raise ScenarioError(
            "broker.settings.maxUnackedMessagesPerBroker: the simulator has no such limit; leave it at 0"
        )
    _refuse_what_is_not_modelled(scenario)
    for number, item in enumerate(scenario.subscriptions):
        _refuse_redelivery(f"subscriptions.{number}", item)
    for number, producer in enumerate(scenario.producers):
        if producer.bursts is not None and seconds / producer.bursts.every_s > MAX_BURSTS:
            raise ScenarioError(
                f"producers.{number}.bursts.every_s: {seconds / producer.bursts.every_s:.0e} bursts in {seconds:g} s;"
                f" expected at most {MAX_BURSTS:.0e}; lengthen it or shorten the timeline"
            )
        highest = _highest(scenario, producer.topic) * max(factor for _, factor in producer.factors(seconds))
        readers = sum(producer.topic in item.reads for item in scenario.subscriptions)
        events = highest * seconds * max(1, readers)
        if events > MAX_EVENTS:
            raise ScenarioError(
                f"producers.{number}.rate_msg: {highest:g} msg/s for {seconds:g} s and {readers} subscriptions would take"
                f" {events:.0e} events; expected at most {MAX_EVENTS:.0e}; shorten the timeline or lower the rate"
            )
    ports = 0
    for item in scenario.subscriptions:
        partitions = sum(len(scenario.partitions_of(topic)) for topic in item.reads)
        partitions += item.retry_letter is not None
        ports += item.consumers * partitions
    if ports > MAX_PORTS:
        raise ScenarioError(
            f"subscriptions: {ports} consumers on partitions; expected at most {MAX_PORTS};"
            " lower consumers or partitions"
        )


def _refuse_what_is_not_modelled(scenario: Scenario) -> None:
    """What only a real broker does: the lab plays it, the simulator would ignore it."""
    if scenario.broker.settings.subscription_key_shared_use_classic_persistent_implementation:
        raise ScenarioError(
            "broker.settings.subscriptionKeySharedUseClassicPersistentImplementation: the simulator has no classic Key_Shared"
            " dispatcher; leave it out"
        )
    for number, topic in enumerate(scenario.topics):
        if topic.backlog_quota is not None:
            raise ScenarioError(
                f"topics.{number}.backlog_quota: the simulator has no backlog quotas; leave it out"
            )
    for kind, items in (("producers", scenario.producers), ("subscriptions", scenario.subscriptions)):
        for number, item in enumerate(items):
            if item.client is not None:
                raise ScenarioError(
                    f"{kind}.{number}.client: the simulator has no connections that clients share; leave it out"
                )
    for state in scenario.timeline:
        for step in state.interventions:
            if isinstance(step, _ONLY_REAL):
                raise ScenarioError(
                    f"timeline.{state.name}.interventions: {step.action}: the simulator has no such change; leave it out"
                )


def _refuse_redelivery(place: str, item: Subscription) -> None:
    """Refuse time-outs together with what would make the order of a client's requests ambiguous."""
    redelivery = item.redelivery
    if redelivery is None or redelivery.ack_timeout_ms is None or not redelivery.nack_share:
        return
    if item.ack != "individual":
        raise ScenarioError(
            f"{place}.redelivery: ack_timeout_ms together with nack_share is simulated with ack: individual only, got"
            f" {item.ack}; leave one of them out"
        )


def notes(scenario: Scenario) -> list[str]:
    """Say what a reader of the answer should know: limits that cannot bind, consumers that will stop."""
    found = []
    settings = scenario.broker.settings
    for number, item in enumerate(scenario.subscriptions):
        if item.ack != "none" or item.type in ("Exclusive", "Failover"):
            continue
        for name in item.reads:
            topic = scenario.topic(name)
            most = (
                topic.max_unacked_per_subscription
                if topic.max_unacked_per_subscription is not None
                else settings.max_unacked_messages_per_subscription
            )
            if most:
                found.append(
                    f"subscriptions.{number}.ack: {item.name} never acknowledges; it is blocked after {most} messages of {name}"
                )
    changes = [
        step for state in scenario.timeline for step in state.interventions if isinstance(step, SetLimit)
    ]
    for place, limit in (
        *((f"limits.{number}", limit) for number, limit in enumerate(scenario.limits)),
        *(("timeline: set_limit", step) for step in changes),
    ):
        can = _capacity(scenario, limit.topic, limit.subscription)
        if limit.msg is not None and can is not None and limit.msg / limit.period_s > can:
            found.append(
                f"{place}.msg: {limit.msg} per {limit.period_s} s cannot bind: the consumers manage {can:.0f} msg/s at most"
            )
    return found


def _highest(scenario: Scenario, topic: str) -> float:
    rates = [producer.rate_msg for producer in scenario.producers if producer.topic == topic]
    for state in scenario.timeline:
        rates += [
            step.rate_msg for step in state.interventions if isinstance(step, SetRate) and step.topic == topic
        ]
    return max(rates, default=0.0)


def _capacity(scenario: Scenario, topic: str | None, subscription: str | None) -> float | None:
    """The most messages per second that the consumers under a limit ever manage; None where there is no bound."""
    total = 0.0
    for item in scenario.subscriptions:
        if (topic is not None and topic not in item.reads) or subscription not in (None, item.name):
            continue
        takes_ms = [item.takes_ms(number) for number in range(item.consumers)]
        further_ms = item.processing_ms
        best = _together(takes_ms)
        for state in scenario.timeline:
            for step in state.interventions:
                if isinstance(step, SetConsumers) and step.subscription == item.name:
                    if step.processing_ms is not None:
                        further_ms = step.processing_ms
                        takes_ms = [further_ms] * len(takes_ms)
                    if step.consumers is not None:
                        takes_ms = [
                            *takes_ms[: step.consumers],
                            *[further_ms] * (step.consumers - len(takes_ms)),
                        ]
                    now = _together(takes_ms)
                    best = None if best is None or now is None else max(best, now)
        if best is None:
            return None
        total += best
    return total


def _together(takes_ms: list[float]) -> float | None:
    """Messages per second of consumers that take so long each; None where one takes no time."""
    return sum(1000 / takes for takes in takes_ms) if all(takes_ms) else None
