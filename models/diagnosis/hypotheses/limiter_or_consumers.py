"""Is it a limiter, or can the consumers not keep up? In: symptoms. Out: standings.

Both are asked of the truth table of limiters and queues; what the consumers did before a limit bound decides about *both*.
"""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis import truth_table
from throttlescope.models.diagnosis.hypotheses.standing import GRADES, Standing
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.symptoms import Symptoms


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
    if limited.cause == "throttled" and s.holds("capacity_short"):
        why = f"{limited.why}; without it the consumers would not keep up either"
        return Standing("both", limited.grade, why, limited.limiter)
    if limited.cause == "throttled" and s.holds("unacked_steady") and s.queue.queue != "empty":
        why = f"{limited.why}; the consumers always hold messages, so they do not wait for the limiter alone"
        return Standing("both", max(limited.grade, "C"), why, limited.limiter)
    return limited


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
        # Nothing shows the consumers' queues: storage is excluded, not they proven.
        grade = max(limited.grade, "C")
        if s.holds("unacked_steady"):
            return Standing("slow_consumers", grade, f"{limited.why}; the consumers always hold messages")
        if s.holds("storage_faster"):
            return Standing("slow_consumers", grade, f"{limited.why}; storage can deliver more than that")
        why = "either the consumers or the reads from storage are slow: permits of the consumers would tell"
        return Standing("unknown", "", why)
    if s.holds("counters_restarted") and s.queue.queue != "full" and not s.holds("backlog_growing"):
        return None
    return limited


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
    if not proven and any(limiter.events and not limiter.observed for limiter in s.limiters):
        why = "bursts come and go while reads are throttled: without the limit nobody can tell whether it holds them"
        return Standing("unknown", "", why)
    if not proven:
        return None
    top = max(proven, key=lambda limiter: limiter.events)
    return Standing("micro_burst_throttled", "C", "bursts use the limit up for a moment", top.name)


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
    for limiter, row in rows:
        if row.cause == "unknown":
            doubted = limiter.believed_zone != limiter.zone
            return Standing("unknown", "", doubt_words(limiter) if doubted else row.why)
    _, weakest = max(rows, key=lambda pair: GRADES.index(pair[1].grade))
    return Standing("slow_consumers", weakest.grade, weakest.why)


def doubt_words(limiter: LimiterReading) -> str:
    """Why the use of a limit excludes nothing."""
    if limiter.doubt == "old":
        return "the limits were read too long before or after the window to exclude one"
    return f"only part of this {limiter.level}'s traffic was read, so the use of its limit is not known"


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
    return limiter.believed_zone
