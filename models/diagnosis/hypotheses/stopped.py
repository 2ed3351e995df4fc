"""Is dispatching stopped, or spent on the same messages? In: symptoms. Out: standings about what consumers do, or do not."""

from __future__ import annotations

from throttlescope.models.diagnosis.hypotheses.standing import Standing
from throttlescope.models.diagnosis.symptoms import Symptoms


def replication_markers(s: Symptoms) -> Standing | None:
    """Nothing is published and the backlog of a replicated subscription grows: by markers, as far as anybody can tell."""
    if not s.backlog_held or not s.holds("replication_markers"):
        return None
    why = "the backlog grows while nothing is published: snapshot markers of the replicated subscription, or messages not counted"
    return Standing("unknown", "", why)


def no_consumers(s: Symptoms) -> Standing | None:
    """Nobody is connected and something waits, however little."""
    waiting = s.by_name["backlog_present"].value
    if not s.holds("no_consumers") or not waiting or waiting <= 0:
        return None
    if s.holds("backlog_delayed") and not s.backlog_held:
        return None
    if s.holds("abandoned"):
        why = "entries wait and no consumer has been connected for a day or longer"
        return Standing("no_consumers", "A", why, variant="abandoned")
    return Standing("no_consumers", "A", "entries wait and no consumer is connected")


def blocked_on_unacked(s: Symptoms) -> Standing | None:
    """Pulsar itself says that it stopped dispatching, to the subscription or to every one of its consumers."""
    if not s.backlog_held:
        return None
    if s.holds("blocked_on_unacked"):
        why = "Pulsar stopped dispatching until messages are acknowledged"
        return Standing("blocked_on_unacked", "A", why, variant="subscription_limit")
    if s.holds("consumers_blocked"):
        why = "every consumer has reached its own limit of unacked messages"
        return Standing("blocked_on_unacked", "A", why, variant="consumer_limit")
    return None


def hung_consumers(s: Symptoms) -> Standing | None:
    """Consumers are connected, nothing moves, and no limiter is asked: they took what they could hold and stopped."""
    if not s.backlog_held or s.holds("no_consumers") is not False:
        return None
    if not (s.holds("dispatch_stopped") and s.holds("acks_stopped") and s.holds("flow_stopped")):
        return None
    if any(limiter.activity in ("continuous", "ticking") for limiter in s.limiters):
        return None
    if s.queue.queue == "full":
        return Standing(
            "hung_consumers", "A", "consumers hold messages and neither ask, take nor acknowledge"
        )
    if s.queue.queue == "unknown" and not s.only_old:
        return Standing("hung_consumers", "C", "consumers neither ask, take nor acknowledge")
    # Permits are there and nothing is dispatched: that is the broker, or a backlog that does not exist.
    return None


def dispatch_stopped(s: Symptoms) -> Standing | None:
    """Nothing is dispatched and no limiter is asked: silent counters prove nothing about plans that nobody made."""
    if not s.backlog_held or not s.holds("dispatch_stopped") or s.queue.queue == "full":
        return None
    if any(limiter.activity in ("continuous", "ticking") for limiter in s.limiters):
        return None
    if s.holds("acks_stopped") is False and s.queue.queue == "unknown":
        return Standing(
            "slow_consumers", "B", "nothing is dispatched while consumers acknowledge what they hold"
        )
    if s.queue.queue == "empty":
        why = "consumers have permits and nothing is dispatched: the broker's dispatching is stuck, or the backlog is not there"
        return Standing("unknown", "", why)
    if s.queue.queue == "unknown" and s.only_old:
        why = "nothing is dispatched: either the consumers hang, or the broker's dispatching is stuck; their permits would tell"
        return Standing("unknown", "", why)
    return Standing(
        "unknown", "", "nothing is dispatched, and not because consumers are full or a limit is used up"
    )


def redelivery(s: Symptoms) -> Standing | None:
    """What is dispatched is mostly dispatched again."""
    if not s.backlog_held or not s.holds("redelivering"):
        return None
    return Standing("redelivery", "B", "most of the dispatching is spent on messages that come back")


def key_shared_blocked(s: Symptoms) -> Standing | None:
    """The entries at the head belong to keys of one consumer that takes no more, while others have room."""
    if not s.backlog_held or not s.holds("hash_blocked"):
        return None
    if any(limiter.activity == "continuous" for limiter in s.limiters):
        return None
    why = "entries wait for the one consumer that owns their keys and has no permits; the others have room"
    return Standing("key_shared_blocked", "B", why)
