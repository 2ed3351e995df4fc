"""What the lab cannot play: in, a checked scenario; out, the fields that a real broker and the Python client cannot do.

The schema serves the simulator too, which can do more. A field that the lab would ignore is refused here by its name, before a
broker starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.lab.parts import BROKER_VERSIONS
from throttlescope.models.throttling.scenario import (
    Producer,
    Scenario,
    ScenarioError,
    SetConsumers,
    SetDelay,
    Subscription,
    load_scenarios,
)

#: A consumer is a thread; above this they wait for each other instead of for the broker.
CONSUMERS_MAX = 64
#: The Python client accepts no shorter acknowledgement timeout.
ACK_TIMEOUT_MIN_MS = 10_000


def load_recordable(folder: Path) -> list[Scenario]:
    """Read every scenario of a folder, in the order of their names.

    Raises
    ------
    ScenarioError
        One line with file, field and reason, also for what :func:`lab_refuses` refuses.
    """
    scenarios = load_scenarios(folder)
    for scenario in scenarios:
        reasons = lab_refuses(scenario)
        if reasons:
            raise ScenarioError(f"{scenario.name}.yaml: the lab cannot play it: {'; '.join(reasons)}")
    return scenarios


def lab_refuses(scenario: Scenario) -> list[str]:
    """Return why the lab cannot play a scenario, one line per field; empty when it can."""
    return [*_broker(scenario), *_topics(scenario), *_timeline(scenario)] + [
        reason
        for kind, items, find in (
            ("producers", scenario.producers, _producer),
            ("subscriptions", scenario.subscriptions, _subscription),
        )
        for number, item in enumerate(items)
        for reason in (f"{kind}.{number}.{words}" for words in find(item))
    ]


def _broker(scenario: Scenario) -> Iterator[str]:
    broker = scenario.broker
    if broker.version not in BROKER_VERSIONS:
        yield f"broker.version: {broker.version} is not one of {', '.join(BROKER_VERSIONS)}"
    if (
        broker.engine is not None
        and broker.engine != broker.model_copy(update={"engine": None}).limiter_engine
    ):
        yield f"broker.engine: version and settings decide it, and they do not give {broker.engine}"
    if scenario.resource_group is not None:
        yield "resource_group: the lab's namespaces belong to none"


def _topics(scenario: Scenario) -> Iterator[str]:
    for number, topic in enumerate(scenario.topics):
        if not topic.persistent:
            yield f"topics.{number}.persistent: only persistent topics are played"
        if topic.broker:
            yield f"topics.{number}.broker: there is one broker"
        if topic.segments:
            yield f"topics.{number}.segments: the Python client refuses scalable topics"
        if topic.deduplication:
            yield f"topics.{number}.deduplication: the client sends no message twice"


def _timeline(scenario: Scenario) -> Iterator[str]:
    if not scenario.confirm and any(state.truth for state in scenario.timeline):
        yield "confirm: a scenario with truth needs at least one check that shows it"
    batched = {producer.topic for producer in scenario.producers if producer.batching is not None}
    for state in scenario.timeline:
        for step in state.interventions:
            if isinstance(step, SetConsumers) and (step.consumers or 0) > CONSUMERS_MAX:
                yield f"timeline.{state.name}: consumers: at most {CONSUMERS_MAX}"
            if isinstance(step, SetDelay) and step.deliver_after_ms and step.topic in batched:
                yield f"timeline.{state.name}: set_delay: {step.topic} is batched, and such messages are never delayed"


def _producer(producer: Producer) -> Iterator[str]:
    if producer.send == "sync":
        yield "send: sync is not played"
    if producer.stored_share != 1:
        yield "stored_share: payloads are random bytes, which no compression shortens"
    if producer.duplicate_share:
        yield "duplicate_share: the client sends no message twice"


def _subscription(subscription: Subscription) -> Iterator[str]:
    if subscription.consumers > CONSUMERS_MAX:
        yield f"consumers: at most {CONSUMERS_MAX}"
    if subscription.processing != "constant":
        yield "processing: consumers of the lab take the same time for every message"
    if subscription.retry_letter is not None:
        yield "retry_letter: the Python client has no retry-letter topics"
    redelivery = subscription.redelivery
    if redelivery is None:
        return
    if redelivery.ack_timeout_ms is not None and redelivery.ack_timeout_ms < ACK_TIMEOUT_MIN_MS:
        yield f"redelivery.ack_timeout_ms: the Python client takes no less than {ACK_TIMEOUT_MIN_MS}"
    if redelivery.max_redeliver is not None and subscription.type not in ("Shared", "Key_Shared"):
        yield f"redelivery.max_redeliver: a {subscription.type} subscription has no dead-letter topic"
