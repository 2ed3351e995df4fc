"""There is a backlog and no cause of it was found. In: symptoms. Out: ``unknown``, with what was excluded."""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Standing
from throttlescope.models.diagnosis.causes.limiters import consumers_have_spare_capacity, limiters_say
from throttlescope.models.diagnosis.causes.unknown import UNKNOWN
from throttlescope.models.diagnosis.symptoms import Symptoms


def no_cause_found(s: Symptoms) -> Standing | None:
    """There is a backlog, and no cause explains it."""
    if not s.has_backlog:
        return None
    limited = limiters_say(s)
    if consumers_have_spare_capacity(s):
        return UNKNOWN.because("room_unused")
    return limited if limited.cause == UNKNOWN.name else UNKNOWN.because("no_cause")
