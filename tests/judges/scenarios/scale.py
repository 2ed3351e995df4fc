"""Scenarios scaled down to two cores. In: a load as Pulsar's file has it. Out: scenarios of the lab, and what is true of them by script.

One rule for all: a count above 5 (topics, applications, consumers of each) is divided by 10, but not below 2; everything that an application
gets is 200 messages per second over all applications and topics, unless a tenth of the script's rate is less; sizes, keys, types, queues and times stay. A
play lasts eight minutes, longer than theirs: a verdict needs five after the first. All producers of a topic are one, and nothing is batched: at this rate a batch of
theirs, which has one key, would hold one message. Each load is played three times: as it is, with a limit of half of what is
dispatched (where it is and what it counts goes round with the load's number), and with consumers that need twice the time that they have, which none of the scripts has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.judges.scenarios.read import PulsarLoad
from throttlescope.models.throttling.scenario import Scenario

DELIVERED_MSG, FACTOR, LARGEST_AS_IT_IS = 200, 10, 5
PLAY_S, SETTLE_S = 480, 60
LIMITED_TO = 0.5
LIMITERS = ("subscription.msg", "topic.msg", "subscription.bytes", "topic.bytes")
#: Between a consumer's leaving and its return.
_AWAY_S = 2
AS_IT_IS, LIMITED, SLOW = "as-it-is", "limited", "slow"
#: Side and cause by script, of each variant.
TRUTH = {
    AS_IT_IS: ("neither", "healthy"),
    LIMITED: ("throttle", "throttled"),
    SLOW: ("consumer_capacity", "slow_consumers"),
}


@dataclass(frozen=True)
class ScaledPlay:
    """One play of a load.

    Attributes
    ----------
    limiter : str, optional
        What limits dispatch by script; None: nothing.
    settled_s : dict
        By subscription, from which second on that is true.
    """

    load: PulsarLoad
    variant: str
    scenario: Scenario
    limiter: str | None
    settled_s: dict[str, float]

    @property
    def side(self) -> str:
        """The side that the script gives."""
        return TRUTH[self.variant][0]

    @property
    def cause(self) -> str:
        """The cause that the script gives."""
        return TRUTH[self.variant][1]


def plays_of(load: PulsarLoad, number: int, seconds: float = PLAY_S) -> tuple[ScaledPlay, ...]:
    """A load as it is, with a limit, and with slow consumers.

    Parameters
    ----------
    number
        Of the load among those that are played, from 0: it decides the limiter.
    """
    limiter = LIMITERS[number % len(LIMITERS)]
    return tuple(_play(load, variant, limiter if variant == LIMITED else None, seconds) for variant in TRUTH)


def scaled_load(load: PulsarLoad) -> PulsarLoad:
    """The load on two cores."""
    applications = _count(load.applications)
    rate_msg = DELIVERED_MSG / applications
    if load.rate_msg is not None:
        rate_msg = min(rate_msg, load.rate_msg / FACTOR)
    return PulsarLoad(
        load.name,
        rate_msg,
        _count(load.topics),
        applications,
        _count(load.pods),
        load.size_bytes,
        load.subscription_type,
        load.receiver_queue,
        load.keys,
        min(load.max_outstanding, 20_000),
        load.join_s,
        load.restart_every_s,
        load.restart_fraction,
    )


def different(loads: list[PulsarLoad]) -> dict[PulsarLoad, list[str]]:
    """Loads that differ when scaled, each with the names of the others that are the same."""
    found: dict[tuple, tuple[PulsarLoad, list[str]]] = {}
    for load in loads:
        scaled = scaled_load(load)
        same = tuple(value for name, value in vars(scaled).items() if name not in ("name", "keys"))
        found.setdefault((*same, bool(load.keys)), (load, []))[1].append(load.name)
    return {load: names[1:] for load, names in found.values()}


def _count(number: int) -> int:
    return number if number <= LARGEST_AS_IT_IS else max(2, round(number / FACTOR))


def _play(load: PulsarLoad, variant: str, limiter: str | None, seconds: float) -> ScaledPlay:
    small = scaled_load(load)
    assert small.rate_msg is not None
    topics = [f"topic-{number}" for number in range(small.topics)]
    joins = dict(enumerate(small.join_s))
    takes_ms = round(1000 * small.pods / small.rate_msg / LIMITED_TO, 3) if variant == SLOW else 0
    subscriptions = [
        {
            "name": f"application-{number}",
            "topics": topics,
            "type": small.subscription_type,
            "consumers": 0 if joins.get(number) else small.pods,
            "processing_ms": takes_ms,
            "receiver_queue": small.receiver_queue,
        }
        for number in range(small.applications)
    ]
    each_msg = small.rate_msg / small.topics
    producer: dict[str, Any] = {
        "rate_msg": each_msg,
        "size_bytes": small.size_bytes,
        "max_pending": small.max_outstanding,
        **({"keys": small.keys} if small.keys else {}),
    }
    scenario = Scenario.model_validate(
        {
            "format": 1,
            "name": f"{load.name}-{variant}",
            "family": "pulsar_scenarios",
            "topics": [{"name": topic} for topic in topics],
            "subscriptions": subscriptions,
            "producers": [{"topic": topic, **producer} for topic in topics],
            "limits": [_limit(limiter, topic, each_msg, small) for topic in topics] if limiter else [],
            "timeline": _timeline(small, subscriptions, seconds),
        }
    )
    settled_s = {one["name"]: joins.get(number, 0) + SETTLE_S for number, one in enumerate(subscriptions)}
    return ScaledPlay(load, variant, scenario, limiter, settled_s)


def _limit(limiter: str, topic: str, each_msg: float, small: PulsarLoad) -> dict[str, Any]:
    """Half of what the limiter's place dispatches; a topic's limiter is shared by its subscriptions."""
    level, unit = limiter.split(".")
    dispatched = each_msg * (small.applications if level == "topic" else 1)
    if unit == "bytes":
        dispatched *= small.size_bytes
    return {"level": level, "set_at": "topic", "topic": topic, unit: max(1, round(LIMITED_TO * dispatched))}


def _timeline(small: PulsarLoad, subscriptions: list[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    changes: dict[float, list[tuple[str, int]]] = {}
    for number, at_s in enumerate(small.join_s):
        if at_s:
            changes.setdefault(at_s, []).append((subscriptions[number]["name"], small.pods))
    if small.restart_every_s:
        away = max(1, round(small.pods * small.restart_fraction))
        at_s = small.restart_every_s
        while at_s + _AWAY_S < seconds:
            for back_s, consumers in ((0, small.pods - away), (_AWAY_S, small.pods)):
                changes[at_s + back_s] = [(one["name"], consumers) for one in subscriptions]
            at_s += small.restart_every_s
    begins = [0.0, *sorted(at_s for at_s in changes if at_s < seconds)]
    return [
        {
            "name": f"from-{begin:.0f}-s",
            "duration_s": end - begin,
            "interventions": [
                {"action": "set_consumers", "subscription": name, "consumers": consumers}
                for name, consumers in changes.get(begin, ())
            ],
        }
        for begin, end in zip(begins, [*begins[1:], seconds], strict=True)
    ]
