"""The evidence does not decide, or too little of it was seen. In: symptoms. Out: whether that is all that can be said.

The rules that need other causes' answers are in :mod:`undecided`.
"""

from __future__ import annotations

from throttlescope.models.diagnosis.causes.cause import Cause, Standing
from throttlescope.models.diagnosis.symptoms import Symptoms

UNKNOWN = Cause(
    "unknown",
    side="unknown",
    family="open",
    mark="?",
    pattern=".",
    is_incident=False,
    side_is_fixed=False,
    reasons=(
        "little_seen", "served_twice", "backlog_not_measured", "limits_old", "partly_read", "dispatch_stuck",
        "hang_or_stuck", "dispatch_stopped", "consumers_or_storage", "bursts_under_unread_limit", "room_unused", "no_cause",
        "unlikely", "remote_not_seen", "segment_left",
    ),
)  # fmt: skip


def not_enough_seen(s: Symptoms) -> Standing | None:
    """The backlog has too few samples for a verdict."""
    if not s.holds("coverage"):
        return UNKNOWN.because("little_seen")
    if s.holds("served_twice"):
        return UNKNOWN.because("served_twice")
    if s.has_backlog is None:
        return UNKNOWN.because("backlog_not_measured")
    return None


def remote_not_seen(s: Symptoms) -> Standing | None:
    """What a replicator sent waits for the remote cluster, of which nothing was read: its publish limit, or too slow a way there."""
    if not s.has_backlog or not s.holds("sends_wait") or s.holds("remote_pauses") is not None:
        return None
    return UNKNOWN.because("remote_not_seen")
