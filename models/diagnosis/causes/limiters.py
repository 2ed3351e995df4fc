"""What all limiters say together, as several causes need it. In: symptoms. Out: what the truth table answers."""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis import truth_table
from throttlescope.models.diagnosis.causes.cause import GRADES, Standing
from throttlescope.models.diagnosis.causes.unknown import UNKNOWN
from throttlescope.models.diagnosis.limiters import LimiterReading, Zone
from throttlescope.models.diagnosis.symptoms import Symptoms
from throttlescope.models.messages.catalogue import message


def limiters_say(s: Symptoms) -> Standing:
    """Look every limiter up in the truth table and join the answers.

    One limiter that binds is enough for *throttled*. *Slow consumers* needs every limiter excluded, and is worth as
    much as the weakest exclusion. Otherwise the cause is *unknown*.
    """
    rows = [
        (limiter, truth_table.answer(_zone(s, limiter), limiter.activity, s.queue.queue))
        for limiter in s.limiters
    ]
    binding = [(limiter, row) for limiter, row in rows if row.cause in truth_table.BINDING]
    if binding:
        best = min(GRADES.index(row.grade) for _, row in binding)
        limiter, row = max(
            ((limiter, row) for limiter, row in binding if GRADES.index(row.grade) == best),
            # Uses within two hundredths are one: then the counter decides, because a limiter that is checked later
            # counts only what it lowers further.
            key=lambda pair: (round((pair[0].rho or 0.0) * 50), pair[0].events or 0.0),
        )
        return Standing(row.cause, row.grade, row.because, limiter.name)
    for limiter, row in rows:
        if row.cause == UNKNOWN.name:
            doubted = limiter.believed_zone != limiter.zone
            return doubtful(limiter) if doubted else Standing(row.cause, "", row.because)
    _, weakest = max(rows, key=lambda pair: GRADES.index(pair[1].grade))
    return Standing(weakest.cause, weakest.grade, weakest.because)


def consumers_have_spare_capacity(s: Symptoms) -> bool:
    """The consumers have spare capacity, and no limiter is used up or counts as one that is."""
    return s.queue.queue == "empty" and not any(
        limiter.zone in ("at", "near") or limiter.activity == "continuous" for limiter in s.limiters
    )


def doubtful(limiter: LimiterReading) -> Standing:
    """Why the use of a limit excludes nothing."""
    if limiter.doubt == "old":
        return UNKNOWN.because("limits_old")
    return UNKNOWN.because("partly_read", level=message(f"limiting.level.{limiter.level}"))


def _zone(s: Symptoms, limiter: LimiterReading) -> Zone:
    """A shared limit that the neighbours use up does not hold back consumers whose queues are full anyway."""
    if (
        limiter.shared
        and s.queue.queue == "full"
        and limiter.own_rho is not None
        and limiter.own_rho < t.SHARED_USE_SHARE
        and limiter.zone in ("at", "near")
    ):
        return "possible"
    return limiter.believed_zone
