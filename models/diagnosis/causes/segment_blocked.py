"""A segment of a scalable topic waits for the segments that it came from. In: symptoms. Out: whether that is so.

A split or a merge seals segments. A stream subscription keeps the order of a key: it reads a new segment when those before it are drained. Until
then the new one has no consumer and its backlog grows, whatever its own limits are. What holds the sealed ones is their own verdict. A broker
looks at growing intervals whether they are drained, up to 15 minutes.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

SEGMENT_BLOCKED = Cause(
    "segment_blocked",
    side="neither",
    family="consumer",
    mark="↳",
    pattern=".",
    decisive=("parent_segments", "no_consumers"),
    is_incident=False,
    reasons=("parents_wait", "parents_drained"),
)


def segment_blocked(s: Symptoms) -> Standing | None:
    """No consumer is connected to a segment, and one is, or was, to a segment before it."""
    waiting = s.by_name["backlog_present"].value
    if not s.holds("no_consumers") or not waiting or waiting <= 0 or s.holds("parent_segments") is None:
        return None
    if s.holds("parent_segments"):
        return SEGMENT_BLOCKED.because("parents_wait", "A")
    return SEGMENT_BLOCKED.because("parents_drained", "C")
