"""Hypotheses: each asks the symptoms whether its cause stands. In: symptoms. Out: the standings, most urgent first.

Several may stand at once. A hypothesis is a small function from symptoms to a :class:`Standing`, or None where its cause
does not stand; :data:`HYPOTHESES` is the order in which standing causes are preferred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis import truth_table
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.symptoms import Symptoms

#: The side of each cause that these rules can name.
SIDE_OF = {
    "healthy": "neither",
    "throttled": "throttle",
    "micro_burst_throttled": "throttle",
    "slow_consumers": "consumer_capacity",
    "both": "both",
    "no_consumers": "consumer_capacity",
    "blocked_on_unacked": "consumer_capacity",
    "redelivery": "consumer_capacity",
    "delayed_delivery": "neither",
    "hung_consumers": "consumer_capacity",
    "topic_moved": "neither",
    "healed_by_loss": "neither",
    "unknown": "unknown",
}

#: Evidence grades, best first. What they are worth is in :mod:`verdict`.
GRADES = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Standing:
    """A cause that stands in a window.

    Attributes
    ----------
    grade : str
        One of :data:`GRADES`; empty for ``unknown``.
    limiter : str or None
        The limiter that binds.
    why : str
        The rule in words.
    """

    cause: str
    grade: str
    why: str
    limiter: str | None = None


def not_enough_seen(s: Symptoms) -> Standing | None:
    """Without samples of the backlog nothing is claimed."""
    if not s.holds("coverage"):
        return Standing("unknown", "", "too little of the window was seen")
    if s.backlog_held is None:
        return Standing("unknown", "", "the backlog was not measured")
    return None


def no_consumers(s: Symptoms) -> Standing | None:
    """Nobody is connected and something waits, however little."""
    waiting = s.by_name["backlog_present"].value
    if not s.holds("no_consumers") or not waiting or waiting <= 0:
        return None
    if s.holds("backlog_delayed") and not s.backlog_held:
        return None
    return Standing("no_consumers", "A", "entries wait and no consumer is connected")


def blocked_on_unacked(s: Symptoms) -> Standing | None:
    """Pulsar itself says that it stopped dispatching."""
    if not s.backlog_held or not s.holds("blocked_on_unacked"):
        return None
    return Standing("blocked_on_unacked", "A", "Pulsar stopped dispatching until messages are acknowledged")


def throttled(s: Symptoms) -> Standing | None:
    """A limiter holds the backlog, alone or together with the consumers."""
    if not s.backlog_held:
        return None
    limited = limiters_say(s)
    if limited.cause not in ("throttled", "both"):
        return None
    # A backlog that is being worked off needs no weak suspicion to explain it.
    if s.holds("backlog_draining") and limited.grade not in ("A", "B"):
        return None
    return limited


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
    if s.queue.queue == "unknown":
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
    return Standing(
        "unknown", "", "nothing is dispatched, and not because consumers are full or a limit is used up"
    )


def redelivery(s: Symptoms) -> Standing | None:
    """What is dispatched is mostly dispatched again."""
    if not s.backlog_held or not s.holds("redelivering"):
        return None
    return Standing("redelivery", "B", "most of the dispatching is spent on messages that come back")


def draining(s: Symptoms) -> Standing | None:
    """Nothing holds the backlog: it falls, and will be gone soon."""
    if not s.backlog_held or not s.holds("backlog_draining") or s.holds("expiring"):
        return None
    return Standing("healthy", "B", "the backlog is being worked off and no limiter holds it")


def acks_behind(s: Symptoms) -> Standing | None:
    """Delivered as fast as published, yet growing: the consumers keep the messages."""
    if not s.holds("backlog_growing") or not s.holds("acks_behind"):
        return None
    return Standing(
        "slow_consumers", "B", "messages are delivered as fast as published, but acknowledged slower"
    )


def slow_consumers(s: Symptoms) -> Standing | None:
    """Every limiter is excluded, and the consumers take less than is published."""
    if not s.backlog_held or s.holds("no_consumers"):
        return None
    limited = limiters_say(s)
    if limited.cause != "slow_consumers":
        return None
    if s.holds("cold_reads") and s.queue.queue != "full":
        return Standing("unknown", "", "most reads miss the cache, so storage may be what is slow")
    if s.holds("counters_restarted") and s.queue.queue != "full" and not s.holds("backlog_growing"):
        return None
    return limited


def topic_moved(s: Symptoms) -> Standing | None:
    """The topic was away for a moment, and nothing else explains what is left of it."""
    if not s.backlog_held or not s.holds("counters_restarted") or s.holds("backlog_growing"):
        return None
    if any(limiter.zone in ("at", "near") for limiter in s.limiters):
        return None
    return Standing("topic_moved", "C", "the topic was unloaded or moved, and nothing else holds the backlog")


def nobody_can_say(s: Symptoms) -> Standing | None:
    """There is a backlog, and no cause stands."""
    if not s.backlog_held:
        return None
    limited = limiters_say(s)
    return Standing("unknown", "", limited.why if limited.cause == "unknown" else "no cause stands")


def healed_by_loss(s: Symptoms) -> Standing | None:
    """The backlog is gone or falls because entries expired."""
    if not s.holds("expiring") or (s.backlog_held and not s.holds("backlog_draining")):
        return None
    return Standing("healed_by_loss", "B", "the backlog fell by expiry, not by consumption")


def delayed_delivery(s: Symptoms) -> Standing | None:
    """What waits is not due yet."""
    if s.backlog_held or not s.holds("backlog_delayed"):
        return None
    return Standing("delayed_delivery", "A", "what waits is not due yet")


def micro_burst_throttled(s: Symptoms) -> Standing | None:
    """Bursts meet a limit although its mean use is below it. Needs events that mean something."""
    if s.backlog_held or not s.holds("backlog_sawtooth") or s.holds("counters_restarted"):
        return None
    if s.queue.queue == "full" or s.holds("blocked_on_unacked"):
        return None
    # To drain the peak, the limiter must have been used up this many times.
    peak = s.by_name["backlog_sawtooth"].value
    proven = [
        limiter
        for limiter in s.limiters
        if limiter.informative
        and limiter.unit == "msg"
        and limiter.zone in ("near", "possible", "far")
        and limiter.events
        and limiter.limit is not None
        and limiter.events >= t.EVENTS_PER_PERIOD * peak / limiter.limit
    ]
    if not proven:
        return None
    top = max(proven, key=lambda limiter: limiter.events)
    return Standing("micro_burst_throttled", "C", "bursts use the limit up for a moment", top.name)


def healthy(s: Symptoms) -> Standing | None:
    """There is no backlog to explain, whatever the counters do."""
    if s.backlog_held is not False:
        return None
    return Standing("healthy", "A", "there is no backlog to explain")


#: In the order of preference: the first that stands is the primary cause, the others contribute.
HYPOTHESES: tuple[Callable[[Symptoms], Standing | None], ...] = (
    not_enough_seen,
    no_consumers,
    blocked_on_unacked,
    throttled,
    hung_consumers,
    dispatch_stopped,
    redelivery,
    healed_by_loss,
    draining,
    acks_behind,
    slow_consumers,
    topic_moved,
    nobody_can_say,
    delayed_delivery,
    micro_burst_throttled,
    healthy,
)


def standings(s: Symptoms) -> tuple[Standing, ...]:
    """All causes that stand, most urgent first; at least one always does."""
    found = tuple(standing for ask in HYPOTHESES if (standing := ask(s)) is not None)
    return found or (Standing("unknown", "", "no cause stands"),)


def limiters_say(s: Symptoms) -> Standing:
    """Ask the truth table for every limiter and join the answers.

    One limiter that binds is enough for *throttled*. *Slow consumers* needs every limiter excluded, and is worth as
    much as the weakest exclusion. Otherwise nobody can say.
    """
    rows = [
        (limiter, truth_table.answer(_zone(s, limiter), limiter.activity, s.queue.queue))
        for limiter in s.limiters
    ]
    binding = [(limiter, row) for limiter, row in rows if row.cause in ("throttled", "both")]
    if binding:
        best = min(GRADES.index(row.grade) for _, row in binding)
        limiter, row = max(
            ((limiter, row) for limiter, row in binding if GRADES.index(row.grade) == best),
            # Uses within two hundredths are one: then the counter tells, because a limiter that is asked later
            # counts only what it lowers further.
            key=lambda pair: (round((pair[0].rho or 0.0) * 50), pair[0].events or 0.0),
        )
        return Standing(row.cause, row.grade, row.why, limiter.name)
    for _, row in rows:
        if row.cause == "unknown":
            return Standing("unknown", "", row.why)
    _, weakest = max(rows, key=lambda pair: GRADES.index(pair[1].grade))
    return Standing("slow_consumers", weakest.grade, weakest.why)


def _zone(s: Symptoms, limiter: LimiterReading):
    """A shared limit that the neighbours use up does not hold consumers whose queues are full anyway."""
    if (
        limiter.shared
        and s.queue.queue == "full"
        and limiter.own_rho is not None
        and limiter.own_rho < t.SHARED_USE_SHARE
        and limiter.zone in ("at", "near")
    ):
        return "possible"
    return limiter.zone
